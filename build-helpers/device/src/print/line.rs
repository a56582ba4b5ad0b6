//! A line of output, formatted in memory of its thread.

use core::fmt::{self, Write};

/// The most bytes of a line, without its end; longer lines are cut.
pub const LINE_BYTES: usize = 254;

/// A line that is being formatted: text, the end of the line, and a zero.
pub(super) struct Line {
    pub(super) bytes: [u8; LINE_BYTES + 2],
    pub(super) length: usize,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { bytes: [0; LINE_BYTES + 2], length: 0 }
    }

    /// Formats the text, and ends the line.
    pub(super) fn format(&mut self, text: fmt::Arguments<'_>) {
        // A text that does not fit is an error, and is cut.
        let _ = fmt::write(self, text);
        if let Some(end) = self.bytes.get_mut(self.length) {
            *end = b'\n';
        }
    }

    /// The text so far.
    #[cfg(any(kernelmill, test))]
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The text with its end.
    #[cfg(not(kernelmill))]
    pub(super) fn whole(&self) -> &[u8] {
        &self.bytes[..=self.length]
    }

    /// Adds a byte of a C string, which need not be UTF-8.
    #[cfg(any(kernelmill, test))]
    pub(super) fn write_byte(&mut self, byte: u8) -> fmt::Result {
        let room = self.bytes.get_mut(..LINE_BYTES).and_then(|room| room.get_mut(self.length));
        // A zero would end the text.
        *room.ok_or(fmt::Error)? = if byte == 0 { b'?' } else { byte };
        self.length += 1;
        Ok(())
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            // A zero would end the text.
            let character = if character == '\0' { '\u{fffd}' } else { character };
            let encoded = character.encode_utf8(&mut bytes).as_bytes();
            let end = self.length + encoded.len();
            if end > LINE_BYTES {
                return Err(fmt::Error);
            }
            let Some(room) = self.bytes.get_mut(self.length..end) else { return Err(fmt::Error) };
            room.copy_from_slice(encoded);
            self.length = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(arguments: fmt::Arguments<'_>) -> String {
        let mut line = Line::new();
        line.format(arguments);
        String::from_utf8(line.whole().to_vec()).unwrap()
    }

    #[test]
    fn a_line_ends_and_is_cut_between_characters() {
        assert_eq!(text(format_args!("{:>4}|", 7)), "   7|\n");
        assert_eq!(text(format_args!("a\0b")), "a\u{fffd}b\n");
        let long = text(format_args!("x{}", "ä".repeat(200)));
        assert_eq!(long, format!("x{}\n", "ä".repeat(126)));
        assert_eq!(text(format_args!("{}", "y".repeat(300))).len(), LINE_BYTES + 1);
    }
}
