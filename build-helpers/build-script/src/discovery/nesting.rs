//! Nesting of sources in Rust: how deep it may be, and a stack that parsing fits on.
//!
//! syn's parser is recursive, and takes up to 20 KB of stack for a block in a build script, which Cargo compiles
//! without optimisation. Sources within the limits fit on the stack here, whatever their nesting is made of;
//! others are refused before they are parsed. The limits are those of a text, so that no parser is needed to
//! check them.

use super::tokens::{Token, Tokens};
use crate::base::stack::with_stack;
use std::io;

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
    with_stack(STACK, work)
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
            let expected = "error[KM0025]: `kernels/deep.rs` is nested too deeply to be read, at line 3\n  help: ";
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
