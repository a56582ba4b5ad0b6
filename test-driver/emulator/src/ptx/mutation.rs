//! Changes that make kernels wrong, to see whether tests notice.

use std::fmt;

/// A change of one instruction.
///
/// ```
/// use ptx_emulator::Mutation::*;
/// let text = "setp.lt.u32 %p1, %r1, %r2;\nst.global.v2.b32 [%rd1+8], {%r1, %r2};\nbar.sync 0;\n";
/// let flipped = FlippedComparison.apply(text, 1).unwrap();
/// assert!(flipped.starts_with("setp.ge.u32 %p1, %r1, %r2;\n"));
/// let shifted = ShiftedAddress.apply(text, 2).unwrap();
/// assert!(shifted.contains("\nst.global.v2.b32 [%rd1+8+8], {%r1, %r2};\n"));
/// assert!(DeletedBarrier.apply(text, 3).unwrap().ends_with("};\n\n"));
/// assert_eq!(DeletedBarrier.apply(text, 2), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// A barrier of the block is deleted.
    DeletedBarrier,
    /// An access to memory is moved by its own length.
    ShiftedAddress,
    /// A comparison has the opposite result.
    FlippedComparison,
}

/// Pairs of opposite comparisons.
const OPPOSITES: [(&str, &str); 9] = [
    ("lt", "ge"),
    ("le", "gt"),
    ("eq", "ne"),
    ("ltu", "geu"),
    ("leu", "gtu"),
    ("equ", "neu"),
    ("lo", "hs"),
    ("ls", "hi"),
    ("num", "nan"),
];

impl Mutation {
    /// All of them.
    pub const ALL: [Mutation; 3] =
        [Mutation::DeletedBarrier, Mutation::ShiftedAddress, Mutation::FlippedComparison];

    /// What is changed: `barrier`, `address` or `comparison`.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::DeletedBarrier => "barrier",
            Mutation::ShiftedAddress => "address",
            Mutation::FlippedComparison => "comparison",
        }
    }

    /// The mutation with this name.
    pub fn named(name: &str) -> Option<Mutation> {
        Self::ALL.into_iter().find(|mutation| mutation.name() == name)
    }

    /// Whether an instruction can be changed so, by its mnemonic with its modifiers.
    pub fn applies_to(self, mnemonic: &str) -> bool {
        let parts: Vec<&str> = mnemonic.split('.').collect();
        match self {
            Mutation::DeletedBarrier => {
                matches!(
                    parts[..],
                    ["bar" | "barrier", "sync", ..] | ["barrier", "cta", "sync", ..]
                )
            }
            Mutation::ShiftedAddress => {
                matches!(parts[0], "ld" | "st" | "atom" | "red")
                    && !parts.iter().any(|part| matches!(*part, "param" | "local" | "const"))
            }
            Mutation::FlippedComparison => parts[0] == "setp" && opposite(&parts).is_some(),
        }
    }

    /// The text with the instruction changed that stands alone in a line, from 1; `None` where there
    /// is none that can be. All other lines keep their numbers.
    pub fn apply(self, ptx: &str, line: usize) -> Option<String> {
        let mut lines: Vec<&str> = ptx.split('\n').collect();
        let place = lines.get_mut(line.checked_sub(1)?)?;
        let changed = self.of_instruction(place)?;
        *place = &changed;
        Some(lines.join("\n"))
    }

    fn of_instruction(self, line: &str) -> Option<String> {
        let mut text = line.trim_start();
        if text.starts_with('@') {
            text = text.split_once(char::is_whitespace)?.1.trim_start();
        }
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')?;
        let mnemonic = &text[..end];
        if !self.applies_to(mnemonic) {
            return None;
        }
        let parts: Vec<&str> = mnemonic.split('.').collect();
        match self {
            Mutation::DeletedBarrier => Some(String::new()),
            Mutation::ShiftedAddress => {
                Some(line.replacen(']', &format!("+{}]", bytes(&parts)), 1))
            }
            Mutation::FlippedComparison => {
                let (from, to) = opposite(&parts)?;
                Some(line.replacen(&format!("setp.{from}."), &format!("setp.{to}."), 1))
            }
        }
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a comparison compares, and what its opposite does.
fn opposite<'a>(parts: &[&'a str]) -> Option<(&'a str, &'static str)> {
    let found = *parts.get(1)?;
    let pairs = OPPOSITES.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    pairs.filter(|(from, _)| *from == found).map(|(_, to)| (found, to)).next()
}

/// The length of an access in bytes.
fn bytes(parts: &[&str]) -> u32 {
    let number = |part: &&str, start: &[char]| part.strip_prefix(start)?.parse::<u32>().ok();
    let bits =
        parts.iter().rev().find_map(|part| number(part, &['b', 'u', 's', 'f'])).unwrap_or(32);
    let elements = parts.iter().find_map(|part| number(part, &['v'])).unwrap_or(1);
    elements * bits / 8
}
