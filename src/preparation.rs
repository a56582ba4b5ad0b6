//! Preparation: what stands for a stream while a launch is prepared.
//!
//! As the recorder of a graph it takes a launch instead of running it. It notes the memory that the launch uses, which
//! stays the caller's. Guaranteed: all of it is of the device that the launch is prepared for.

use std::{
    any::Any,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::Result,
    hal::{self, ContextId, Guard, Memory, StreamRef},
    launch::Launch,
};
use kernelmill_artifact::Signature;

/// A stream that one launch is prepared on.
pub(crate) struct Preparation {
    context: ContextId,
    noted: Mutex<Noted>,
}

/// What a wrapper has told so far.
#[derive(Default)]
pub(crate) struct Noted {
    /// In the order of the parameters.
    pub(crate) memory: Vec<PreparedMemory>,
    /// The elements of each slice: their address and how many they are.
    pub(crate) slices: Vec<(u64, usize)>,
    /// Which kernel is launched, and how.
    pub(crate) asked: Option<(&'static Signature, Launch<3>)>,
    /// The launch; `None` where there is nothing to do.
    pub(crate) launch: Option<Box<dyn Any + Send>>,
}

/// Memory that a prepared launch uses, borrowed for as long as it can be launched.
pub(crate) struct PreparedMemory {
    memory: NonNull<dyn Memory>,
    writes: bool,
}

// SAFETY: it stands for `&dyn Memory` or `&mut dyn Memory`, and memory can be used from every thread.
unsafe impl Send for PreparedMemory {}

impl Preparation {
    /// A preparation for launches in a context.
    pub(crate) fn new(context: ContextId) -> Self {
        Self { context, noted: Mutex::default() }
    }

    /// A preparation of a launch that takes the place of another.
    pub(crate) fn again(context: ContextId, before: Option<Box<impl Any + Send>>) -> Self {
        let launch = before.map(|before| before as Box<dyn Any + Send>);
        Self { context, noted: Mutex::new(Noted { launch, ..Noted::default() }) }
    }

    /// Whether the launch is for this context.
    pub(crate) fn is_for(&self, context: ContextId) -> bool {
        self.context == context
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes memory that the launch reads.
    pub(crate) fn read(&self, memory: &dyn Memory) {
        self.note(NonNull::from_ref(memory), false);
    }

    /// Notes memory that the launch writes.
    pub(crate) fn write(&self, memory: &mut dyn Memory) {
        self.note(NonNull::from_mut(memory), true);
    }

    fn note(&self, memory: NonNull<dyn Memory + '_>, writes: bool) {
        // SAFETY: the two types differ in a lifetime alone. Who prepares a launch promises that the memory is
        // borrowed for as long as it is used by that.
        let memory =
            unsafe { std::mem::transmute::<NonNull<dyn Memory + '_>, NonNull<dyn Memory>>(memory) };
        self.lock().memory.push(PreparedMemory { memory, writes });
    }

    /// Notes the elements of a slice, which come in the order of the parameters.
    pub(crate) fn note_slice(&self, address: u64, len: usize) {
        self.lock().slices.push((address, len));
    }

    /// Takes a launch of a kernel as it was asked for, and the place of the launch itself: the one before, where this one
    /// is to take its place.
    pub(crate) fn put(
        &self,
        (signature, launch): (&'static Signature, Launch<3>),
        put: impl FnOnce(&mut Option<Box<dyn Any + Send>>),
    ) {
        let mut noted = self.lock();
        noted.asked = Some((signature, launch));
        put(&mut noted.launch);
    }

    /// What was noted.
    pub(crate) fn into_noted(self) -> Noted {
        self.noted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PreparedMemory {
    /// Holds the memory for a launch on a stream.
    ///
    /// # Safety
    ///
    /// It is borrowed still, for writing where the launch writes it.
    pub(crate) unsafe fn hold<'s>(
        &'s mut self,
        stream: &StreamRef<'s>,
        guard: &mut Guard<'s>,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe {
            if self.writes {
                self.memory.as_mut().hold_write(stream, guard)?;
            } else {
                self.memory.as_ref().hold_read(stream, guard)?;
            }
        }
        Ok(())
    }
}

impl hal::Stream for Preparation {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Only buffers of this crate can be used on it, as while a graph is recorded.
    fn is_recording(&self) -> bool {
        true
    }

    fn describe(&self) -> &'static str {
        "a prepared launch on its own device, with buffers of this crate"
    }
}
