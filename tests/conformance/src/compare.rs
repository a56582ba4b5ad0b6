//! Comparing what a device computed with what it should have.

use crate::Outcome;
use std::fmt::Debug;

/// Every element equal.
pub(crate) fn same<T: PartialEq + Debug>(actual: &[T], expected: &[T]) -> Outcome {
    if actual.len() != expected.len() {
        return Err(format!("{} elements instead of {}", actual.len(), expected.len()).into());
    }
    match actual.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => {
            Err(format!("element {i} is {:?} instead of {:?}", actual[i], expected[i]).into())
        }
    }
}

/// Every element within `tolerance` of the expected one, relative to the larger of it and 1.
pub(crate) fn close<T: Copy + Into<f64>>(actual: &[T], expected: &[T], tolerance: f64) -> Outcome {
    if actual.len() != expected.len() {
        return Err(format!("{} elements instead of {}", actual.len(), expected.len()).into());
    }
    for (i, (&a, &b)) in actual.iter().zip(expected).enumerate() {
        let (a, b): (f64, f64) = (a.into(), b.into());
        let near = (a - b).abs() <= tolerance * b.abs().max(1.0);
        if !(near || a.is_nan() && b.is_nan()) {
            return Err(format!("element {i} is {a} instead of {b}").into());
        }
    }
    Ok(())
}

/// Numbers that look random and are the same in every run (xorshift).
pub(crate) fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// `count` of them, below `limit`.
pub(crate) fn below(seed: u64, limit: u32, count: usize) -> Vec<u32> {
    numbers(seed).take(count).map(|number| (number % u64::from(limit)) as u32).collect()
}

/// `count` floats between `low` and `high`.
pub(crate) fn between(seed: u64, low: f32, high: f32, count: usize) -> Vec<f32> {
    let unit = |number: u64| (number >> 40) as f32 / (1_u32 << 24) as f32;
    numbers(seed).take(count).map(|number| low + (high - low) * unit(number)).collect()
}
