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

/// The word of the head that every identifier is below.
const BOUND: usize = 3;

/// Instructions by their numbers.
mod op {
    pub(super) const CAPABILITY: u32 = 17;
    pub(super) const TYPE_VOID: u32 = 19;
    pub(super) const TYPE_BOOL: u32 = 20;
    pub(super) const TYPE_INT: u32 = 21;
    pub(super) const TYPE_FLOAT: u32 = 22;
    pub(super) const TYPE_FUNCTION: u32 = 33;
    pub(super) const FUNCTION: u32 = 54;
    pub(super) const FUNCTION_PARAMETER: u32 = 55;
    pub(super) const FUNCTION_END: u32 = 56;
    pub(super) const FUNCTION_CALL: u32 = 57;
    pub(super) const DECORATE: u32 = 71;
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

/// Each instruction of a module behind its head; `None` where one is longer than what is left.
fn instructions(mut rest: &[u32]) -> Option<Vec<&[u32]>> {
    let mut found = Vec::new();
    while let [first, ..] = rest {
        let (instruction, tail) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        found.push(instruction);
        rest = tail;
    }
    Some(found)
}

fn instruction(op: u32, operands: &[u32]) -> Vec<u32> {
    let first = (operands.len() as u32 + 1) << 16 | op;
    [first].into_iter().chain(operands.iter().copied()).collect()
}

/// The function of pocl's that fences are.
const FENCE: &[u8; 56] = b"_Z22atomic_work_item_fencej12memory_order12memory_scope\0";

/// Fences as calls of a function with three numbers: local and global memory, acquire and release, the work-group.
struct Fences {
    void: u32,
    word: u32,
    /// The first number of an identifier that the module does not have.
    free: u32,
}

impl Fences {
    const ARGUMENTS: [u32; 3] = [3, 4, 1];
    const FUNCTION: u32 = 4;
    /// The identifiers besides those of calls: the type, the arguments, the function and its parameters.
    const COUNT: u32 = 8;

    /// `None` for a module without fences.
    fn of(instructions: &[&[u32]], free: u32) -> Option<Self> {
        let find = |wanted: &dyn Fn(&[u32]) -> Option<u32>| {
            instructions.iter().find_map(|instruction| wanted(instruction))
        };
        let is = |first: u32, op: u32| first & 0xffff == op;
        find(&|it| is(it[0], op::MEMORY_BARRIER).then_some(0))?;
        Some(Self {
            void: find(&|it| it.get(1).copied().filter(|_| is(it[0], op::TYPE_VOID)))?,
            word: find(&|it| match it {
                [first, ty, 32, _] if is(*first, op::TYPE_INT) => Some(*ty),
                _ => None,
            })?,
            free,
        })
    }

    fn capability() -> Vec<u32> {
        const LINKAGE: u32 = 5;
        instruction(op::CAPABILITY, &[LINKAGE])
    }

    fn decoration(&self) -> Vec<u32> {
        const LINKAGE_ATTRIBUTES: u32 = 41;
        const IMPORT: u32 = 1;
        let words = FENCE.as_chunks::<4>().0.iter().map(|it| u32::from_le_bytes(*it));
        let head = [self.free + Self::FUNCTION, LINKAGE_ATTRIBUTES];
        let operands: Vec<_> = head.into_iter().chain(words).chain([IMPORT]).collect();
        instruction(op::DECORATE, &operands)
    }

    fn declaration(&self) -> Vec<u32> {
        let Self { void, word, free } = *self;
        let function = free + Self::FUNCTION;
        let mut words = instruction(op::TYPE_FUNCTION, &[free, void, word, word, word]);
        for (own, value) in (free + 1..).zip(Self::ARGUMENTS) {
            words.extend(instruction(op::CONSTANT, &[word, own, value]));
        }
        words.extend(instruction(op::FUNCTION, &[void, function, 0, free]));
        for own in function + 1..free + Self::COUNT {
            words.extend(instruction(op::FUNCTION_PARAMETER, &[word, own]));
        }
        words.extend(instruction(op::FUNCTION_END, &[]));
        words
    }

    /// The call that is a fence.
    fn call(&self, result: u32) -> Vec<u32> {
        let Self { void, free, .. } = *self;
        let function = free + Self::FUNCTION;
        instruction(op::FUNCTION_CALL, &[void, result, function, free + 1, free + 2, free + 3])
    }
}

/// The module as the translator takes it.
///
/// Debian's asserts that a null constant is no number, and makes `mem_fence` of a fence, which pocl does not have for a program
/// of bitcode.
fn for_translator(module: &[u8]) -> Option<Vec<u8>> {
    let (words, []) = module.as_chunks::<4>() else { return None };
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (head, rest) = words.split_at_checked(HEAD)?;
    if head[0] != MAGIC {
        return None;
    }
    let instructions = instructions(rest)?;
    let (mut output, mut zeros) = (head.to_vec(), Vec::new());
    let fences = Fences::of(&instructions, head[BOUND]);
    let (mut has_types, mut has_functions) = (false, false);
    if let Some(fences) = &fences {
        output[BOUND] = fences.free + Fences::COUNT;
        output.extend(Fences::capability());
    }
    for instruction in instructions {
        let op = instruction[0] & 0xffff;
        if let Some(fences) = &fences {
            if (op::TYPE_VOID..=op::TYPE_FUNCTION).contains(&op)
                && !std::mem::replace(&mut has_types, true)
            {
                output.extend(fences.decoration());
            }
            if op == op::FUNCTION && !std::mem::replace(&mut has_functions, true) {
                output.extend(fences.declaration());
            }
            if op == op::MEMORY_BARRIER {
                let call = fences.call(output[BOUND]);
                output[BOUND] += 1;
                output.extend(call);
                continue;
            }
        }
        match (op, instruction) {
            (op::TYPE_BOOL, [_, ty]) => zeros.push((*ty, vec![])),
            (op::TYPE_INT, [_, ty, width, _]) | (op::TYPE_FLOAT, [_, ty, width]) => {
                zeros.push((*ty, vec![0; width.div_ceil(32) as usize]));
            }
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
    fn null_numbers_become_zeros_and_fences_calls() {
        let bytes =
            |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let head = |bound| [MAGIC, 0x0001_0200, 0, bound, 0];
        let (void, function) =
            ([2 << 16 | op::TYPE_VOID, 10], [5 << 16 | op::FUNCTION, 10, 11, 0, 12]);
        let words = [4 << 16 | op::TYPE_INT, 13, 32, 0];
        let long = [4 << 16 | op::TYPE_INT, 1, 64, 0];
        let boolean = [2 << 16 | op::TYPE_BOOL, 2];
        let given = [
            &head(20)[..],
            &void,
            &words,
            &long,
            &boolean,
            &[3 << 16 | op::CONSTANT_NULL, 1, 3],
            &[3 << 16 | op::CONSTANT_NULL, 2, 4],
            &[3 << 16 | op::CONSTANT_NULL, 7, 5],
            &function,
            &[3 << 16 | op::MEMORY_BARRIER, 3, 3],
            &function,
        ];
        let fences = Fences { void: 10, word: 13, free: 20 };
        let expected = [
            &head(29)[..],
            &[2 << 16 | op::CAPABILITY, 5],
            &fences.decoration(),
            &void,
            &words,
            &long,
            &boolean,
            &[5 << 16 | op::CONSTANT, 1, 3, 0, 0],
            &[3 << 16 | op::CONSTANT_FALSE, 2, 4],
            &[3 << 16 | op::CONSTANT_NULL, 7, 5],
            &fences.declaration(),
            &function,
            &[7 << 16 | op::FUNCTION_CALL, 10, 28, 24, 21, 22, 23],
            &function,
        ];
        assert_eq!(for_translator(&bytes(&given.concat())), Some(bytes(&expected.concat())));
        assert_eq!(for_translator(b"BC\xc0\xde"), None);
        // Without fences nothing is declared.
        let plain = bytes(&[&head(20)[..], &void, &function].concat());
        assert_eq!(for_translator(&plain), Some(plain));
        // An instruction that is longer than what is left.
        assert_eq!(for_translator(&bytes(&[&head(20)[..], &[2 << 16]].concat())), None);
    }
}
