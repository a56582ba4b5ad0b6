//! Captures: streams that record what they are given.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, ThreadId},
};

use super::{ALLOCATION, Content, Graph, RELEASE, Step, order};
use crate::{
    context::Context,
    error::{Error, Result},
    handle::{Handle, lock},
    memory,
    stream::{Kind, Stream},
    work::Work,
};

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;
const RELAXED: i32 = 2;

/// How many captures there were.
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How far the calling thread keeps to what captures forbid.
    static THREAD_MODE: Cell<i32> = const { Cell::new(GLOBAL) };
}

/// Replaces the mode of the calling thread, and gives the one before.
pub(crate) fn exchange_thread_mode(mode: i32) -> Result<i32> {
    if !(GLOBAL..=RELAXED).contains(&mode) {
        return Err(Error::InvalidValue);
    }
    Ok(THREAD_MODE.replace(mode))
}

/// A capture that is going on.
pub(crate) struct Capture {
    pub(crate) id: u64,
    mode: i32,
    thread: ThreadId,
    origin: Weak<Stream>,
    recorded: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    content: Content,
    /// The last nodes of each stream, by the address of the stream.
    last: HashMap<usize, (Weak<Stream>, Vec<usize>)>,
    invalid: bool,
}

/// The moment of an event that was recorded in a stream that is captured.
#[derive(Clone)]
pub(crate) struct Captured {
    capture: Weak<Capture>,
    nodes: Vec<usize>,
}

fn key(stream: &Arc<Stream>) -> usize {
    Arc::as_ptr(stream) as usize
}

/// Begins to capture a stream.
pub(crate) fn begin(stream: &Arc<Stream>, mode: i32) -> Result<()> {
    if !(GLOBAL..=RELAXED).contains(&mode) {
        return Err(Error::InvalidValue);
    }
    if stream.kind == Kind::Legacy {
        return Err(Error::StreamCaptureUnsupported);
    }
    let mut slot = lock(&stream.capture);
    if slot.is_some() {
        return Err(Error::IllegalState);
    }
    let capture = Arc::new(Capture {
        id: COUNT.fetch_add(1, Ordering::Relaxed) + 1,
        mode,
        thread: thread::current().id(),
        origin: Arc::downgrade(stream),
        recorded: Mutex::default(),
    });
    lock(&capture.recorded).last.insert(key(stream), (Arc::downgrade(stream), Vec::new()));
    *slot = Some(capture);
    Ok(())
}

/// Ends the capture of a stream, and gives its graph.
pub(crate) fn end(stream: &Arc<Stream>) -> Result<Handle> {
    let capture = stream.capture().ok_or(Error::IllegalState)?;
    if !std::ptr::eq(capture.origin.as_ptr(), Arc::as_ptr(stream)) {
        return Err(Error::StreamCaptureUnmatched);
    }
    if capture.mode != RELAXED && capture.thread != thread::current().id() {
        return Err(Error::StreamCaptureWrongThread);
    }
    let recorded = std::mem::take(&mut *lock(&capture.recorded));
    release(recorded.last.values().map(|(member, _)| member));
    if recorded.invalid {
        return Err(Error::StreamCaptureInvalidated);
    }
    let nodes = &recorded.content.nodes;
    let last = recorded.last.get(&key(stream)).map_or(&[][..], |(_, last)| last);
    if order::reached(nodes, last).contains(&false) {
        return Err(Error::StreamCaptureUnjoined);
    }
    Ok(Graph::create(recorded.content).handle)
}

/// Lets streams do work again, and not record it.
fn release<'a>(members: impl Iterator<Item = &'a Weak<Stream>>) {
    members.filter_map(Weak::upgrade).for_each(|member| *lock(&member.capture) = None);
}

impl Capture {
    /// Spoils the capture: it can only be ended, with an error.
    pub(crate) fn invalidate(&self) {
        lock(&self.recorded).invalid = true;
    }

    /// Spoils the capture because a stream of it is destroyed; that of its first stream ends it.
    pub(crate) fn leave(&self, stream: &Arc<Stream>) {
        let mut recorded = lock(&self.recorded);
        recorded.invalid = true;
        if std::ptr::eq(self.origin.as_ptr(), Arc::as_ptr(stream)) {
            let members: Vec<_> = recorded.last.drain().map(|(_, (member, _))| member).collect();
            drop(recorded);
            release(members.iter());
        }
    }

    /// `CUstreamCaptureStatus`.
    pub(crate) fn status(&self) -> i32 {
        if lock(&self.recorded).invalid { 2 } else { 1 }
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
    pub(crate) fn add(&self, stream: &Arc<Stream>, work: Work) -> Result<()> {
        self.record(stream, |after| Step::new(work, after))
    }

    fn record(&self, stream: &Arc<Stream>, step: impl FnOnce(Vec<usize>) -> Step) -> Result<()> {
        let mut recorded = lock(&self.recorded);
        if recorded.invalid {
            return Err(Error::StreamCaptureInvalidated);
        }
        let index = recorded.content.nodes.len();
        let (_, last) = recorded.last.get_mut(&key(stream)).ok_or(Error::IllegalState)?;
        let after = std::mem::replace(last, vec![index]);
        recorded.content.nodes.push(step(after));
        Ok(())
    }

    /// Allocates memory that the graph keeps.
    pub(crate) fn allocate(
        &self,
        stream: &Arc<Stream>,
        context: &Context,
        bytes: usize,
    ) -> Result<u64> {
        let address = memory::allocate(context, bytes, memory::Kind::Graph)?;
        let recorded = lock(&self.recorded);
        lock(&recorded.content.memory.addresses).push((address, context.ordinal));
        drop(recorded);
        self.record(stream, |after| Step { kind: ALLOCATION, ..Step::new(Work::Nothing, after) })?;
        Ok(address)
    }

    /// Records that memory of the graph is freed; other memory cannot be.
    pub(crate) fn release(&self, stream: &Arc<Stream>, address: u64) -> Result<()> {
        let recorded = lock(&self.recorded);
        let own = lock(&recorded.content.memory.addresses).iter().any(|(own, _)| *own == address);
        drop(recorded);
        if !own {
            return Err(Error::InvalidValue);
        }
        self.record(stream, |after| Step { kind: RELEASE, ..Step::new(Work::Nothing, after) })
    }

    /// The moment that a stream is at.
    pub(crate) fn mark(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<Captured> {
        let recorded = lock(&self.recorded);
        if recorded.invalid {
            return Err(Error::StreamCaptureInvalidated);
        }
        let (_, nodes) = recorded.last.get(&key(stream)).ok_or(Error::IllegalState)?;
        Ok(Captured { capture: Arc::downgrade(self), nodes: nodes.clone() })
    }
}

impl Captured {
    /// Lets a stream wait for the moment: the stream is captured as well from then on.
    pub(crate) fn join(&self, stream: &Arc<Stream>) -> Result<()> {
        let capture = self.capture.upgrade().ok_or(Error::CapturedEvent)?;
        if stream.kind == Kind::Legacy {
            capture.invalidate();
            return Err(Error::StreamCaptureImplicit);
        }
        let mut slot = lock(&stream.capture);
        if let Some(other) = slot.as_ref()
            && !Arc::ptr_eq(other, &capture)
        {
            other.invalidate();
            capture.invalidate();
            return Err(Error::StreamCaptureMerge);
        }
        let mut recorded = lock(&capture.recorded);
        let fresh = || (Arc::downgrade(stream), Vec::new());
        let (_, last) = recorded.last.entry(key(stream)).or_insert_with(fresh);
        let new: Vec<usize> =
            self.nodes.iter().copied().filter(|node| !last.contains(node)).collect();
        last.extend(new);
        drop(recorded);
        *slot = Some(capture);
        Ok(())
    }
}
