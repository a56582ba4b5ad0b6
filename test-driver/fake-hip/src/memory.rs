//! Memory: blocks of the host's memory that stand for a device's, and pinned ones.
//!
//! Guaranteed: an address is given out once, and a block that was freed stays mapped, so that a kernel that uses
//! it reads `0xdd`. Blocks that are allocated and freed in the order of a stream are there between the two.

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

/// How far a block has come. Blocks of a program that allocates at once are [`Stage::There`] or [`Stage::Freed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The stream in whose order it is allocated has not come to that.
    Early,
    There,
    /// The stream in whose order it is freed has not come to that.
    Leaving,
    Freed,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    /// Whether it is allocated and freed in the order of a stream.
    pub(crate) is_ordered: bool,
    pub(crate) stage: Stage,
}

/// When memory is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// When work that uses it is queued.
    Queued,
    /// When that work is done, on its stream.
    Done,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Memory that is there.
    Live(Kind),
    /// Memory that was freed or that is not there yet, or past the end of a block.
    Faulty,
    /// Memory that this library knows nothing of.
    Unknown,
}

impl Block {
    fn is_usable(&self, when: When) -> bool {
        match when {
            When::Queued => self.is_wanted(),
            When::Done => matches!(self.stage, Stage::There | Stage::Leaving),
        }
    }

    /// Whether the program has not given it back.
    fn is_wanted(&self) -> bool {
        matches!(self.stage, Stage::Early | Stage::There)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Memory {
    blocks: BTreeMap<usize, Block>,
    /// Variables of the CPU's code, which are there as long as the process: the bytes of each, and its device.
    variables: BTreeMap<usize, (usize, i32)>,
}

impl Memory {
    /// A block that is there at once.
    pub(crate) fn allocate(
        &mut self,
        bytes: usize,
        kind: Kind,
        limit: usize,
    ) -> Result<usize, Code> {
        let takes = |block: &&Block| block.kind == kind && block.stage != Stage::Freed;
        let used: usize = self.blocks.values().filter(takes).map(|it| it.bytes).sum();
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
        let block = Block { bytes, kind, is_ordered: false, stage: Stage::There };
        self.blocks.insert(address, block);
        Ok(address)
    }

    /// A block that is there when [`Memory::arrive`] says so.
    pub(crate) fn allocate_ordered(
        &mut self,
        bytes: usize,
        kind: Kind,
        limit: usize,
    ) -> Result<usize, Code> {
        let address = self.allocate(bytes, kind, limit)?;
        let block = self.blocks.get_mut(&address).ok_or(code::UNKNOWN)?;
        (block.is_ordered, block.stage) = (true, Stage::Early);
        Ok(address)
    }

    /// Frees a block at once: its first byte is at `address`.
    pub(crate) fn free(&mut self, address: usize, is: impl Fn(Kind) -> bool) -> Result<(), Code> {
        self.give_back(address, |block| !block.is_ordered && is(block.kind))?;
        self.leave(address);
        Ok(())
    }

    /// Takes a block back that is freed when [`Memory::leave`] says so.
    pub(crate) fn free_ordered(&mut self, address: usize, kind: Kind) -> Result<(), Code> {
        self.give_back(address, |block| block.is_ordered && block.kind == kind)
    }

    fn give_back(&mut self, address: usize, is: impl Fn(&Block) -> bool) -> Result<(), Code> {
        let block = self.blocks.get_mut(&address).filter(|block| block.is_wanted() && is(block));
        block.ok_or(code::INVALID_VALUE)?.stage = Stage::Leaving;
        Ok(())
    }

    /// The stream has come to the allocation of a block.
    pub(crate) fn arrive(&mut self, address: usize) {
        if let Some(block) = self.blocks.get_mut(&address)
            && block.stage == Stage::Early
        {
            block.stage = Stage::There;
        }
    }

    /// The stream has come to the release of a block.
    pub(crate) fn leave(&mut self, address: usize) {
        let Some(block) = self.blocks.get_mut(&address) else { return };
        block.stage = Stage::Freed;
        // SAFETY: the memory stays mapped, and has that many bytes.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(address).write_bytes(0xdd, block.bytes);
        }
    }

    /// What `bytes` bytes at an address are of.
    pub(crate) fn find(&self, address: usize, bytes: usize, when: When) -> Found {
        match self.blocks.range(..=address).next_back() {
            Some((start, block)) if address < start + block.bytes => {
                let is_within = bytes <= start + block.bytes - address;
                let is_live = is_within && block.is_usable(when);
                if is_live { Found::Live(block.kind) } else { Found::Faulty }
            }
            _ => self.find_variable(address, bytes).unwrap_or(Found::Unknown),
        }
    }

    fn find_variable(&self, address: usize, bytes: usize) -> Option<Found> {
        let (start, (size, device)) = self.variables.range(..=address).next_back()?;
        let rest = (start + size).checked_sub(address).filter(|rest| *rest > 0)?;
        Some(if bytes <= rest { Found::Live(Kind::Device(*device)) } else { Found::Faulty })
    }

    /// A variable becomes memory of a device. One that two devices load is of the last one that asks for it.
    pub(crate) fn place_variable(&mut self, address: usize, bytes: usize, device: i32) {
        self.variables.insert(address, (bytes, device));
    }

    /// The block that begins at an address, and was not given back.
    pub(crate) fn block(&self, address: usize) -> Option<&Block> {
        self.blocks.get(&address).filter(|block| block.is_wanted())
    }

    /// What the program has not given back.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values().filter(|block| block.is_wanted())
    }
}
