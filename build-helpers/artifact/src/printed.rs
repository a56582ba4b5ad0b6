//! Output of kernels on devices whose driver does not print for them, those of HIP and, from SPIR-V, of OpenCL: entries in a
//! buffer of the launch.

use crate::{SourceLocation, render_message};

/// The bytes of the buffer. It begins with two numbers of four bytes, the bytes that entries have requested and the number
/// of lines that did not fit, and the entries follow ([`render_lines`]). All is zero at first.
pub const PRINT_BUFFER_BYTES: usize = 1 << 16;

/// The symbol of a variable that a code object has whose kernels print.
pub const PRINTS: &str = "__kernelmill_prints";

/// The most bytes of a line that the host formats, without its end.
const LINE_BYTES: usize = 254;

/// The lines of entries that kernels have appended by `gpu_println!` or, in CUDA C++ and HIP, by `printf`: `words` are those
/// of the buffer behind the first eight bytes.
///
/// An entry's first word has the number of its words in the low half. In the high half it has the index of
/// a text among `messages` plus 1, whose values are the other words, or 0 where these are the bytes of a line, of which
/// invalid UTF-8 is replaced. The result ends before the first entry that is not complete.
///
/// ```
/// use kernelmill_artifact::render_lines;
/// let words = [2 | 1 << 32, 7, 2, u64::from_le_bytes(*b"done\n\0\0\0"), 0];
/// assert_eq!(render_lines(&words, &["element {u32}"], &[]), "element 7\ndone\n");
/// ```
#[must_use]
pub fn render_lines(words: &[u64], messages: &[&str], places: &[SourceLocation<'_>]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_before_an_entry_that_is_not_complete() {
        let line = u64::from_le_bytes(*b"a line\xff\n");
        assert_eq!(render_lines(&[2, line, 0, 2, line], &[], &[]), "a line\u{fffd}\n");
        assert_eq!(render_lines(&[2, line, 3, line], &[], &[]), "a line\u{fffd}\n");
        assert_eq!(render_lines(&[], &[], &[]), "");
    }
}
