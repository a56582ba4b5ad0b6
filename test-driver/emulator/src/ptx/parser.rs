//! The parser's cursor, and the top level of a PTX text.

use super::ast::{Alias, Ast};
use super::errors::{MOST_ERRORS, ParseError, ParseErrors};
use super::lexer::{Token, TokenKind, tokens};
use super::literal::parse_integer;
use std::collections::HashSet;

/// The rest of the statement is skipped after an error; the error itself is already recorded.
pub(super) struct Recorded;

/// What a part of the parser gives back.
pub(super) type Parsed<T> = Result<T, Recorded>;

/// A cursor over the tokens that collects errors.
///
/// One type with many methods: recursive descent, a method for each rule of the grammar, in a file for
/// each part of it.
pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    /// Blocks, lists and expressions that the cursor is in.
    depth: u32,
    /// The variables that were declared as `.extern`.
    pub(super) externals: HashSet<&'a str>,
    errors: Vec<ParseError>,
    /// What `.version` says.
    pub(super) version: (u32, u32),
}

/// What may stand beside the architecture in `.target`.
const TARGET_OPTIONS: [&str; 4] =
    ["debug", "texmode_unified", "texmode_independent", "map_f64_to_f32"];

/// Deepest nesting of blocks, lists and expressions.
const DEEPEST: u32 = 128;

/// Parses a text into a tree, or gives all its errors.
pub(crate) fn parse(text: &str) -> Result<Ast<'_>, ParseErrors> {
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        depth: 0,
        externals: HashSet::new(),
        errors: Vec::new(),
        version: (0, 0),
    };
    let mut tree = Ast::default();
    parser.refuse_unterminated();
    parser.start(&mut tree);
    while parser.peek() != TokenKind::End {
        let before = parser.at;
        if parser.item(&mut tree).is_err() {
            parser.recover();
        }
        if parser.at == before {
            parser.at += 1;
        }
    }
    if parser.errors.is_empty() { Ok(tree) } else { Err(ParseErrors(parser.errors)) }
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> TokenKind<'a> {
        self.peek_at(0).kind
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub(super) fn line(&self) -> u32 {
        self.peek_at(0).line
    }

    pub(super) fn next(&mut self) -> TokenKind<'a> {
        let kind = self.peek();
        if kind != TokenKind::End {
            self.at += 1;
        }
        kind
    }

    pub(super) fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == TokenKind::Mark(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn error<T>(&mut self, line: u32, message: impl Into<String>) -> Parsed<T> {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(ParseError::new(line, message));
        }
        Err(Recorded)
    }

    /// Parses something that may hold itself, if it is not nested too deep already.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return self.error(self.line(), format!("nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Records that `wanted` should stand where the cursor is.
    pub(super) fn unexpected<T>(&mut self, wanted: &str) -> Parsed<T> {
        let message = format!("expected {wanted}, found {}", self.peek());
        self.error(self.line(), message)
    }

    pub(super) fn expect(&mut self, mark: char) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    pub(super) fn word(&mut self, wanted: &str) -> Parsed<&'a str> {
        match self.peek() {
            TokenKind::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.unexpected(wanted),
        }
    }

    /// The next `.word`, if one is next.
    pub(super) fn dot(&mut self) -> Option<&'a str> {
        match self.peek() {
            TokenKind::Dot(word) => {
                self.at += 1;
                Some(word)
            }
            _ => None,
        }
    }

    /// A literal without a sign; a constant expression is not taken here.
    pub(super) fn integer(&mut self) -> Parsed<u64> {
        match self.peek() {
            TokenKind::Number(text) => match parse_integer(text) {
                Some(value) => {
                    self.at += 1;
                    Ok(value)
                }
                None => self.unexpected("an integer"),
            },
            _ => self.unexpected("an integer"),
        }
    }

    /// A literal of 32 bits.
    pub(super) fn integer_32(&mut self) -> Parsed<u32> {
        let line = self.line();
        match u32::try_from(self.integer()?) {
            Ok(value) => Ok(value),
            Err(_) => self.error(line, "the integer does not fit into 32 bits"),
        }
    }

    /// Skips to just past the next `;`, or past a `}` or in front of a directive that starts a line.
    pub(super) fn recover(&mut self) {
        loop {
            match self.peek() {
                TokenKind::End | TokenKind::Mark('}') => return,
                TokenKind::Mark(';') => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// `.loc file line column` and where it was inlined; gives the file and the line. An instruction may follow on
    /// the same line of the text.
    pub(super) fn location(&mut self) -> Parsed<(u32, u32)> {
        self.next();
        let place = (self.integer_32()?, self.integer_32()?);
        self.integer_32()?;
        if self.eat(',') {
            self.keyword("function_name")?;
            self.word("the label of a name")?;
            if self.eat('+') {
                self.integer()?;
            }
            self.expect(',')?;
            self.keyword("inlined_at")?;
            for _ in 0..3 {
                self.integer_32()?;
            }
        }
        Ok(place)
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.peek() != TokenKind::Word(word) {
            return self.unexpected(&format!("`{word}`"));
        }
        self.at += 1;
        Ok(())
    }

    /// What the text ends in is skipped with everything before it, so it is looked for first.
    fn refuse_unterminated(&mut self) {
        let tail = &self.tokens[self.tokens.len().saturating_sub(2)..];
        let broken = tail.iter().find(|token| matches!(token.kind, TokenKind::Unterminated(_)));
        if let Some(&Token { kind, line, .. }) = broken {
            self.errors.push(ParseError::new(line, kind.to_string()));
        }
    }

    /// `.version` and `.target`, with which every text begins.
    fn start(&mut self, tree: &mut Ast<'a>) {
        let line = self.peek_at(2).line;
        let started = self.version().and_then(|version| {
            self.first_target(tree)?;
            (tree.version, self.version) = (version, version);
            let (target, suffix) = tree.target;
            match oldest_version(target, suffix) {
                Some(oldest) if version < oldest => {
                    let (major, minor) = version;
                    let suffix = suffix.map_or_else(String::new, String::from);
                    self.error(
                        line,
                        format!("PTX {major}.{minor} does not support sm_{target}{suffix}"),
                    )
                }
                _ => Ok(()),
            }
        });
        if started.is_err() {
            self.at += usize::from(self.peek() != TokenKind::End);
        } else if self.peek() == TokenKind::Dot("address_size") {
            let _ = self.address_size();
        }
    }

    /// Devices have addresses of 64 bits.
    fn address_size(&mut self) -> Parsed<()> {
        self.next();
        let line = self.line();
        match self.integer()? {
            64 => Ok(()),
            32 => self.error(line, "addresses of 32 bits are not supported"),
            _ => self.error(line, "`.address_size` must be 64"),
        }
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        if self.dot() != Some("version") {
            return self.error(self.line(), "the text does not begin with `.version`");
        }
        match self.peek() {
            TokenKind::Number(text) => {
                let parts = text.split_once('.');
                let parts = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                let Some(version) = parts else { return self.unexpected("a version such as 8.0") };
                self.next();
                Ok(version)
            }
            _ => self.unexpected("a version such as 8.0"),
        }
    }

    fn first_target(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        match self.peek() {
            TokenKind::Dot("target") => self.target(tree),
            _ => self.unexpected("`.target`"),
        }
    }

    fn item(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        match self.peek() {
            TokenKind::Dot("version") => self
                .error(self.line(), "`.version` must be the first directive, and must occur once"),
            TokenKind::Dot("address_size") => self
                .error(self.line(), "`.address_size` must follow `.target`, and must occur once"),
            TokenKind::Dot("target") => self
                .error(self.line(), "`.target` must be the second directive, and must occur once"),
            TokenKind::Dot("file") => self.file(tree),
            TokenKind::Dot("section") => self.section(),
            TokenKind::Dot("pragma") => self.module_pragma(),
            TokenKind::Dot("alias") => self.alias(tree),
            TokenKind::Dot(_) => self.definition(tree),
            _ => {
                let result = self.unexpected("a directive");
                self.at += 1;
                result
            }
        }
    }

    fn target(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        self.at += 1;
        loop {
            let line = self.line();
            let name = self.word("a target such as sm_75")?;
            if let Some(target) = name.strip_prefix("sm_") {
                match parse_target(target) {
                    Some(target) => tree.target = target,
                    None => return self.error(line, format!("`{name}` is not a target")),
                }
            } else if !TARGET_OPTIONS.contains(&name) {
                return self.error(line, format!("`{name}` is not a target"));
            }
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    fn file(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        self.at += 1;
        let line = self.line();
        let number = self.integer_32()?;
        if tree.files.iter().any(|&(known, _)| known == number) {
            return self.error(line, format!("`.file {number}` occurs twice"));
        }
        match self.next() {
            TokenKind::Text(path) => tree.files.push((number, path)),
            _ => return self.unexpected("a path in quotes"),
        }
        while self.eat(',') {
            self.integer()?;
        }
        Ok(())
    }

    /// For a whole module only the pragmas of the PTX ISA are taken.
    fn module_pragma(&mut self) -> Parsed<()> {
        const PRAGMAS: [&str; 4] =
            ["nounroll", "used_bytes_mask", "enable_smem_spilling", "frequency"];
        if let TokenKind::Text(text) = self.peek_at(1).kind
            && !PRAGMAS.contains(&text.split_whitespace().next().unwrap_or_default())
        {
            return self.error(self.line(), format!("there is no pragma `{text}`"));
        }
        self.pragma()
    }

    /// Debug sections say nothing that running needs.
    fn alias(&mut self, tree: &mut Ast<'a>) -> Parsed<()> {
        let line = self.line();
        self.at += 1;
        let name = self.word("a function")?;
        self.expect(',')?;
        let of = self.word("a function")?;
        self.expect(';')?;
        tree.aliases.push(Alias { line, name, of });
        Ok(())
    }

    /// Whether the text of the token at the cursor touches the token before it.
    pub(super) fn touches(&self) -> bool {
        !self.peek_at(0).spaced
    }

    /// The slice of the text from the start of `first` to the end of `last`, which come from it.
    pub(super) fn joined(&self, first: &'a str, last: &'a str) -> &'a str {
        let start = first.as_ptr() as usize - self.text.as_ptr() as usize;
        let end = last.as_ptr() as usize - self.text.as_ptr() as usize + last.len();
        &self.text[start..end]
    }
}

/// The oldest version of PTX that has a target; `None` for those that are older than all that LLVM and nvcc write, and
/// for those that are not known.
fn oldest_version(target: u32, suffix: Option<char>) -> Option<(u32, u32)> {
    Some(match (target, suffix) {
        (75, None) => (6, 3),
        (80, None) => (7, 0),
        (86, None) => (7, 1),
        (87, None) => (7, 4),
        (89 | 90, None) => (7, 8),
        (90, Some('a')) => (8, 0),
        (100 | 101, None | Some('a')) => (8, 6),
        (120, None | Some('a')) => (8, 7),
        (100 | 101 | 120, Some('f')) | (103 | 121, None | Some('a' | 'f')) => (8, 8),
        (88 | 110, None | Some('a' | 'f')) => (9, 0),
        _ => return None,
    })
}

fn parse_target(text: &str) -> Option<(u32, Option<char>)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let suffix = text[digits.len()..].chars().next();
    Some((digits.parse().ok()?, suffix))
}
