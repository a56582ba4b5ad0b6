//! Output of kernels on AMD's devices, which is kept in a buffer of the module.

/// The symbol of the buffer in a code object.
///
/// It begins with two little-endian numbers of four bytes: the bytes that lines have requested, and
/// the number of lines that did not fit. The lines follow, one after the other; those of a Rust kernel
/// are UTF-8. The host sets all bytes to zero before a launch.
pub const PRINT_BUFFER: &str = "__kernelmill_print_buffer";

/// Its size in bytes.
pub const PRINT_BUFFER_BYTES: usize = 1 << 16;

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
