//! The state of a block: shared memory, clocks of the race detector, barriers.

use crate::checks::{Clock, Detector};
use std::ops::Range;

/// What the threads of a block share.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    /// Number in the grid.
    pub(crate) number: u32,
    pub(crate) shared: Vec<u8>,
    /// Which bytes of shared memory are written; empty when not checked.
    pub(crate) shared_written: Vec<bool>,
    /// Whether accesses of shared memory are checked or observed.
    pub(crate) watched: bool,
    /// The race detector, while a thread of this block runs.
    pub(crate) observer: Option<Box<Detector>>,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) printed: String,
    /// Threads that have arrived at each barrier without waiting.
    pub(crate) arrived: [Arrivals; 16],
    /// Bytes of the frames and registers of callers.
    pub(crate) stack_bytes: usize,
}

/// Threads that have arrived at a barrier without waiting.
#[derive(Default)]
pub(crate) struct Arrivals {
    pub(crate) threads: Vec<usize>,
    /// How many threads the barrier wants, as the last of them said.
    pub(crate) wanted: u32,
}

impl Block {
    pub(crate) fn mark_shared_written(&mut self, range: Range<usize>) {
        if !self.shared_written.is_empty() {
            self.shared_written[range].fill(true);
        }
    }
}
