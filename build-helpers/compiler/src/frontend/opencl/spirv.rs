//! SPIR-V modules as LLVM's back end writes them: a sequence of words, of which each instruction has as many
//! as its first word says ([SPIR-V, "Physical Layout"][layout]).
//!
//! [layout]: https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#PhysicalLayout

use super::selects::Selects;

/// The first word of every module.
const MAGIC: u32 = 0x0723_0203;

/// Words before the first instruction.
const HEADER: usize = 5;

/// Which of them is the bound of ids.
const BOUND: usize = 3;

/// `OpConstantNull`.
const CONSTANT_NULL: u32 = 46;

/// What is read before a source.
pub(super) const PRELUDE: &str = include_str!("spirv.h");

/// The words of a module; `None` where the bytes are none.
fn words(module: &[u8]) -> Option<Vec<u32>> {
    let (words, rest) = module.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    (words.first() == Some(&MAGIC) && rest.is_empty()).then_some(words)
}

/// The instructions behind a module's header; `None` where the last one is not whole.
fn instructions(mut rest: &[u32]) -> Option<Vec<&[u32]>> {
    let mut instructions = Vec::new();
    while let Some(first) = rest.first() {
        let (instruction, behind) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        instructions.push(instruction);
        rest = behind;
    }
    Some(instructions)
}

/// Drops the word that LLVM writes too much behind an `OpConstantNull` of an event or another opaque type, up
/// to LLVM 22 at least: its type once more, which readers refuse; and selects vectors by [vectors](Selects). `None` where the
/// bytes are no module.
pub(crate) fn repair(module: &[u8]) -> Option<Vec<u8>> {
    let words = words(module)?;
    let (header, rest) = words.split_at_checked(HEADER)?;
    let instructions = instructions(rest)?;
    let mut selects = Selects::of(&instructions, header[BOUND]);
    let mut repaired = header.to_vec();
    for instruction in instructions {
        match *instruction {
            [head, ty, result, again] if head & 0xffff == CONSTANT_NULL && ty == again => {
                repaired.extend([3 << 16 | CONSTANT_NULL, ty, result]);
            }
            _ => selects.add(instruction, &mut repaired),
        }
    }
    repaired[BOUND] = selects.bound;
    Some(repaired.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// `OpEntryPoint`, and the execution model of kernels.
const ENTRY_POINT: u32 = 15;
const KERNEL: u32 = 6;

/// The names of a module's kernels; `None` where the bytes are no module.
pub(super) fn kernels(module: &[u8]) -> Option<Vec<String>> {
    let words = words(module)?;
    let (_, rest) = words.split_at_checked(HEADER)?;
    let mut names = Vec::new();
    for instruction in instructions(rest)? {
        if let [head, KERNEL, _, name @ ..] = instruction
            && head & 0xffff == ENTRY_POINT
        {
            let bytes = name.iter().flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
            names.push(String::from_utf8(bytes).ok()?);
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_the_entry_points_of_their_model() {
        let word = |text: &[u8; 4]| u32::from_le_bytes(*text);
        let header = [MAGIC, 0x1_0200, 0, 9, 0];
        let fill = [5 << 16 | ENTRY_POINT, KERNEL, 3, word(b"fill"), 0];
        let other = [4 << 16 | ENTRY_POINT, 5, 4, word(b"gl\0\0")];
        let module = bytes(&[&header[..], &fill, &other].concat());
        assert_eq!(kernels(&module), Some(vec!["fill".to_owned()]));
        assert_eq!(kernels(&module[..module.len() - 4]), None);
        assert_eq!(kernels(b"kernel void k(void) {}  "), None);
    }

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
    fn vectors_are_selected_by_vectors() {
        let header = |bound| [MAGIC, 0x1_0200, 0, bound, 0];
        // `OpTypeBool`, `OpTypeFloat`, `OpTypeVector`.
        let (boolean, float) = ([2 << 16 | 20, 1], [3 << 16 | 22, 2, 32]);
        let (vector, truth) = ([4 << 16 | 23, 3, 2, 4], [3 << 16 | 41, 1, 4]);
        let select = |ty, result, by| [6 << 16 | 169, ty, result, by, 7, 8];
        let module = bytes(
            &[
                &header(10)[..],
                &boolean,
                &float,
                &vector,
                &truth,
                &select(2, 5, 4),
                &select(3, 6, 4),
            ]
            .concat(),
        );
        let of_truth = [4 << 16 | 23, 10, 1, 4];
        // `OpUndef`, `OpCompositeInsert`, `OpVectorShuffle`.
        let (undefined, insert) = ([3 << 16 | 1, 10, 11], [6 << 16 | 82, 10, 12, 4, 11, 0]);
        let shuffle = [9 << 16 | 79, 10, 13, 12, 12, 0, 0, 0, 0];
        let expected = bytes(
            &[
                &header(14)[..],
                &boolean,
                &of_truth,
                &float,
                &vector,
                &truth,
                &select(2, 5, 4),
                &undefined,
                &insert,
                &shuffle,
                &select(3, 6, 13),
            ]
            .concat(),
        );
        assert_eq!(repair(&module).unwrap(), expected);
        // The type is there now, and the condition is a vector.
        assert_eq!(repair(&expected).unwrap(), expected);
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
