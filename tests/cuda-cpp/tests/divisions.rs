//! Divisions by a number that all threads share: vectorised, not vectorised, on the emulator, and as Rust divides.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("divisions"));

/// Divisors small and large, beside powers of two, and negative ones where they are signed.
fn divisors() -> Vec<u64> {
    let powers = [4, 8, 16, 31, 32, 49, 50, 51, 52, 53, 62, 63].map(|it| 1_u64 << it);
    let powers = powers.into_iter().flat_map(|it| [it - 1, it, it + 1]);
    let random = numbers(4, 7).into_iter().map(u64::from);
    let positive: Vec<_> =
        [1, 2, 3, 5, 7, 10, 49].into_iter().chain(powers).chain(random).collect();
    let negative = [1, 3, 49, 1 << 31, (1 << 50) + 1].map(|it: u64| it.wrapping_neg());
    positive.into_iter().chain(negative).collect()
}

/// Numbers beside multiples of a divisor, which are the hardest to round, of up to `bits` bits and the same below zero, and
/// others.
fn dividends(by: u64, bits: u32) -> Vec<u64> {
    let most = (1 << bits) - 1;
    let most_factor = most / by.min(by.wrapping_neg()).max(1);
    let mixed = |it: u32| u64::from(it) << 32 | u64::from(it.wrapping_mul(0x9e37_79b9));
    let factors = numbers(24, bits).into_iter().map(mixed);
    let factors = factors.map(|it| it % most_factor.max(1)).chain([0, 1, most_factor]);
    let near = factors.flat_map(|it| {
        let product = it.wrapping_mul(by);
        [product.wrapping_sub(1), product, product.wrapping_add(1)]
    });
    let others = numbers(8, bits + 1).into_iter().map(mixed).map(|it| it & most);
    let all = near.chain(others).chain([0, 1, most - 1, most]);
    let within = |it: &u64| *it <= most || it.wrapping_neg() <= most;
    all.flat_map(|it| [it, it.wrapping_neg()]).filter(within).collect()
}

/// Launches a kernel on numbers, of which the first words are what it writes.
fn compare(kernel: &str, by: u64, dividends: &[u64]) {
    let words = |of: &[u64]| -> Vec<u32> {
        of.iter().flat_map(|it| [*it as u32, (*it >> 32) as u32]).collect()
    };
    let n = dividends.len() as u32;
    let launch = Launch::linear(n.div_ceil(64), 64);
    let values = [
        Value::Words(vec![0; 4 * n as usize]),
        Value::Words([words(dividends), vec![0, 0]].concat()),
        Value::of(n),
        Value::of(by),
    ];
    let what = format!("{kernel} by {by:#x}");
    WAYS.compare((kernel, &what), launch, (&values, 1), true);
}

/// The numbers that a kernel can divide by a divisor, none of which is the one that overflows.
fn divisible(kernel: &str, by: u64, dividends: Vec<u64>) -> Vec<u64> {
    let overflows = |it: &u64| match kernel {
        "signed_words" => by as i32 == -1 && *it as i32 == i32::MIN,
        "signed_wide" | "apart" => by as i64 == -1 && *it as i64 == i64::MIN,
        _ => false,
    };
    dividends.into_iter().filter(|it| !overflows(it)).collect()
}

#[test]
fn quotients_by_a_shared_number_are_exact() {
    let kernels = ["unsigned_words", "signed_words", "unsigned_wide", "signed_wide", "apart"];
    for kernel in kernels {
        let strategy = WAYS.vectorized.kernels.iter().find(|it| it.name == kernel);
        assert!(strategy.unwrap().strategy.as_ref().unwrap().scalar.is_none(), "{kernel}");
        for by in divisors() {
            let is_zero = kernel.ends_with("words") && by as u32 == 0;
            // Those that doubles hold, all of them; and others among them.
            for bits in [31, 50, 63] {
                let dividends = divisible(kernel, by, dividends(by, bits));
                let positive: Vec<_> =
                    dividends.iter().copied().filter(|it| *it < 1 << bits).collect();
                if !is_zero {
                    compare(kernel, by, &dividends);
                    compare(kernel, by, &positive);
                }
            }
        }
    }
}

#[test]
fn threads_that_are_not_there_divide_by_nothing() {
    for by in [1, 5, 1 << 40] {
        compare("not_by_zero", by, &dividends(by, 50));
        compare("not_by_zero", by, &dividends(by, 63));
    }
}

/// Large numbers are divided by the processor's instruction, which ends the program where there is no quotient. Of each vector
/// some threads have one and others not.
#[test]
fn threads_that_are_not_there_have_no_quotient() {
    for bits in [31, 63] {
        let with_zeros = |it: u64| [it, 0];
        let numbers: Vec<_> = dividends(5, bits).into_iter().flat_map(with_zeros).collect();
        compare("own_divisors", 1, &numbers);
        let with_least = |it: u64| [it, 1 << 63];
        let numbers: Vec<_> = dividends(5, bits).into_iter().flat_map(with_least).collect();
        compare("but_the_least", u64::MAX, &numbers);
    }
}

#[test]
fn coordinates_are_those_of_the_number() {
    for by in [1, 3, 16, 49, 1 << 33, 1 << 60] {
        compare("coordinates", by, &dividends(by, 50));
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
