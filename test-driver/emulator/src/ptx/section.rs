//! Sections of debug information: `.section .debug_info { .b8 1, 2 }`. Their data is checked and left out.
//!
//! PTX ISA, "Debugging Directives: .section".

use super::lexer::TokenKind;
use super::literal::parse_integer;
use super::parser::{Parsed, Parser};

/// The types that such data has.
const TYPES: [&str; 4] = ["b8", "b16", "b32", "b64"];
/// Those that it does not have.
const OTHERS: [&str; 14] = [
    "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "f32", "f64",
    "pred",
];

impl Parser<'_> {
    pub(super) fn section(&mut self) -> Parsed<()> {
        self.next();
        if self.dot().is_none() {
            return self.unexpected("the name of a section, such as `.debug_info`");
        }
        let (mut depth, mut ty, mut negative) = (0, None, false);
        loop {
            let line = self.line();
            match self.next() {
                TokenKind::Mark('{') => depth += 1,
                TokenKind::Mark('}') => depth -= 1,
                TokenKind::End => return self.unexpected("`}`"),
                TokenKind::Dot(word) if depth > 0 && OTHERS.contains(&word) => {
                    return self.error(line, format!("debug data cannot have the type `.{word}`"));
                }
                TokenKind::Dot(word) if TYPES.contains(&word) => ty = Some(word),
                TokenKind::Number(number) if depth > 0 && !fits(ty, negative, number) => {
                    let (sign, ty) = (if negative { "-" } else { "" }, ty.unwrap_or_default());
                    return self.error(
                        line,
                        format!("`{sign}{number}` is not a value of `.{ty}` in a debug section"),
                    );
                }
                TokenKind::Mark('-') => {
                    negative = true;
                    continue;
                }
                _ => {}
            }
            negative = false;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Whether a number can be data of a type. `ptxas` looks at the range of small types alone, and at 32 bits of the
/// number.
fn fits(ty: Option<&str>, negative: bool, number: &str) -> bool {
    let long = || number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse().ok());
    let Some(value) = parse_integer(number).map(u128::from).or_else(|| long().flatten()) else {
        return false;
    };
    let range: u128 = match ty {
        Some("b8") => 0xff,
        Some("b16") => 0xffff,
        _ => return true,
    };
    value & u128::from(u32::MAX) <= if negative { range / 2 + 1 } else { range }
}
