//! One instruction applied to many operands, against a function of the host.

#![allow(dead_code, reason = "each test program uses a part of this")]

use super::common::{Argument, Bench, Random};
use ptx_emulator::Options;

/// Types of a register in the generated kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    Predicate,
    Bits16,
    Bits32,
    Bits64,
}

use Register::{Bits16, Bits32, Bits64, Predicate};

impl Register {
    pub(crate) fn of(bits: u32) -> Register {
        match bits {
            1 => Predicate,
            8 | 16 => Bits16,
            32 => Bits32,
            _ => Bits64,
        }
    }

    fn name(self, letter: char) -> String {
        let width = match self {
            Predicate => "p",
            Bits16 => "h",
            Bits32 => "w",
            Bits64 => "q",
        };
        format!("%{width}{letter}")
    }

    /// Moves the 64-bit register `%in` to the operand.
    fn narrow(self, letter: char) -> String {
        let name = self.name(letter);
        match self {
            Predicate => format!("setp.ne.u64 {name}, %in, 0;"),
            Bits16 => format!("cvt.u16.u64 {name}, %in;"),
            Bits32 => format!("cvt.u32.u64 {name}, %in;"),
            Bits64 => format!("mov.b64 {name}, %in;"),
        }
    }

    /// Moves the result to the 64-bit register `%out`.
    fn widen(self) -> String {
        let name = self.name('d');
        match self {
            Predicate => format!("selp.u64 %out, 1, 0, {name};"),
            Bits16 => format!("cvt.u64.u16 %out, {name};"),
            Bits32 => format!("cvt.u64.u32 %out, {name};"),
            Bits64 => format!("mov.b64 %out, {name};"),
        }
    }
}

/// Text of a kernel that applies `instruction`, in which `$d`, `$a`, `$b`, `$c` stand for registers.
fn kernel(instruction: &str, result: Register, operands: &[Register]) -> String {
    let mut text = instruction.replace("$d", &result.name('d'));
    let mut loads = String::new();
    for (number, (operand, letter)) in operands.iter().zip("abc".chars()).enumerate() {
        text = text.replace(&format!("${letter}"), &operand.name(letter));
        let offset = 8 * number;
        loads +=
            &format!("    ld.global.u64 %in, [%from+{offset}];\n    {}\n", operand.narrow(letter));
    }
    let widen = result.widen();
    let needs_100 = instruction.contains("f32x2");
    let header =
        if needs_100 { ".version 8.7\n.target sm_100" } else { ".version 8.0\n.target sm_90" };
    format!(
        "{header}\n.address_size 64
.visible .entry apply(.param .u64 from, .param .u64 to)
{{
    .reg .pred %pa, %pb, %pc, %pd;
    .reg .b16 %ha, %hb, %hc, %hd;
    .reg .b32 %wa, %wb, %wc, %wd, %i, %j, %k;
    .reg .b64 %qa, %qb, %qc, %qd, %in, %out, %from, %to, %at;
    mov.u32 %i, %tid.x;
    mov.u32 %j, %ctaid.x;
    mad.lo.u32 %i, %j, 32, %i;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    mul.wide.u32 %at, %i, 24;
    add.u64 %from, %from, %at;
    mul.wide.u32 %at, %i, 8;
    add.u64 %to, %to, %at;
{loads}    {text}
    {widen}
    st.global.u64 [%to], %out;
    ret;
}}
"
    )
}

/// Results of an instruction for each row of operands.
pub(crate) fn apply(
    instruction: &str,
    result: Register,
    operands: &[Register],
    rows: &[[u64; 3]],
) -> Vec<u64> {
    let bench = Bench::new(&kernel(instruction, result, operands));
    let unsupported = bench.loaded.module().unsupported();
    assert_eq!(unsupported, [], "{instruction}");
    let mut flat: Vec<u64> = rows.iter().flatten().copied().collect();
    let blocks = rows.len().div_ceil(32);
    flat.resize(blocks * 96, 0);
    let (from, to) = (bench.buffer(&flat), bench.buffer(&vec![0u64; blocks * 32]));
    let arguments = [Argument::Buffer(from), Argument::Buffer(to)];
    bench
        .launch("apply", blocks as u32, 32, &arguments, &Options::default())
        .unwrap_or_else(|fault| panic!("{instruction}: {fault}"));
    bench.values(to, rows.len())
}

/// Checks an instruction against a function of the host.
pub(crate) fn check(
    instruction: &str,
    result: Register,
    operands: &[Register],
    rows: &[[u64; 3]],
    reference: impl Fn([u64; 3]) -> u64,
) {
    for (row, found) in rows.iter().zip(apply(instruction, result, operands, rows)) {
        let expected = reference(*row);
        assert_eq!(found, expected, "{instruction} of {row:x?}: {found:#x}, not {expected:#x}");
    }
}

/// Values at the edges of a width, then some that look random.
pub(crate) fn integers(bits: u32, count: usize, seed: u64) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let mut values = vec![0, 1, 2, 7, mask, mask - 1, top, top - 1, top + 1, 31, 32, 33, 63, 64];
    let mut random = Random::new(seed);
    values.extend((0..count).map(|_| random.next() >> (random.next() % 64)));
    values.iter().map(|value| value & mask).collect()
}

/// Rows of three values: all pairs of the edges, and as many random ones.
pub(crate) fn rows(a: &[u64], b: &[u64], c: &[u64]) -> Vec<[u64; 3]> {
    let mut random = Random::new(5);
    let mut pick = |values: &[u64]| values[random.next() as usize % values.len()];
    let mut rows = Vec::new();
    for &first in a.iter().take(14) {
        for &second in b.iter().take(14) {
            rows.push([first, second, pick(c)]);
        }
    }
    rows.extend((0..600).map(|_| [pick(a), pick(b), pick(c)]));
    rows
}
