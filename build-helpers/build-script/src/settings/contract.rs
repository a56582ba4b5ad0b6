//! Contracts: rules that a kernel's author states in the configuration, `x.len >= n`.
//!
//! ```text
//! rule        = and { "or" and }
//! and         = comparison { "and" comparison }
//! comparison  = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum         = product { ("+" | "-") product }
//! product     = factor { ("*" | "/" | "%") factor }
//! factor      = number | name { "." name } | "-" factor | "(" rule ")"
//! ```
//!
//! What a name means is not known here: that depends on the kernel.

use kernelmill_compiler::diagnostic::Place;
use std::{fmt, ops::Range, sync::Arc};

/// A rule as it was written, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) text: String,
    pub(crate) condition: Term,
    pub(crate) origin: Option<Origin>,
}

/// Where in a settings file something stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) place: Place,
    /// The text of the file.
    pub(crate) file: Arc<str>,
}

/// A part of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    /// Its bytes in the rule.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TermKind {
    Number(i128),
    Name(String),
    /// `name.member`, `name.member.member`.
    Member(String, Vec<String>),
    Binary(Operator, Box<Term>, Box<Term>),
    Negative(Box<Term>),
}

/// An operator between two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleError {
    pub(crate) message: String,
    /// Its bytes in the rule.
    pub(crate) span: Range<usize>,
    pub(crate) help: String,
}

impl RuleError {
    pub(crate) fn new(
        message: impl Into<String>,
        span: Range<usize>,
        help: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), span, help: help.into() }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = SPELLED.iter().find(|(_, operator)| operator == self);
        formatter.write_str(spelled.map_or("", |(text, _)| text))
    }
}

/// The operators, the longer ones of those that begin alike first.
const SPELLED: [(&str, Operator); 13] = [
    ("or", Operator::Or),
    ("and", Operator::And),
    ("<=", Operator::LessOrEqual),
    ("<", Operator::Less),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
    ("%", Operator::Remainder),
];

impl Operator {
    /// How tightly it binds.
    fn level(self) -> u8 {
        match self {
            Self::Or => 0,
            Self::And => 1,
            Self::Add | Self::Subtract => 3,
            Self::Multiply | Self::Divide | Self::Remainder => 4,
            _ => COMPARISON,
        }
    }

    /// Whether it makes a condition of two numbers.
    pub(crate) fn compares(self) -> bool {
        self.level() == COMPARISON
    }

    /// Whether it makes a condition of two conditions.
    pub(crate) fn joins(self) -> bool {
        self.level() < COMPARISON
    }
}

const COMPARISON: u8 = 2;
/// The level of terms without an operator.
const FACTOR: u8 = 5;
/// Deeper rules are refused.
const MAX_DEPTH: u32 = 64;

/// Reads a rule.
pub(crate) fn parse(text: &str) -> Result<Term, RuleError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, end: text.len() };
    let term = parser.level(0)?;
    match parser.peek() {
        None => Ok(term),
        Some(token) => {
            let message = format!("`{}` is not expected here", &text[token.span.clone()]);
            Err(RuleError::new(message, token.span.clone(), "join two rules with `and`"))
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum TokenKind {
    Number(i128),
    Name(String),
    Operator(Operator),
    Dot,
    Open,
    Close,
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    kind: TokenKind,
    span: Range<usize>,
}

fn tokens(text: &str) -> Result<Vec<Token>, RuleError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let word = rest.len() - rest.trim_start_matches(is_of_word).len();
        let symbols = [(".", TokenKind::Dot), ("(", TokenKind::Open), (")", TokenKind::Close)];
        let operators = SPELLED.map(|(text, operator)| (text, TokenKind::Operator(operator)));
        let symbol = symbols.into_iter().chain(operators).find(|(symbol, _)| {
            // `order` is a name, and not `or`.
            if word > 0 { *symbol == &rest[..word] } else { rest.starts_with(*symbol) }
        });
        let (length, kind) = match symbol {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            Some((symbol, kind)) => (symbol.len(), kind),
            None if first.is_ascii_digit() => (word, number(&rest[..word], at)?),
            None if word > 0 => (word, TokenKind::Name(rest[..word].to_owned())),
            None => {
                let help = match first {
                    '=' => "write `==`",
                    '&' => "write `and`",
                    '|' => "write `or`",
                    '!' => "write `!=`",
                    _ => "rules have numbers, names, `+ - * / %`, comparisons, `and` and `or`",
                };
                let span = at..at + first.len_utf8();
                return Err(RuleError::new(
                    format!("`{first}` means nothing in a rule"),
                    span,
                    help,
                ));
            }
        };
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn number(text: &str, at: usize) -> Result<TokenKind, RuleError> {
    let digits = text.replace('_', "");
    digits.parse().map(TokenKind::Number).map_err(|_| {
        let message = format!("`{text}` is no number");
        RuleError::new(message, at..at + text.len(), "write a whole number in decimal digits")
    })
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// The next operator, if it is of this level.
    fn operator(&mut self, level: u8) -> Option<Operator> {
        match self.peek()?.kind {
            TokenKind::Operator(operator) if operator.level() == level => {
                self.at += 1;
                Some(operator)
            }
            _ => None,
        }
    }

    /// Terms joined by operators of this level or of tighter ones.
    fn level(&mut self, level: u8) -> Result<Term, RuleError> {
        if level == FACTOR {
            return self.factor();
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.level(level + 1)?;
            let span = left.span.start..right.span.end;
            let kind = TermKind::Binary(operator, Box::new(left), Box::new(right));
            left = Term { kind, span };
            if level == COMPARISON {
                break;
            }
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Term, RuleError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.peek().map_or(self.end..self.end, |token| token.span.clone());
            return Err(RuleError::new("the rule is too deep", span, "write several rules"));
        }
        let missing = |span| Err(RuleError::new("a number or a name is missing", span, EXAMPLE));
        let Some(token) = self.next() else { return missing(self.end..self.end) };
        let start = token.span.start;
        let term = match token.kind {
            TokenKind::Number(number) => Term { kind: TermKind::Number(number), span: token.span },
            TokenKind::Name(name) => self.name(name, token.span)?,
            TokenKind::Operator(Operator::Subtract) => {
                let inner = self.factor()?;
                let span = start..inner.span.end;
                Term { kind: TermKind::Negative(Box::new(inner)), span }
            }
            TokenKind::Open => {
                let inner = self.level(0)?;
                match self.next() {
                    Some(Token { kind: TokenKind::Close, span }) => {
                        Term { kind: inner.kind, span: start..span.end }
                    }
                    other => {
                        let span = other.map_or(self.end..self.end, |token| token.span);
                        return Err(RuleError::new(
                            "`)` is missing",
                            span,
                            "close the parenthesis",
                        ));
                    }
                }
            }
            _ => return missing(token.span),
        };
        self.depth -= 1;
        Ok(term)
    }

    /// A name, and what may follow its dots.
    fn name(&mut self, name: String, span: Range<usize>) -> Result<Term, RuleError> {
        let (mut members, mut end) = (Vec::new(), span.end);
        while self.peek().is_some_and(|token| token.kind == TokenKind::Dot) {
            self.at += 1;
            match self.next() {
                Some(Token { kind: TokenKind::Name(member), span }) => {
                    members.push(member);
                    end = span.end;
                }
                other => {
                    let span = other.map_or(self.end..self.end, |token| token.span);
                    return Err(RuleError::new("a name is missing behind the dot", span, EXAMPLE));
                }
            }
        }
        let is_plain = members.is_empty();
        let kind = if is_plain { TermKind::Name(name) } else { TermKind::Member(name, members) };
        Ok(Term { kind, span: span.start..end })
    }
}

const EXAMPLE: &str = "for example `x.len >= n`";

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule with every operator in parentheses.
    fn shown(term: &Term) -> String {
        match &term.kind {
            TermKind::Number(number) => number.to_string(),
            TermKind::Name(name) => name.clone(),
            TermKind::Member(name, members) => format!("{name}.{}", members.join(".")),
            TermKind::Negative(inner) => format!("-{}", shown(inner)),
            TermKind::Binary(operator, left, right) => {
                format!("({} {operator} {})", shown(left), shown(right))
            }
        }
    }

    #[test]
    fn operators_bind_as_everywhere() {
        for (text, expected) in [
            ("x.len >= n", "(x.len >= n)"),
            ("grid.x * block.x >= n", "((grid.x * block.x) >= n)"),
            ("shared == 4 * block.x + 1_024", "(shared == ((4 * block.x) + 1024))"),
            (
                "a < b and c != d or order % 2 == 0",
                "(((a < b) and (c != d)) or ((order % 2) == 0))",
            ),
            ("a-b-c<=-(d/e)", "(((a - b) - c) <= -(d / e))"),
            ("(a > 1 or b > 1) and c > 1", "(((a > 1) or (b > 1)) and (c > 1))"),
            ("android > nor", "(android > nor)"),
            ("p.size.x > 0", "(p.size.x > 0)"),
        ] {
            let term = parse(text).unwrap();
            assert_eq!(shown(&term), expected, "{text}");
            let again = parse(&shown(&term)).unwrap();
            assert_eq!(shown(&again), expected, "{text}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        for (text, at, message) in [
            ("", 0, "a number or a name is missing"),
            ("x.len >=", 8, "a number or a name is missing"),
            ("x.len >= n n", 11, "`n` is not expected here"),
            ("1 < 2 < 3", 6, "`<` is not expected here"),
            ("x. >= n", 3, "a name is missing behind the dot"),
            ("(a > b", 6, "`)` is missing"),
            ("a = b", 2, "`=` means nothing in a rule"),
            ("a && b", 2, "`&` means nothing in a rule"),
            ("n >= 0x10", 5, "`0x10` is no number"),
            ("n >= 10\u{e4}", 7, "`\u{e4}` means nothing in a rule"),
            (&format!("{}1", "(".repeat(1000)), 64, "the rule is too deep"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
            assert!(text.is_char_boundary(error.span.end) && !error.help.is_empty());
        }
    }
}
