//! Lanes that perform a collective together.

use crate::execute::state::Thread;

/// The lanes of a warp that wait for one operation together.
pub(crate) struct Lanes<'a> {
    pub(crate) threads: &'a mut [Thread],
    pub(crate) members: u32,
}

impl Lanes<'_> {
    pub(crate) fn get(&self, lane: usize, slot: u32) -> u64 {
        self.threads[lane].registers[slot as usize]
    }

    pub(crate) fn set(&mut self, lane: usize, slot: u32, value: u64) {
        self.threads[lane].registers[slot as usize] = value;
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = usize> + use<> {
        let members = self.members;
        (0..32).filter(move |lane| members >> lane & 1 == 1)
    }

    pub(crate) fn set_all(&mut self, slot: u32, value: u64) {
        self.each().for_each(|lane| self.set(lane, slot, value));
    }
}
