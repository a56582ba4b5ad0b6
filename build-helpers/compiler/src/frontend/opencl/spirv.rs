//! SPIR-V modules as LLVM's back end writes them: a sequence of words, of which each instruction has as many
//! as its first word says ([SPIR-V, "Physical Layout"][layout]).
//!
//! [layout]: https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#PhysicalLayout

/// The first word of every module.
const MAGIC: u32 = 0x0723_0203;

/// Words before the first instruction.
const HEADER: usize = 5;

/// `OpConstantNull`.
const CONSTANT_NULL: u32 = 46;

/// What is read before a source.
pub(super) const PRELUDE: &str = include_str!("spirv.h");

/// Drops the word that LLVM writes too much behind an `OpConstantNull` of an event or another opaque type, up
/// to LLVM 22 at least: its type once more, which readers refuse. `None` where the bytes are no module.
pub(super) fn repair(module: &[u8]) -> Option<Vec<u8>> {
    let (words, rest) = module.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if words.first() != Some(&MAGIC) || !rest.is_empty() {
        return None;
    }
    let (header, mut rest) = words.split_at_checked(HEADER)?;
    let mut repaired = header.to_vec();
    while let Some(first) = rest.first() {
        let (instruction, behind) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        match *instruction {
            [head, ty, result, again] if head & 0xffff == CONSTANT_NULL && ty == again => {
                repaired.extend([3 << 16 | CONSTANT_NULL, ty, result]);
            }
            _ => repaired.extend(instruction),
        }
        rest = behind;
    }
    Some(repaired.into_iter().flat_map(u32::to_le_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_null_has_its_type_once() {
        let header = [MAGIC, 0x1_0200, 0, 9, 0];
        let plain = [3 << 16 | CONSTANT_NULL, 4, 5];
        let other = [4 << 16 | 43, 6, 7, 6];
        let twice = [4 << 16 | CONSTANT_NULL, 6, 7, 6];
        let once = [3 << 16 | CONSTANT_NULL, 6, 7];
        let found = repair(&bytes(&[&header[..], &plain, &twice, &other].concat())).unwrap();
        assert_eq!(found, bytes(&[&header[..], &plain, &once, &other].concat()));
        assert_eq!(repair(&found), Some(found.clone()));
    }

    #[test]
    fn what_is_no_module_is_none() {
        let module = bytes(&[MAGIC, 0x1_0200, 0, 9, 0, 3 << 16 | CONSTANT_NULL, 4]);
        assert_eq!(repair(&module), None);
        assert_eq!(repair(&module[..18]), None);
        assert_eq!(repair(b"kernel void k(void) {}  "), None);
        assert_eq!(repair(&[]), None);
    }
}
