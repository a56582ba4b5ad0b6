//! Inputs, and how much outputs differ.

/// Numbers from 0 up to 1 that look random, the same in each run (xorshift, Marsaglia 2003).
pub(crate) fn fractions(count: usize, seed: u64) -> Vec<f32> {
    let mut state = 0x9E37_79B9_7F4A_7C15 ^ seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Integers from 0 up to a limit.
pub(crate) fn integers(count: usize, limit: i32, seed: u64) -> Vec<i32> {
    fractions(count, seed).into_iter().map(|it| (it * limit as f32) as i32).collect()
}

/// The largest difference, relative to numbers above 1.
pub(crate) fn difference(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    let each = pairs.map(|(found, expected)| {
        let (found, expected) = (f64::from(*found), f64::from(*expected));
        (found - expected).abs() / expected.abs().max(1.0)
    });
    // A comparison with NaN is false, and one that is there must not be lost.
    each.fold(0.0, |most, it| if it <= most { most } else { it })
}

/// How many integers differ.
pub(crate) fn mismatches<T: PartialEq>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).filter(|(found, expected)| found != expected).count() as f64
}
