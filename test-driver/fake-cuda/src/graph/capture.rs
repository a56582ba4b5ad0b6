//! Stream capture: streams that record what they are given into a graph.
//!
//! CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture".

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, ThreadId},
};

use cudarc::driver::sys::{CUgraphNodeType, CUstreamCaptureStatus};

use super::graph::Graph;
use super::node::{Content, Step};
use super::order;
use crate::base::abi::enumerators;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, lock};
use crate::work::Work;

enumerators! { i32: CUstreamCaptureMode
    GLOBAL = CU_STREAM_CAPTURE_MODE_GLOBAL;
    THREAD_LOCAL = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    RELAXED = CU_STREAM_CAPTURE_MODE_RELAXED;
}

/// How many captures there were.
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How far the calling thread keeps to what captures forbid.
    static THREAD_MODE: Cell<i32> = const { Cell::new(GLOBAL) };
}

/// Replaces the mode of the calling thread, and gives the one before.
pub(crate) fn exchange_thread_mode(mode: i32) -> Result<i32> {
    if !(GLOBAL..=RELAXED).contains(&mode) {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(THREAD_MODE.replace(mode))
}

/// A capture that is going on.
pub(crate) struct Capture {
    pub(crate) id: u64,
    mode: i32,
    thread: ThreadId,
    origin: Weak<CaptureSlot>,
    recorded: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    content: Content,
    /// The streams that take part, by the address of their slot.
    members: HashMap<usize, Member>,
    invalid: bool,
}

/// A stream that takes part in a capture.
struct Member {
    slot: Weak<CaptureSlot>,
    /// The last nodes of the stream.
    last: Vec<usize>,
}

impl Member {
    fn new(slot: &Arc<CaptureSlot>) -> Self {
        Self { slot: Arc::downgrade(slot), last: Vec::new() }
    }
}

/// Where a stream has the capture that it takes part in.
pub(crate) struct CaptureSlot {
    capture: Mutex<Option<Arc<Capture>>>,
    /// The legacy default stream cannot be captured.
    is_legacy: bool,
}

impl CaptureSlot {
    pub(crate) fn new(is_legacy: bool) -> Arc<Self> {
        Arc::new(Self { capture: Mutex::new(None), is_legacy })
    }

    /// The capture that the stream takes part in.
    pub(crate) fn get(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).clone()
    }
}

/// The moment of an event that was recorded in a stream that is captured.
#[derive(Clone)]
pub(crate) struct Captured {
    capture: Weak<Capture>,
    nodes: Vec<usize>,
}

fn key(slot: &Arc<CaptureSlot>) -> usize {
    Arc::as_ptr(slot) as usize
}

/// Begins to capture a stream.
pub(crate) fn begin(stream: &Arc<CaptureSlot>, mode: i32) -> Result<()> {
    if !(GLOBAL..=RELAXED).contains(&mode) {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    if stream.is_legacy {
        return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    let mut slot = lock(&stream.capture);
    if slot.is_some() {
        return Err(Error::CUDA_ERROR_ILLEGAL_STATE);
    }
    let capture = Arc::new(Capture {
        id: COUNT.fetch_add(1, Ordering::Relaxed) + 1,
        mode,
        thread: thread::current().id(),
        origin: Arc::downgrade(stream),
        recorded: Mutex::default(),
    });
    lock(&capture.recorded).members.insert(key(stream), Member::new(stream));
    *slot = Some(capture);
    Ok(())
}

/// Ends the capture of a stream, and gives its graph.
pub(crate) fn end(stream: &Arc<CaptureSlot>) -> Result<Handle> {
    let capture = stream.get().ok_or(Error::CUDA_ERROR_ILLEGAL_STATE)?;
    if !std::ptr::eq(capture.origin.as_ptr(), Arc::as_ptr(stream)) {
        return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if capture.mode != RELAXED && capture.thread != thread::current().id() {
        return Err(Error::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    }
    let recorded = std::mem::take(&mut *lock(&capture.recorded));
    release(recorded.members.values());
    if recorded.invalid {
        return Err(Error::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    let nodes = &recorded.content.nodes;
    let last = recorded.members.get(&key(stream)).map_or(&[][..], |member| &member.last);
    if order::reached(nodes, last).contains(&false) {
        return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    }
    Ok(Graph::create(recorded.content).handle)
}

/// Lets streams do work again, and not record it.
fn release<'a>(members: impl Iterator<Item = &'a Member>) {
    let slots = members.filter_map(|member| member.slot.upgrade());
    slots.for_each(|slot| *lock(&slot.capture) = None);
}

impl Capture {
    /// Spoils the capture: it can only be ended, with an error.
    pub(crate) fn invalidate(&self) {
        lock(&self.recorded).invalid = true;
    }

    /// Spoils the capture because a stream of it is destroyed; that of its first stream ends it.
    pub(crate) fn leave(&self, stream: &Arc<CaptureSlot>) {
        let mut recorded = lock(&self.recorded);
        recorded.invalid = true;
        if std::ptr::eq(self.origin.as_ptr(), Arc::as_ptr(stream)) {
            let members = std::mem::take(&mut recorded.members);
            drop(recorded);
            release(members.values());
        }
    }

    pub(crate) fn status(&self) -> CUstreamCaptureStatus {
        if lock(&self.recorded).invalid {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
        } else {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
        }
    }

    /// Whether the calling thread may not call what a capture could not follow.
    pub(crate) fn forbids_unsafe(&self) -> bool {
        let own = self.thread == thread::current().id();
        match (self.mode, THREAD_MODE.get()) {
            (GLOBAL, GLOBAL) => true,
            (GLOBAL | THREAD_LOCAL, GLOBAL | THREAD_LOCAL) => own,
            _ => false,
        }
    }

    /// Records work of a stream.
    pub(crate) fn add(&self, stream: &Arc<CaptureSlot>, work: Work) -> Result<()> {
        self.record(stream, |after| Step::new(work, after))
    }

    fn record(
        &self,
        stream: &Arc<CaptureSlot>,
        step: impl FnOnce(Vec<usize>) -> Step,
    ) -> Result<()> {
        let mut recorded = lock(&self.recorded);
        if recorded.invalid {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        let index = recorded.content.nodes.len();
        let member =
            recorded.members.get_mut(&key(stream)).ok_or(Error::CUDA_ERROR_ILLEGAL_STATE)?;
        let after = std::mem::replace(&mut member.last, vec![index]);
        recorded.content.nodes.push(step(after));
        Ok(())
    }

    /// Records an allocation of memory that the graph keeps, on a device.
    pub(crate) fn keep(
        &self,
        stream: &Arc<CaptureSlot>,
        address: u64,
        ordinal: usize,
    ) -> Result<()> {
        let recorded = lock(&self.recorded);
        lock(&recorded.content.memory.addresses).push((address, ordinal));
        drop(recorded);
        self.record(stream, |after| Step {
            kind: CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            ..Step::new(Work::Nothing, after)
        })
    }

    /// Records that memory of the graph is freed; other memory cannot be.
    pub(crate) fn release(&self, stream: &Arc<CaptureSlot>, address: u64) -> Result<()> {
        let recorded = lock(&self.recorded);
        let own = lock(&recorded.content.memory.addresses).iter().any(|(own, _)| *own == address);
        drop(recorded);
        if !own {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        self.record(stream, |after| Step {
            kind: CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
            ..Step::new(Work::Nothing, after)
        })
    }

    /// The moment that a stream is at.
    pub(crate) fn mark(self: &Arc<Self>, stream: &Arc<CaptureSlot>) -> Result<Captured> {
        let recorded = lock(&self.recorded);
        if recorded.invalid {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        let member = recorded.members.get(&key(stream)).ok_or(Error::CUDA_ERROR_ILLEGAL_STATE)?;
        Ok(Captured { capture: Arc::downgrade(self), nodes: member.last.clone() })
    }
}

impl Captured {
    /// Lets a stream wait for the moment: the stream is captured as well from then on.
    pub(crate) fn join(&self, stream: &Arc<CaptureSlot>) -> Result<()> {
        let capture = self.capture.upgrade().ok_or(Error::CUDA_ERROR_CAPTURED_EVENT)?;
        if stream.is_legacy {
            capture.invalidate();
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        let mut slot = lock(&stream.capture);
        if let Some(other) = slot.as_ref()
            && !Arc::ptr_eq(other, &capture)
        {
            other.invalidate();
            capture.invalidate();
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_MERGE);
        }
        let mut recorded = lock(&capture.recorded);
        let member = recorded.members.entry(key(stream)).or_insert_with(|| Member::new(stream));
        let last = &mut member.last;
        let new: Vec<usize> =
            self.nodes.iter().copied().filter(|node| !last.contains(node)).collect();
        last.extend(new);
        drop(recorded);
        *slot = Some(capture);
        Ok(())
    }
}
