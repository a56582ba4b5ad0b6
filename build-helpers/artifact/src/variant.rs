//! Variants of kernels: builds of one kernel that differ in the launches they are made for.

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
};

use crate::LaunchLimits;

/// A build of a kernel for some of its launches. Its parameters are the limits of these launches and the macros that its
/// source is compiled with; limits are compared without what changes no code, and its name is not compared.
///
/// ```
/// use kernelmill_artifact::{KernelVariant, LaunchLimits};
/// let kernel = LaunchLimits { max_block_threads: 512, ..LaunchLimits::NONE };
/// let few = LaunchLimits { max_registers: 32, ..LaunchLimits::NONE };
/// let variant = KernelVariant::new(few, kernel);
/// assert_eq!((&*variant.name, variant.limits.max_block_threads), ("registers32", 512));
/// // A thread has at most 255 registers, and indices have 64 bits where nobody says otherwise.
/// let all = LaunchLimits { max_registers: 255, index_width: 64, ..LaunchLimits::NONE };
/// assert_eq!(KernelVariant::new(all, kernel), KernelVariant::new(LaunchLimits::NONE, kernel));
/// ```
#[derive(Clone, Debug)]
pub struct KernelVariant {
    /// What people and files call it.
    pub name: Cow<'static, str>,
    /// The limits of its launches, those of its kernel among them.
    pub limits: LaunchLimits,
    /// The macros that its source is compiled with besides those of its kernel, `NAME=value` each. A launch gets a
    /// variant with macros only where it asks for it by its name.
    pub defines: Vec<String>,
}

impl KernelVariant {
    /// The variant with these limits in place of those of its kernel. Its name says them.
    #[must_use]
    pub fn new(said: LaunchLimits, kernel: LaunchLimits) -> Self {
        let number = |what: &str, number: u32| (number > 0).then(|| format!("{what}{number}"));
        let block = match said.block {
            [0, 0, 0] => None,
            [x, 1, 1] => Some(format!("block{x}")),
            [x, y, 1] => Some(format!("block{x}x{y}")),
            [x, y, z] => Some(format!("block{x}x{y}x{z}")),
        };
        let parts = [
            number("threads", said.max_block_threads),
            block,
            number("minblocks", said.min_blocks),
            number("registers", said.max_registers),
            number("index", said.index_width),
        ];
        let name = parts.into_iter().flatten().collect::<Vec<_>>().join("_");
        Self { name: name.into(), limits: said.in_place_of(kernel), defines: Vec::new() }
    }

    /// The variant compiled with these macros too, each a name and a value, which may be empty. Its name starts with
    /// them: `TILE32_threads64` for `TILE=32`.
    ///
    /// ```
    /// use kernelmill_artifact::{KernelVariant, LaunchLimits};
    /// let small = LaunchLimits { max_block_threads: 64, ..LaunchLimits::NONE };
    /// let variant = KernelVariant::new(small, LaunchLimits::NONE);
    /// let variant = variant.with_defines([("TILE", "32"), ("FAST", ""), ("BIAS", "-1.5f")]);
    /// assert_eq!(variant.name, "TILE32_FAST_BIASminus1_5f_threads64");
    /// assert_eq!(variant.defines, ["TILE=32", "FAST", "BIAS=-1.5f"]);
    /// ```
    #[must_use]
    pub fn with_defines<'a>(
        mut self,
        defines: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut parts = Vec::new();
        for (name, value) in defines {
            parts.push(letters(&format!("{name}{}", value.replace('-', "minus"))));
            let equals = if value.is_empty() { "" } else { "=" };
            self.defines.push(format!("{name}{equals}{value}"));
        }
        parts.extend(Some(self.name.into_owned()).filter(|name| !name.is_empty()));
        Self { name: parts.join("_").into(), ..self }
    }
}

/// A text with an underscore in place of whatever is no letter, digit or underscore.
fn letters(text: &str) -> String {
    let letter = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    text.chars().map(letter).collect()
}

impl PartialEq for KernelVariant {
    fn eq(&self, other: &Self) -> bool {
        (self.limits.normalized(), &self.defines) == (other.limits.normalized(), &other.defines)
    }
}

impl Eq for KernelVariant {}

impl Hash for KernelVariant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.limits.normalized().hash(state);
        self.defines.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance: S3.2.
    #[test]
    fn variants_are_equal_where_their_code_is() {
        let kernel = LaunchLimits { max_block_threads: 256, ..LaunchLimits::NONE };
        let variant = |change: fn(&mut LaunchLimits)| {
            let mut said = LaunchLimits::NONE;
            change(&mut said);
            KernelVariant::new(said, kernel)
        };
        let plain = variant(|_| {});
        let same: [fn(&mut LaunchLimits); 4] = [
            |said| said.max_registers = 255,
            |said| said.index_width = 64,
            |said| said.max_block_threads = 256,
            |said| (said.max_registers, said.max_block_threads) = (255, 256),
        ];
        for change in same {
            assert_eq!(variant(change), plain);
        }
        let others: [fn(&mut LaunchLimits); 5] = [
            |said| said.max_registers = 254,
            |said| said.index_width = 32,
            |said| said.max_block_threads = 128,
            |said| said.min_blocks = 2,
            |said| said.cluster = [2, 1, 1],
        ];
        let mut all: Vec<_> = others.map(variant).into();
        all.push(plain);
        for (index, one) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other != one), "{one:?}");
        }
        let said = LaunchLimits { block: [16, 4, 1], min_blocks: 2, ..LaunchLimits::NONE };
        let exact = KernelVariant::new(said, kernel);
        assert_eq!((&*exact.name, exact.limits.max_block_threads), ("block16x4_minblocks2", 0));
        let named = KernelVariant { name: "other".into(), ..all[0].clone() };
        assert_eq!(named, all[0], "a name changes no code");
        let defined = |value| all[0].clone().with_defines([("TILE", value)]);
        assert_ne!(defined("16"), all[0]);
        assert_ne!(defined("16"), defined("32"));
        assert_eq!(defined("16"), defined("16"));
    }

    /// Acceptance: S3.4.
    #[test]
    fn registers_come_from_the_block_and_from_what_is_said_and_255_is_not_said() {
        let registers = |threads, min_blocks, said| {
            let (max_block_threads, max_registers) = (threads, said);
            let limits =
                LaunchLimits { max_block_threads, min_blocks, max_registers, ..LaunchLimits::NONE };
            limits.registers()
        };
        assert_eq!(registers(0, 0, 0), None);
        assert_eq!(registers(256, 0, 0), None, "256 threads may have 255 each");
        assert_eq!(registers(288, 0, 0), Some(224), "65536 / 288 is 227");
        assert_eq!(registers(512, 0, 0), Some(128));
        assert_eq!(registers(768, 0, 0), Some(80), "65536 / 768 is 85");
        assert_eq!(registers(1024, 0, 0), Some(64));
        assert_eq!(registers(1024, 0, 128), Some(64), "a block fits");
        assert_eq!(registers(1024, 0, 32), Some(32));
        assert_eq!(registers(1024, 2, 0), None, "ptxas knows from the blocks");
        assert_eq!((registers(0, 0, 254), registers(0, 0, 255)), (Some(254), None));
    }
}
