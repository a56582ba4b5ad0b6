//! Output of kernels on devices whose driver does not print: of AMD in a buffer of the module, of OpenCL as values in one of
//! the launch.

use crate::{SourceLocation, render_message};

/// The symbol of the buffer in a code object.
///
/// It begins with two little-endian numbers of four bytes: the bytes that lines have requested, and
/// the number of lines that did not fit. The lines follow, one after the other; those of a Rust kernel
/// are UTF-8. The host sets all bytes to zero before a launch.
pub const PRINT_BUFFER: &str = "__kernelmill_print_buffer";

/// Its size in bytes.
pub const PRINT_BUFFER_BYTES: usize = 1 << 16;

/// The most bytes of a line that the host formats, without its end.
const LINE_BYTES: usize = 254;

/// Bytes of the header before the lines.
const START: usize = 8;

/// The output of a launch, printed by `gpu_println!` or, in CUDA C++, by `printf`.
///
/// ```
/// use kernelmill_artifact::{PRINT_BUFFER_BYTES, Printed};
/// // As it is copied from the device.
/// let mut buffer = vec![0; PRINT_BUFFER_BYTES];
/// buffer[0] = 12;
/// buffer[8..20].copy_from_slice(b"one\ntwo: 2\n\0");
/// let printed = Printed::read(&buffer).unwrap();
/// assert_eq!(printed.text, "one\ntwo: 2\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The lines, in the order in which they were printed. Invalid UTF-8 is replaced.
    pub text: String,
    /// The number of lines that did not fit.
    pub lost: u32,
}

impl Printed {
    /// The lines of entries in a buffer of an OpenCL launch, which the host formats: `words` are those behind the first
    /// eight bytes. An entry's first word has the number of its words in the low half. In the high half it has the index of
    /// a text among `messages` plus 1, whose values are the other words, or 0 where these are the bytes of a line. It
    /// ends before the first entry that is not complete.
    ///
    /// ```
    /// use kernelmill_artifact::Printed;
    /// let words = [2 | 1 << 32, 7, 2, u64::from_le_bytes(*b"done\n\0\0\0"), 0];
    /// assert_eq!(Printed::render(&words, &["element {u32}"], &[]), "element 7\ndone\n");
    /// ```
    #[must_use]
    pub fn render(words: &[u64], messages: &[&str], places: &[SourceLocation<'_>]) -> String {
        let (mut text, mut rest) = (String::new(), words);
        while let [head, behind @ ..] = rest {
            let (count, number) = (*head as u32 as usize, (head >> 32) as usize);
            let Some(content) = count.checked_sub(1).and_then(|count| behind.get(..count)) else {
                break;
            };
            if let Some(index) = number.checked_sub(1) {
                let message = messages.get(index).copied().unwrap_or("_");
                let line = render_message(message, content, places);
                let cut = line.floor_char_boundary(LINE_BYTES);
                text.push_str(line.get(..cut).unwrap_or_default());
                text.push('\n');
            } else {
                let bytes = content.iter().flat_map(|word| word.to_le_bytes());
                let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
            rest = &rest[count..];
        }
        text
    }

    /// Reads a buffer; `None` unless it has [`PRINT_BUFFER_BYTES`].
    #[must_use]
    pub fn read(buffer: &[u8]) -> Option<Self> {
        if buffer.len() != PRINT_BUFFER_BYTES {
            return None;
        }
        let (start, text) = buffer.split_at(START);
        let word = |at: usize| Some(u32::from_le_bytes(start.get(at..at + 4)?.try_into().ok()?));
        let (asked, lost) = (word(0)?, word(4)?);
        let text = text.get(..asked as usize).unwrap_or(text);
        // Lines that did not fit have requested bytes that are still zero.
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let text = String::from_utf8_lossy(text.get(..end)?).into_owned();
        Some(Self { text, lost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_another_size_is_none() {
        assert_eq!(Printed::read(&[]), None);
        assert_eq!(Printed::read(&vec![0; PRINT_BUFFER_BYTES - 1]), None);
    }

    #[test]
    fn what_was_asked_for_and_not_written_is_no_text() {
        let mut buffer = vec![0; PRINT_BUFFER_BYTES];
        buffer[..4].copy_from_slice(&(1_u32 << 20).to_le_bytes());
        buffer[4] = 3;
        buffer[8..13].copy_from_slice(b"one\n\xff");
        let printed = Printed::read(&buffer).unwrap();
        assert_eq!((printed.text.as_str(), printed.lost), ("one\n\u{fffd}", 3));
        // Nothing was asked for: what lies there is of an earlier launch.
        buffer[..4].fill(0);
        assert_eq!(Printed::read(&buffer).unwrap().text, "");
    }
}
