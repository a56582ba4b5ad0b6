//! What a thread remembers of the modules that it asked for last: a set-associative cache of two ways.
//!
//! With one way two kernels that are launched in turn could fall in one place, and then each launch took the lock of
//! the table: `benches/cache.rs` measures that. Three that fall in one set still do.

/// How many sets there are, as a power of two.
const SETS_BITS: u32 = 6;

/// How many values fit in a set.
const WAYS: usize = 2;

/// Values of a thread, each in the set of its number. In each set the value that came last is first.
pub(super) struct Remembered<V>([[Option<V>; WAYS]; 1 << SETS_BITS]);

impl<V> Remembered<V> {
    pub(super) const fn new() -> Self {
        Self([const { [const { None }; WAYS] }; 1 << SETS_BITS])
    }

    /// The value of this number that `is_it`.
    pub(super) fn find(&self, number: u64, is_it: impl Fn(&V) -> bool) -> Option<&V> {
        self.0[set(number)].iter().flatten().find(|value| is_it(value))
    }

    /// Remembers `value` in place of the one that `is_it`, of an empty one, or of the one that came first. What had to go
    /// is returned, so that the caller drops it where nothing is borrowed.
    pub(super) fn replace(
        &mut self,
        number: u64,
        value: V,
        is_it: impl Fn(&V) -> bool,
    ) -> Option<V> {
        let ways = &mut self.0[set(number)];
        let is_free = |way: &Option<V>| way.as_ref().is_none_or(&is_it);
        let free = ways.iter().position(is_free).unwrap_or(WAYS - 1);
        ways[..=free].rotate_right(1);
        ways[0].replace(value)
    }
}

/// The set of a number (Fibonacci hashing).
fn set(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SETS_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::{Remembered, WAYS, set};

    /// Numbers that fall in one set.
    fn numbers_of_one_set() -> impl Iterator<Item = u64> {
        (0..).filter(|&number| set(number) == set(0))
    }

    fn remember(all: &mut Remembered<(u64, u32)>, number: u64, version: u32) -> Option<(u64, u32)> {
        all.replace(number, (number, version), |it| it.0 == number)
    }

    fn find(all: &Remembered<(u64, u32)>, number: u64) -> Option<u32> {
        all.find(number, |it| it.0 == number).map(|it| it.1)
    }

    #[test]
    fn two_in_one_set_are_both_remembered() {
        let mut all = Remembered::new();
        let numbers: Vec<u64> = numbers_of_one_set().take(WAYS + 1).collect();
        let [first, second, third] = numbers[..] else { panic!("{numbers:?}") };
        assert_eq!(remember(&mut all, first, 0), None);
        assert_eq!(remember(&mut all, second, 0), None);
        assert_eq!((find(&all, first), find(&all, second)), (Some(0), Some(0)));
        assert_eq!(remember(&mut all, third, 0), Some((first, 0)), "it came first");
        assert_eq!((find(&all, first), find(&all, second)), (None, Some(0)));
        assert_eq!(find(&all, third), Some(0));
    }

    /// A module that is loaded again has another visit; the old one, which is closed, must not stay in front of it.
    #[test]
    fn a_new_version_takes_the_place_of_the_old_one() {
        let mut all = Remembered::new();
        let numbers: Vec<u64> = numbers_of_one_set().take(2).collect();
        for &number in &numbers {
            assert_eq!(remember(&mut all, number, 0), None);
        }
        // The one that came last first: it is not the one that would go anyway.
        for &number in numbers.iter().rev() {
            assert_eq!(remember(&mut all, number, 1), Some((number, 0)));
            assert_eq!(find(&all, number), Some(1));
        }
        assert!(numbers.iter().all(|&number| find(&all, number) == Some(1)));
    }
}
