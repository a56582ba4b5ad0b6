//! Nesting of sources in Rust: how deep it may be, and a stack that parsing fits on.
//!
//! syn's parser is recursive, and takes up to 20 KB of stack for a block in a build script, which Cargo compiles
//! without optimisation. Sources within the limits fit on the stack here, whatever their nesting is made of;
//! others are refused before they are parsed. The limits are those of a text, so that no parser is needed to
//! check them.

use std::{io, thread};

/// The brackets of any kind that may be open at one place.
const MAX_BRACKETS: usize = 1_000;
/// The words and signs that may follow each other without a separator, in all brackets that are open: prefix
/// operators, `else if` and the like nest without brackets.
const MAX_TOKENS: usize = 10_000;
/// The stack for parsing. The system gives out as much of it as is used.
const STACK: usize = 1 << 30;

/// Runs a parser on a stack that every text within the limits fits on.
///
/// # Errors
///
/// Where the system has no memory for the stack.
pub(super) fn on_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The line at which a text in Rust nests deeper than the limits; `None` where it does not.
pub(super) fn too_deep_at(text: &str) -> Option<usize> {
    let mut levels = vec![0];
    let mut total = 0;
    let mut after_block = false;
    for Token { text: token, start } in Tokens::new(text) {
        let goes_on = token == "else" || token == "." || token == "?" || token == "as";
        if after_block && !goes_on && !matches!(token, ")" | "]" | "}") {
            // A block ended, and with it the item or statement.
            total -= std::mem::take(levels.last_mut()?);
        }
        after_block = token == "}";
        match token {
            "(" | "[" | "{" => levels.push(0),
            ")" | "]" | "}" if levels.len() > 1 => total -= levels.pop()?,
            ";" | "," => total -= std::mem::take(levels.last_mut()?),
            _ => {
                *levels.last_mut()? += 1;
                total += 1;
            }
        }
        if levels.len() > MAX_BRACKETS + 1 || total > MAX_TOKENS {
            return Some(text[..start].matches('\n').count() + 1);
        }
    }
    None
}

/// A word or a sign.
struct Token<'t> {
    text: &'t str,
    start: usize,
}

/// The words and signs of a text in Rust, without its comments. A literal is one word.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves behind the first of these texts, or to the end.
    fn skip_past(&mut self, end: &str) {
        self.at = self.rest().find(end).map_or(self.text.len(), |at| self.at + at + end.len());
    }

    fn skip_block_comment(&mut self) {
        let mut open = 0;
        while let Some(next) = self.rest().find(['*', '/']) {
            self.at += next;
            if self.rest().starts_with("/*") {
                open += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                open -= 1;
                self.at += 2;
                if open == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
        self.at = self.text.len();
    }

    /// Moves behind a literal in quotation marks, at the first of which the text stands.
    fn skip_quoted(&mut self) {
        self.at += 1;
        while let Some(next) = self.rest().find(['"', '\\']) {
            let is_end = self.rest()[next..].starts_with('"');
            self.at += next + 1;
            if is_end {
                return;
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
        self.at = self.text.len();
    }

    /// Moves behind a character literal, a lifetime or a label.
    fn skip_apostrophe(&mut self) {
        let mut letters = self.rest().char_indices().skip(1);
        match (letters.next(), letters.next()) {
            (Some((_, '\\')), Some((escaped, _))) => {
                self.at += escaped + 1;
                self.skip_past("'");
            }
            (Some(_), Some((end, '\''))) => self.at += end + 1,
            _ => self.at += 1,
        }
    }

    /// Moves behind a word; behind the literal too where it is the prefix of a raw or other string.
    fn skip_word(&mut self) {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        let hashes = self.rest().len() - self.rest().trim_start_matches('#').len();
        let is_string = self.rest()[hashes..].starts_with('"');
        if is_string && matches!(word, "r" | "br" | "cr") {
            self.at += hashes + 1;
            self.skip_past(&format!("\"{}", "#".repeat(hashes)));
        } else if is_string && hashes == 0 && matches!(word, "b" | "c") {
            self.skip_quoted();
        }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.at += blank;
            let (start, rest) = (self.at, self.rest());
            let first = rest.chars().next()?;
            match first {
                _ if rest.starts_with("//") => self.skip_past("\n"),
                _ if rest.starts_with("/*") => self.skip_block_comment(),
                '"' => self.skip_quoted(),
                '\'' => self.skip_apostrophe(),
                _ if first.is_alphanumeric() || first == '_' => self.skip_word(),
                _ => self.at += first.len_utf8(),
            }
            let is_comment = rest.starts_with("//") || rest.starts_with("/*");
            if !is_comment {
                return Some(Token { text: &self.text[start..self.at], start });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Project;

    /// A kernel file with this in the body of its kernel.
    fn kernel(body: &str) -> String {
        format!("#[kernel]\nfn deep(x: u32) {{\n{body}\n}}\n")
    }

    fn nested(open: &str, close: &str, depth: usize) -> String {
        format!("{}x{}", open.repeat(depth), close.repeat(depth))
    }

    #[test]
    fn deep_sources_are_read_and_deeper_ones_are_refused_by_name() {
        let project = Project::new("targets = [\"compute_75\"]\n", &[]);
        let build = |body: &str| {
            project.write("app/kernels/deep.rs", &kernel(body));
            project.build().result.map(|summary| summary.kernels).map_err(|it| it.to_string())
        };
        // The body is in the brackets of the kernel.
        let most = MAX_BRACKETS - 1;
        for (open, close) in
            [("{", "}"), ("(", ")"), ("[", "]"), ("f(", ")"), ("if a {", "}"), ("|| {", "}")]
        {
            assert_eq!(build(&nested(open, close, most)).unwrap(), ["deep"], "{open}");
            let error = build(&nested(open, close, most + 1)).unwrap_err();
            let expected =
                "error: `kernels/deep.rs` is nested too deeply to be read, at line 3\n  help: ";
            assert!(error.starts_with(expected), "{open}: {error}");
        }
        let chains = [
            "!",
            "-",
            "&",
            "*",
            "return ",
            "x + ",
            "x = ",
            "x.",
            "|| ",
            "if x {} else ",
            "x as u8 + ",
        ];
        for chain in chains {
            let tokens = Tokens::new(chain).filter(|it| !matches!(it.text, "{" | "}")).count();
            let most = (MAX_TOKENS - 10) / tokens;
            let end = if chain.starts_with("if") { "{}" } else { "x" };
            let body = |count: usize| format!("let _ = {}{end};", chain.repeat(count));
            assert_eq!(build(&body(most)).unwrap(), ["deep"], "{chain}");
            assert!(build(&body(MAX_TOKENS)).unwrap_err().contains("at line 3"), "{chain}");
        }
    }

    #[test]
    fn length_is_no_depth_and_brackets_in_texts_are_none() {
        let statements = "let y = f(x)[0] + -1;\nif y == 2 { g(); }\n".repeat(MAX_TOKENS);
        assert_eq!(too_deep_at(&kernel(&statements)), None);
        let list = format!("let y = [{}];", "-1, ".repeat(2 * MAX_TOKENS));
        assert_eq!(too_deep_at(&kernel(&list)), None);
        let items = "fn f(a: &u8) -> u8 { *a }\n".repeat(MAX_TOKENS);
        assert_eq!(too_deep_at(&items), None);
        let brackets = "({[".repeat(MAX_BRACKETS);
        for text in [
            format!("// {brackets}\n"),
            format!("/* /* {brackets} */ {brackets} */"),
            format!("\"\\\" {brackets}\""),
            format!("r#\"\" {brackets}\"#"),
            format!("b\"{brackets}\""),
            "'(', '\\'', '{', '\\u{7b}', 'a: loop {} ".repeat(MAX_BRACKETS).replace(" ,", ","),
        ] {
            assert_eq!(too_deep_at(&text), None, "{}", &text[..20]);
            let deep = format!("{}\n{brackets}", text.trim_end());
            assert_eq!(too_deep_at(&deep), Some(2), "{}", &text[..20]);
        }
    }
}
