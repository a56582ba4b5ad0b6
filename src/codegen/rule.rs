//! Arithmetic of contracts, for generated bindings: exact, and where a number has no exact value
//! (it would not fit, a division by zero) no rule holds that needs it.

use crate::argument::Held;

/// A whole number; `None` where it has no exact value.
pub type Number = Option<i128>;

/// A value of one of Rust's integers.
pub trait Integer: Copy {
    /// The value.
    fn number(self) -> Number;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Integer for $integer {
            fn number(self) -> Number {
                i128::try_from(self).ok()
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 usize);

/// A value as a number.
pub fn int(value: impl Integer) -> Number {
    value.number()
}

/// The number of elements of an argument.
pub fn len<T>(held: &Held<'_, T>) -> Number {
    held.len().number()
}

/// What some names are, as a clause after a sentence; nothing where there are none.
#[cold]
pub(super) fn clause(values: &[(&str, Number)]) -> String {
    let one = |(name, value): &(&str, Number)| match value {
        Some(value) => format!("`{name}` is {value}"),
        None => format!("`{name}` has no exact value"),
    };
    let all: Vec<_> = values.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident, $checked:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(left: Number, right: Number) -> Number {
            left?.$checked(right?)
        }
    )*};
}

operations! {
    /// `left + right`.
    add, checked_add;
    /// `left - right`.
    subtract, checked_sub;
    /// `left * right`.
    multiply, checked_mul;
    /// `left / right`, rounded towards zero.
    divide, checked_div;
    /// `left % right`, with the sign of `left`.
    remainder, checked_rem;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident, $operator:tt;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(left: Number, right: Number) -> bool {
            matches!((left, right), (Some(left), Some(right)) if left $operator right)
        }
    )*};
}

comparisons! {
    /// `left < right`.
    less, <;
    /// `left <= right`.
    at_most, <=;
    /// `left > right`.
    greater, >;
    /// `left >= right`.
    at_least, >=;
    /// `left == right`.
    equal, ==;
    /// `left != right`.
    different, !=;
}

/// `left and right`.
#[must_use]
pub const fn both(left: bool, right: bool) -> bool {
    left && right
}

/// `left or right`.
#[must_use]
pub const fn either(left: bool, right: bool) -> bool {
    left || right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_exact_value_keeps_no_rule() {
        let huge = multiply(int(u64::MAX), int(u64::MAX));
        assert_eq!(huge, None);
        for compare in [less, at_most, greater, at_least, equal, different] {
            assert!(!compare(huge, int(1)) && !compare(int(1), huge) && !compare(huge, huge));
        }
        assert_eq!((divide(int(7), int(0)), remainder(int(7), int(0))), (None, None));
        assert_eq!(subtract(int(0_u32), int(1)), Some(-1));
        assert!(less(int(-1), int(0_usize)) && different(int(1), int(2_u8)));
    }
}
