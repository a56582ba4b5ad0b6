//! Code object metadata: what the note `NT_AMDGPU_METADATA` says of kernels and of their arguments.
//!
//! [LLVM, "Code Object V5 Metadata"](https://llvm.org/docs/AMDGPUUsage.html#code-object-v5-metadata). The note is in
//! [MessagePack](https://github.com/msgpack/msgpack/blob/master/spec.md), of which this reads the kinds that
//! LLVM writes.

use kernelmill::artifact::PRINTS;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, read::elf::ElfFile64};

/// What is known of a code object.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// The target ID, `gfx1100`.
    pub(crate) target: String,
    pub(crate) kernels: Vec<Kernel>,
    /// Whether it has the variable that says that kernels print.
    pub(crate) prints: bool,
}

/// A kernel as the code object describes it.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// Those that a launch gives.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) shared_bytes: u64,
    pub(crate) most_threads: u64,
}

/// A place in the kernel's argument segment.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Whether it is an address of global memory.
    pub(crate) is_buffer: bool,
}

/// The type of the note.
const NT_AMDGPU_METADATA: u32 = 32;

/// `EM_AMDGPU`.
const MACHINE: u16 = 224;

impl Metadata {
    /// Reads a code object.
    pub(crate) fn read(image: &[u8]) -> Result<Self, String> {
        let elf = ElfFile64::<object::Endianness>::parse(image).map_err(|it| it.to_string())?;
        if elf.elf_header().e_machine.get(object::Endianness::Little).0 != MACHINE {
            return Err("a file for another machine".to_owned());
        }
        let section = elf.section_by_name(".note").ok_or("no section `.note`")?;
        let note = find_note(section.data().map_err(|it| it.to_string())?).ok_or("no metadata")?;
        let mut reader = Reader { bytes: note };
        let root = reader.value().ok_or("metadata that cannot be read")?;
        let target = root.get("amdhsa.target").and_then(Value::text).ok_or("no target")?;
        // Four parts of the triple come before it: `amdgcn-amd-amdhsa-unknown-gfx90a:xnack-`.
        let target = target.splitn(5, '-').nth(4).unwrap_or_default().to_owned();
        let kernels = root.get("amdhsa.kernels").and_then(Value::items).ok_or("no kernels")?;
        let kernels = kernels.iter().map(|it| Kernel::read(it).ok_or("a kernel without a field"));
        let prints = elf.dynamic_symbols().any(|symbol| symbol.name() == Ok(PRINTS));
        Ok(Self { target, kernels: kernels.collect::<Result<_, _>>()?, prints })
    }
}

impl Kernel {
    fn read(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::number);
        let arguments = value.get(".args").and_then(Value::items).unwrap_or_default();
        let mut given = Vec::new();
        let mut end = 0;
        for argument in arguments {
            let number = |name: &str| argument.get(name).and_then(Value::number);
            let (offset, size) = (number(".offset")?, number(".size")?);
            let kind = argument.get(".value_kind").and_then(Value::text)?;
            // One after the other, and within the segment.
            if offset < end || offset + size > value.get(".kernarg_segment_size")?.number()? {
                return None;
            }
            end = offset + size;
            if !kind.starts_with("hidden_") {
                given.push(Argument { offset, size, is_buffer: kind == "global_buffer" });
            }
        }
        Some(Self {
            name: value.get(".name").and_then(Value::text)?.to_owned(),
            arguments: given,
            shared_bytes: number(".group_segment_fixed_size")?,
            most_threads: number(".max_flat_workgroup_size")?,
        })
    }
}

/// The text of the note among the notes of a section.
fn find_note(mut bytes: &[u8]) -> Option<&[u8]> {
    let padded = |size: u32| (size as usize).next_multiple_of(4);
    loop {
        let (header, rest) = bytes.split_at_checked(12)?;
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("4 bytes"));
        let (name, rest) = rest.split_at_checked(padded(word(0)))?;
        if word(8) == NT_AMDGPU_METADATA && name.starts_with(b"AMDGPU\0") {
            return rest.get(..word(4) as usize);
        }
        bytes = rest.get(padded(word(4))..)?;
    }
}

/// A value of MessagePack.
#[derive(Debug)]
enum Value {
    Number(u64),
    Text(String),
    Items(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Other,
}

impl Value {
    fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn items(&self) -> Option<&[Self]> {
        if let Self::Items(items) = self { Some(items) } else { None }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// A big-endian number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn value(&mut self) -> Option<Value> {
        let first = self.number(1)? as u8;
        match first {
            0x00..=0x7f => Some(Value::Number(first.into())),
            0x80..=0x8f => self.map((first & 0x0f).into()),
            0x90..=0x9f => self.items((first & 0x0f).into()),
            0xa0..=0xbf => self.text((first & 0x1f).into()),
            0xc0 | 0xc2 | 0xc3 => Some(Value::Other),
            0xcc..=0xcf => self.number(1 << (first - 0xcc)).map(Value::Number),
            0xd9..=0xdb => self.number(1 << (first - 0xd9)).and_then(|count| self.text(count)),
            0xdc | 0xdd => self.number(2 << (first - 0xdc)).and_then(|count| self.items(count)),
            0xde | 0xdf => self.number(2 << (first - 0xde)).and_then(|count| self.map(count)),
            _ => None,
        }
    }

    fn text(&mut self, count: u64) -> Option<Value> {
        let text = self.take(count as usize)?;
        Some(Value::Text(String::from_utf8_lossy(text).into_owned()))
    }

    fn items(&mut self, count: u64) -> Option<Value> {
        (0..count).map(|_| self.value()).collect::<Option<_>>().map(Value::Items)
    }

    fn map(&mut self, count: u64) -> Option<Value> {
        let mut entry = || Some((self.value()?, self.value()?));
        (0..count).map(|_| entry()).collect::<Option<_>>().map(Value::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_read() {
        let bytes =
            b"\x84\xa1a\x07\xa1b\xcd\x01\x28\xa1c\x92\xc2\xd9\x02hi\xa1d\xde\x00\x01\xa1e\xcc\x80";
        let mut reader = Reader { bytes };
        let value = reader.value().unwrap();
        assert!(reader.bytes.is_empty());
        assert_eq!(value.get("a").and_then(Value::number), Some(7));
        assert_eq!(value.get("b").and_then(Value::number), Some(0x128));
        assert_eq!(value.get("c").and_then(Value::items).unwrap()[1].text(), Some("hi"));
        assert_eq!(value.get("d").and_then(|it| it.get("e")).and_then(Value::number), Some(0x80));
        for end in 0..bytes.len() {
            assert!(Reader { bytes: &bytes[..end] }.value().is_none(), "{end}");
        }
    }
}
