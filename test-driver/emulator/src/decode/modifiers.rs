//! The modifiers of an instruction, each of which must be understood.

use super::problem::Problem;
use crate::arithmetic::Flags;
use crate::arithmetic::exact::Rounding;
use crate::ptx::Type;

/// The modifiers that are not used up yet.
pub(crate) struct Modifiers<'i> {
    words: Vec<&'i str>,
}

impl<'i> Modifiers<'i> {
    pub(crate) fn new(words: &[&'i str]) -> Modifiers<'i> {
        Modifiers { words: words.to_vec() }
    }

    /// Uses `word` up, if it is there.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        match self.words.iter().position(|found| *found == word) {
            Some(place) => {
                self.words.remove(place);
                true
            }
            None => false,
        }
    }

    /// Uses up the first word for which `pick` has a meaning.
    pub(crate) fn pick<T>(&mut self, pick: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (place, value) =
            self.words.iter().enumerate().find_map(|(place, word)| Some((place, pick(word)?)))?;
        self.words.remove(place);
        Some(value)
    }

    /// Uses up the first type.
    pub(crate) fn ty(&mut self) -> Result<Type, Problem> {
        self.pick(Type::named).ok_or(Problem::Unsupported)
    }

    /// Uses up all words that make no difference here.
    pub(crate) fn ignore(&mut self, words: &[&str]) {
        self.words.retain(|word| !words.contains(word));
    }

    /// Uses up words with one of these beginnings.
    pub(crate) fn ignore_prefixed(&mut self, prefixes: &[&str]) {
        self.words.retain(|word| !prefixes.iter().any(|prefix| word.starts_with(prefix)));
    }

    /// Uses up rounding, `.ftz`, `.sat` and their like.
    pub(crate) fn flags(&mut self) -> u32 {
        let mut flags = self.rounding();
        for (word, bit) in [
            ("ftz", Flags::FLUSH),
            ("sat", Flags::SATURATE),
            ("NaN", Flags::NAN),
            ("relu", Flags::RELU),
            ("satfinite", Flags::SATURATE_FINITE),
        ] {
            if self.take(word) {
                flags |= bit;
            }
        }
        flags
    }

    fn rounding(&mut self) -> u32 {
        let named = |word: &str| {
            Some(match word {
                "rn" => Flags::rounding_bits(Rounding::Nearest),
                "rz" => Flags::rounding_bits(Rounding::Zero),
                "rm" => Flags::rounding_bits(Rounding::Down),
                "rp" => Flags::rounding_bits(Rounding::Up),
                "rna" => Flags::rounding_bits(Rounding::Away),
                "rni" => Flags::rounding_bits(Rounding::Nearest) | Flags::INTEGRAL,
                "rzi" => Flags::rounding_bits(Rounding::Zero) | Flags::INTEGRAL,
                "rmi" => Flags::rounding_bits(Rounding::Down) | Flags::INTEGRAL,
                "rpi" => Flags::rounding_bits(Rounding::Up) | Flags::INTEGRAL,
                _ => return None,
            })
        };
        self.pick(named).unwrap_or(0)
    }

    /// Every word must have been used up.
    pub(crate) fn finish(&self) -> Result<(), Problem> {
        if self.words.is_empty() { Ok(()) } else { Err(Problem::Unsupported) }
    }

    /// The first word left.
    pub(crate) fn first(&self) -> Option<&'i str> {
        self.words.first().copied()
    }
}
