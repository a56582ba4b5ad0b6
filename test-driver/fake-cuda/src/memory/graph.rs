//! Memory of graphs: allocated while they were captured, freed with the last of them.

use std::sync::Mutex;

use super::device;
use crate::base::handle::lock;

/// Memory that a graph has allocated while it was captured. Its addresses stay the same.
#[derive(Default)]
pub(crate) struct GraphMemory {
    /// Addresses, and the ordinals of their devices.
    pub(crate) addresses: Mutex<Vec<(u64, usize)>>,
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        for (address, ordinal) in lock(&self.addresses).drain(..) {
            device::release(address, ordinal);
        }
    }
}
