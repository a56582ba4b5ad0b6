//! Addresses of buffers: a range of numbers for each, which no other buffer of its device ever has.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The buffers of a device, by their addresses.
#[derive(Default)]
pub(super) struct Buffers(Mutex<State>);

struct State {
    next: u64,
    buffers: BTreeMap<u64, wgpu::Buffer>,
}

/// A place in a buffer.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) buffer: wgpu::Buffer,
    pub(super) offset: u64,
}

/// Where addresses begin, and the multiple that they are of: elements of every type are aligned there, and what stands
/// for the address of no elements is smaller.
const STEP: u64 = 1 << 16;

impl Default for State {
    fn default() -> Self {
        Self { next: STEP, buffers: BTreeMap::new() }
    }
}

impl Buffers {
    /// Gives a buffer its address.
    pub(super) fn add(&self, buffer: wgpu::Buffer) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = state.next;
        // With a gap, so that the end of one is no place of the next.
        state.next += buffer.size().next_multiple_of(STEP) + STEP;
        state.buffers.insert(address, buffer);
        address
    }

    /// Forgets the buffer with this address.
    pub(super) fn remove(&self, address: u64) -> Option<wgpu::Buffer> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.buffers.remove(&address)
    }

    /// The place at an address; `None` where there is no buffer.
    pub(super) fn place(&self, address: u64) -> Option<Place> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, buffer) = state.buffers.range(..=address).next_back()?;
        let offset = address - start;
        (offset <= buffer.size()).then(|| Place { buffer: buffer.clone(), offset })
    }
}
