//! What kernels have printed, on devices that keep it in a buffer of the module: AMD's.

/// The symbol of the buffer in a code object.
///
/// It begins with two numbers of four bytes, little-endian: the bytes that lines have asked for, and the
/// number of lines for which there was no room. The rest are the lines, in UTF-8 where they are of a kernel in
/// Rust, one after the other. The host sets all of it to zero before a launch.
pub const PRINT_BUFFER: &str = "__kernelmill_print_buffer";

/// Its size in bytes.
pub const PRINT_BUFFER_BYTES: usize = 1 << 16;

/// What is before the lines.
const START: usize = 8;

/// What the kernels of a launch have printed, by `gpu_println!` and, in CUDA C++, by `printf`.
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
    /// The lines, in the order in which they came. What is not UTF-8 is replaced.
    pub text: String,
    /// How many lines there was no room for.
    pub lost: u32,
}

impl Printed {
    /// Reads the bytes of a buffer; `None` where they are not as many as it has.
    #[must_use]
    pub fn read(buffer: &[u8]) -> Option<Self> {
        if buffer.len() != PRINT_BUFFER_BYTES {
            return None;
        }
        let (start, text) = buffer.split_at(START);
        let word = |at: usize| Some(u32::from_le_bytes(start.get(at..at + 4)?.try_into().ok()?));
        let (asked, lost) = (word(0)?, word(4)?);
        let text = text.get(..asked as usize).unwrap_or(text);
        // Lines that did not fit have asked for what nobody has written.
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
