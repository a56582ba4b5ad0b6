//! Resources of the kernels in an AMD code object: its metadata, a note in [MessagePack] whose keys the
//! [AMDGPU back end] documents.
//!
//! [MessagePack]: https://github.com/msgpack/msgpack/blob/master/spec.md
//! [AMDGPU back end]: https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata

use std::collections::BTreeMap;

use kernelmill_artifact::Resources;
use object::{
    LittleEndian,
    elf::FileHeader64,
    read::elf::{FileHeader as _, SectionHeader as _},
};

/// The type of the note `AMDGPU` that has the metadata.
const METADATA: u32 = 32;

/// The deepest nesting that is read; the metadata have three levels.
const MAX_DEPTH: u32 = 16;

/// What each kernel takes; nothing where the bytes are not a code object.
pub(crate) fn of_code_object(bytes: &[u8]) -> BTreeMap<String, Resources> {
    let kernels = metadata(bytes).and_then(|text| {
        let value = Value::read(&mut &*text, MAX_DEPTH)?;
        let kernels = value.get("amdhsa.kernels")?.elements()?;
        Some(kernels.iter().filter_map(kernel).collect())
    });
    kernels.unwrap_or_default()
}

/// The content of the note.
fn metadata(bytes: &[u8]) -> Option<Vec<u8>> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    for section in sections.iter() {
        let Ok(Some(mut notes)) = section.notes(endian, bytes) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.n_type(endian).0 == METADATA && note.name() == b"AMDGPU" {
                return Some(note.desc().to_vec());
            }
        }
    }
    None
}

fn kernel(kernel: &Value<'_>) -> Option<(String, Resources)> {
    let number = |key: &str| kernel.get(key)?.number();
    let resources = Resources {
        registers: number(".vgpr_count"),
        scalar_registers: number(".sgpr_count"),
        spilled_registers: number(".vgpr_spill_count"),
        stack_bytes: match kernel.get(".uses_dynamic_stack") {
            Some(Value::Flag(true)) => None,
            _ => number(".private_segment_fixed_size"),
        },
        static_shared_bytes: number(".group_segment_fixed_size"),
        constant_bytes: number(".kernarg_segment_size"),
        max_threads: number(".max_flat_workgroup_size"),
        ..Resources::UNKNOWN
    };
    Some((kernel.get(".name")?.text()?.to_owned(), resources))
}

/// A value of MessagePack, as far as metadata have it.
enum Value<'a> {
    Flag(bool),
    Number(u64),
    Text(&'a str),
    Array(Vec<Self>),
    Map(Vec<(Self, Self)>),
    Other,
}

impl<'a> Value<'a> {
    /// Takes a value off the front of bytes; `None` where they end or are nested too deeply.
    fn read(bytes: &mut &'a [u8], depth: u32) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let tag = take(bytes, 1)?[0];
        Some(match tag {
            0x00..=0x7f => Self::Number(tag.into()),
            0x80..=0x8f => Self::map(bytes, u64::from(tag & 0x0f), depth)?,
            0x90..=0x9f => Self::array(bytes, u64::from(tag & 0x0f), depth)?,
            0xa0..=0xbf => Self::of_text(bytes, u64::from(tag & 0x1f))?,
            0xc2 | 0xc3 => Self::Flag(tag == 0xc3),
            0xcc..=0xcf => Self::Number(number(bytes, 1 << (tag - 0xcc))?),
            0xd9..=0xdb => {
                let length = number(bytes, 1 << (tag - 0xd9))?;
                Self::of_text(bytes, length)?
            }
            0xdc | 0xdd => {
                let length = number(bytes, 2 << (tag - 0xdc))?;
                Self::array(bytes, length, depth)?
            }
            0xde | 0xdf => {
                let length = number(bytes, 2 << (tag - 0xde))?;
                Self::map(bytes, length, depth)?
            }
            0xd0..=0xd3 => {
                take(bytes, 1 << (tag - 0xd0))?;
                Self::Other
            }
            0xc0 | 0xe0..=0xff => Self::Other,
            // Floats, binary data and extensions, which metadata do not have.
            _ => return None,
        })
    }

    fn map(bytes: &mut &'a [u8], length: u64, depth: u32) -> Option<Self> {
        let mut entries = Vec::new();
        for _ in 0..length {
            entries.push((Self::read(bytes, depth)?, Self::read(bytes, depth)?));
        }
        Some(Self::Map(entries))
    }

    fn array(bytes: &mut &'a [u8], length: u64, depth: u32) -> Option<Self> {
        let elements: Option<_> = (0..length).map(|_| Self::read(bytes, depth)).collect();
        Some(Self::Array(elements?))
    }

    fn of_text(bytes: &mut &'a [u8], length: u64) -> Option<Self> {
        let text = take(bytes, usize::try_from(length).ok()?)?;
        Some(Self::Text(str::from_utf8(text).ok()?))
    }

    /// The value of a key.
    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    fn elements(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    fn number(&self) -> Option<u32> {
        if let Self::Number(number) = self { u32::try_from(*number).ok() } else { None }
    }

    fn text(&self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// A number of so many bytes, the highest first.
fn number(bytes: &mut &[u8], length: usize) -> Option<u64> {
    let bytes = take(bytes, length)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"amdhsa.kernels": [{".name": "k", ".vgpr_count": 300, ".uses_dynamic_stack": true,
    /// ".private_segment_fixed_size": 16}], "x": [-1, nil]}`, with forms of different lengths.
    fn bytes() -> Vec<u8> {
        let text = |text: &str| [&[0xd9, text.len() as u8], text.as_bytes()].concat();
        let short = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
        [
            vec![0xde, 0, 2],
            text("amdhsa.kernels"),
            vec![0xdd, 0, 0, 0, 1, 0x84],
            short(".name"),
            short("k"),
            short(".vgpr_count"),
            vec![0xcd, 1, 44],
            text(".uses_dynamic_stack"),
            vec![0xc3],
            text(".private_segment_fixed_size"),
            vec![16],
            short("x"),
            vec![0x93, 0xff, 0xc0, 0xd1, 0xff, 0x00],
        ]
        .concat()
    }

    #[test]
    fn metadata_of_every_form_are_read() {
        let bytes = bytes();
        let mut rest = bytes.as_slice();
        let value = Value::read(&mut rest, MAX_DEPTH).unwrap();
        assert!(rest.is_empty());
        let kernels = value.get("amdhsa.kernels").unwrap().elements().unwrap();
        let (name, resources) = kernel(&kernels[0]).unwrap();
        assert_eq!(name, "k");
        assert_eq!(resources, Resources { registers: Some(300), ..Resources::UNKNOWN });
    }

    #[test]
    fn damaged_metadata_are_none_and_end() {
        let bytes = bytes();
        for length in 0..bytes.len() {
            assert!(Value::read(&mut &bytes[..length], MAX_DEPTH).is_none(), "cut at {length}");
        }
        assert!(Value::read(&mut [0x91; 1 << 20].as_slice(), MAX_DEPTH).is_none(), "too deep");
        assert!(Value::read(&mut [0xdf, 255, 255, 255, 255].as_slice(), MAX_DEPTH).is_none());
        assert!(of_code_object(b"\x7fELF").is_empty());
    }
}
