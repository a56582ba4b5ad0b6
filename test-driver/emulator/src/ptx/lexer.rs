//! Text to tokens.
//!
//! PTX ISA, "Syntax".

/// A token with the line it starts on, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) line: u32,
    /// Whether whitespace or a comment comes before it.
    pub(crate) spaced: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind<'a> {
    /// An identifier: `%r1`, `$L__BB0_1`, `add`.
    Word(&'a str),
    /// A word with a dot before it, without the dot: `global`, `shared::cta`.
    Dot(&'a str),
    /// A number as written.
    Number(&'a str),
    /// A string without its quotes.
    Text(&'a str),
    /// A string or comment that the text ends in; this is what it is called.
    Unterminated(&'static str),
    /// Any other character.
    Mark(char),
    /// After the last token.
    End,
}

impl std::fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TokenKind::Word(text) | TokenKind::Number(text) => write!(f, "`{text}`"),
            TokenKind::Dot(text) => write!(f, "`.{text}`"),
            TokenKind::Text(text) => write!(f, "\"{text}\""),
            TokenKind::Mark(mark) => write!(f, "`{mark}`"),
            TokenKind::Unterminated(what) => write!(f, "{what} that does not end"),
            TokenKind::End => f.write_str("the end of the text"),
        }
    }
}

/// Splits PTX into tokens; the last one is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let before = lexer.at;
        let broken = lexer.skip_blank();
        let (line, spaced) = (lexer.line, lexer.at > before);
        let kind = lexer.next_kind();
        if let Some(line) = broken {
            tokens.push(Token { kind: TokenKind::Unterminated("a comment"), line, spaced });
        }
        tokens.push(Token { kind, line, spaced });
        if kind == TokenKind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn ended(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips whitespace and comments; gives the line of a comment that does not end.
    fn skip_blank(&mut self) -> Option<u32> {
        while !self.ended() {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b'/', b'/') => self.skip_while(|byte| byte != b'\n'),
                (b'/', b'*') => {
                    let line = self.line;
                    if !self.skip_comment() {
                        return Some(line);
                    }
                }
                // A text may end as those of C do.
                (0, _) if self.text[self.at..].bytes().all(|byte| byte == 0) => {
                    self.at = self.text.len();
                }
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                _ => return None,
            }
        }
        None
    }

    /// Skips a comment; whether it ends.
    fn skip_comment(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let end = rest[2..].find("*/");
        let length = end.map_or(rest.len(), |end| end + 4);
        self.line += count_lines(&rest[..length]);
        self.at += length;
        end.is_some()
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while !self.ended() && keep(self.peek(0)) {
            self.at += 1;
        }
    }

    fn next_kind(&mut self) -> TokenKind<'a> {
        let start = self.at;
        match self.peek(0) {
            _ if self.ended() => TokenKind::End,
            b'"' => self.text_token(),
            b'.' if self.is_fraction() => {
                self.skip_fraction(start);
                TokenKind::Number(&self.text[start..self.at])
            }
            b'.' if is_word(self.peek(1)) => {
                self.at += 1;
                self.skip_dotted();
                TokenKind::Dot(&self.text[start + 1..self.at])
            }
            byte if byte.is_ascii_digit() => {
                self.skip_number();
                TokenKind::Number(&self.text[start..self.at])
            }
            byte if is_word(byte) || (byte == b'%' && is_word(self.peek(1))) => {
                self.at += 1;
                self.skip_while(is_word);
                TokenKind::Word(&self.text[start..self.at])
            }
            _ => {
                let mark = self.text[start..].chars().next().unwrap_or('\0');
                self.at += mark.len_utf8();
                TokenKind::Mark(mark)
            }
        }
    }

    /// Whether `.5` or `.5e1` follows, and no modifier as `.2d` is one.
    fn is_fraction(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = rest.get(digits).copied().unwrap_or(0);
        let exponent = rest.get(digits + 1).copied().unwrap_or(0);
        let is_exponent =
            matches!(end, b'e' | b'E') && matches!(exponent, b'+' | b'-' | b'0'..=b'9');
        digits > 0 && (is_exponent || !is_word(end))
    }

    fn skip_dotted(&mut self) {
        loop {
            self.skip_while(is_word);
            if self.peek(0) != b':' || self.peek(1) != b':' {
                return;
            }
            self.at += 2;
        }
    }

    fn skip_number(&mut self) {
        let start = self.at;
        let prefixed = self.peek(0) == b'0' && self.peek(1).is_ascii_alphabetic();
        self.skip_while(is_word);
        let is_exponent = matches!(self.peek(1), b'e' | b'E')
            && matches!(self.peek(2), b'+' | b'-' | b'0'..=b'9');
        if prefixed
            || self.peek(0) != b'.'
            || is_word(self.peek(1)) && !self.peek(1).is_ascii_digit() && !is_exponent
        {
            return;
        }
        self.skip_fraction(start);
    }

    /// Skips the point of a number that begins at `start`, its digits and its exponent.
    fn skip_fraction(&mut self, start: usize) {
        self.at += 1;
        self.skip_while(is_word);
        let exponent = self.text[start..self.at].ends_with(['e', 'E']);
        if exponent && matches!(self.peek(0), b'+' | b'-') {
            self.at += 1;
            self.skip_while(is_word);
        }
    }

    fn text_token(&mut self) -> TokenKind<'a> {
        let start = self.at + 1;
        let mut end = start;
        let bytes = self.text.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            self.at = bytes.len();
            return TokenKind::Unterminated("a string");
        }
        self.line += count_lines(&self.text[start..end]);
        self.at = end + 1;
        TokenKind::Text(&self.text[start..end])
    }
}

fn count_lines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn mnemonics_split_at_their_dots() {
        assert_eq!(
            kinds("ld.shared::cta.b32"),
            [
                TokenKind::Word("ld"),
                TokenKind::Dot("shared::cta"),
                TokenKind::Dot("b32"),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn numbers_keep_their_spelling() {
        assert_eq!(
            kinds("0f3F800000 7.5e-3 12U -1 .5 5. 5.e+2 .5e1"),
            [
                TokenKind::Number("0f3F800000"),
                TokenKind::Number("7.5e-3"),
                TokenKind::Number("12U"),
                TokenKind::Mark('-'),
                TokenKind::Number("1"),
                TokenKind::Number(".5"),
                TokenKind::Number("5."),
                TokenKind::Number("5.e+2"),
                TokenKind::Number(".5e1"),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn modifiers_that_begin_with_a_digit_are_no_numbers() {
        assert_eq!(
            kinds("tensor.2d .16x64b .1"),
            [
                TokenKind::Word("tensor"),
                TokenKind::Dot("2d"),
                TokenKind::Dot("16x64b"),
                TokenKind::Number(".1"),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn comments_and_strings_count_lines() {
        let lines: Vec<u32> =
            tokens("a /* x\n y */ b\n// c\nd").into_iter().map(|t| t.line).collect();
        assert_eq!(lines, [1, 2, 4, 4]);
    }
}
