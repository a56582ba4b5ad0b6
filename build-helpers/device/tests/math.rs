//! The elementary functions are as accurate as they say.

use kernelmill_device::math;

/// A generator of numbers that look random (Marsaglia's xorshift, multiplied).
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Between `low` and `high`.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// The distance of `ours` from `exact` in units of the last place of an `f32`.
fn ulps_f32(ours: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    let zero = ours == 0.0 && nearest == 0.0;
    if zero && ours.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    if ours == nearest || ours.is_nan() && exact.is_nan() {
        return 0.0;
    }
    if !ours.is_finite() || !nearest.is_finite() {
        return f64::INFINITY;
    }
    let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).max(-126);
    (f64::from(ours) - exact).abs() / 2.0_f64.powi(exponent - 23)
}

/// The number of `f64`s from `ours` to `other`.
fn steps_f64(ours: f64, other: f64) -> u64 {
    if ours.is_nan() && other.is_nan() {
        return 0;
    }
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits).wrapping_sub(1) } else { bits }
    };
    if ours.is_nan() || other.is_nan() { u64::MAX } else { place(ours).abs_diff(place(other)) }
}

type Unary<F> = fn(F) -> F;
type Binary<F> = fn(F, F) -> F;

macro_rules! pairs {
    ($($name:ident)*) => {
        [$((stringify!($name), math::f32::$name as _, math::f64::$name as _, f64::$name as _)),*]
    };
}

/// A name, and the function for `f32`, for `f64` and of `std`.
type Functions<A, B> = (&'static str, A, B, B);

const UNARY: [Functions<Unary<f32>, Unary<f64>>; 17] = pairs! {
    sin cos tan asin acos atan sinh cosh tanh exp exp2 exp_m1 ln log2 log10 ln_1p cbrt
};

const BINARY: [Functions<Binary<f32>, Binary<f64>>; 3] = pairs! { atan2 powf hypot };

/// The worst that was measured over all `f32`s is 1.5.
const BOUND_F32: f64 = 2.0;

#[test]
fn f32_over_the_whole_range() {
    for (name, ours, _, exact) in UNARY {
        // A prime step through all bit patterns: every exponent, both signs, some NaN.
        for bits in (0..=u32::MAX).step_by(16_381) {
            let x = f32::from_bits(bits);
            let error = ulps_f32(ours(x), exact(f64::from(x)));
            assert!(error <= BOUND_F32, "{name}({x:e}) = {:e}: {error}", ours(x));
        }
    }
}

#[test]
fn f32_in_two_arguments() {
    let mut numbers = Numbers(88_172_645_463_325_252);
    for (name, ours, _, exact) in BINARY {
        let check = |x: f32, y: f32| {
            let error = ulps_f32(ours(x, y), exact(f64::from(x), f64::from(y)));
            assert!(error <= BOUND_F32, "{name}({x:e}, {y:e}) = {:e}: {error}", ours(x, y));
        };
        for _ in 0..50_000 {
            let bits = numbers.bits();
            check(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
            check(numbers.between(0.0, 10.0) as f32, numbers.between(-20.0, 20.0) as f32);
            let exponent = numbers.between(-40.0, 40.0);
            check(exponent.exp2() as f32, (numbers.between(-140.0, 130.0) / exponent) as f32);
        }
    }
}

#[test]
fn remainders_are_exact() {
    let mut numbers = Numbers(1_234_567);
    let specials = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, f32::MAX, 1e-45, -3e-40];
    let check = |x: f32, y: f32| {
        let (ours, exact) = (math::f32::rem(x, y), x % y);
        let same = ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan();
        assert!(same, "{x:e} % {y:e} = {ours:e}, not {exact:e}");
    };
    specials.iter().for_each(|x| specials.iter().for_each(|y| check(*x, *y)));
    for _ in 0..100_000 {
        let bits = numbers.bits();
        let (x, y) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
        check(x, y);
        // Quotients near a whole number, where they are rounded up.
        check(y * (bits % 4_000_000) as f32, y);
        let (x, y) = (f64::from_bits(numbers.bits()), f64::from_bits(numbers.bits()));
        for (x, y) in [(x, y), (y * (bits % 1_000_000_007) as f64, y)] {
            let (ours, exact) = (math::f64::rem(x, y), x % y);
            let same = ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan();
            assert!(same, "{x:e} % {y:e} = {ours:e}, not {exact:e}");
        }
    }
}

#[test]
fn f64_against_a_table_of_exact_values() {
    let mut lines = 0;
    for line in include_str!("data/math_f64.txt").lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| match word {
            "nan" => f64::NAN,
            bits => f64::from_bits(u64::from_str_radix(bits, 16).unwrap()),
        };
        let ours = match words[..] {
            [name, x, _] => (UNARY.iter().find(|entry| entry.0 == name).unwrap().2)(number(x)),
            [name, x, y, _] => {
                (BINARY.iter().find(|entry| entry.0 == name).unwrap().2)(number(x), number(y))
            }
            _ => panic!("{line}"),
        };
        let exact = number(words[words.len() - 1]);
        // One step from the nearest is an error below 1.5.
        assert!(steps_f64(ours, exact) <= 1, "{line}: {ours:e}, not {exact:e}");
        let zeros = ours == 0.0 && exact == 0.0;
        assert!(!zeros || ours.is_sign_negative() == exact.is_sign_negative(), "{line}: {ours}");
        lines += 1;
    }
    assert!(lines > 4500, "{lines}");
}

#[test]
fn f64_near_the_functions_of_std() {
    let mut numbers = Numbers(362_436_069);
    // The host's library is not exact either.
    let bound = 3;
    for (name, _, ours, theirs) in UNARY {
        for _ in 0..40_000 {
            let near = numbers.between(-4.0, 4.0);
            let far = numbers.between(-1500.0, 1500.0);
            for x in [f64::from_bits(numbers.bits()), near, far] {
                let steps = steps_f64(ours(x), theirs(x));
                assert!(steps <= bound, "{name}({x:e}): {:e} and {:e}", ours(x), theirs(x));
            }
        }
    }
    for (name, _, ours, theirs) in BINARY {
        for _ in 0..100_000 {
            let exponent = numbers.between(-400.0, 400.0);
            let (x, y) = (exponent.exp2(), numbers.between(-1050.0, 1050.0) / exponent);
            let steps = steps_f64(ours(x, y), theirs(x, y));
            assert!(steps <= bound, "{name}({x:e}, {y:e}): {:e}", ours(x, y));
        }
    }
}

#[test]
fn a_sine_is_odd_and_a_cosine_even() {
    let mut numbers = Numbers(521_288_629);
    for _ in 0..10_000 {
        let x = f64::from_bits(numbers.bits());
        assert_eq!(steps_f64(math::f64::sin(-x), -math::f64::sin(x)), 0, "{x:e}");
        assert_eq!(steps_f64(math::f64::cos(-x), math::f64::cos(x)), 0, "{x:e}");
    }
}
