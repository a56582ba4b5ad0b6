//! Exact decimal expansion of floating-point numbers, in fixed-size arithmetic of base 10^9.
//!
//! It does not use `core::fmt`: instances of its generic functions in this crate would be shared with
//! kernels, and the compiler could not read the messages of their panics any more.

/// Decimal digits of a word, and its base.
const DIGITS: i32 = 9;
const BASE: u32 = 1_000_000_000;

/// Words before the decimal point: 2^1024 has 309 digits.
const BEFORE: usize = 36;
/// All words: 2^-1074 has as many digits after the point.
const WORDS: usize = BEFORE + 120;

/// A number that is finite and not negative.
#[derive(Clone, Copy)]
pub(super) struct Decimal {
    /// The words, the most significant first.
    words: [u32; WORDS],
}

impl Decimal {
    pub(super) fn of(number: f64) -> Self {
        let bits = number.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let mut decimal = Self { words: [0; WORDS] };
        decimal.set(BEFORE - 1, (mantissa % u64::from(BASE)) as u32);
        decimal.set(BEFORE - 2, (mantissa / u64::from(BASE)) as u32);
        let mut shift = exponent.max(1) - 1075;
        while shift > 0 {
            let bits = shift.min(29);
            decimal.multiply(bits as u32);
            shift -= bits;
        }
        while shift < 0 {
            // A word is a multiple of 2^9, so nothing is lost.
            let bits = (-shift).min(9);
            decimal.divide(bits as u32);
            shift += bits;
        }
        decimal
    }

    fn get(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    fn set(&mut self, index: usize, word: u32) {
        if let Some(place) = self.words.get_mut(index) {
            *place = word;
        }
    }

    fn multiply(&mut self, bits: u32) {
        let (mut carry, mut index) = (0, BEFORE);
        while index > 0 {
            index -= 1;
            let value = (u64::from(self.get(index)) << bits) + carry;
            self.set(index, (value % u64::from(BASE)) as u32);
            carry = value / u64::from(BASE);
        }
    }

    fn divide(&mut self, bits: u32) {
        let (mut carry, mut index) = (0, 0);
        while index < WORDS {
            let value = self.get(index);
            self.set(index, (value >> bits) + carry);
            carry = (value & ((1 << bits) - 1)) * (BASE >> bits);
            index += 1;
        }
    }

    /// The position of the digit of 10^`place`: its word, and its power of ten in that word.
    fn find(place: i32) -> (usize, u32) {
        let word = BEFORE as i32 - 1 - place.div_euclid(DIGITS);
        let mut unit = 1;
        let mut left = place.rem_euclid(DIGITS);
        while left > 0 {
            unit *= 10;
            left -= 1;
        }
        (usize::try_from(word).unwrap_or(usize::MAX), unit)
    }

    /// The digit of 10^`place`.
    pub(super) fn digit(&self, place: i32) -> u8 {
        let (word, unit) = Self::find(place);
        (self.get(word) / unit % 10) as u8
    }

    /// The place of the first digit that is not 0; 0 where there is none.
    pub(super) fn top(&self) -> i32 {
        let mut place = BEFORE as i32 * DIGITS;
        let last = -((WORDS - BEFORE) as i32 * DIGITS);
        while place > last && self.digit(place) == 0 {
            place -= 1;
        }
        if place == last { 0 } else { place }
    }

    /// Rounds to a multiple of 10^`place`, to the even one where two are as near.
    pub(super) fn round(&mut self, place: i32) {
        let next = self.digit(place - 1);
        let is_up = next > 5
            || next == 5 && (self.is_more_below(place - 1) || !self.digit(place).is_multiple_of(2));
        if !is_up {
            return;
        }
        let (mut word, mut unit) = Self::find(place);
        loop {
            let sum = self.get(word) + unit;
            if sum < BASE {
                self.set(word, sum);
                return;
            }
            self.set(word, sum - BASE);
            (word, unit) = (word.wrapping_sub(1), 1);
        }
    }

    /// Whether any digit below 10^`place` is not 0.
    fn is_more_below(&self, place: i32) -> bool {
        let (word, unit) = Self::find(place);
        let mut index = word;
        let mut found = !self.get(index).is_multiple_of(unit);
        while !found && index + 1 < WORDS {
            index += 1;
            found = self.get(index) != 0;
        }
        found
    }
}
