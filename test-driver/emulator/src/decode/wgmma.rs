//! `wgmma`
//!
//! PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".

use super::build::Build;
use super::function::Decoder;
use super::mma::element;
use super::modifiers::Modifiers;
use super::problem::Problem;
use crate::execute::instructions::control_flow;
use crate::program::{Collective, Element, WarpgroupMultiply};
use crate::ptx::{Instruction, Operand, Type};

/// Columns of `m64n64k16`.
fn columns(word: &str) -> Option<usize> {
    word.strip_prefix("m64n")?.strip_suffix("k16")?.parse().ok()
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_group(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if m.take("fence") || m.take("commit_group") || m.take("wait_group") {
            // Products are done when they are issued.
            m.ignore(&["sync", "aligned"]);
            self.push(Build::new(control_flow::nothing));
            return Ok(());
        }
        if !m.take("mma_async") || !m.take("sync") || !m.take("aligned") {
            return Err(Problem::Unsupported);
        }
        self.multiply_in_group(i, m)
    }

    /// `wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {d, ..}, a, b, adds, 1, 1, 0, 0;`
    fn multiply_in_group(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        let columns = m.pick(columns).ok_or(Problem::Unsupported)?;
        let mut next = || m.pick(element).ok_or(Problem::Unsupported);
        let (sum, first, second) = (next()?, next()?, next()?);
        let halves = [Element::F16, Element::Bf16];
        if sum != Element::F32 || first != second || !halves.contains(&first) {
            return Err(Problem::Unsupported);
        }
        self.count(i, 8)?;
        let numbers: Vec<_> = i.operands[4..8]
            .iter()
            .map(|it| matches!(it, Operand::Integer(n) if *n == 1))
            .collect();
        let zeros = i.operands[6..8].iter().all(|it| matches!(it, Operand::Integer(0)));
        let by_registers = matches!(i.operands[1], Operand::Vector(_));
        if numbers[..2] != [true, true] || !zeros || by_registers {
            return Err(Problem::Unsupported);
        }
        let sums = self.registers(&i.operands[0], true)?;
        if sums.len() * 2 != columns {
            return Problem::error(format!("`{}` has the wrong number of registers", i.mnemonic()));
        }
        let factors =
            [self.read(&i.operands[1], Type::B64)?, self.read(&i.operands[2], Type::B64)?];
        let adds = match &i.operands[3] {
            Operand::Integer(value) => self.constant(u64::from(*value != 0)),
            predicate => self.read(predicate, Type::Pred)?,
        };
        let all = self.constant(0xffff_ffff);
        let reads = [&sums[..], &factors, &[adds]].concat();
        let (writes, line) = (sums.clone(), self.line);
        let operation = WarpgroupMultiply { element: first, factors, sums, adds, line };
        self.push_warp(Collective::Warpgroup(Box::new(operation)), all, &reads, &writes);
        Ok(())
    }
}
