//! Addresses that are computed from coordinates: from quotients and remainders of numbers that grow from thread to thread, as
//! `x[(i % n) + (m - 1 - i / n) * n]`. They are no row as far as the compiler knows, and one between two borders all the same.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use super::plan::Plan;
use crate::cpu::uniformity::is_pure_intrinsic;

/// How many instructions are looked at.
const LIMIT: usize = 64;

impl<'c> Plan<'c> {
    /// Whether an address whose lanes differ anyhow is computed from coordinates, and from nothing that was read.
    pub(in crate::cpu::vectorize) fn is_of_coordinates(&self, address: Value<'c>) -> bool {
        use Opcode::{
            AShr, Add, And, Freeze, GetElementPtr, LShr, Mul, Or, Phi, SDiv, SExt, SRem, Select,
            Shl, Sub, Trunc, UDiv, URem, Xor, ZExt,
        };
        let (mut seen, mut work, mut is_divided) = (HashSet::new(), vec![address], false);
        while let Some(value) = work.pop() {
            // Blocks are operands too.
            if !value.is_instruction() || self.is_regular(value) || !seen.insert(value) {
                continue;
            }
            if seen.len() > LIMIT {
                return false;
            }
            match value.opcode() {
                UDiv | SDiv | URem | SRem => {
                    let by = value.operand(1);
                    if !self.shapes.shape(by).is_uniform() {
                        return false;
                    }
                    is_divided = true;
                }
                Add | Sub | Mul | Shl | LShr | AShr | And | Or | Xor | SExt | ZExt | Trunc
                | Freeze | GetElementPtr | Phi => {}
                // What it is chosen by may be anything.
                Select => {
                    work.extend([value.operand(1), value.operand(2)]);
                    continue;
                }
                Opcode::Call if is_pure_intrinsic(value).is_some() => {
                    work.extend(value.arguments());
                    continue;
                }
                _ => return false,
            }
            work.extend(value.operands());
        }
        is_divided
    }

    /// Whether a value is uniform or strided.
    fn is_regular(&self, value: Value<'c>) -> bool {
        self.shapes.shape(value) != crate::cpu::uniformity::Shape::Varying
    }
}
