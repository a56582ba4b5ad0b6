//! Declarations of types in the texts of sources, for the comments of types and their parts: fields and enumerators.
//!
//! Layouts come from compilers and have no places, so the declaration of a type is found by its name in the file of a kernel
//! that takes it, in that source's other files, and in what these include.

use crate::base::code_text::code_of;
use std::path::Path;

/// Where a type and its parts are declared. Lines are counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) line: u32,
    /// Of each part that was asked for.
    pub(super) parts: Vec<Option<Part>>,
}

/// The declaration of a field or an enumerator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) line: u32,
    /// Whether it is the first on its line: a comment above is about it.
    pub(super) is_first: bool,
    /// What the comment behind it on its line says, in other languages than Rust.
    pub(super) behind: String,
}

/// A word or a sign, with its line, counted from 0, and the byte after it there.
#[derive(Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    line: usize,
    end: usize,
}

/// What stands before an attribute's parentheses.
const ATTRIBUTES: [&str; 4] = ["__align__", "alignas", "__attribute__", "__declspec"];

/// Finds the declaration of a type with these parts in a text: fields of tuples have their places as names.
pub(super) fn find(text: &str, file: &str, name: &str, parts: &[&str]) -> Option<Declaration> {
    let is_rust = Path::new(file).extension().is_some_and(|it| it == "rs");
    let code = code_of(text, is_rust);
    let tokens = tokens(&code);
    let written = (0..tokens.len()).find_map(|at| Some((at, body(&tokens, at, name)?)));
    let (head, body) = written.or_else(|| if is_rust { in_call(&tokens, name) } else { None })?;
    let statements = statements(&tokens[body]);
    let lines: Vec<_> = text.lines().collect();
    let part = |name: &&str| {
        let (statement, at) = match name.parse::<usize>() {
            Ok(index) => (statements.get(index)?, 0),
            Err(_) => statements.iter().find_map(|it| Some((it, named(it, name)?)))?,
        };
        // In Rust attributes may be on lines before, and comments are found above them.
        let is_start = |it: &&Token<'_>| !is_rust || it.line == statement[at].line;
        let first = statement.iter().find(is_start)?;
        let last = statement.last()?;
        let is_first = tokens.iter().all(|it| it.line != first.line || it.end >= first.end);
        let behind = match is_rust {
            true => String::new(),
            false => behind(&code, &lines, last),
        };
        Some(Part { line: counted(first.line), is_first, behind })
    };
    let parts = parts.iter().map(part).collect();
    Some(Declaration { line: counted(tokens[head].line), parts })
}

fn counted(line: usize) -> u32 {
    u32::try_from(line + 1).unwrap_or(u32::MAX)
}

/// The comment on the line of a token that no code stands behind.
fn behind(code: &str, lines: &[&str], last: &Token<'_>) -> String {
    let rest = code.lines().nth(last.line).and_then(|line| line.get(last.end..));
    let text = lines.get(last.line).and_then(|line| line.get(last.end..));
    let is_code = rest.is_none_or(|rest| !rest.trim().trim_matches([',', ';']).trim().is_empty());
    let text = text.unwrap_or_default().trim_start_matches([',', ';', ' ', '\t']);
    let is_comment = text.starts_with("//") || text.starts_with("/*") && text.ends_with("*/");
    if is_code || !is_comment {
        return String::new();
    }
    text.trim_matches(['/', '*', '!', '<', ' ', '\t']).to_owned()
}

/// The tokens in the body of the type of this name, where the declaration of one begins at a token.
fn body(tokens: &[Token<'_>], start: usize, name: &str) -> Option<std::ops::Range<usize>> {
    let text = |at: usize| tokens.get(at).map(|token| token.text);
    if !["struct", "class", "union", "enum"].contains(&text(start)?) {
        return None;
    }
    let mut at = start + 1;
    loop {
        at = match text(at)? {
            "struct" | "class" => at + 1,
            it if ATTRIBUTES.contains(&it) => closing(tokens, at + 1)? + 1,
            "[" => closing(tokens, at)? + 1,
            _ => break,
        };
    }
    let is_named = text(at)? == name;
    let open = (at..tokens.len()).find(|it| matches!(tokens[*it].text, "{" | "(" | ";"))?;
    if tokens[open].text == ";" {
        return None;
    }
    let close = closing(tokens, open)?;
    // `typedef struct { .. } Name;`
    let is_alias = start > 0 && text(start - 1) == Some("typedef") && tokens[open].text == "{";
    let aliases = tokens[close + 1..].iter().take_while(|token| token.text != ";");
    let is_called = is_alias && aliases.into_iter().any(|token| token.text == name);
    (is_named || is_called).then_some(open + 1..close)
}

/// The name of a type in the call of a macro that writes it, and the tokens in the brackets behind, if any.
fn in_call(tokens: &[Token<'_>], name: &str) -> Option<(usize, std::ops::Range<usize>)> {
    let is_opening = |at: usize| matches!(tokens.get(at).map(|it| it.text), Some("{" | "(" | "["));
    let calls = (1..tokens.len()).filter(|at| tokens[*at].text == "!" && is_opening(at + 1));
    let mut inside = calls.filter_map(|at| Some(at + 2..closing(tokens, at + 1)?));
    inside.find_map(|mut call| {
        // Not as the type of something.
        let is_declared = |at: &usize| {
            tokens[*at].text == name && !matches!(tokens[at - 1].text, ":" | "&" | "<" | ">")
        };
        let at = call.find(is_declared)?;
        let body =
            if is_opening(at + 1) { at + 2..closing(tokens, at + 1)? } else { at + 1..at + 1 };
        Some((at, body))
    })
}

/// The place of the bracket that closes the one at a place.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The declarations in a body, without the signs that end them.
fn statements<'a, 't>(body: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in body.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" | "<" => depth += 1,
            "}" | ")" | "]" | ">" => depth = depth.saturating_sub(1),
            ";" | "," if depth == 0 => {
                found.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&body[start..]);
    found.retain(|statement| !statement.is_empty());
    found
}

/// The place of a name that a statement declares: the last word, or the one before a type, a value or lengths.
fn named(statement: &[Token<'_>], name: &str) -> Option<usize> {
    statement.iter().enumerate().position(|(at, token)| {
        let next = statement.get(at + 1).map(|it| it.text);
        let after = statement.get(at + 2).map(|it| it.text);
        let is_declared = match next {
            None | Some("=" | "[" | "{") => true,
            Some(":") => after != Some(":"),
            Some(_) => false,
        };
        token.text == name && is_declared
    })
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (line, text) in code.lines().enumerate() {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                first if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                first => first.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            if !first.is_whitespace() {
                found.push(Token { text: token, line, end: text.len() - after.len() });
            }
            rest = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a type, and the lines of its parts.
    fn lines(file: &str, text: &str, parts: &[&str]) -> Option<(u32, Vec<Option<u32>>)> {
        let found = find(text, file, "P", parts)?;
        let lines = found.parts.iter().map(|part| part.as_ref().map(|part| part.line));
        Some((found.line, lines.collect()))
    }

    #[test]
    fn types_of_rust_and_their_parts_are_found() {
        for (text, parts, expected) in [
            (
                "// struct P { a: u8 }\n\npub struct P<T> {\n  #[x]\n  pub a: f32,\n  b: [a::b; 2],\n}",
                ["a", "b"],
                (3, [5, 6]),
            ),
            ("struct Other { p: P }\nstruct P(f32, (u8, u8));", ["0", "1"], (2, [2, 2])),
            ("#[repr(u32)]\nenum P {\n  A,\n  B = 3,\n}", ["A", "B"], (2, [3, 4])),
        ] {
            let (line, of_parts) = expected;
            let expected = Some((line, of_parts.map(Some).to_vec()));
            assert_eq!(lines("k.rs", text, &parts), expected, "{text}");
        }
        assert_eq!(lines("k.rs", "fn f(p: P) { struct Q { a: u8 } }", &["a"]), None);
        // In calls of macros.
        let text = "pod! {\n  /// Q.\n  Q { p: P },\n  /// P.\n  P {\n    a: u8,\n  }\n}";
        assert_eq!(lines("k.rs", text, &["a"]), Some((5, vec![Some(6)])));
        assert_eq!(lines("k.rs", "pod!(P, u8);", &["a"]), Some((1, vec![None])));
        assert_eq!(lines("k.rs", "macro_rules! P { ($p:ident) => {}; }", &["a"]), None);
        assert_eq!(lines("k.cu", text, &["a"]), None);
    }

    #[test]
    fn types_of_c_and_their_parts_are_found() {
        for (text, parts, expected) in [
            (
                "struct P;\nstruct __align__(16) P : Base {\n  float a;\n  int n, b[4];\n};",
                ["a", "b"],
                (2, [3, 4]),
            ),
            ("typedef struct {\n  float a; float b;\n} P;", ["a", "b"], (1, [2, 2])),
            ("enum class P : int {\n  A = 1,\n  B\n};", ["A", "B"], (1, [2, 3])),
            (
                "/* struct P { int a; }; */\nstruct P {\n  int a{3};\n  P *b;\n};",
                ["a", "b"],
                (2, [3, 4]),
            ),
        ] {
            let (line, of_parts) = expected;
            let expected = Some((line, of_parts.map(Some).to_vec()));
            assert_eq!(lines("k.cu", text, &parts), expected, "{text}");
        }
        assert_eq!(lines("k.cu", "const char *s = \"struct P { int a; };\";", &["a"]), None);
        let text =
            "struct P {\n  int a; ///< One.\n  int b; // two\n  int c; int d; /* Three. */\n};";
        let found = find(text, "k.cu", "P", &["a", "b", "c", "d"]).unwrap();
        let parts: Vec<_> = found.parts.into_iter().flatten().collect();
        let behind: Vec<_> = parts.iter().map(|part| &*part.behind).collect();
        assert_eq!(behind, ["One.", "two", "", "Three."]);
        let is_first: Vec<_> = parts.iter().map(|part| part.is_first).collect();
        assert_eq!(is_first, [true, true, true, false]);
    }
}
