//! Encodings of text files: editors on Windows write UTF-16 too, which no compiler of kernels reads.

/// The name of an encoding that a file's bytes are in and that is not UTF-8, where they begin with its mark.
pub(crate) fn name(bytes: &[u8]) -> Option<&'static str> {
    let is_marked = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    is_marked.then_some("UTF-16")
}

/// The text of bytes that are UTF-16, by their mark or by a zero in the first letter; `None` where they are not.
pub(crate) fn utf16(bytes: &[u8]) -> Option<String> {
    let is_big = match bytes {
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => false,
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => true,
        _ => return None,
    };
    let unit =
        |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let units = bytes.as_chunks().0.iter().map(unit).collect::<Vec<_>>();
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_is_read_with_and_without_its_mark() {
        for (text, is_marked) in [("\u{feff}#[kernel] ä", true), ("#[kernel] ä", false)] {
            let little: Vec<_> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<_> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            for bytes in [little, big] {
                assert_eq!(utf16(&bytes).as_deref(), Some(text));
                assert_eq!(name(&bytes).is_some(), is_marked);
            }
        }
        for other in ["", "#", "#[kernel]", "\0\0", "ÿþ", "BC\u{c0}"] {
            assert_eq!(utf16(other.as_bytes()), None, "{other:?}");
        }
    }
}
