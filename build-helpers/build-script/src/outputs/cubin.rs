//! Resources of the kernels in a cubin, as ptxas recorded them.
//!
//! A cubin is an ELF file. Its section `.nv.info` is a list of attributes, of which those that name a
//! function by its place in the symbol table give the registers and the stack of a thread; the size of
//! the section `.nv.shared.NAME` is the static shared memory of a block. NVIDIA documents the programs
//! that print these numbers (cuobjdump, nvdisasm: the CUDA Binary Utilities), not the bytes; a test
//! compares the two.

use crate::manifest::Resources;
use object::{
    LittleEndian,
    elf::FileHeader64,
    read::elf::{ElfFile, ElfSymbol},
    {Object as _, ObjectSection as _, ObjectSymbol as _, SymbolIndex},
};
use std::collections::BTreeMap;

/// The attributes that are read, of the form [`SIZED`]: a symbol and a number.
mod attribute {
    /// The registers of a thread.
    pub(super) const REGISTERS: u8 = 0x2f;
    /// The bytes of a thread's stack, without what it calls.
    pub(super) const FRAME_BYTES: u8 = 0x11;
    /// The bytes of a thread's stack, with what it calls as far as that is known.
    pub(super) const MIN_STACK_BYTES: u8 = 0x12;
}

/// The form of an attribute whose payload has its size in front. The payloads of others are in the two
/// bytes where these have their size.
const SIZED: u8 = 4;

/// The stack of a kernel that recurses.
const UNBOUNDED: u32 = u32::MAX;

type Elf<'d> = ElfFile<'d, FileHeader64<LittleEndian>>;

/// What each kernel takes, by its symbol; nothing where the bytes are not a cubin.
pub(super) fn resources(cubin: &[u8]) -> BTreeMap<String, Resources> {
    let mut found = BTreeMap::new();
    let Ok(elf) = Elf::parse(cubin) else { return found };
    let info = elf.section_by_name(".nv.info").and_then(|section| section.data().ok());
    for (kind, payload) in attributes(info.unwrap_or_default()) {
        let Some((name, number)) = named(&elf, payload) else { continue };
        let kernel: &mut Resources = found.entry(name.to_owned()).or_default();
        match kind {
            attribute::REGISTERS => kernel.registers = number,
            attribute::FRAME_BYTES | attribute::MIN_STACK_BYTES => {
                kernel.stack_bytes = kernel.stack_bytes.max(Some(number));
            }
            _ => {}
        }
    }
    for (name, kernel) in &mut found {
        let section = elf.section_by_name(&format!(".nv.shared.{name}"));
        let bytes = section.map_or(0, |section| section.size());
        kernel.shared_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        kernel.stack_bytes = kernel.stack_bytes.filter(|bytes| *bytes != UNBOUNDED);
    }
    found
}

/// The attributes whose payload has a size, with their kinds.
fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let ([form, kind, low, high], after) = rest.split_first_chunk()?;
            if *form != SIZED {
                rest = after;
                continue;
            }
            let size = usize::from(u16::from_le_bytes([*low, *high]));
            let (payload, after) = after.split_at_checked(size)?;
            rest = after;
            return Some((*kind, payload));
        }
    })
}

/// The function and the number in a payload of two words.
fn named<'d>(elf: &Elf<'d>, payload: &[u8]) -> Option<(&'d str, u32)> {
    let (symbol, number) = payload.split_first_chunk()?;
    let number = u32::from_le_bytes(*number.first_chunk().filter(|_| number.len() == 4)?);
    let index = SymbolIndex(usize::try_from(u32::from_le_bytes(*symbol)).ok()?);
    let symbol: ElfSymbol<'d, '_, _> = elf.symbol_by_index(index).ok()?;
    Some((symbol.name().ok()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cubin_has_no_resources() {
        assert!(resources(b"").is_empty());
        assert!(resources(b"\x7fELF\x02\x01").is_empty());
        assert!(resources(&[0xff; 4096]).is_empty());
    }

    #[test]
    fn attributes_of_every_form_are_stepped_over() {
        let bytes = [
            [3, 0x1b, 0xff, 0].as_slice(),
            &[SIZED, attribute::REGISTERS, 8, 0, 1, 0, 0, 0, 32, 0, 0, 0],
            &[SIZED, 0x99, 9, 0],
        ]
        .concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(attribute::REGISTERS, [1, 0, 0, 0, 32, 0, 0, 0].as_slice())]);
    }
}
