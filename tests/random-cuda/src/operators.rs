//! The operations of expressions: what C++ writes for each, and what Rust computes. In the text
//! `$a` and `$b` stand for the operands.

/// An operation of one operand.
#[derive(Debug)]
pub(crate) struct Unary<T, R = T> {
    pub(crate) text: &'static str,
    pub(crate) value: fn(T) -> R,
}

/// An operation of two operands.
#[derive(Debug)]
pub(crate) struct Binary<T, R = T> {
    pub(crate) text: &'static str,
    pub(crate) value: fn(T, T) -> R,
}

const fn unary<T, R>(text: &'static str, value: fn(T) -> R) -> Unary<T, R> {
    Unary { text, value }
}

const fn binary<T, R>(text: &'static str, value: fn(T, T) -> R) -> Binary<T, R> {
    Binary { text, value }
}

/// Functions that the texts below use.
pub(crate) const PRELUDE: &str = "\
#define T (threadIdx.y * blockDim.x + threadIdx.x)
#define I (blockIdx.x * (blockDim.x * blockDim.y) + T)
#define J ((int)blockIdx.x * ((int)blockDim.x * (int)blockDim.y) + (int)T)
#define K ((int)(blockIdx.x * blockDim.x + threadIdx.x))
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ u32 bits_of(float a) { return a == a ? __float_as_uint(a) : 0x7fc00000u; }
__device__ u32 rotate(u32 a, u32 by) { return (a << (by & 31u)) | (a >> (-by & 31u)); }
__device__ float wide_root(float a, float b) {
  return (float)sqrt(fabs((double)a * (double)a + (double)b));
}
";

pub(crate) static INT_UNARY: &[Unary<u32>] = &[
    unary("(~$a)", |a| !a),
    unary("(0u - $a)", u32::wrapping_neg),
    unary("(u32)__popc($a)", u32::count_ones),
    unary("(u32)__clz((int)$a)", u32::leading_zeros),
    unary("(u32)__ffs((int)$a)", |a| if a == 0 { 0 } else { a.trailing_zeros() + 1 }),
    unary("__brev($a)", u32::reverse_bits),
    unary("(u32)(int)(signed char)$a", |a| a as i8 as u32),
    unary("(u32)(int)(short)$a", |a| a as i16 as u32),
    unary("(u32)(unsigned char)($a >> 5)", |a| u32::from((a >> 5) as u8)),
    unary("(u32)abs((int)($a >> 1) - 70000)", |a| ((a >> 1) as i32 - 70000).unsigned_abs()),
    unary("(u32)((float)$a * 0.37f)", |a| (a as f32 * 0.37) as u32),
    unary("(u32)sqrt((double)$a)", |a| f64::from(a).sqrt() as u32),
];

pub(crate) static INT_BINARY: &[Binary<u32>] = &[
    binary("($a + $b)", u32::wrapping_add),
    binary("($a + $b)", u32::wrapping_add),
    binary("($a - $b)", u32::wrapping_sub),
    binary("($a * $b)", u32::wrapping_mul),
    binary("($a ^ $b)", |a, b| a ^ b),
    binary("($a & $b)", |a, b| a & b),
    binary("($a | $b)", |a, b| a | b),
    binary("($a << ($b & 31u))", u32::wrapping_shl),
    binary("($a >> ($b & 31u))", u32::wrapping_shr),
    binary("(u32)((int)$a >> ($b & 31u))", |a, b| (a as i32).wrapping_shr(b) as u32),
    binary("($a / ($b | 1u))", |a, b| a / (b | 1)),
    binary("($a % ($b | 1u))", |a, b| a % (b | 1)),
    binary("(u32)((int)$a / (int)(($b & 0xfffu) + 2u))", |a, b| {
        (a as i32 / ((b & 0xfff) + 2) as i32) as u32
    }),
    binary("(u32)((int)$a % -(int)(($b & 0xffu) + 2u))", |a, b| {
        (a as i32 % -(((b & 0xff) + 2) as i32)) as u32
    }),
    binary("min($a, $b)", |a, b| a.min(b)),
    binary("(u32)max((int)$a, (int)$b)", |a, b| (a as i32).max(b as i32) as u32),
    binary("__umulhi($a, $b)", |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    binary("(u32)__mulhi((int)$a, (int)$b)", |a, b| {
        ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
    }),
    binary("rotate($a, $b)", u32::rotate_left),
    binary("__funnelshift_l($a, $b, 11)", |a, b| b << 11 | a >> 21),
    binary("__funnelshift_r($a, $b, 37)", |a, b| b << 27 | a >> 5),
    binary("__byte_perm($a, $b, 0x5163)", |a, b| {
        let bytes = u64::from(b) << 32 | u64::from(a);
        let byte = |at: u32| (bytes >> (8 * at)) as u32 & 0xff;
        byte(5) << 24 | byte(1) << 16 | byte(6) << 8 | byte(3)
    }),
    binary("__usad($a, $b, 9u)", |a, b| a.abs_diff(b).wrapping_add(9)),
    binary("(u32)(((u64)$a * $b + 77u) >> 19)", |a, b| {
        ((u64::from(a) * u64::from(b) + 77) >> 19) as u32
    }),
    binary("(u32)((((u64)$a << 23) | 5u) / ($b | 1u))", |a, b| {
        ((u64::from(a) << 23 | 5) / u64::from(b | 1)) as u32
    }),
    binary("(u32)((((u64)$a << 30) ^ $b) % 1000003ull)", |a, b| {
        ((u64::from(a) << 30 ^ u64::from(b)) % 1_000_003) as u32
    }),
    binary("(u32)(((long long)(int)$a * (int)$b) >> 9)", |a, b| {
        ((i64::from(a as i32) * i64::from(b as i32)) >> 9) as u32
    }),
    binary("(u32)((double)$a * 0.25 + (double)($b >> 2))", |a, b| {
        (f64::from(a) * 0.25 + f64::from(b >> 2)) as u32
    }),
    binary("(u32)($a < $b)", |a, b| u32::from(a < b)),
];

pub(crate) static INT_TESTS: &[Binary<u32, bool>] = &[
    binary("$a < $b", |a, b| a < b),
    binary("(int)$a < (int)$b", |a, b| (a as i32) < b as i32),
    binary("$a % 4u == $b % 3u", |a, b| a % 4 == b % 3),
    binary("($a & 7u) > ($b & 7u)", |a, b| a & 7 > b & 7),
    binary("(($a ^ $b) & 1u) != 0u", |a, b| (a ^ b) & 1 != 0),
    binary("$a != $b", |a, b| a != b),
];

pub(crate) static REAL_UNARY: &[Unary<f32>] = &[
    unary("(-$a)", |a| -a),
    unary("fabsf($a)", f32::abs),
    unary("sqrtf(fabsf($a))", |a| a.abs().sqrt()),
    unary("floorf($a)", f32::floor),
    unary("ceilf($a)", f32::ceil),
    unary("truncf($a)", f32::trunc),
    unary("rintf($a)", f32::round_ties_even),
    unary("roundf($a)", f32::round),
    unary("__half2float(__float2half($a))", |a| half::f16::from_f32(a).to_f32()),
    unary("ldexpf($a, -3)", |a| a * 0.125),
];

/// What of two zeros is the lesser is open in C++; adding a zero leaves one of them.
pub(crate) static REAL_BINARY: &[Binary<f32>] = &[
    binary("($a + $b)", |a, b| a + b),
    binary("($a - $b)", |a, b| a - b),
    binary("($a * $b)", |a, b| a * b),
    binary("($a / $b)", |a, b| a / b),
    binary("(fminf($a, $b) + 0.0f)", |a, b| a.min(b) + 0.0),
    binary("(fmaxf($a, $b) + 0.0f)", |a, b| a.max(b) + 0.0),
    binary("fmaf($a, $b, 1.25f)", |a, b| a.mul_add(b, 1.25)),
    binary("fmaf($a, 0.75f, -$b)", |a, b| a.mul_add(0.75, -b)),
    binary("__fadd_rn(__fmul_rn($a, 3.0f), $b)", |a, b| a * 3.0 + b),
    binary("(float)((double)$a * (double)$b)", |a, b| (f64::from(a) * f64::from(b)) as f32),
    binary("(float)((double)$a / ((double)$b + 0.3))", |a, b| {
        (f64::from(a) / (f64::from(b) + 0.3)) as f32
    }),
    binary("(float)fma((double)$a, 1.5, (double)$b)", |a, b| {
        f64::from(a).mul_add(1.5, f64::from(b)) as f32
    }),
    binary("wide_root($a, $b)", |a, b| {
        (f64::from(a) * f64::from(a) + f64::from(b)).abs().sqrt() as f32
    }),
    binary("fmodf($a, $b)", |a, b| a % b),
];

pub(crate) static REAL_TESTS: &[Binary<f32, bool>] = &[
    binary("$a < $b", |a, b| a < b),
    binary("$a >= $b", |a, b| a >= b),
    binary("!($a > $b)", |a, b| !matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Greater))),
    binary("$a != $b", |a, b| a != b),
    binary("fabsf($a) < 1000.0f && $b == $b", |a, b| a.abs() < 1000.0 && !b.is_nan()),
];

/// From integers to real numbers.
pub(crate) static TO_REAL: &[Unary<u32, f32>] = &[
    unary("(float)$a", |a| a as f32),
    unary("(float)(int)$a", |a| a as i32 as f32),
    unary("((float)($a & 0xffffu) * 0.0625f)", |a| (a & 0xffff) as f32 * 0.0625),
    unary("((float)(int)($a & 0xfffu) - 2048.0f)", |a| (a & 0xfff) as f32 - 2048.0),
    // No infinity, and nothing that is no number.
    unary("__uint_as_float($a & 0xbfffffffu)", |a| f32::from_bits(a & 0xbfff_ffff)),
    unary("(float)((u64)$a * 0x100000001ull)", |a| (u64::from(a) * 0x1_0000_0001) as f32),
];

/// From real numbers to integers.
pub(crate) static TO_INT: &[Unary<f32, u32>] = &[
    unary("bits_of($a)", |a| if a.is_nan() { 0x7fc0_0000 } else { a.to_bits() }),
    unary("(u32)fminf(fabsf($a), 4.0e9f)", |a| a.abs().min(4.0e9) as u32),
    unary("(u32)(int)fmaxf(fminf($a, 2.0e9f), -2.0e9f)", |a| {
        let limited = if a.is_nan() { 2.0e9 } else { a.clamp(-2.0e9, 2.0e9) };
        limited as i32 as u32
    }),
    unary("(u32)__float2int_rn($a)", |a| a.round_ties_even() as i32 as u32),
    unary("__float2uint_rz($a)", |a| a as u32),
    unary("(u32)__float2int_rd($a)", |a| a.floor() as i32 as u32),
];

/// An atomic operation whose result does not depend on the order of the threads.
#[derive(Debug)]
pub(crate) struct Atomic {
    /// A statement, with the address `$p` and the value `$a`; `$o` is what was there before.
    pub(crate) text: &'static str,
    pub(crate) value: fn(u32, u32) -> u32,
    /// What memory has to hold before.
    pub(crate) start: u32,
}

const fn atomic(text: &'static str, start: u32, value: fn(u32, u32) -> u32) -> Atomic {
    Atomic { text, value, start }
}

pub(crate) static ATOMICS: &[Atomic] = &[
    atomic("$o = atomicAdd($p, $a);", 0, u32::wrapping_add),
    atomic("$o = atomicSub($p, $a);", 5, u32::wrapping_sub),
    atomic("$o = atomicMin($p, $a);", u32::MAX, |old, a| old.min(a)),
    atomic("$o = (u32)atomicMax((int *)$p, (int)$a);", 0, |old, a| {
        (old as i32).max(a as i32) as u32
    }),
    atomic("$o = atomicAnd($p, $a);", u32::MAX, |old, a| old & a),
    atomic("$o = atomicOr($p, $a);", 0, |old, a| old | a),
    atomic("$o = atomicXor($p, $a);", 0, |old, a| old ^ a),
    atomic("$o = atomicInc($p, 12u) + 0u * $a;", 0, |old, _| if old >= 12 { 0 } else { old + 1 }),
    atomic(
        "{ u32 seen = atomicOr($p, 0u); do { $o = seen; seen = atomicCAS($p, $o, $o * 5u + 0u * $a); \
         } while (seen != $o); }",
        1,
        |old, _| old.wrapping_mul(5),
    ),
];
