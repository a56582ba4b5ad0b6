//! `wmma`
//!
//! PTX ISA, "Matrix multiply-accumulate operation using wmma instructions".

use super::build::Build;
use super::function::Decoder;
use super::memory::ignore_hints;
use super::mma::element;
use super::modifiers::Modifiers;
use super::moves::space_named;
use super::problem::Problem;
use crate::execute::instructions::{Target, fragment_handler};
use crate::program::{Collective, Element, Fragment, FragmentMultiply};
use crate::ptx::{Instruction, Operand, Type};

/// `m16n16k16`.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    depth: usize,
}

/// The shapes that there are, as rows, columns and depth.
const SHAPES: [[usize; 3]; 7] =
    [[16, 16, 16], [32, 8, 16], [8, 32, 16], [16, 16, 8], [8, 8, 4], [8, 8, 32], [8, 8, 128]];

fn shape(word: &str) -> Option<Shape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let sizes = [m.parse().ok()?, n.parse().ok()?, k.parse().ok()?];
    let [rows, columns, depth] = sizes;
    SHAPES.contains(&sizes).then_some(Shape { rows, columns, depth })
}

/// Whether the next layout is by rows.
fn layout(m: &mut Modifiers<'_>) -> Result<bool, Problem> {
    m.pick(|word| match word {
        "row" => Some(true),
        "col" => Some(false),
        _ => None,
    })
    .ok_or(Problem::Unsupported)
}

fn next_element(m: &mut Modifiers<'_>) -> Result<Element, Problem> {
    match m.pick(element) {
        None | Some(Element::S4 | Element::U4 | Element::B1) => Err(Problem::Unsupported),
        Some(element) => Ok(element),
    }
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn decode_fragment(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Problem> {
        if !m.take("sync") || !m.take("aligned") {
            return Err(Problem::Unsupported);
        }
        let shape = m.pick(shape).ok_or(Problem::Unsupported)?;
        if m.take("mma") {
            return self.multiply_fragments(i, m, shape);
        }
        let store = m.take("store");
        m.ignore(&["load"]);
        let Shape { rows, columns, depth } = shape;
        let (rows, columns) = match (m.take("a"), m.take("b")) {
            (true, _) => (rows, depth),
            (_, true) => (depth, columns),
            _ => (rows, columns),
        };
        m.ignore(&["c", "d"]);
        let by_rows = layout(m)?;
        let space = m.pick(space_named);
        ignore_hints(m);
        let element = next_element(m)?;
        let (address, list) = if store { (0, 1) } else { (1, 0) };
        let location = self.location(self.operand(i, address)?, space)?;
        let registers = self.registers(self.operand(i, list)?, !store)?;
        let stride = match i.operands.get(2) {
            Some(operand) => self.read(operand, Type::U32)?,
            None => self.constant(if by_rows { columns } else { rows } as u64),
        };
        let offset = i64::from(location.offset);
        let fragment = Fragment { rows, columns, by_rows, element, registers, offset };
        self.push_fragment(fragment, location.target, location.slot, stride, store);
        Ok(())
    }

    fn push_fragment(
        &mut self,
        fragment: Fragment,
        target: Target,
        address: u32,
        stride: u32,
        store: bool,
    ) {
        let number = self.function.tables.fragments.len() as u32;
        let mut build = Build::new(fragment_handler(target, store)).a(address).b(stride).x(number);
        for &slot in &fragment.registers {
            build = if store { build.reads(slot) } else { build.writes(slot) };
        }
        self.function.tables.fragments.push(fragment);
        self.push(build);
    }

    /// `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c;`
    fn multiply_fragments(
        &mut self,
        i: &Instruction<'a>,
        m: &mut Modifiers<'_>,
        shape: Shape,
    ) -> Result<(), Problem> {
        let Shape { rows, columns, depth } = shape;
        // Layouts matter where fragments are loaded only.
        layout(m)?;
        layout(m)?;
        let saturate = m.take("satfinite");
        m.ignore(&["rn"]);
        let first = next_element(m)?;
        let second = next_element(m)?;
        let elements = match m.pick(element) {
            // With `f16` operands, only the types of D and C are named.
            None => [Element::F16, Element::F16, second, first],
            Some(third) => [second, third, next_element(m)?, first],
        };
        self.count(i, 4)?;
        let mut fragment = |operand: &Operand<'a>, rows, columns, element, write| {
            let registers = self.registers(operand, write)?;
            Ok(Fragment { rows, columns, by_rows: true, element, registers, offset: 0 })
        };
        let operation = FragmentMultiply {
            a: fragment(&i.operands[1], rows, depth, elements[0], false)?,
            b: fragment(&i.operands[2], depth, columns, elements[1], false)?,
            c: fragment(&i.operands[3], rows, columns, elements[2], false)?,
            d: fragment(&i.operands[0], rows, columns, elements[3], true)?,
            saturate,
        };
        let sources = [&operation.a, &operation.b, &operation.c];
        let reads: Vec<u32> = sources.iter().flat_map(|part| part.registers.clone()).collect();
        let writes = operation.d.registers.clone();
        let all = self.constant(0xffff_ffff);
        self.push_warp(Collective::Fragments(Box::new(operation)), all, &reads, &writes);
        Ok(())
    }
}
