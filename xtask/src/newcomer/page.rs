//! Pages of documentation as texts and code blocks, in order.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The last command of cargo that the text before a block names, `cargo run`.
    Command(String),
    Block(Block),
}

/// A code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) language: String,
    pub(super) text: String,
    /// The line of the page that it starts at.
    pub(super) line: usize,
}

impl Block {
    /// The file that its first line names, and the rest: `// src/main.rs`, `# Cargo.toml`.
    pub(super) fn file(&self) -> Option<(&str, &str)> {
        let (first, rest) = self.text.split_once('\n')?;
        let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?;
        (name.contains('.') && !name.contains(' ')).then_some((name, rest))
    }
}

/// The parts of a page in Markdown.
pub(super) fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut prose = String::new();
    let mut open: Option<Block> = None;
    for (line, number) in page.lines().zip(1..) {
        let fence = line.strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(language)) => {
                parts.extend(command(&prose).map(Part::Command));
                prose.clear();
                let language = language.to_owned();
                open = Some(Block { language, text: String::new(), line: number });
            }
            (Some(_), Some(_)) => parts.extend(open.take().map(Part::Block)),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {
                prose.push_str(line);
                prose.push(' ');
            }
        }
    }
    parts
}

/// The last command of cargo in backquotes.
fn command(prose: &str) -> Option<String> {
    let quoted = prose.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("cargo ")).last().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_lines_files_and_the_command_before_them() {
        let page = "# A\n\nFirst `cargo a`, then `cargo b`\nprints `x`:\n\n```text\n1\n```\n\n```rust\n// src/main.rs\nfn main() {}\n```\n";
        let block = |language: &str, text: &str, line| Block {
            language: language.to_owned(),
            text: text.to_owned(),
            line,
        };
        let main = block("rust", "// src/main.rs\nfn main() {}\n", 10);
        assert_eq!(main.file(), Some(("src/main.rs", "fn main() {}\n")));
        let output = block("text", "1\n", 6);
        assert_eq!(output.file(), None);
        let expected =
            [Part::Command("cargo b".to_owned()), Part::Block(output), Part::Block(main)];
        assert_eq!(parts(page), expected);
    }
}
