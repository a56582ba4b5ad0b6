//! Code blocks of pages that tests take: those whose first line is a comment with the file that they are, and those with
//! a test. Documentation tests take every block in Rust that is not ignored.

/// What takes the blocks of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taker {
    /// A test, which finds them by their first lines.
    Test,
    /// rustdoc.
    Documentation,
}

/// A code block.
struct Block<'page> {
    /// What stands behind the three backticks.
    language: &'page str,
    /// The first line of the code.
    first: &'page str,
}

/// Whether a section of a page, with those below it, has a block that is taken.
pub(super) fn has_section_taken(page: &str, heading: &str, taker: Taker) -> bool {
    let mut level_inside = None;
    let mut is_in_code = false;
    let mut section = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_in_code = !is_in_code;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if !is_in_code && level > 0 && line[level..].starts_with(' ') {
            if level_inside.is_some_and(|inside| level <= inside) {
                break;
            }
            if level_inside.is_none() && anchor(&line[level..]) == heading {
                level_inside = Some(level);
            }
        }
        if level_inside.is_some() {
            section.push_str(line);
            section.push('\n');
        }
    }
    blocks(&section).iter().any(|block| is_taken(block, taker))
}

/// Whether a page has code of a program: what a shell does and prints is no such code.
pub(super) fn has_code(page: &str) -> bool {
    blocks(page).iter().any(|block| !["", "text", "sh"].contains(&block.language))
}

/// The anchor that mdBook makes of a heading.
pub(super) fn anchor(heading: &str) -> String {
    let characters = heading.trim().chars().filter_map(|character| match character {
        _ if character.is_alphanumeric() || matches!(character, '_' | '-') => Some(character),
        _ if character.is_whitespace() => Some('-'),
        _ => None,
    });
    characters.collect::<String>().to_lowercase()
}

fn is_taken(block: &Block<'_>, taker: Taker) -> bool {
    match taker {
        Taker::Documentation => ["rust", "rust,no_run"].contains(&block.language),
        // What documentation tests ignore too: they read such a page beside the test.
        Taker::Test => {
            let named = ["// ", "# "].iter().find_map(|start| block.first.strip_prefix(start));
            let is_file = |name: &str| {
                let (stem, kind) = name.rsplit_once('.').unwrap_or_default();
                let is_kind = !kind.is_empty() && kind.bytes().all(|it| it.is_ascii_alphanumeric());
                is_kind && !stem.is_empty() && !stem.contains(' ')
            };
            named.is_some_and(is_file) || ["#[test]", "#[cfg(test)]"].contains(&block.first)
        }
    }
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let first = lines.next().unwrap_or_default();
        blocks.push(Block { language, first });
        if !first.starts_with("```") {
            let _ = lines.find(|line| line.starts_with("```"));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{Taker, has_code, has_section_taken};

    const PAGE: &str = "# Page\n\n## Named\n\n```rust\n// kernels/a.rs\n# no heading\n```\n\n\
                        ## A `sketch`\n\n```rust,ignore\n// ..\n```\n\n```rust\nlet x = 1;\n```\n\n\
                        ## Parts\n\n### One\n\n```rust\n#[test]\nfn a() {}\n```\n\n## End\n\n```text\na.rs\n```\n";

    #[test]
    fn a_section_has_the_blocks_of_its_parts_and_of_no_other() {
        let taken = |heading| has_section_taken(PAGE, heading, Taker::Test);
        for heading in ["page", "named", "parts", "one"] {
            assert!(taken(heading), "{heading}");
        }
        for heading in ["a-sketch", "end", "nowhere", "no-heading"] {
            assert!(!taken(heading), "{heading}");
        }
        assert!(has_section_taken(PAGE, "a-sketch", Taker::Documentation));
    }

    #[test]
    fn what_a_shell_does_is_no_code_of_a_program() {
        assert!(has_code(PAGE));
        assert!(!has_code("```sh\ncargo run\n```\n```text\n5\n```\n```\n5\n```\n"));
    }
}
