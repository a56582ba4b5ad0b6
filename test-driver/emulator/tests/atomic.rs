//! `atom` and `red` against the host, one thread at a time and many at once.

mod common;

use common::{Argument, Bench, Random};
use ptx_emulator::{Options, Order};

/// An operation, with the new word from the old one and the operands.
type Operation = (&'static str, fn(u64, u64, u64) -> u64);
/// An operation on values.
type Formula = (&'static str, fn(i128, i128) -> i128);

/// Applies `instruction` (old value in `$d`, address in `[$p]`, operands `$a` and `$b`) to one word per
/// row, in global or shared memory; gives old and new value of each row.
fn apply(instruction: &str, bits: u32, shared: bool, rows: &[[u64; 3]]) -> Vec<[u64; 2]> {
    let (narrow, widen) = match bits {
        16 => ("cvt.u16.u64", "cvt.u64.u16"),
        32 => ("cvt.u32.u64", "cvt.u64.u32"),
        _ => ("mov.b64", "mov.b64"),
    };
    let at = if shared { "cell" } else { "%at" };
    let space = if shared { "shared" } else { "global" };
    let text = instruction.replace("$d", "%old").replace("$p", at);
    let text = text.replace("$a", "%a").replace("$b", "%b");
    let keep = if instruction.contains("$d") {
        format!("{widen} %in, %old; st.global.u64 [%at+16], %in;")
    } else {
        String::new()
    };
    let bench = Bench::new(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 data)\n{{
    .reg .b{bits} %a, %b, %old;\n    .reg .b32 %i;\n    .reg .b64 %at, %in, %base;
    .shared .align 8 .b8 cell[8];
    ld.param.u64 %base, [data];\n    mov.u32 %i, %ctaid.x;
    mul.wide.u32 %at, %i, 32;\n    add.u64 %at, %at, %base;
    ld.global.u64 %in, [%at+8];\n    {narrow} %a, %in;
    ld.global.u64 %in, [%at+16];\n    {narrow} %b, %in;
    ld.global.u64 %in, [%at];\n    st.{space}.u64 [{at}], %in;
    {text}
    ld.{space}.u64 %in, [{at}];\n    st.global.u64 [%at+24], %in;
    {keep}
    ret;\n}}\n"
    ));
    let flat: Vec<u64> = rows.iter().flat_map(|&[old, a, b]| [old, a, b, 0]).collect();
    let data = bench.buffer(&flat);
    let arguments = [Argument::Buffer(data)];
    bench
        .launch("k", rows.len() as u32, 1, &arguments, &Options::default())
        .unwrap_or_else(|fault| panic!("{instruction}: {fault}"));
    bench.values::<u64>(data, flat.len()).chunks(4).map(|row| [row[2], row[3]]).collect()
}

fn rows(bits: u32) -> Vec<[u64; 3]> {
    let mask = u64::MAX >> (64 - bits);
    let edges = [0, 1, 5, mask, mask - 1, mask >> 1, (mask >> 1) + 1];
    let mut random = Random::new(u64::from(bits));
    let mut rows: Vec<[u64; 3]> = Vec::new();
    for &old in &edges {
        for &a in &edges {
            rows.push([old, a, random.next() & mask]);
        }
    }
    rows
}

/// The value of 32 or 64 bits.
fn value(word: u64, bits: u32, signed: bool) -> i128 {
    match (bits, signed) {
        (32, true) => i128::from(word as i32),
        (64, true) => i128::from(word as i64),
        (32, false) => i128::from(word as u32),
        _ => i128::from(word),
    }
}

#[test]
fn integers() {
    for (ty, bits, signed) in
        [("u32", 32, false), ("s32", 32, true), ("u64", 64, false), ("s64", 64, true)]
    {
        let mask = u64::MAX >> (64 - bits);
        let formulas: [Formula; 3] =
            [("add", |a, b| a + b), ("min", i128::min), ("max", i128::max)];
        for (name, formula) in formulas {
            if (name, ty) == ("add", "s64") {
                continue;
            }
            for (space, shared) in [("global", false), ("shared", true), ("shared::cta", true)] {
                let rows = rows(bits);
                let text = format!("red.relaxed.gpu.{space}.{name}.{ty} [$p], $a;");
                let found = apply(&text, bits, shared, &rows);
                for (row, [_, new]) in rows.iter().zip(found) {
                    let (old, a) = (value(row[0], bits, signed), value(row[1], bits, signed));
                    assert_eq!(new & mask, formula(old, a) as u64 & mask, "{text} {row:x?}");
                }
            }
        }
    }
}

#[test]
fn words_and_their_old_values() {
    let rows = rows(32);
    let formulas: [Operation; 9] = [
        ("and.b32 $d, [$p], $a", |old, a, _| old & a),
        ("or.b32 $d, [$p], $a", |old, a, _| old | a),
        ("xor.b32 $d, [$p], $a", |old, a, _| old ^ a),
        ("exch.b32 $d, [$p], $a", |_, a, _| a),
        ("inc.u32 $d, [$p], $a", |old, a, _| if old >= a { 0 } else { old + 1 }),
        ("dec.u32 $d, [$p], $a", |old, a, _| if old == 0 || old > a { a } else { old - 1 }),
        ("cas.b32 $d, [$p], $a, $b", |old, a, b| if old == a { b } else { old }),
        ("add.u32 $d, [$p], $a", |old, a, _| (old + a) & 0xffff_ffff),
        ("max.s32 $d, [$p], $a", |old, a, _| if (old as i32) < a as i32 { a } else { old }),
    ];
    for (operation, formula) in formulas {
        for prefix in ["atom.global", "atom.acq_rel.sys.global", "atom"] {
            let text = format!("{prefix}.{operation};");
            for (row, [old, new]) in rows.iter().zip(apply(&text, 32, false, &rows)) {
                assert_eq!(old, row[0], "{text} {row:x?}");
                assert_eq!(new & 0xffff_ffff, formula(row[0], row[1], row[2]), "{text} {row:x?}");
            }
        }
    }
}

#[test]
fn floats() {
    let values = [0.0f32, -0.0, 1.5, -2.25, 1e30, f32::INFINITY, f32::MIN_POSITIVE];
    let rows: Vec<[u64; 3]> = values
        .iter()
        .flat_map(|a| values.iter().map(|b| [u64::from(a.to_bits()), u64::from(b.to_bits()), 0]))
        .collect();
    for (row, [_, new]) in rows.iter().zip(apply("red.global.add.f32 [$p], $a;", 32, false, &rows))
    {
        let sum = f32::from_bits(row[0] as u32) + f32::from_bits(row[1] as u32);
        assert_eq!(new as u32, sum.to_bits(), "{row:x?}");
    }
    let rows: Vec<[u64; 3]> = rows
        .iter()
        .map(|row| row.map(|bits| f64::from(f32::from_bits(bits as u32)).to_bits()))
        .collect();
    for (row, [_, new]) in rows.iter().zip(apply("red.shared.add.f64 [$p], $a;", 64, true, &rows)) {
        assert_eq!(new, (f64::from_bits(row[0]) + f64::from_bits(row[1])).to_bits(), "{row:x?}");
    }
    // 1.5 + 2.25 in both halves.
    let rows = [[0x3e00_3e00, 0x4080_4080, 0]];
    let found = apply("red.global.add.noftz.f16x2 [$p], $a;", 32, false, &rows);
    assert_eq!(found[0][1], 0x4380_4380);
}

#[test]
fn words_of_sixteen_bits() {
    let rows = rows(16);
    let found = apply("atom.global.cas.b16 $d, [$p], $a, $b;", 16, false, &rows);
    for (row, [old, new]) in rows.iter().zip(found) {
        assert_eq!(old, row[0]);
        assert_eq!(new & 0xffff, if row[0] == row[1] { row[2] } else { row[0] }, "{row:x?}");
    }
}

#[test]
fn many_threads_count_right_on_several_cores() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 data)\n{
    .reg .pred %p<2>;\n    .reg .b32 %r<6>;\n    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [data];\n    mov.u32 %r1, 0;
LOOP:
    atom.global.add.u32 %r2, [%rd1], 3;
    red.global.max.u32 [%rd1+4], %r2;
    red.release.gpu.global.xor.b32 [%rd1+8], %r2;
    add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p1, %r1, 20;\n    @%p1 bra LOOP;
    ret;\n}\n";
    let orders = [Order::Forward, Order::Reverse, Order::Random(9)];
    for (threads, order) in [(1, orders[0]), (1, orders[1]), (1, orders[2]), (4, orders[0])] {
        let bench = Bench::new(text);
        let data = bench.buffer(&[0u32; 4]);
        let options = Options { threads, order, ..Options::default() };
        bench.launch("k", 16, 64, &[Argument::Buffer(data)], &options).unwrap();
        let total = 16 * 64 * 20u32;
        let all = (0..total).fold(0, |all, number| all ^ (3 * number));
        assert_eq!(bench.values::<u32>(data, 3), [3 * total, 3 * (total - 1), all]);
    }
}

/// As an H200 does it: "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero; on
/// shared memory supports subnormal inputs and results" (PTX ISA, "atom"), whether the address names its space or not.
#[test]
fn additions_of_single_precision_flush_subnormal_numbers_in_global_memory_alone() {
    let rows: [(u32, u32, u32, u32); 7] = [
        (1, 2, 0, 3),
        (0x8000_0001, 0x8000_0002, 0x8000_0000, 0x8000_0003),
        (0x0080_0000, 0x8000_0001, 0x0080_0000, 0x007f_ffff),
        (0x0080_0001, 0x8080_0000, 0, 1),
        (5, 0, 0, 5),
        (0x8000_0005, 0x8000_0000, 0x8000_0000, 0x8000_0005),
        (0x3f80_0000, 0x3f80_0000, 0x4000_0000, 0x4000_0000),
    ];
    let words = rows.map(|(old, a, ..)| [u64::from(old), u64::from(a), 0]);
    let shared_address = "cvta.shared.u64 %base, %base;";
    for (text, shared) in [
        ("atom.relaxed.gpu.global.add.f32 $d, [$p], $a;".to_owned(), false),
        ("red.relaxed.sys.global.add.f32 [$p], $a;".to_owned(), false),
        ("atom.relaxed.cta.add.f32 $d, [$p], $a;".to_owned(), false),
        ("red.add.f32 [$p], $a;".to_owned(), false),
        ("atom.shared.add.f32 $d, [$p], $a;".to_owned(), true),
        ("red.relaxed.cta.shared.add.f32 [$p], $a;".to_owned(), true),
        (format!("mov.u64 %base, cell; {shared_address} atom.add.f32 $d, [%base], $a;"), true),
        (format!("mov.u64 %base, cell; {shared_address} red.add.f32 [%base], $a;"), true),
    ] {
        let found = apply(&text, 32, shared, &words);
        for ((old, a, in_global, in_shared), [before, new]) in rows.into_iter().zip(found) {
            let expected = if shared { in_shared } else { in_global };
            assert_eq!(new as u32, expected, "{text} {old:x} {a:x}");
            if text.contains("$d") {
                assert_eq!(before as u32, old, "{text} {old:x} {a:x}: the old value");
            }
        }
    }
}
