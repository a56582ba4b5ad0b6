//! Results of functions: which parts of them a function has written when it returns.
//!
//! A device returns results in registers, and who uses one that was not written uses an undefined register. Each part
//! of a result has a slot that holds nothing, and is defined or not as those of registers are: instructions that do
//! nothing follow each store to a result, and each load of one.

use super::build::{Build, Flow};
use super::function::Decoder;
use crate::execute::instructions::control_flow::nothing;
use crate::execute::{Handler, Transfer};
use crate::program::{Parts, Slice};
use crate::ptx::Operand;

/// The bytes of a result whose parts are watched. Devices pass longer ones in memory.
const MOST_BYTES: u32 = 128;

impl<'a> Decoder<'_, 'a> {
    /// New slots for the parts of a result of so many bytes: its elements, which have so many.
    pub(super) fn parts_of(
        &mut self,
        name: &str,
        (bytes, element): (u32, u32),
        initially: bool,
    ) -> Parts {
        if bytes == 0 || bytes > MOST_BYTES || element == 0 || !bytes.is_multiple_of(element) {
            return Parts::default();
        }
        self.names.file.parts(name, (bytes / element, element), initially)
    }

    /// The parts of what a call gives: those of the variables, whose types are not known here, are bytes.
    pub(super) fn parts_of_call(
        &mut self,
        results: &[Operand<'a>],
        slices: &[Slice],
    ) -> Vec<Parts> {
        let mut all = Vec::new();
        for (operand, slice) in results.iter().zip(slices) {
            let parts = match self.parts.get(&slice.offset) {
                Some(&parts) => parts,
                None => {
                    let name = if let Operand::Name(name, _) = operand { name } else { "_" };
                    self.parts_of(name, (slice.bytes, 1), false)
                }
            };
            self.parts.insert(slice.offset, parts);
            all.push(parts);
        }
        all
    }

    /// The slots of the parts of a result at a place of the frame; none where no result is there.
    fn parts_at(&self, offset: u32, bytes: u32) -> std::ops::Range<u32> {
        match self.parts.range(..=offset).next_back() {
            Some((start, parts)) => parts.within(offset - start, bytes),
            None => 0..0,
        }
    }

    /// The bytes of each part of the result at a place of the frame.
    fn part_bytes(&self, offset: u32) -> u32 {
        self.parts.range(..=offset).next_back().map_or(0, |(_, parts)| parts.bytes)
    }

    /// Notes that each of these slots was stored to the next bytes at a place of the frame, or loaded from there.
    pub(super) fn pass_parts(&mut self, offset: u32, bytes: u32, slots: &[u32], write: bool) {
        for (number, &slot) in slots.iter().enumerate() {
            let parts = self.parts_at(offset.wrapping_add(number as u32 * bytes), bytes);
            if parts.is_empty() {
                continue;
            }
            let note = if write && bytes < self.part_bytes(offset) {
                // What is not stored stays as it was.
                let note = Build::new(nothing).reads(slot).transfer(Transfer::Pack);
                parts.fold(note, |note, part| note.reads(part).writes(part))
            } else if write {
                let note = Build::new(nothing).reads(slot).transfer(Transfer::Compute);
                parts.fold(note, Build::writes)
            } else {
                // A loaded word of which a part is padding is defined.
                let note = Build::new(nothing).writes(slot).transfer(Transfer::Pack);
                parts.fold(note, Build::reads)
            };
            self.push(note);
        }
    }

    /// Notes that something else may write a result: its address is taken.
    pub(super) fn define_parts(&mut self, start: u32) {
        let Some(&Parts { first, count, .. }) = self.parts.get(&start) else { return };
        if count > 0 {
            let note = Build::new(nothing).transfer(Transfer::Pack);
            self.push((first..first + count).fold(note, Build::writes));
        }
    }

    /// `ret`, and the end of a function.
    pub(super) fn push_return(&mut self, leave: Handler) {
        let own = self.function.result_parts.iter();
        let slots: Vec<_> = own.flat_map(|parts| parts.first..parts.first + parts.count).collect();
        let build = Build::new(leave).flow(Flow::End).transfer(Transfer::Return);
        self.push(slots.into_iter().fold(build, Build::reads));
    }

    /// A call of the site that was added last.
    pub(super) fn push_call(&mut self, build: Build) {
        let site = self.function.tables.calls.last();
        let parts = site.map(|site| site.parts.clone()).unwrap_or_default();
        let slots = parts.into_iter().flat_map(|parts| parts.first..parts.first + parts.count);
        self.push(slots.fold(build.transfer(Transfer::Call), Build::writes));
    }
}
