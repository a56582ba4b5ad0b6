//! Numbers, texts and lists as bytes, for entries of a store, and bytes in others.

use std::io::BufRead;

/// Whether there are these bytes in others. Build scripts are not optimised and bitcode may have the data of a large static:
/// the standard library, which is optimised, finds where to look.
pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else { return true };
    let mut end = 0;
    loop {
        let mut rest = &bytes[end..];
        match rest.skip_until(*first) {
            Ok(read) if read > 0 => end += read,
            _ => return false,
        }
        if bytes[end - 1..].starts_with(part) {
            return true;
        }
    }
}

/// Appends values.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes values off the front; `None` where there are too few bytes.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(crate) fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| read(self)).collect()
    }

    /// Whether everything was read.
    pub(crate) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn bytes_are_found_anywhere_and_nowhere_else() {
        for (bytes, part) in [
            ("abc", ""),
            ("abc", "a"),
            ("abc", "c"),
            ("abc", "bc"),
            ("aab", "ab"),
            ("ababac", "abac"),
            ("xaxaxab", "ab"),
        ] {
            assert!(contains(bytes.as_bytes(), part.as_bytes()), "{part} in {bytes}");
        }
        for (bytes, part) in [("", "a"), ("abc", "cd"), ("abc", "d"), ("ab", "abc"), ("abab", "bb")]
        {
            assert!(!contains(bytes.as_bytes(), part.as_bytes()), "{part} in {bytes}");
        }
    }
}
