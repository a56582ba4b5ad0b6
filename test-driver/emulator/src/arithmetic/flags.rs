//! Flags: the modifiers of a floating-point operation in one word.

use super::exact::Rounding;

/// Modifiers of floating-point operations, in one word of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(pub(crate) u32);

impl Flags {
    /// `.ftz`: subnormal inputs and results of `f32` become zeros.
    pub(crate) const FLUSH: u32 = 1 << 4;
    /// `.sat`: clamps to 0..1, NaN to 0.
    pub(crate) const SATURATE: u32 = 1 << 5;
    /// `.NaN`: a NaN operand makes the minimum or maximum NaN.
    pub(crate) const NAN: u32 = 1 << 6;
    /// `.relu`: negative results and NaN become zero.
    pub(crate) const RELU: u32 = 1 << 7;
    /// `.xorsign.abs`: compares magnitudes, the sign is the product's.
    pub(crate) const XOR_SIGN: u32 = 1 << 8;
    /// `.satfinite`: values too large become the largest number.
    pub(crate) const SATURATE_FINITE: u32 = 1 << 9;
    /// The operation rounds to an integral value (`.rni` and its like).
    pub(crate) const INTEGRAL: u32 = 1 << 10;

    pub(crate) fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    pub(crate) fn rounding(self) -> Rounding {
        match self.0 & 7 {
            0 => Rounding::Nearest,
            1 => Rounding::Zero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            _ => Rounding::Away,
        }
    }

    pub(crate) fn rounding_bits(rounding: Rounding) -> u32 {
        rounding as u32
    }
}
