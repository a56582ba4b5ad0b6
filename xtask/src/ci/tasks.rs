//! The twenty tasks of the book: each row of `docs/src/tasks.md` leads to a heading whose example is run by the tests.
//!
//! That files, headings and tests exist is checked with all others of the documentation ([`super::book`]). Here each row
//! has to have them, and what it names has to run the page: the file of a test mentions the page, or a source of
//! the workspace includes it as documentation, and the section has a block of the kind that is taken ([`super::blocks`]).
//! The page is in the table of contents.

use super::{
    blocks::{self, Taker},
    named_tests,
};
use crate::workspace::Workspace;
use std::fs;

/// The page.
pub(super) const PAGE: &str = "docs/src/tasks.md";

/// The table of contents.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// How many there are.
const COUNT: usize = 20;

/// What is wrong with the page, each with its line.
pub(super) fn faults(workspace: &Workspace, page: &str) -> Vec<String> {
    let read = |file: &str| fs::read_to_string(workspace.root.join(file)).ok();
    let rows = page.lines().zip(1..).filter(|(line, _)| line.starts_with('|')).skip(2);
    let mut count = 0;
    let mut faults = Vec::new();
    for (row, line) in rows {
        count += 1;
        let why = fault(row, &read);
        faults.extend(why.map(|why| format!("{PAGE}:{line}: {why}")));
    }
    if count != COUNT {
        faults.push(format!("{PAGE}: it has {count} tasks, not {COUNT}"));
    }
    faults
}

/// What is wrong with a row. `read` gives the text of a file of the workspace.
fn fault(row: &str, read: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [task, sentence, section, run] = &*cells else {
        return Some(format!("a task has {} columns, not 4", cells.len()));
    };
    if task.is_empty() || !sentence.ends_with('.') {
        return Some(format!("`{task}` has no sentence with a full stop"));
    }
    let target = section.split_once("](").and_then(|(_, rest)| rest.strip_suffix(')'));
    let Some((page, heading)) = target.and_then(|target| target.split_once(".md#")) else {
        return Some(format!("`{task}` leads to no heading of a page"));
    };
    let Some(code) = run.split('`').nth(1) else {
        return Some(format!("`{task}` names nothing that runs its example"));
    };
    let (file, expected, taker) = match named_tests::parse(code) {
        // Tests list the pages of the guide by their names.
        Some((file, _)) => {
            let name = page.rsplit('/').next().unwrap_or(page);
            (file, [format!("\"{name}\""), format!("{page}.md\"")], Taker::Test)
        }
        None => {
            let include = format!("include_str!(\"../docs/src/{page}.md\")");
            (code, [include, String::from("\0")], Taker::Documentation)
        }
    };
    let Some(text) = read(file) else { return Some(format!("there is no `{file}`")) };
    if !expected.iter().any(|words| text.contains(words)) {
        return Some(format!("`{file}` does not run `{page}.md`"));
    }
    if !read(SUMMARY).is_some_and(|contents| contents.contains(&format!("]({page}.md)"))) {
        return Some(format!("`{page}.md` is not in {SUMMARY}"));
    }
    let text = read(&format!("docs/src/{page}.md")).unwrap_or_default();
    (!blocks::has_section_taken(&text, heading, taker))
        .then(|| format!("`{page}.md#{heading}` has no code block that is run"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn a_row_leads_to_a_heading_whose_page_is_run() {
        let read = |file: &str| match file {
            "tests/book.rs" => {
                Some("[\"kernels\", \"warps\", \"lost\"] blocks(\"tutorial.md\")".to_owned())
            }
            "src/event.rs" => Some("include_str!(\"../docs/src/guide/asynchrony.md\")".to_owned()),
            "docs/src/SUMMARY.md" => {
                Some("[A](guide/kernels.md) [B](tutorial.md) [C](guide/asynchrony.md)".to_owned())
            }
            "docs/src/guide/asynchrony.md" => Some("# A\n```rust\nlet a = 1;\n```\n".to_owned()),
            _ if file.starts_with("docs/src/") => {
                Some("# A\n```rust\n#[test]\nfn a() {}\n```\n# B\nText.\n".to_owned())
            }
            _ => None,
        };
        let why = |row: &str| fault(row, &read);
        let test = "`tests/book.rs::runs`";
        for (section, run) in [
            ("[A](guide/kernels.md#a)", test),
            ("[A](tutorial.md#a)", test),
            ("[A](guide/asynchrony.md#a)", "documentation tests of `src/event.rs`"),
        ] {
            assert_eq!(why(&format!("| Do it | So. | {section} | {run} |")), None);
        }
        for (row, expected) in [
            ("| Do it | So. | [A](guide/kernels.md#a) |", "a task has 3 columns, not 4"),
            ("| Do it | So | [A](a.md#a) | `b` |", "`Do it` has no sentence with a full stop"),
            ("| Do it | So. | [A](a.md) | `b` |", "`Do it` leads to no heading of a page"),
            ("| Do it | So. | [A](a.md#a) | b |", "`Do it` names nothing that runs its example"),
            ("| Do it | So. | [A](a.md#a) | `b.rs` |", "there is no `b.rs`"),
            (
                "| Do it | So. | [A](guide/half.md#a) | `tests/book.rs::runs` |",
                "`tests/book.rs` does not run `guide/half.md`",
            ),
            (
                "| Do it | So. | [A](guide/half.md#a) | `src/event.rs` |",
                "`src/event.rs` does not run `guide/half.md`",
            ),
            (
                "| Do it | So. | [A](guide/lost.md#a) | `tests/book.rs::runs` |",
                "`guide/lost.md` is not in docs/src/SUMMARY.md",
            ),
            (
                "| Do it | So. | [A](guide/kernels.md#b) | `tests/book.rs::runs` |",
                "`guide/kernels.md#b` has no code block that is run",
            ),
        ] {
            assert_eq!(why(row).as_deref(), Some(expected), "{row}");
        }
    }
}
