//! Resources of the kernels in a cubin, as ptxas recorded them.
//!
//! A cubin is an ELF file. Its section `.nv.info` is a list of attributes, of which those that name a
//! function by its place in the symbol table give the registers and the stack of a thread. `.nv.info.NAME` has
//! the launch bounds of a kernel. The size of the section `.nv.shared.NAME` is the static shared memory of a
//! block, and those of `.nv.constant0.NAME` and the like its constant memory. NVIDIA documents the programs
//! that print these numbers (cuobjdump, nvdisasm: the CUDA Binary Utilities), not the bytes; a test
//! compares the two.

use std::collections::BTreeMap;

use kernelmill_artifact::{Resources, threads_with};
use object::{
    LittleEndian,
    elf::FileHeader64,
    read::elf::{ElfFile, ElfSymbol},
    {Object as _, ObjectSection as _, ObjectSymbol as _, SymbolIndex},
};

/// The attributes that are read, of the form [`SIZED`]: a symbol and a number.
mod attribute {
    /// The registers of a thread.
    pub(super) const REGISTERS: u8 = 0x2f;
    /// The bytes of a thread's stack, without what it calls.
    pub(super) const FRAME_BYTES: u8 = 0x11;
    /// The bytes of a thread's stack, with what it calls as far as that is known.
    pub(super) const MIN_STACK_BYTES: u8 = 0x12;
    /// Of a kernel: the most threads of a block, in three dimensions.
    pub(super) const MAX_THREADS: u8 = 0x05;
    /// Of a kernel: the exact threads of a block.
    pub(super) const REQUIRED_THREADS: u8 = 0x10;
}

/// The form of an attribute whose payload has its size in front. The payloads of others are in the two
/// bytes where these have their size.
const SIZED: u8 = 4;

/// The stack of a kernel that recurses.
const UNBOUNDED: u32 = u32::MAX;

type Elf<'d> = ElfFile<'d, FileHeader64<LittleEndian>>;

/// The bytes of shared memory that the system keeps of each block. From the ninth generation on, a cubin counts them with
/// the kernel's own.
const SYSTEM_SHARED_BYTES: u64 = 1024;

/// What each kernel takes, by its symbol; nothing where the bytes are not a cubin.
pub(super) fn resources(cubin: &[u8]) -> BTreeMap<String, Resources> {
    let mut found = BTreeMap::new();
    let Ok(elf) = Elf::parse(cubin) else { return found };
    for (kind, payload) in attributes(data(&elf, ".nv.info")) {
        let Some((name, number)) = named(&elf, payload) else { continue };
        let kernel: &mut Resources = found.entry(name.to_owned()).or_default();
        match kind {
            attribute::REGISTERS => kernel.registers = Some(number),
            attribute::FRAME_BYTES | attribute::MIN_STACK_BYTES => {
                kernel.stack_bytes = kernel.stack_bytes.max(Some(number));
            }
            _ => {}
        }
    }
    // Functions that kernels call have these attributes too, and no parameters in constant memory.
    found.retain(|name, _| elf.section_by_name(&format!(".nv.constant0.{name}")).is_some());
    for (name, kernel) in &mut found {
        add_sections(&elf, name, kernel);
        kernel.stack_bytes = kernel.stack_bytes.filter(|bytes| *bytes != UNBOUNDED);
        let bounds = attributes(data(&elf, &format!(".nv.info.{name}"))).filter_map(threads);
        kernel.max_threads = bounds.chain(kernel.registers.map(threads_with)).min();
    }
    found
}

/// Adds the memory whose size is that of a section.
fn add_sections(elf: &Elf<'_>, name: &str, kernel: &mut Resources) {
    let shared = elf.section_by_name(&format!(".nv.shared.{name}"));
    let shared = shared.map_or(0, |section| section.size());
    let own = shared.saturating_sub(if counts_system_bytes(elf) { SYSTEM_SHARED_BYTES } else { 0 });
    kernel.static_shared_bytes = Some(u32::try_from(own).unwrap_or(u32::MAX));
    let constants = elf.sections().filter(|section| {
        let bank = section.name().ok().and_then(|name| name.strip_prefix(".nv.constant"));
        bank.and_then(|bank| bank.split_once('.')).is_some_and(|(_, of)| of == name)
    });
    let constants: u64 = constants.map(|section| section.size()).sum();
    kernel.constant_bytes = Some(u32::try_from(constants).unwrap_or(u32::MAX));
}

/// Whether static shared memory has the bytes of the system in it: the second byte of the header's flags is the
/// architecture, and in older versions of the format the first.
fn counts_system_bytes(elf: &Elf<'_>) -> bool {
    let flags = elf.elf_header().e_flags.get(LittleEndian);
    let [low, high, ..] = flags.0.to_le_bytes();
    low.max(high) >= 90
}

/// The content of a section; empty where there is none.
fn data<'d>(elf: &Elf<'d>, section: &str) -> &'d [u8] {
    let section = elf.section_by_name(section);
    section.and_then(|section| section.data().ok()).unwrap_or_default()
}

/// The threads of a block in an attribute that limits them.
fn threads((kind, payload): (u8, &[u8])) -> Option<u32> {
    if !matches!(kind, attribute::MAX_THREADS | attribute::REQUIRED_THREADS) {
        return None;
    }
    let (sizes, _) = payload.as_chunks();
    sizes.iter().map(|size| u32::from_le_bytes(*size)).reduce(u32::saturating_mul)
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
