//! The comments above kernels and types in their sources, which become the documentation of their wrappers.
//!
//! They are read from the text above the line that a signature names, in whatever language it is, or above the [declaration](declarations)
//! of a type: compiled code has nothing of them. In Rust they are doc comments. In other languages they are the comment that ends on the line before the function,
//! unless it is about the file: one that names a licence, or has no word.

use super::declarations::{self, Declaration, Part};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The files of a package's kernels, by lines, as far as they were looked at.
pub(super) struct Comments {
    root: PathBuf,
    files: BTreeMap<String, Vec<String>>,
}

/// What a source says of a type.
#[derive(Debug, Default)]
pub(crate) struct Documentation {
    /// In Markdown, as all of it; empty where that is nothing.
    pub(super) whole: String,
    /// Of each field or enumerator.
    pub(super) parts: Vec<String>,
}

impl Documentation {
    /// What it says of the part at a place.
    pub(super) fn part(&self, index: usize) -> &str {
        self.parts.get(index).map_or("", String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.parts.iter().all(String::is_empty)
    }
}

/// The lines that the head of a function may have above the one with its name.
const LONGEST_HEAD: usize = 40;

/// What begins a line of a function's head that is above the line with its name, in other languages than Rust.
const HEADS: [&str; 12] = [
    "template",
    "extern",
    "__global__",
    "__launch_bounds__",
    "__attribute__",
    "__kernel",
    "kernel",
    "static",
    "inline",
    "void",
    "[[",
    "@",
];

/// Words of comments that are about a file.
const OF_FILES: [&str; 3] = ["Copyright", "SPDX-", "License"];

impl Comments {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: BTreeMap::new() }
    }

    /// The lines of a file.
    pub(super) fn lines(&mut self, file: &str) -> &[String] {
        self.files.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(self.root.join(file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        })
    }

    /// What a file says of a type and of its parts; `None` where the type is not declared there.
    pub(super) fn of_type(
        &mut self,
        file: &str,
        name: &str,
        parts: &[&str],
    ) -> Option<Documentation> {
        let text = self.lines(file).join("\n");
        let Declaration { line, parts } = declarations::find(&text, file, name, parts)?;
        let whole = self.above(file, line);
        let part = |part: Option<Part>| {
            let Some(Part { line, is_first, behind }) = part else { return String::new() };
            let above = if is_first { self.above(file, line) } else { String::new() };
            if above.is_empty() { plain(&behind) } else { above }
        };
        Some(Documentation { whole, parts: parts.into_iter().map(part).collect() })
    }

    /// The comment above a line of a file, counted from 1, as Markdown; empty where there is none.
    pub(super) fn above(&mut self, file: &str, line: u32) -> String {
        let lines = self.lines(file);
        let Some(above) =
            usize::try_from(line).ok().and_then(|line| lines.get(..line.checked_sub(1)?))
        else {
            return String::new();
        };
        let is_rust = Path::new(file).extension().is_some_and(|it| it == "rs");
        let comment = if is_rust { of_rust(above) } else { of_c(above) };
        markdown(&comment, is_rust)
    }
}

/// The lines of the doc comment of an item in Rust. Attributes may be among them.
fn of_rust(above: &[String]) -> Vec<String> {
    let mut comment = Vec::new();
    let mut rest = above;
    while let Some((line, before)) = rest.split_last() {
        let line = line.trim();
        if line.starts_with("///") && !line.starts_with("////") {
            comment.push(line[3..].to_owned());
            rest = before;
        } else if line.ends_with("*/") {
            let Some((block, before)) = block(rest).filter(|(block, _)| block.starts_with("/**"))
            else {
                break;
            };
            comment.extend(inside(&block).into_iter().rev());
            rest = before;
        } else if line.starts_with("//") && !line.starts_with("//!") {
            rest = before;
        } else if let Some(before) = before_attribute(rest) {
            rest = before;
        } else {
            break;
        }
    }
    comment.reverse();
    comment
}

/// The lines before an attribute that ends on the last line.
fn before_attribute(lines: &[String]) -> Option<&[String]> {
    let mut open = 0;
    for (index, line) in lines.iter().enumerate().rev().take(LONGEST_HEAD) {
        let count = |signs: [char; 2]| line.matches(signs).count();
        open += count([']', ')']);
        let opened = count(['[', '(']);
        if opened > open || (open == 0 && opened == 0) {
            return None;
        }
        open -= opened;
        if open == 0 {
            return line.trim_start().starts_with("#[").then(|| &lines[..index]);
        }
    }
    None
}

/// The lines of the comment above a function in C, C++, OpenCL C or WGSL.
fn of_c(above: &[String]) -> Vec<String> {
    let mut rest = above;
    for _ in 0..LONGEST_HEAD {
        match rest.split_last() {
            Some((line, before)) if is_of_head(line.trim()) => rest = before,
            _ => break,
        }
    }
    let Some(last) = rest.last().map(|line| line.trim()) else { return Vec::new() };
    let comment = if last.ends_with("*/") {
        block(rest).map(|(block, _)| inside(&block)).unwrap_or_default()
    } else {
        let lines = rest.iter().rev().map(|line| line.trim());
        let mut lines: Vec<_> = lines.take_while(|line| line.starts_with("//")).collect();
        lines.reverse();
        lines.into_iter().map(|line| line.trim_start_matches(['/', '!', '<']).to_owned()).collect()
    };
    let has_words = comment.iter().any(|line| line.chars().any(char::is_alphanumeric));
    let is_of_file = comment.iter().any(|line| OF_FILES.iter().any(|word| line.contains(word)));
    if has_words && !is_of_file { comment } else { Vec::new() }
}

/// Whether a line is a part of a function's head: it begins like one, and ends neither a statement nor a block.
fn is_of_head(line: &str) -> bool {
    HEADS.iter().any(|head| line.starts_with(head)) && !line.ends_with([';', '}', '{'])
}

/// The block comment that ends on the last line, as text that begins with it, and the lines before.
fn block(lines: &[String]) -> Option<(String, &[String])> {
    let start = lines.iter().rposition(|line| line.trim_start().starts_with("/*"))?;
    let text = lines[start..].join("\n");
    // One that ended before is another one.
    let text = text.trim().to_owned();
    (text.matches("*/").count() == 1).then(|| (text, &lines[..start]))
}

/// The lines in a block comment, without what is drawn around them.
fn inside(block: &str) -> Vec<String> {
    let inner = block.trim_start_matches(['/', '*', '!']).trim_end_matches(['/', '*']);
    let is_drawn = inner.lines().skip(1).all(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with('*')
    });
    let line = |(index, line): (usize, &str)| match line.trim_start().strip_prefix('*') {
        Some(rest) if is_drawn && index > 0 => rest.to_owned(),
        _ => line.to_owned(),
    };
    inner.lines().enumerate().map(line).collect()
}

/// A comment as Markdown whose examples rustdoc does not run: they are code of the device.
fn markdown(comment: &[String], is_markdown: bool) -> String {
    let indent = comment.iter().filter(|line| !line.trim().is_empty());
    let indent = indent.map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let mut text = String::new();
    let mut in_fence = false;
    for line in comment {
        let line = line.get(indent..).unwrap_or_default().trim_end();
        let fence = line.trim_start().strip_prefix("```");
        if let Some(language) = fence {
            in_fence = !in_fence;
            let language = if in_fence { not_run(language) } else { "" };
            text += &format!("```{language}\n");
            continue;
        }
        if in_fence {
            text += line;
        } else {
            // Four spaces would be a block of code.
            let spaces = (line.len() - line.trim_start().len()).min(3);
            text.extend(std::iter::repeat_n(' ', spaces));
            text +=
                &if is_markdown { line.trim_start().to_owned() } else { plain(line.trim_start()) };
        }
        text.push('\n');
    }
    if in_fence {
        text += "```\n";
    }
    text.trim_matches('\n').to_owned()
}

/// The language of a block of code, which rustdoc does not take for a test.
fn not_run(language: &str) -> &str {
    const OF_TESTS: [&str; 6] =
        ["rust", "ignore", "no_run", "should_panic", "compile_fail", "standalone"];
    let words = language.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
    let mut words = words.peekable();
    if words.peek().is_none() {
        return "text";
    }
    let is_test = |word: &str| OF_TESTS.contains(&word) || word.starts_with("edition");
    if words.all(is_test) { "rust,ignore" } else { language }
}

/// A line of a comment that is no Markdown: Doxygen's commands are left out, and signs stand for themselves.
fn plain(line: &str) -> String {
    let command = |name: &str| {
        ["@", "\\"].iter().find_map(|sign| line.strip_prefix(sign)?.strip_prefix(name))
    };
    let line = match (command("brief "), command("param ")) {
        (Some(rest), _) => rest.to_owned(),
        (None, Some(rest)) => match rest.trim_start().split_once(' ') {
            Some((name, what)) => format!("- `{name}`: {}", what.trim_start()),
            None => format!("- `{rest}`"),
        },
        (None, None) => line.to_owned(),
    };
    let mut text = String::with_capacity(line.len());
    let mut in_code = false;
    for letter in line.chars() {
        in_code ^= letter == '`';
        if !in_code && matches!(letter, '*' | '_' | '[' | ']' | '<' | '>' | '\\' | '#' | '|') {
            text.push('\\');
        }
        text.push(letter);
    }
    // A list's dash stays one.
    text
}

/// What rustdoc says of comments that were written for another module.
pub(super) const LINKS: &str = "    #[allow(
        clippy::doc_lazy_continuation,
        clippy::doc_link_code,
        clippy::doc_markdown,
        clippy::doc_overindented_list_items,
        clippy::too_long_first_doc_paragraph,
        rustdoc::bare_urls,
        rustdoc::broken_intra_doc_links,
        rustdoc::invalid_html_tags,
        rustdoc::private_intra_doc_links,
        reason = \"as the kernel's source has it\"
    )]
";

/// Lines of documentation of an item in an `impl`.
pub(super) fn commented(text: &str) -> String {
    let comment = |line: &str| match line {
        "" => "    ///\n".to_owned(),
        line => format!("    /// {line}\n"),
    };
    text.lines().map(comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(file: &str, text: &str) -> String {
        let folder = test_support::temporary_folder();
        fs::write(folder.path().join(file), text).unwrap();
        let line = text.lines().position(|line| line.contains("k(")).unwrap() + 1;
        Comments::new(folder.path()).above(file, u32::try_from(line).unwrap())
    }

    #[test]
    fn doc_comments_of_rust_are_taken_with_attributes_among_them() {
        for (text, expected) in [
            ("/// One.\n#[kernel]\nfn k() {}", "One."),
            (
                "fn a() {}\n/// One.\n///\n/// Two, `x`.\n#[kernel(dim = 2,\n  width = w)]\n/// Three.\nfn k() {}",
                "One.\n\nTwo, `x`.\nThree.",
            ),
            ("/** One.\n * Two.\n */\n#[kernel] pub fn k() {}", "One.\nTwo."),
            ("/// One.\n// Not for readers.\n#[kernel]\nfn k() {}", "One."),
            ("/// Of another one.\n\n#[kernel]\nfn k() {}", ""),
            ("//! Of the file.\n#[kernel]\nfn k() {}", ""),
            ("// Plain.\n#[kernel]\nfn k() {}", ""),
            ("/// Of x.\nconst X: [u8; 2] = [1, 2];\n#[kernel]\nfn k() {}", ""),
            ("#[kernel] fn k() {}", ""),
        ] {
            assert_eq!(above("k.rs", text), expected, "{text}");
        }
    }

    #[test]
    fn comments_of_other_languages_end_on_the_line_before() {
        for (text, expected) in [
            ("// One,\n// and more.\n__global__ void k(int n) {}", "One,\nand more."),
            ("/* One. */\ntemplate <class T>\n__global__ void\nk(T n) {}", "One."),
            (
                "/**\n * @brief One.\n * @param n the a[i] * b_c\n */\nextern \"C\" __global__ void k(int n) {}",
                "One.\n- `n`: the a\\[i\\] \\* b\\_c",
            ),
            ("//! One.\n__kernel\nvoid k(int n) {}", "One."),
            ("// One.\n@compute @workgroup_size(64)\nfn k() {}", "One."),
            ("// One.\n\n__global__ void k(int n) {}", ""),
            ("// Copyright 2020 somebody\n__global__ void k(int n) {}", ""),
            ("// ----------\n__global__ void k(int n) {}", ""),
            ("int a; /* Of a. */ int b; /* Of b. */\n__global__ void k(int n) {}", ""),
            ("#define N 3\n__global__ void k(int n) {}", ""),
            ("__global__ void k(int n) {}", ""),
        ] {
            assert_eq!(above("k.cu", text), expected, "{text}");
        }
    }

    #[test]
    fn rustdoc_runs_nothing_of_a_comment() {
        let text = "/// One.\n///\n/// ```\n/// k();\n/// ```\n///\n/// ```no_run, edition2024\n///     k();\n/// ```\n///\n/// ```cpp\n/// k<<<1, 2>>>();\n/// ```\n///\n///     k();\n#[kernel]\nfn k() {}";
        let expected = "One.\n\n```text\nk();\n```\n\n```rust,ignore\n    k();\n```\n\n```cpp\nk<<<1, 2>>>();\n```\n\n   k();";
        // The call in the comment is not the kernel.
        let text = text.replace("k();", "launch();").replace("k<<<", "launch<<<");
        assert_eq!(
            above("k.rs", &text),
            expected.replace("k();", "launch();").replace("k<<<", "launch<<<")
        );
        assert_eq!(
            above("k.cu", "// ```\n//     One <b>.\n__global__ void k(int n) {}"),
            "```text\n    One <b>.\n```"
        );
    }
}
