//! Memory of SPIR-V programs: where a module keeps the variables that its kernels share with the host.
//!
//! OpenCL gives a program no way to the memory of a
//! [program-scope variable](https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#address-spaces-variables),
//! and many devices have none. So kernels find their variables behind an argument of the launch. What the module says of
//! them is in instructions without effect, [`OpModuleProcessed`][processed].
//!
//! [processed]: https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpModuleProcessed

use std::fmt;

/// What launches of a SPIR-V module have to know: its variables, the kernels that are given the address of their memory, and
/// whether any prints.
///
/// ```
/// use kernelmill_artifact::{ProgramMemory, ProgramVariable};
/// let calls = ProgramVariable { symbol: "calls".to_owned(), offset: 16, bytes: 4 };
/// let kernels = vec!["count".to_owned()];
/// let memory = ProgramMemory { bytes: 20, variables: vec![calls], kernels, prints: false };
/// // A module without instructions.
/// let module = [0x0723_0203_u32, 0x1_0200, 0, 1, 0].map(u32::to_le_bytes).concat();
/// let module = memory.write(&module).unwrap();
/// assert_eq!(ProgramMemory::read(&module), Some(memory));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramMemory {
    /// Its size in bytes, 0 where the module has no variables.
    pub bytes: u64,
    /// The variables, in the order of their offsets.
    pub variables: Vec<ProgramVariable>,
    /// The entries of the kernels that are given the address, as the argument behind those of their signatures and that of
    /// the panic record.
    pub kernels: Vec<String>,
    /// Whether kernels append lines to a buffer that their panic records name: see [`render_lines`](crate::render_lines).
    pub prints: bool,
}

/// A variable of a SPIR-V module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramVariable {
    /// Its name in compiled code, without blanks.
    pub symbol: String,
    /// Where it is in the memory, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The first word of every module, and the words before the first instruction.
const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

/// `OpModuleProcessed`, and what such a text of ours begins with.
const MODULE_PROCESSED: u32 = 330;
const PREFIX: &str = "kernelmill ";

/// The instructions that come before it, by their numbers: capabilities, extensions, the memory model, entry points and
/// their modes, source text, names and others like it.
const BEFORE: [u32; 13] = [2, 3, 4, 5, 6, 7, 10, 11, 14, 15, 16, 17, 331];

impl ProgramMemory {
    /// The kernel of a module with variables that gives each of them its initial value. Its only argument is the address of
    /// the memory, which is zero before.
    pub const START: &'static str = "__kernelmill_start";

    /// The most bytes that a variable may be aligned to: those that memory of a device always is.
    pub const MOST_ALIGNMENT: u64 = 128;

    /// Adds this to a module; `None` where the bytes are no module, or a name is longer than an instruction.
    #[must_use]
    pub fn write(&self, module: &[u8]) -> Option<Vec<u8>> {
        let mut place = HEADER;
        let words = words(module)?;
        for instruction in instructions(&words)? {
            if !BEFORE.contains(&(instruction[0] & 0xffff)) {
                break;
            }
            place += instruction.len();
        }
        let (head, tail) = words.split_at(place);
        let mut written = head.to_vec();
        for line in self.to_string().lines() {
            let text = format!("{PREFIX}{line}");
            let mut bytes = text.into_bytes();
            bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
            let length = u16::try_from(bytes.len() / 4 + 1).ok()?;
            written.push(u32::from(length) << 16 | MODULE_PROCESSED);
            written.extend(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
        }
        written.extend(tail);
        Some(written.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    /// What a module says; `None` where that is nothing, or the bytes are no module.
    #[must_use]
    pub fn read(module: &[u8]) -> Option<Self> {
        let words = words(module)?;
        let mut text = String::new();
        for instruction in instructions(&words)? {
            if instruction[0] & 0xffff == MODULE_PROCESSED {
                let bytes = instruction[1..].iter().flat_map(|word| word.to_le_bytes());
                let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
                if let Some(line) = String::from_utf8(bytes).ok()?.strip_prefix(PREFIX) {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        Self::parse(&text)
    }

    /// What a text says, which `Display` writes; `None` where that is not all of it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mut memory, mut bytes) = (Self::default(), None);
        for line in text.lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["memory", size] => bytes = Some(size.parse().ok()?),
                ["variable", offset, bytes, symbol] => memory.variables.push(ProgramVariable {
                    symbol: symbol.to_owned(),
                    offset: offset.parse().ok()?,
                    bytes: bytes.parse().ok()?,
                }),
                ["prints"] => memory.prints = true,
                ["kernel", entry] => memory.kernels.push(entry.to_owned()),
                _ => return None,
            }
        }
        Some(Self { bytes: bytes?, ..memory })
    }
}

impl fmt::Display for ProgramMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "memory {}", self.bytes)?;
        for ProgramVariable { symbol, offset, bytes } in &self.variables {
            writeln!(formatter, "variable {offset} {bytes} {symbol}")?;
        }
        if self.prints {
            formatter.write_str("prints\n")?;
        }
        self.kernels.iter().try_for_each(|entry| writeln!(formatter, "kernel {entry}"))
    }
}

/// The words of a module; `None` where the bytes are none.
fn words(module: &[u8]) -> Option<Vec<u32>> {
    let (words, rest) = module.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let is_module = words.len() >= HEADER && words[0] == MAGIC && rest.is_empty();
    is_module.then_some(words)
}

/// Each instruction; `None` where one is longer than what is left.
fn instructions(words: &[u32]) -> Option<Vec<&[u32]>> {
    let (mut rest, mut found) = (&words[HEADER..], Vec::new());
    while let [first, ..] = rest {
        let (instruction, tail) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        found.push(instruction);
        rest = tail;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> ProgramMemory {
        let variable = |symbol: &str, offset, bytes| ProgramVariable {
            symbol: symbol.to_owned(),
            offset,
            bytes,
        };
        ProgramMemory {
            bytes: 52,
            variables: vec![variable("calls", 0, 4), variable("_ZN1a1bE", 16, 36)],
            kernels: vec!["größe".to_owned()],
            prints: true,
        }
    }

    fn module(instructions: &[&[u32]]) -> Vec<u8> {
        let header = [MAGIC, 0x1_0200, 0, 9, 0];
        let words = header.iter().chain(instructions.iter().copied().flatten());
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_is_written_comes_behind_names_and_is_read_again() {
        // A capability, a name and a type.
        let (before, behind) = ([[2 << 16 | 17, 6], [2 << 16 | 5, 1]], [2 << 16 | 19, 1]);
        let plain = module(&[&before[0], &before[1], &behind]);
        let written = memory().write(&plain).unwrap();
        assert_eq!(written[..36], plain[..36]);
        assert_eq!(written[written.len() - 8..], plain[36..]);
        assert_eq!(ProgramMemory::read(&written), Some(memory()));
        assert_eq!(ProgramMemory::read(&plain), None);
    }

    #[test]
    fn what_is_no_module_and_no_text_of_ours_is_none() {
        let plain = module(&[]);
        assert_eq!(memory().write(&plain[4..]), None);
        assert_eq!(ProgramMemory::read(&plain[..plain.len() - 1]), None);
        // An instruction that is longer than the module.
        assert_eq!(memory().write(&module(&[&[9 << 16 | 17]])), None);
        for text in
            ["", "kernel a\n", "memory x\n", "memory 4\nvariable 0 4\n", "memory 4\nother\n"]
        {
            assert_eq!(ProgramMemory::parse(text), None, "{text}");
        }
        let long = ProgramMemory { kernels: vec!["k".repeat(1 << 18)], ..memory() };
        assert_eq!(long.write(&plain), None);
    }
}
