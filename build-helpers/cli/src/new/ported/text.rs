//! Texts in C++: lines, lists, words and brackets.

use super::names::is_word;

/// The line of a byte, counted from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The parts of a list, at the commas outside of all brackets.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, sign) in text.char_indices() {
        match sign {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let clean = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    parts.into_iter().map(clean).filter(|part| !part.is_empty()).collect()
}

/// The names and numbers in a text.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect()
}

fn partner(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        _ => b'}',
    }
}

/// The place of the bracket that closes the one at a place.
pub(super) fn closing(text: &str, open: usize) -> Option<usize> {
    let sign = *text.as_bytes().get(open)?;
    let mut depth = 0_i32;
    text.bytes().enumerate().skip(open).find_map(|(at, byte)| {
        depth += i32::from(byte == sign) - i32::from(byte == partner(sign));
        (depth == 0).then_some(at)
    })
}

/// The place of the bracket that the one at a place closes.
pub(super) fn opening(text: &str, close: usize) -> Option<usize> {
    let sign = *text.as_bytes().get(close)?;
    let mut depth = 0_i32;
    let before = text.as_bytes()[..=close].iter().enumerate().rev();
    before.into_iter().find_map(|(at, byte)| {
        depth += i32::from(*byte == sign) - i32::from(partner(*byte) == sign && *byte != sign);
        (depth == 0).then_some(at)
    })
}
