//! Signs of integers: those of the arguments of a least, a greatest or a clamped value are those of the result.
//!
//! Instructions of SPIR-V [do not care][signs], and naga clamps a signed index as an unsigned one with its bound. Its reader
//! has functions of WGSL for them, whose arguments are of one type.
//!
//! [signs]: https://registry.khronos.org/SPIR-V/specs/unified1/GLSL.std.450.html

use std::collections::BTreeMap;

use crate::backend::wgpu::interface::{HEADER, instructions};

const OP_EXTENDED: u32 = 12;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_VECTOR: u32 = 23;
/// The first instruction with a result that has a type, besides `OP_EXTENDED`.
const OP_CONSTANT: u32 = 43;
const OP_BITCAST: u32 = 124;

/// The place of the number that is greater than all others of a module.
const BOUND: usize = 3;

/// Whether an extended instruction of integers takes them as signed: `SMin`, `SMax` and `SClamp`, or `UMin`, `UMax` and
/// `UClamp`. `None`: it is another.
fn is_signed(instruction: u32) -> Option<bool> {
    match instruction {
        39 | 42 | 45 => Some(true),
        38 | 41 | 44 => Some(false),
        _ => None,
    }
}

/// The module, in which arguments of such instructions are cast to the type of the result where that has the sign of the
/// instruction. Bits stay what they are.
pub(super) fn matched(module: &[u32]) -> Vec<u32> {
    let mut types = Types::default();
    let mut matched = module[..HEADER].to_vec();
    for (place, code, operands) in instructions(module) {
        types.note(code, operands);
        let start = matched.len();
        matched.extend(&module[place]);
        let (OP_EXTENDED, [ty, _, _, instruction, arguments @ ..]) = (code, operands) else {
            continue;
        };
        if is_signed(*instruction).is_none_or(|sign| types.integers.get(ty) != Some(&sign)) {
            continue;
        }
        let first = matched.len() - arguments.len();
        let mut casts = Vec::new();
        for (place, argument) in (first..).zip(arguments) {
            if types.of_values.get(argument).is_some_and(|it| it != ty) {
                let id = matched[BOUND];
                matched[BOUND] += 1;
                casts.extend([4 << 16 | OP_BITCAST, *ty, id, *argument]);
                matched[place] = id;
            }
        }
        matched.splice(start..start, casts);
    }
    matched
}

/// The types of a module that are integers or vectors of them.
#[derive(Default)]
struct Types {
    /// Whether they are signed.
    integers: BTreeMap<u32, bool>,
    /// Those of values.
    of_values: BTreeMap<u32, u32>,
}

impl Types {
    fn note(&mut self, code: u32, operands: &[u32]) {
        match (code, operands) {
            (OP_TYPE_INT, [id, _, sign]) => drop(self.integers.insert(*id, *sign != 0)),
            (OP_TYPE_VECTOR, [id, element, _]) => {
                if let Some(sign) = self.integers.get(element).copied() {
                    self.integers.insert(*id, sign);
                }
            }
            // The first operand of an instruction without a result is no type.
            (OP_EXTENDED | OP_CONSTANT.., [ty, id, ..]) if self.integers.contains_key(ty) => {
                self.of_values.insert(*id, *ty);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 is `u32`, 2 `i32`, 3 `f32`; 11, 12 and 13 are values of them.
    fn module(instruction: &[u32]) -> Vec<u32> {
        let header = [0x0723_0203, 0x0001_0400, 0, 20, 0];
        let types = [4 << 16 | OP_TYPE_INT, 1, 32, 0, 4 << 16 | OP_TYPE_INT, 2, 32, 1];
        let float = [3 << 16 | 22, 3, 32];
        let values = [1, 2, 3].map(|ty| [4 << 16 | OP_CONSTANT, ty, 10 + ty, 7]);
        let first = ((instruction.len() as u32 + 1) << 16) | OP_EXTENDED;
        [&header[..], &types, &float, values.as_flattened(), &[first], instruction].concat()
    }

    #[test]
    fn arguments_of_another_sign_are_cast() {
        for code in [38, 41, 44] {
            let module = module(&[1, 14, 5, code, 12, 11, 12]);
            let matched = matched(&module);
            let cast = |id| vec![4 << 16 | OP_BITCAST, 1, id, 12];
            let changed = vec![8 << 16 | OP_EXTENDED, 1, 14, 5, code, 20, 11, 21];
            let start = module.len() - changed.len();
            let expected = [&module[..start], &cast(20), &cast(21), &changed].concat();
            assert_eq!((matched[BOUND], &matched[4..]), (22, &expected[4..]));
        }
    }

    #[test]
    fn other_instructions_stay() {
        // One sign, a result of the other sign, floating-point numbers, and another function.
        for instruction in [
            [1, 14, 5, 38, 11, 11],
            [2, 14, 5, 39, 12, 12],
            [2, 14, 5, 38, 12, 11],
            [3, 14, 5, 37, 13, 13],
            [1, 14, 5, 4, 12, 12],
        ] {
            let module = module(&instruction);
            assert_eq!(matched(&module), module);
        }
    }
}
