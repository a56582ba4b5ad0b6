//! Divisions without a result: by zero, and of the least number by -1. They end no program, and leave other threads alone.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, test_on_older_processors};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("divisors"));

const THREADS: usize = 192;

/// Numbers with many zeros among them, many ones in all bits, and the least of each width.
fn numbers(seed: u64) -> Vec<u64> {
    let least = [0x80, 0x8000, 0x8000_0000, 1 << 63].map(u64::wrapping_neg);
    (0..THREADS as u64)
        .map(|it| match (it * 7 + seed * 3) % 11 {
            0 | 1 => 0,
            2 => u64::MAX,
            3 => least[(it % 4) as usize],
            4 => it,
            5 => it.wrapping_neg(),
            _ => it.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (it % 60),
        })
        .collect()
}

fn words(of: &[u64]) -> Value {
    Value::Words(of.iter().flat_map(|it| [*it as u32, (*it >> 32) as u32]).collect())
}

/// Whether a number of this type has a quotient by another: `bits` wide, signed or not.
fn divides(bits: u32, is_signed: bool, x: u64, y: u64) -> bool {
    let cut = |it: u64| it << (64 - bits);
    let overflows = cut(x) == 1 << 63 && cut(y) == cut(u64::MAX);
    cut(y) != 0 && !(is_signed && overflows)
}

fn skip(bits: u32, is_signed: bool, x: &[u64], y: &[u64]) -> Value {
    let pairs = x.iter().zip(y);
    let skipped: Vec<_> =
        pairs.map(|(x, y)| if divides(bits, is_signed, *x, *y) { 0 } else { u64::MAX }).collect();
    words(&skipped)
}

fn compare(kernel: &str, what: &str, values: Vec<Value>) {
    let out = [words(&[0; THREADS])];
    let values: Vec<_> = out.into_iter().chain(values).collect();
    let launch = Launch::linear(THREADS as u32 / 64, 64);
    WAYS.compare((kernel, &format!("{kernel}, {what}")), launch, (&values, 1), true);
}

#[test]
fn threads_divide_by_numbers_of_their_own() {
    for (kernel, bits, is_signed) in [
        ("bytes", 8, true),
        ("shorts", 16, false),
        ("words", 32, true),
        ("uwords", 32, false),
        ("wides", 64, true),
        ("uwides", 64, false),
        ("waits", 32, true),
    ] {
        for seed in 0..6 {
            let (x, y) = (numbers(seed), numbers(seed + 50));
            // Numbers of 8 and 16 bits are divided as words, where the least has a quotient.
            let skip = skip(bits, is_signed && bits >= 32, &x, &y);
            compare(kernel, &format!("seed {seed}"), vec![words(&x), words(&y), skip]);
        }
    }
}

#[test]
fn threads_divide_by_one_number() {
    let x = numbers(1);
    for by in [0, 1, 7, -1, i32::MIN] {
        let y = [by as u64; THREADS];
        let values = vec![words(&x), skip(32, true, &x, &y), Value::of(by)];
        compare("words_by", &format!("by {by}"), values);
    }
    for by in [0, 1, 7, u64::MAX] {
        let values = vec![words(&x), skip(64, false, &x, &[by; THREADS]), Value::of(by)];
        compare("uwides_by", &format!("by {by}"), values);
    }
}

#[test]
fn a_quotient_that_all_threads_share_may_have_no_value() {
    for (a, b) in [(5, 0), (0, 0), (i32::MIN, -1), (i32::MIN, 1), (7, -1), (9, 4)] {
        let [x, y] = [a, b].map(|it| [it as u64; THREADS]);
        let values = vec![skip(32, true, &x, &y), Value::of(a), Value::of(b)];
        compare("uniform", &format!("{a} by {b}"), values);
    }
}

#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
