//! The register file of a function: its slots, the names of those that are registers, and the registers
//! that are parameters.

use crate::program::{Parts, Slice};
use crate::ptx::Type;

/// A register and its place in the frame.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) slot: u32,
    pub(super) ty: Type,
    pub(super) slice: Slice,
}

/// The registers that a function gives back.
#[derive(Default)]
pub(super) struct RegisterParameters {
    pub(super) returns: Vec<Placed>,
}

/// The slots of a function while it is decoded.
#[derive(Default)]
pub(crate) struct RegisterFile {
    /// Contents of the slots when the function is entered.
    pub(crate) template: Vec<u64>,
    pub(crate) registers: Registers,
}

/// The slots that are registers.
#[derive(Default)]
pub(crate) struct Registers {
    /// By rising slots.
    named: Vec<Named>,
    /// What stands for results of calls, by rising slots.
    given: Vec<Named>,
}

struct Named {
    first: u32,
    slots: u32,
    lanes: u32,
    name: String,
}

impl RegisterFile {
    /// A slot that nothing else uses.
    pub(crate) fn scratch(&mut self, value: u64) -> u32 {
        self.template.push(value);
        self.template.len() as u32 - 1
    }

    /// The slots of a register, or of the lanes of a vector; gives the first.
    pub(super) fn register(&mut self, name: &str, ty: Type, lanes: u32) -> u32 {
        let first = self.template.len() as u32;
        let slots = slots_of(ty) * lanes;
        // Unwritten registers read as a pattern that stands out.
        let fill = if ty == Type::Pred { 0 } else { 0xdead_beef_dead_beef };
        let width = u64::MAX >> (64 - ty.bits().min(64));
        self.template.extend(std::iter::repeat_n(fill & width, slots as usize));
        self.registers.named.push(Named { first, slots, lanes, name: name.to_string() });
        first
    }
}

impl RegisterFile {
    /// Slots that stand for the parts of a result; `initially` says whether they are undefined when the function is
    /// entered.
    pub(super) fn parts(
        &mut self,
        name: &str,
        (count, bytes): (u32, u32),
        initially: bool,
    ) -> Parts {
        let first = self.template.len() as u32;
        self.template.extend(std::iter::repeat_n(0, count as usize));
        let named = Named { first, slots: count, lanes: 1, name: name.to_string() };
        if initially {
            self.registers.named.push(named);
        } else {
            self.registers.given.push(named);
        }
        Parts { first, count, bytes }
    }
}

impl Registers {
    /// For each of `count` slots, whether it is a register.
    pub(crate) fn slots(&self, count: usize) -> Vec<bool> {
        let mut slots = vec![false; count];
        for named in &self.named {
            slots[named.first as usize..(named.first + named.slots) as usize].fill(true);
        }
        slots
    }

    /// The name of a register in the PTX.
    pub(crate) fn name(&self, slot: u32) -> String {
        let in_given = self.given.iter().any(|it| (it.first..it.first + it.slots).contains(&slot));
        let all = if in_given { &self.given } else { &self.named };
        let after = all.partition_point(|named| named.first <= slot);
        match after.checked_sub(1).map(|place| &all[place]) {
            Some(named) if slot < named.first + named.slots => match named.lanes {
                1 => named.name.clone(),
                _ => {
                    let member = ["x", "y", "z", "w"][(slot - named.first) as usize % 4];
                    format!("{}.{member}", named.name)
                }
            },
            _ => format!("slot {slot}"),
        }
    }
}

/// Slots of a register: two for 128 bits.
fn slots_of(ty: Type) -> u32 {
    if ty == Type::B128 { 2 } else { 1 }
}
