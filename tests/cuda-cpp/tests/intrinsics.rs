//! What NVIDIA's processors have single instructions for, against plain Rust.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source};

fn intrinsics() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("intrinsics")).unwrap_or_else(|error| panic!("{error}")))
}

/// What each lane of a warp computes from the values of all.
fn lane(x: &[u32], t: usize, odd: u32) -> [u32; 12] {
    let bits = |holds: &dyn Fn(u32) -> bool| {
        x.iter().enumerate().fold(0_u32, |mask, (i, v)| mask | u32::from(holds(*v)) << i)
    };
    let first = t / 8 * 8;
    let v = x[t];
    [
        x[first + 3],
        if t % 8 < 2 { v } else { x[t - 2] },
        if t % 16 + 3 < 16 { x[t + 3] } else { v },
        x[t ^ 5],
        bits(&|v| v % 3 == 0),
        u32::from(x.contains(&5)) + 2 + 4 * u32::from(x.iter().all(|v| *v < 40)),
        x.iter().sum(),
        bits(&|other| other % 4 == v % 4),
        x[t ^ 1] + (t as u32 ^ 1),
        odd,
        3,
        x[first..first + 8].iter().sum::<u32>() + 1000 * (t as u32 % 8),
    ]
}

#[test]
fn warps_exchange_values() {
    let x: Vec<u32> = (0..64).map(|i| (i * 7 + 5) % 41).collect();
    let odd = x.iter().filter(|v| *v % 2 == 1).count() as u32;
    assert!(x.contains(&7));
    let arguments = [Value::Words(x.clone()), Value::Words(vec![0; 64 * 12])];
    for after in intrinsics().run("warps", Launch::linear(1, 64), &arguments) {
        for (t, row) in after[1].words().chunks(12).enumerate() {
            let warp = &x[t / 32 * 32..t / 32 * 32 + 32];
            let mut expected = lane(warp, t % 32, odd);
            // The thread's number is that in the block.
            expected[8] = warp[(t % 32) ^ 1] + (t as u32 ^ 1);
            assert_eq!(row, expected, "thread {t}");
        }
    }
}

/// Words whose parts are at the ends of their ranges, and others.
fn parts() -> Vec<u32> {
    let edges = [0, u32::MAX, 0x8000_7fff, 0x7fff_8000, 0x8080_8080, 0x7f80_ff01, 1 << 31];
    (0..192_usize)
        .map(|i| match i % 5 {
            0 => edges[i / 5 % edges.len()],
            1 => edges[(i / 5 + i / 35) % edges.len()],
            _ => (i as u32).wrapping_mul(0x9e37_79b9) ^ (i as u32) << 7,
        })
        .collect()
}

/// What a thread of `choices` computes, by the words of NVIDIA's documentation.
fn choices(a: u32, b: u32, c: u32) -> [u32; 24] {
    let (i, j, k) = (a as i32, b as i32, c as i32);
    let halves = |word: u32| [word as u16, (word >> 16) as u16];
    let join = |[low, high]: [u16; 2]| u32::from(high) << 16 | u32::from(low);
    let by_halves = |of: &dyn Fn(u16, u16, u16) -> u16| {
        join([0, 1].map(|at| of(halves(a)[at], halves(b)[at], halves(c)[at])))
    };
    let by_signed = |of: &dyn Fn(i16, i16, i16) -> i16| {
        by_halves(&|a, b, c| of(a as i16, b as i16, c as i16) as u16)
    };
    let by_bytes = |of: &dyn Fn(i8, i8) -> u8| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes([0, 1, 2, 3].map(|at| of(a[at] as i8, b[at] as i8)))
    };
    let is_first = |of: &dyn Fn(u16, u16) -> bool| {
        let [low, high] = [0, 1].map(|at| u32::from(of(halves(a)[at], halves(b)[at])));
        high << 1 | low
    };
    [
        i.wrapping_add(j).max(k) as u32,
        a.wrapping_add(b).min(c),
        by_signed(&|a, b, c| a.wrapping_add(b).max(c)),
        by_halves(&|a, b, c| a.wrapping_add(b).min(c)),
        i.wrapping_add(j).min(k).max(0) as u32,
        by_signed(&|a, b, c| a.wrapping_add(b).max(c).max(0)),
        i.max(j).max(k) as u32,
        by_halves(&|a, b, c| a.min(b).min(c)),
        i.min(j).min(k).max(0) as u32,
        i.max(j).max(0) as u32,
        by_signed(&|a, b, _| a.min(b).max(0)),
        i.max(j) as u32,
        u32::from(i >= j),
        a.min(b),
        u32::from(a <= b),
        by_signed(&|a, b, _| a.min(b)),
        is_first(&|a, b| a as i16 <= b as i16),
        by_bytes(&|a, _| a.saturating_abs() as u8),
        by_signed(&|a, _, _| a.saturating_neg()),
        by_bytes(&|a, b| u16::midpoint(u16::from(a as u8), u16::from(b as u8)) as u8),
        by_halves(&|a, b, _| u32::midpoint(u32::from(a), u32::from(b)) as u16),
        bytes(a).iter().zip(bytes(b)).map(|(a, b)| a.abs_diff(b)).sum(),
        halves(a).iter().zip(halves(b)).map(|(a, b)| u32::from(a.abs_diff(b))).sum(),
        by_halves(&|a, b, _| a.max(b)) ^ is_first(&|a, b| a >= b),
    ]
}

#[test]
fn small_numbers_of_a_word_are_added_and_chosen() {
    let x = parts();
    let threads = x.len() as u32 / 3;
    let out = Value::Words(vec![0; threads as usize * 24]);
    let arguments = [Value::Words(x.clone()), out];
    for after in intrinsics().run("choices", Launch::linear(1, threads), &arguments) {
        for (row, given) in after[1].words().chunks(24).zip(x.chunks(3)) {
            assert_eq!(row, choices(given[0], given[1], given[2]), "{given:x?}");
        }
    }
}

#[test]
fn blocks_wait_for_each_other() {
    let grids = lower(&source("grids")).unwrap_or_else(|error| panic!("{error}"));
    let n = 6 * 32;
    let x: Vec<u32> = (0..n).map(|i| i * i % 97).collect();
    let rotated = |i: u32| x[((i + 32) % n) as usize] + 100 * (i / 32) + 60_000;
    let expected: Vec<u32> = (0..n).map(|i| rotated((i + 1) % n)).collect();
    for after in grids.run("rotate_blocks", Launch::linear(6, 32), &[Value::Words(x.clone())]) {
        assert_eq!(after[0].words(), expected);
    }
}

fn bytes(word: u32) -> [i32; 4] {
    word.to_le_bytes().map(|byte| i32::from(byte.cast_signed()))
}

fn permute(a: u32, b: u32, digits: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let byte = |i: u32| {
        let digit = digits >> (4 * i) & 15;
        let byte = (both >> (8 * (digit & 7)) & 255) as u32;
        let byte = if digit & 8 == 0 {
            byte
        } else if byte & 128 == 0 {
            0
        } else {
            255
        };
        byte << (8 * i)
    };
    (0..4).map(byte).sum()
}

fn bits(a: u32, b: u32) -> [u32; 14] {
    let both = u64::from(b) << 32 | u64::from(a);
    let pairs: Vec<_> = bytes(a).into_iter().zip(bytes(b)).collect();
    let parts = |f: &dyn Fn(i32, i32) -> i32| {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| f(pairs[i].0, pairs[i].1) as u8))
    };
    let product = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
    [
        a.count_ones(),
        a.leading_zeros(),
        if a == 0 { 0 } else { a.trailing_zeros() + 1 },
        a.reverse_bits(),
        permute(a, b, 0x7531),
        permute(a, b, 0x90a1),
        (both << 11 >> 32) as u32,
        (both >> (43 % 32)) as u32,
        b,
        (pairs.iter().map(|(a, b)| a * b).sum::<i32>() - 5).cast_unsigned(),
        ((u64::from(a) * u64::from(b)) >> 32) as u32,
        parts(&|a, b| (a - b).clamp(-128, 127)),
        parts(&|a, b| if a == b { 0 } else { -1 }),
        (product >> 32) as u32,
    ]
}

#[test]
fn bits_are_counted_moved_and_chosen() {
    let mut x: Vec<u32> = vec![0, 1, u32::MAX, 0x8000_0000, 0x8081_7f00, 0x7f80_8101];
    x.extend((0..58_u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ i << 13));
    let arguments = [Value::Words(x.clone()), Value::Words(vec![0; 32 * 14])];
    for after in intrinsics().run("bits", Launch::linear(1, 32), &arguments) {
        for (pair, row) in x.chunks(2).zip(after[1].words().chunks(14)) {
            assert_eq!(row, bits(pair[0], pair[1]), "{pair:x?}");
        }
    }
}

#[test]
fn atomics_of_all_kinds() {
    let mut x = vec![0_u32; 14];
    (x[4], x[10], x[12]) = (u32::MAX, 5, 1);
    let arguments = [Value::Words(x), Value::floats(&[1.0]), Value::Words(vec![0xabcd_0003])];
    for after in intrinsics().run("atomics", Launch::linear(1, 96), &arguments) {
        let xor = (0..96).fold(0, |sum, t| sum ^ t);
        let power = (0..96).fold(1, |value, _| value * 3 % 1001);
        let wide = 5 + 96 * (1_u64 << 31);
        let (low, high) = (wide as u32, (wide >> 32) as u32);
        let minus = |number: i32| (-number).cast_unsigned();
        let expected = [
            95 * 96 / 2,
            minus(192),
            minus(95),
            95 * 95,
            0,
            u32::MAX,
            xor,
            96 % 10,
            10 - 96 % 10,
            0,
            low,
            high,
            power,
            0,
        ];
        assert_eq!(after[0].words(), expected);
        assert_eq!(after[1].numbers(), [25.0]);
        assert_eq!(after[2].words(), [0xabcd_0003 + 192]);
    }
}
