//! The text that the model learns, as numbers of its characters.

use crate::random::Random;

const TEXT: &str = include_str!("../text.txt");

/// The text, and which characters it has.
pub(crate) struct Text {
    /// The characters, each once, in order.
    pub(crate) alphabet: Vec<char>,
    /// The text: places in the alphabet.
    pub(crate) characters: Vec<u32>,
}

impl Text {
    pub(crate) fn load() -> Self {
        let mut alphabet: Vec<char> = TEXT.chars().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let place = |it| alphabet.binary_search(&it).expect("a character of the text") as u32;
        Self { characters: TEXT.chars().map(place).collect(), alphabet }
    }

    /// Sequences of the text one after another, and what comes after each of their characters.
    pub(crate) fn batch(
        &self,
        random: &mut Random,
        sequences: usize,
        context: usize,
    ) -> (Vec<u32>, Vec<u32>) {
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..sequences {
            let start = random.below(self.characters.len() - context);
            inputs.extend(&self.characters[start..start + context]);
            targets.extend(&self.characters[start + 1..=start + context]);
        }
        (inputs, targets)
    }

    /// The loss of a model that knows the characters alone.
    pub(crate) fn loss_of_alphabet(&self) -> f32 {
        (self.alphabet.len() as f32).ln()
    }

    /// The loss of a model that knows how frequent each character is, and nothing of those before it.
    pub(crate) fn loss_of_frequencies(&self) -> f32 {
        let total = self.characters.len() as f32;
        let share =
            |it| self.characters.iter().filter(|other| **other == it).count() as f32 / total;
        (0..self.alphabet.len() as u32).map(|it| -share(it) * share(it).ln()).sum()
    }
}
