//! `mma`, `ldmatrix`, `stmatrix`.
//!
//! PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".

use super::function::Decoder;
use super::modifiers::Modifiers;
use super::moves::space_named;
use super::problem::Problem;
use crate::launch::Space;
use crate::program::{Collective, Element, LoadMatrix, Multiply, Product};
use crate::ptx::{Base, Instruction, Operand, Type};

pub(super) fn element(word: &str) -> Option<Element> {
    Some(match word {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "tf32" => Element::Tf32,
        "f32" => Element::F32,
        "f64" => Element::F64,
        "s8" => Element::S8,
        "u8" => Element::U8,
        "s4" => Element::S4,
        "u4" => Element::U4,
        "s32" => Element::S32,
        "b1" => Element::B1,
        _ => return None,
    })
}

/// Rows and depth of `m16n8k16`; the columns are always eight.
fn shape(word: &str) -> Option<(usize, usize)> {
    let (rows, depth) = word.strip_prefix('m')?.split_once("n8k")?;
    Some((rows.parse().ok()?, depth.parse().ok()?))
}

/// Whether the lists of registers hold the matrices of the shape.
fn has_all_registers(operation: &Multiply) -> bool {
    let (rows, depth) = (operation.rows, operation.depth);
    let [a, b, c, d] = operation.elements.map(Element::per_register);
    let wanted = [rows * depth / 32 / a, 8 * depth / 32 / b, rows / 4 / c, rows / 4 / d];
    let lists = [&operation.a, &operation.b, &operation.c, &operation.d];
    lists.iter().zip(wanted).all(|(list, wanted)| list.len() == wanted)
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_matrix(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if !m.take("sync") || !m.take("aligned") {
            return Err(Problem::Unsupported);
        }
        match i.opcode {
            "mma" => self.multiply(i, m),
            _ => self.load_matrix(i, m),
        }
    }

    fn multiply(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let (rows, depth) = m.pick(shape).ok_or(Problem::Unsupported)?;
        if !m.take("row") || !m.take("col") {
            return Err(Problem::Unsupported);
        }
        let saturate = m.take("satfinite");
        let product = match (m.take("xor"), m.take("and")) {
            (true, _) => Product::Xor,
            (_, true) => Product::And,
            _ => Product::Multiply,
        };
        m.ignore(&["popc", "rn"]);
        let mut next = || m.pick(element).ok_or(Problem::Unsupported);
        let (d, a, b, c) = (next()?, next()?, next()?, next()?);
        let volta = rows == 8 && a == Element::F16;
        if ![8, 16].contains(&rows) || volta {
            return Err(Problem::Unsupported);
        }
        self.count(i, 4)?;
        let operation = Multiply {
            rows,
            depth,
            elements: [a, b, c, d],
            a: self.registers(&i.operands[1], false)?,
            b: self.registers(&i.operands[2], false)?,
            c: self.registers(&i.operands[3], false)?,
            d: self.registers(&i.operands[0], true)?,
            product,
            saturate,
        };
        if !has_all_registers(&operation) {
            return Problem::error(format!("`{}` has the wrong number of registers", i.mnemonic()));
        }
        let lists = [&operation.a, &operation.b, &operation.c];
        let reads: Vec<u32> = lists.iter().flat_map(|list| list.iter().copied()).collect();
        let writes = operation.d.clone();
        let all = self.constant(0xffff_ffff);
        self.push_warp(Collective::Multiply(Box::new(operation)), all, &reads, &writes);
        Ok(())
    }

    pub(super) fn registers(
        &mut self,
        operand: &Operand<'a>,
        write: bool,
    ) -> Result<Vec<u32>, Problem> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut slots = Vec::new();
        for part in parts {
            slots.push(if write { self.write(part)? } else { self.read(part, Type::B32)? });
        }
        Ok(slots)
    }

    fn load_matrix(&mut self, i: &Instruction<'a>, m: &mut Modifiers<'_>) -> Result<(), Problem> {
        let store = i.opcode == "stmatrix";
        let transposed = m.take("trans");
        let space = m.pick(space_named);
        let count = m.pick(|word| word.strip_prefix('x')?.parse::<usize>().ok());
        if !m.take("m8n8") || !m.take("b16") {
            return Err(Problem::Unsupported);
        }
        self.count(i, 2)?;
        let (address, registers) =
            if store { (&i.operands[0], &i.operands[1]) } else { (&i.operands[1], &i.operands[0]) };
        let registers = self.registers(registers, !store)?;
        if registers.len() != count.unwrap_or(1) {
            return Problem::error(format!("`{}` has the wrong number of registers", i.mnemonic()));
        }
        let Operand::Address { base: Base::Name(base), offset } = *address else {
            return Problem::error("the operand must be an address in brackets");
        };
        let slot = self.address(base, 0)?;
        let operation = LoadMatrix {
            store,
            transposed,
            address: slot,
            offset,
            generic: space != Some(Space::Shared),
            registers: registers.clone(),
            line: self.line,
        };
        let all = self.constant(0xffff_ffff);
        let operation = Collective::LoadMatrix(Box::new(operation));
        match store {
            true => self.push_warp(operation, all, &[vec![slot], registers].concat(), &[]),
            false => self.push_warp(operation, all, &[slot], &registers),
        }
        Ok(())
    }
}
