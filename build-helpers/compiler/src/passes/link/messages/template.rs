//! The templates of `core::fmt::Arguments`, as rustc 1.93 and later write them.
//!
//! ```text
//! 0               the end
//! 1 to 0x7f       so many bytes of text follow
//! 0x80            a length of two bytes and so many bytes of text follow
//! 0xc0 | bits     a value; bit 0: flags of four bytes follow, 1: a width of two, 2: a precision
//!                 of two, 3: the number of the argument in two, which is otherwise the next;
//!                 4, 5: width and precision are arguments
//! ```

/// A part of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    /// The argument of this index; what stands after the colon, without the form.
    Value {
        index: usize,
        specification: String,
    },
}

/// Reads a template; `None` where it is none of this version.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Piece>> {
    let mut reader = Reader(bytes);
    let (mut pieces, mut next) = (Vec::new(), 0);
    loop {
        let length = match reader.byte()? {
            0 => return reader.0.is_empty().then_some(pieces),
            short @ 1..=0x7f => usize::from(short),
            0x80 => usize::from(reader.word()?),
            bits if bits >= 0xc0 => {
                pieces.push(value(bits, &mut reader, &mut next)?);
                continue;
            }
            _ => return None,
        };
        let text = String::from_utf8(reader.take(length)?.to_vec()).ok()?;
        pieces.push(Piece::Text(text));
    }
}

fn value(bits: u8, reader: &mut Reader<'_>, next: &mut usize) -> Option<Piece> {
    if bits & 0x30 != 0 {
        return None;
    }
    let has = |bit: u8| bits & 1 << bit != 0;
    let flags = if has(0) { reader.double()? } else { 0x6000_0020 };
    let width = if has(1) { Some(reader.word()?) } else { None };
    let precision = if has(2) { Some(reader.word()?) } else { None };
    let index = if has(3) { usize::from(reader.word()?) } else { *next };
    *next = index + 1;
    Some(Piece::Value { index, specification: specification(flags, width, precision) })
}

/// The flags of `core::fmt::FormattingOptions`, as they are written in Rust.
fn specification(flags: u32, width: Option<u16>, precision: Option<u16>) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let flag = |bit: u32| flags & 1 << bit != 0;
    if let Some(align) = ["<", ">", "^"].get((flags >> 29 & 3) as usize) {
        text.extend(char::from_u32(flags & 0x1f_ffff));
        text.push_str(align);
    }
    for (bit, sign) in [(21, "+"), (23, "#"), (24, "0")] {
        if flag(bit) {
            text.push_str(sign);
        }
    }
    if let Some(width) = width.filter(|_| flag(27)) {
        let _ = write!(text, "{width}");
    }
    if let Some(precision) = precision.filter(|_| flag(28)) {
        let _ = write!(text, ".{precision}");
    }
    text
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn double(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustc_writes_is_read() {
        // `element {i} is {v}, and {x:>8.3} {:#x} {:?} not {{allowed}}`, from its output.
        let bytes = b"\x08element \xC0\x04 is \xC0\x06, and \xC7 \x00\x008\x08\x00\x03\x00\x01 \
                      \xC1 \x00\x80`\x01 \xC0\x0E not {allowed}\x00";
        let value = |index, text: &str| Piece::Value { index, specification: text.into() };
        let text = |text: &str| Piece::Text(text.into());
        let expected = [
            text("element "),
            value(0, ""),
            text(" is "),
            value(1, ""),
            text(", and "),
            value(2, " >8.3"),
            text(" "),
            value(3, "#"),
            text(" "),
            value(4, ""),
            text(" not {allowed}"),
        ];
        assert_eq!(read(bytes).unwrap(), expected);
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "cut at {length}");
        }
    }
}
