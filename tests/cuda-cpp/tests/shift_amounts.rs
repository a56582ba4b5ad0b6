//! Shifts by more bits than a number has: vectorised, not vectorised, on the emulator, and as PTX defines them.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, lower, numbers, test_on_older_processors, written};
use kernelmill_compiler::{Pass, PassOutcome};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("shift_amounts"));

const THREADS: u32 = 192;

/// Amounts below a width, at it, above it, and those that are small modulo the width.
fn amounts(seed: u32) -> Vec<u32> {
    let large = [31, 32, 33, 63, 64, 65, 100, 128, 256, 1 << 16, 1 << 31, u32::MAX];
    (0..THREADS)
        .map(|it| match (it * 5 + seed) % 4 {
            0 => large[((it / 4 + seed) % 12) as usize],
            _ => (it * 7 + seed) % 72,
        })
        .collect()
}

fn values(seed: u32) -> Vec<u64> {
    let [high, low] = [seed, seed + 9].map(|it| numbers(THREADS, it));
    high.iter().zip(low).map(|(high, low)| u64::from(*high) << 36 | u64::from(low)).collect()
}

fn words(of: &[u64]) -> Value {
    Value::Words(of.iter().flat_map(|it| [*it as u32, (*it >> 32) as u32]).collect())
}

/// What PTX gives, as a number of 64 bits.
fn shifted(bits: u32, is_signed: bool, x: u64, by: u32) -> [u64; 2] {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let extended = (x << (64 - bits)).cast_signed() >> (64 - bits);
    let left = x.checked_shl(by).unwrap_or(0) & mask;
    let right = match is_signed {
        true => (extended >> by.min(63)).cast_unsigned(),
        false => (x & mask).checked_shr(by).unwrap_or(0),
    };
    [if by >= bits { 0 } else { left }, right & mask]
}

/// Launches a kernel three ways, and compares the one that is vectorised with Rust.
fn compare(kernel: &str, arguments: Vec<Value>, expected: &[u64]) {
    let arguments: Vec<_> =
        [words(&vec![0; 2 * THREADS as usize])].into_iter().chain(arguments).collect();
    let launch = Launch::linear(THREADS / 64, 64);
    WAYS.compare((kernel, kernel), launch, (&arguments, 1), true);
    let after = WAYS.source.run_on_cpu(kernel, launch, &arguments).unwrap();
    let Value::Words(expected) = words(expected) else { unreachable!("they are words") };
    assert_eq!(after[0].words(), expected, "{kernel}");
}

#[test]
fn threads_shift_by_amounts_of_their_own() {
    for (kernel, bits, is_signed) in [
        ("words", 32, true),
        ("uwords", 32, false),
        ("wides", 64, true),
        ("uwides", 64, false),
        ("waits", 32, true),
    ] {
        let (x, by) = (values(bits), amounts(bits));
        let pairs = x.iter().zip(&by);
        let expected: Vec<_> =
            pairs.flat_map(|(x, by)| shifted(bits, is_signed, *x, *by)).collect();
        compare(kernel, vec![words(&x), Value::Words(by)], &expected);
    }
}

#[test]
fn threads_shift_by_one_amount() {
    let x = values(3);
    for by in [0, 1, 31, 32, 33, 64, 65, 1 << 31] {
        let shared = x[7];
        for (kernel, bits, is_signed) in [("words_by", 32, true), ("uwides_by", 64, false)] {
            let both = |x: u64| {
                let [one, other] = [x, shared].map(|it| shifted(bits, is_signed, it, by));
                [0, 1].map(|it| {
                    let sum = one[it].wrapping_add(other[it]);
                    if bits == 32 { sum & u64::from(u32::MAX) } else { sum }
                })
            };
            let expected: Vec<_> = x.iter().flat_map(|x| both(*x)).collect();
            let shared = if bits == 32 { Value::of(shared as u32) } else { Value::of(shared) };
            compare(kernel, vec![words(&x), Value::of(by), shared], &expected);
        }
    }
}

/// Amounts and divisors that are known stay as they are.
#[test]
fn only_what_is_not_known_is_compared() {
    let outcomes = |body: &str| {
        let text = format!("__global__ void k(unsigned *x, unsigned y) {{ {body} }}\n");
        let source = lower(&written("known", &text)).unwrap();
        let passes = source.compile("cpu").unwrap().passes;
        let of = |pass| passes.iter().find(|it| it.pass == pass).map(|it| it.outcome);
        [of(Pass::Divisors), of(Pass::ShiftAmounts)]
    };
    let [none, some] = [PassOutcome::Unchanged, PassOutcome::Changed].map(Some);
    assert_eq!(outcomes("x[0] = y / 7 + y % 10 + (y << 3) + (y >> 5);"), [none, none]);
    let divides = if cfg!(target_arch = "x86_64") { some } else { none };
    assert_eq!(outcomes("x[0] = 9 % y;"), [divides, none]);
    assert_eq!(outcomes("x[0] = x[1] << y;"), [none, some]);
}

#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
