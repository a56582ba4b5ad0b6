//! What the machine can do at most: bytes of memory and operations on floats in a second, on all threads.
//!
//! Bytes as [STREAM](https://www.cs.virginia.edu/stream/ref.html)'s triad counts them, `a = b + s * c` on arrays that no cache holds:
//! 12 an element, without those that are read before they are written.

use crate::measure::median;
use rayon::prelude::*;
use std::{hint::black_box, time::Instant};

/// Bytes and operations of all threads in a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) bytes: f64,
    pub(crate) operations: f64,
}

/// The size of an array.
pub(crate) const ARRAY_MIB: usize = 256;

/// Times that each is measured.
const SAMPLES: usize = 11;

/// Sums that do not wait for each other: ten vectors, as two are begun in a cycle and each takes four or five.
const SUMS: usize = 10
    * match (cfg!(target_feature = "avx512f"), cfg!(target_feature = "avx")) {
        (true, _) => 16,
        (false, true) => 8,
        (false, false) => 4,
    };

/// Rounds of these.
const ROUNDS: usize = 1 << 20;

/// Measures both.
pub(crate) fn measure() -> Limits {
    Limits { bytes: bytes(), operations: operations() }
}

fn bytes() -> f64 {
    let n = (ARRAY_MIB << 20) / size_of::<f32>();
    let (b, c, mut a) = (vec![1.0_f32; n], vec![2.0_f32; n], vec![0.0_f32; n]);
    let part = n.div_ceil(rayon::current_num_threads());
    let triad = |a: &mut [f32]| {
        let parts = a.par_chunks_mut(part).zip(b.par_chunks(part)).zip(c.par_chunks(part));
        let s = black_box(3.0);
        parts.for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + s * c;
            }
        });
    };
    let seconds = (0..=SAMPLES).map(|_| {
        let begun = Instant::now();
        triad(&mut a);
        begun.elapsed().as_secs_f64()
    });
    // The first time the pages are made.
    let seconds = median(seconds.skip(1).collect());
    assert!(a.iter().all(|a| *a == 7.0), "the triad is wrong");
    (3 * n * size_of::<f32>()) as f64 / seconds
}

fn operations() -> f64 {
    let threads = rayon::current_num_threads();
    let seconds = (0..SAMPLES).map(|_| {
        let begun = Instant::now();
        (0..threads).into_par_iter().for_each(|_| {
            black_box(products(black_box(0.5), black_box(1.0)));
        });
        begun.elapsed().as_secs_f64()
    });
    (2 * SUMS * ROUNDS * threads) as f64 / median(seconds.collect())
}

/// `x = x * factor + term`, so often.
#[inline(never)]
fn products(factor: f32, term: f32) -> [f32; SUMS] {
    let mut sums = [0.0_f32; SUMS];
    for _ in 0..ROUNDS {
        for x in &mut sums {
            // Without the instruction it would be a call.
            *x = if cfg!(target_feature = "fma") {
                x.mul_add(factor, term)
            } else {
                *x * factor + term
            };
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::products;

    #[test]
    fn products_come_to_what_they_go_to() {
        assert!(products(0.5, 1.0).iter().all(|x| (x - 2.0).abs() < 1e-6));
    }
}
