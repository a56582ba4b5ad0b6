//! Numbers of `f32` as operands, and as results.

use crate::{common::Random, harness::rows};

/// Edges of `f32`, then numbers of all sizes.
pub(crate) fn singles() -> Vec<u64> {
    let edges = [
        0.0f32,
        -0.0,
        1.0,
        -1.0,
        0.1,
        1.5,
        2.5,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::from_bits(1),
        f32::from_bits(0x807f_ffff),
        f32::EPSILON,
    ];
    let mut random = Random::new(21);
    let mut values: Vec<u64> = edges.iter().map(|edge| u64::from(edge.to_bits())).collect();
    values.extend((0..150).map(|_| random.next() & 0xffff_ffff));
    values.extend((0..150).map(|_| u64::from((random.unit() * 8.0 - 4.0).to_bits())));
    values
}

/// Rows of them.
pub(crate) fn single_rows() -> Vec<[u64; 3]> {
    rows(&singles(), &singles(), &singles())
}

/// The number with these bits.
pub(crate) fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The bits of a result; devices give one NaN.
pub(crate) fn bits(value: f32) -> u64 {
    if value.is_nan() { 0x7fff_ffff } else { u64::from(value.to_bits()) }
}
