//! Mutation-based fuzzing of what reads texts and bytes: inputs made of a corpus by a few changes, each from a
//! seed of its own.
//!
//! `KERNELMILL_FUZZ_CASES` says how many inputs to try and `KERNELMILL_FUZZ_SEED` with which seed to begin. A seed
//! makes the same input on every machine; those that failed are printed, and `KERNELMILL_FUZZ_CASES=1` tries one
//! alone. `KERNELMILL_FUZZ_SECONDS` ends a long run.
//!
//! After Zeller, Gopinath, Böhme, Fraser and Holler, ["The Fuzzing Book"](https://www.fuzzingbook.org),
//! "Mutation-Based Fuzzing".

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use crate::Random;

/// What replaces a token besides tokens of the corpus: numbers and marks at the edges.
const EDGES: [&str; 24] = [
    "0",
    "-1",
    "1",
    "255",
    "4294967296",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e999",
    "0x",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "#",
    "/*",
    "\u{0}",
    "\u{202e}ß∞",
];

/// Texts that are made of those of a corpus.
#[derive(Debug)]
pub struct Texts {
    corpus: Vec<Vec<String>>,
}

impl Texts {
    /// Makes texts of these, of which there is one at least.
    pub fn new(corpus: impl IntoIterator<Item = String>) -> Self {
        Self { corpus: corpus.into_iter().map(|text| tokens(&text)).collect() }
    }

    /// The text of a seed: one of the corpus with one to four changes.
    #[must_use]
    pub fn of(&self, random: &mut Random) -> String {
        let mut text = random.pick(&self.corpus).clone();
        for _ in 0..=random.below(4) {
            self.change(&mut text, random);
        }
        text.concat()
    }

    fn change(&self, text: &mut Vec<String>, random: &mut Random) {
        if text.is_empty() {
            return;
        }
        let at = random.below(text.len());
        let other = random.below(text.len());
        match random.below(10) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, text[other].clone()),
            2 => text.swap(at, other),
            3 => text[at] = (*random.pick(&EDGES)).to_owned(),
            4 | 5 => {
                let donor = random.pick(&self.corpus);
                text[at].clone_from(random.pick(donor));
            }
            6 => {
                let donor = random.pick(&self.corpus);
                let start = random.below(donor.len());
                let end = donor.len().min(start + 1 + random.below(24));
                text.splice(at..at, donor[start..end].iter().cloned());
            }
            7 => drop(text.drain(at.min(other)..at.max(other))),
            8 => {
                let mut depth = 1 << random.below(11);
                let (open, close) =
                    *random.pick(&[("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("&", "")]);
                if open == "<" {
                    depth = depth.min(256);
                }
                text[at] = format!("{}{}{}", open.repeat(depth), text[at], close.repeat(depth));
            }
            _ => text.truncate(at),
        }
    }
}

/// The words, runs of blanks and single marks of a text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut last = 0;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(token) if last != 0 && class(c) == last => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = class(c);
    }
    if tokens.is_empty() { vec![String::new()] } else { tokens }
}

/// Bytes with one to four changes: bits, bytes, lengths, pieces that are lost or copied.
#[must_use]
pub fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (random.below(bytes.len()), random.below(bytes.len()));
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => {
                let value: u64 =
                    *random.pick(&[0, 1, 1 << 31, 1 << 32, 1 << 40, u64::MAX, u64::MAX / 8]);
                for (place, byte) in bytes[at..].iter_mut().zip(value.to_le_bytes()) {
                    *place = byte;
                }
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at.min(other)..at.max(other))),
            5 => {
                let piece = bytes[at.min(other)..at.max(other)].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes.swap(at, other),
        }
    }
    bytes
}

/// Tries inputs, as many as the environment says or else `cases`; `try_one` makes the input of the numbers that it
/// is given, and panics where something is wrong.
///
/// # Panics
///
/// Where an input failed, with the seeds of those that did.
pub fn try_all(cases: u64, mut try_one: impl FnMut(&mut Random)) {
    let cases = setting("KERNELMILL_FUZZ_CASES", cases);
    let first = setting("KERNELMILL_FUZZ_SEED", 1);
    let limit = Duration::from_secs(setting("KERNELMILL_FUZZ_SECONDS", u64::MAX));
    let (start, mut tried, mut failed) = (Instant::now(), 0, Vec::new());
    for seed in first..first.saturating_add(cases) {
        if start.elapsed() > limit {
            break;
        }
        tried += 1;
        let one = || try_one(&mut Random::new(seed));
        if catch_unwind(AssertUnwindSafe(one)).is_err() {
            eprintln!("failed: KERNELMILL_FUZZ_SEED={seed}");
            failed.push(seed);
            if failed.len() == 10 {
                break;
            }
        }
    }
    // For `cargo xtask soak`.
    println!("counted: inputs: {tried} tried, {} failed", failed.len());
    assert!(failed.is_empty(), "KERNELMILL_FUZZ_SEED of the inputs that failed: {failed:?}");
}

fn setting(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, no number")),
        Err(_) => default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_input_and_seeds_make_many() {
        let texts =
            Texts::new(["fn a(x: &[f32]) {}\n".to_owned(), "pub struct B { c: u8 }".to_owned()]);
        let of = |seed| texts.of(&mut Random::new(seed));
        assert_eq!(of(7), of(7));
        let all: std::collections::BTreeSet<_> = (0..200).map(of).collect();
        assert!(all.len() > 150, "{}", all.len());
        let bytes: Vec<u8> = (0..64).collect();
        let other = (0..200).filter(|seed| damaged(&bytes, &mut Random::new(*seed)) != bytes);
        assert!(other.count() > 150);
    }

    #[test]
    fn seeds_that_fail_are_named() {
        let found = catch_unwind(|| {
            let mut tried = 0;
            try_all(20, |_| {
                tried += 1;
                assert!(tried != 3);
            });
        });
        let message = found.unwrap_err().downcast::<String>().unwrap();
        assert!(message.ends_with("[3]"), "{message}");
    }
}
