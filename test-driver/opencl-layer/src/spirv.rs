//! SPIR-V on an implementation that reads LLVM's bitcode for
//! [SPIR](https://registry.khronos.org/SPIR/specs/spir_spec-2.0.pdf) alone, as pocl of Debian does: [llvm-spirv] translates a
//! module when a program is made of it.
//!
//! [llvm-spirv]: https://github.com/KhronosGroup/SPIRV-LLVM-Translator

use std::{
    env, fs, io,
    process::{self, Command},
    sync::{Mutex, PoisonError},
};

/// What a device says that it reads.
pub(crate) const VERSION: &[u8] = b"SPIR-V_1.2\0";

/// What a program of bitcode is built with.
pub(crate) const OPTIONS: &std::ffi::CStr = c"-x spir -spir-std=1.2";

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;

/// Words before the first instruction.
const HEAD: usize = 5;

/// Instructions by their numbers.
mod op {
    pub(super) const TYPE_BOOL: u32 = 20;
    pub(super) const TYPE_INT: u32 = 21;
    pub(super) const TYPE_FLOAT: u32 = 22;
    pub(super) const CONSTANT_FALSE: u32 = 42;
    pub(super) const CONSTANT: u32 = 43;
    pub(super) const CONSTANT_NULL: u32 = 46;
    pub(super) const MEMORY_BARRIER: u32 = 225;
}

/// The translator that `OPENCL_LAYER_SPIRV` names.
pub(crate) fn translator() -> Option<String> {
    env::var("OPENCL_LAYER_SPIRV").ok().filter(|program| !program.is_empty())
}

/// The bitcode of a module; the reason where there is none.
pub(crate) fn translate(translator: &str, module: &[u8]) -> Result<Vec<u8>, String> {
    let module = for_translator(module).ok_or("the module is not SPIR-V")?;
    // Of this process alone, whose programs are made one after another.
    let folder = env::temp_dir().join(format!("opencl-layer-{}", process::id()));
    let (input, output) = (folder.join("module.spv"), folder.join("module.bc"));
    let run = || {
        fs::create_dir_all(&folder)?;
        fs::write(&input, module)?;
        let status =
            Command::new(translator).arg("-r").arg(&input).arg("-o").arg(&output).status()?;
        let bitcode = if status.success() { Some(fs::read(&output)?) } else { None };
        fs::remove_dir_all(&folder)?;
        Ok::<_, io::Error>(bitcode)
    };
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let bitcode = run().map_err(|error| format!("{translator}: {error}"))?;
    bitcode.ok_or_else(|| format!("{translator} failed"))
}

/// The module as the translator takes it.
///
/// Debian's asserts that a null constant is no number. pocl has no `mem_fence` for a program of bitcode, and needs none:
/// each of its atomic operations is sequentially consistent.
fn for_translator(module: &[u8]) -> Option<Vec<u8>> {
    let (words, []) = module.as_chunks::<4>() else { return None };
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (head, mut rest) = words.split_at_checked(HEAD)?;
    if head[0] != MAGIC {
        return None;
    }
    let (mut output, mut zeros) = (head.to_vec(), Vec::new());
    while let [first, ..] = rest {
        let (instruction, tail) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = tail;
        match (first & 0xffff, instruction) {
            (op::TYPE_BOOL, [_, ty]) => zeros.push((*ty, vec![])),
            (op::TYPE_INT, [_, ty, width, _]) | (op::TYPE_FLOAT, [_, ty, width]) => {
                zeros.push((*ty, vec![0; width.div_ceil(32) as usize]));
            }
            (op::MEMORY_BARRIER, _) => continue,
            (op::CONSTANT_NULL, [_, ty, result]) => {
                if let Some((_, zero)) = zeros.iter().find(|(number, _)| number == ty) {
                    let kind = if zero.is_empty() { op::CONSTANT_FALSE } else { op::CONSTANT };
                    output.push((3 + zero.len() as u32) << 16 | kind);
                    output.extend([*ty, *result]);
                    output.extend(zero);
                    continue;
                }
            }
            _ => {}
        }
        output.extend(instruction);
    }
    Some(output.into_iter().flat_map(u32::to_le_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_numbers_become_zeros_and_fences_go() {
        let bytes =
            |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let head = [MAGIC, 0x0001_0200, 0, 9, 0];
        let long = [4 << 16 | op::TYPE_INT, 1, 64, 0];
        let boolean = [2 << 16 | op::TYPE_BOOL, 2];
        let given = [
            &head[..],
            &long,
            &boolean,
            &[3 << 16 | op::CONSTANT_NULL, 1, 3],
            &[3 << 16 | op::CONSTANT_NULL, 2, 4],
            &[3 << 16 | op::CONSTANT_NULL, 7, 5],
            &[3 << 16 | op::MEMORY_BARRIER, 3, 3],
        ];
        let expected = [
            &head[..],
            &long,
            &boolean,
            &[5 << 16 | op::CONSTANT, 1, 3, 0, 0],
            &[3 << 16 | op::CONSTANT_FALSE, 2, 4],
            &[3 << 16 | op::CONSTANT_NULL, 7, 5],
        ];
        assert_eq!(for_translator(&bytes(&given.concat())), Some(bytes(&expected.concat())));
        assert_eq!(for_translator(b"BC\xc0\xde"), None);
        // An instruction that is longer than what is left.
        assert_eq!(for_translator(&bytes(&[&head[..], &[2 << 16]].concat())), None);
    }
}
