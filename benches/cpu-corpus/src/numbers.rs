//! Inputs that are the same in every run, and how outputs are compared.

/// Numbers from 0 to below 1, by a linear congruential generator.
pub(crate) fn random(seed: u32, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..n).map(next).collect()
}

/// The same in double precision.
pub(crate) fn doubles(seed: u32, n: usize) -> Vec<f64> {
    random(seed, n).into_iter().map(f64::from).collect()
}

/// Integers from 0 to below `limit`.
pub(crate) fn below(seed: u32, limit: usize, n: usize) -> Vec<i32> {
    random(seed, n).into_iter().map(|x| ((x * limit as f32) as i32).min(limit as i32 - 1)).collect()
}

/// Elements that are compared as numbers.
pub(crate) trait Number: kernelmill::DeviceCopy + Copy + PartialEq {
    /// The largest difference that is allowed, relative to numbers above 1, where a row names none. Integers are equal.
    const TOLERANCE: f64;

    fn value(self) -> f64;
}

macro_rules! numbers {
    ($tolerance:literal: $($ty:ty)*) => { $(impl Number for $ty {
        const TOLERANCE: f64 = $tolerance;

        fn value(self) -> f64 {
            self as f64
        }
    })* };
}

numbers!(1e-4: f32);
numbers!(1e-9: f64);
numbers!(0.0: i8 u8 i16 u16 i32 u32 i64 u64);

/// The largest difference of two outputs, relative to numbers above 1; infinite where one alone is no number.
pub(crate) fn difference<T: Number>(ours: &[T], plain: &[T]) -> f64 {
    let pairs = ours.iter().zip(plain).map(|(a, b)| (a.value(), b.value()));
    let differences = pairs.map(|(a, b)| match (a - b).abs() / b.abs().max(1.0) {
        _ if a == b || a.is_nan() && b.is_nan() => 0.0,
        difference if difference.is_nan() => f64::INFINITY,
        difference => difference,
    });
    differences.fold(0.0, f64::max)
}

impl Number for bool {
    const TOLERANCE: f64 = 0.0;

    fn value(self) -> f64 {
        f64::from(u8::from(self))
    }
}
