//! Memory: blocks of the host's memory that stand for a device's, and pinned ones.
//!
//! Guaranteed: an address is given out once, and a block that was freed stays mapped, so that a kernel that uses
//! it reads `0xdd`.

use std::{
    alloc::{Layout, alloc},
    collections::BTreeMap,
};

use crate::code::{self, Code};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device(i32),
    Pinned { mapped: bool },
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    pub(crate) is_freed: bool,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Memory that is there.
    Live(Kind),
    /// Memory that was freed, or past the end of a block.
    Faulty,
    /// Memory that this library knows nothing of.
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Memory {
    blocks: BTreeMap<usize, Block>,
}

impl Memory {
    pub(crate) fn allocate(
        &mut self,
        bytes: usize,
        kind: Kind,
        limit: usize,
    ) -> Result<usize, Code> {
        let used: usize = self.live().filter(|block| block.kind == kind).map(|it| it.bytes).sum();
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        if used.saturating_add(bytes) > limit {
            return Err(code::OUT_OF_MEMORY);
        }
        let layout = Layout::from_size_align(bytes, 4096).map_err(|_| code::OUT_OF_MEMORY)?;
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            return Err(code::OUT_OF_MEMORY);
        }
        // SAFETY: the memory has that many bytes.
        unsafe { memory.write_bytes(0xa5, bytes) };
        let address = memory.expose_provenance();
        self.blocks.insert(address, Block { bytes, kind, is_freed: false });
        Ok(address)
    }

    /// Frees a block: its first byte is at `address`.
    pub(crate) fn free(&mut self, address: usize, is: impl Fn(Kind) -> bool) -> Result<(), Code> {
        let block = self.blocks.get_mut(&address).filter(|block| !block.is_freed && is(block.kind));
        let block = block.ok_or(code::INVALID_VALUE)?;
        block.is_freed = true;
        // SAFETY: the memory stays mapped, and has that many bytes.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(address).write_bytes(0xdd, block.bytes);
        }
        Ok(())
    }

    /// What `bytes` bytes at an address are of.
    pub(crate) fn find(&self, address: usize, bytes: usize) -> Found {
        match self.blocks.range(..=address).next_back() {
            Some((start, block)) if address < start + block.bytes => {
                let is_within = bytes <= start + block.bytes - address;
                if is_within && !block.is_freed { Found::Live(block.kind) } else { Found::Faulty }
            }
            _ => Found::Unknown,
        }
    }

    /// The block that begins at an address, and is there.
    pub(crate) fn block(&self, address: usize) -> Option<&Block> {
        self.blocks.get(&address).filter(|block| !block.is_freed)
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values().filter(|block| !block.is_freed)
    }
}
