//! The code blocks of explanations.

use kernelmill_build::Code;

/// A code block of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What is behind its fence, without `,ignore`.
    pub language: String,
    /// Its lines.
    pub text: String,
}

/// The blocks of an explanation but for messages: those in `text`, which is PTX where it has an entry.
///
/// # Panics
///
/// Where a fence has no end.
#[must_use]
pub fn blocks(code: Code) -> Vec<Block> {
    let mut parts = code.explanation().split("```").skip(1);
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        parts.next().expect("each fence has an end");
        let (language, text) = block.split_once('\n').expect("a fence is a line");
        let language = language.trim_end_matches(",ignore");
        if language != "text" || text.contains(".entry") {
            blocks.push(Block { language: language.to_owned(), text: text.to_owned() });
        }
    }
    blocks
}

impl Block {
    /// The files that it has, each with its text; none of commands.
    ///
    /// # Panics
    ///
    /// Where its language has no place.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let place = match &*self.language {
            "sh" => return Vec::new(),
            "toml" => "Cargo.toml",
            "rust" => "kernels/example.rs",
            "cpp" => "kernels/example.cu",
            "llvm" => "kernels/example.ll",
            "wgsl" => "kernels/example.wgsl",
            "text" => "kernels/example.ptx",
            other => panic!("a block in `{other}` has no place"),
        };
        let mut files: Vec<(String, String)> = Vec::new();
        for line in self.text.lines() {
            if let Some(name) = file_name(line) {
                files.push((name.to_owned(), String::new()));
            } else {
                if files.is_empty() {
                    files.push((place.to_owned(), String::new()));
                }
                files.last_mut().expect("there is one").1 += &format!("{line}\n");
            }
        }
        files
    }
}

/// The file that a comment of its own line names.
fn file_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?;
    let is_file = [".rs", ".toml", ".cu"].iter().any(|ending| name.ends_with(ending));
    (is_file && !name.contains(' ')).then_some(name)
}

/// The codes in what a build says, each once, by number.
#[must_use]
pub fn codes(said: &str) -> Vec<Code> {
    let words = said.split('[').skip(1).filter_map(|part| part.split_once(']'));
    let names = words.map(|(name, _)| name).filter(|name| name.starts_with("KM"));
    let mut found: Vec<Code> = names.filter_map(|name| name.parse().ok()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_files_that_it_names_and_else_one_of_its_language() {
        let block = |language: &str, text: &str| {
            Block { language: language.to_owned(), text: text.to_owned() }.files()
        };
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(block("sh", "cargo build\n"), []);
        assert_eq!(
            block("rust", "// a comment of code.\nfn f() {}\n"),
            [file("kernels/example.rs", "// a comment of code.\nfn f() {}\n")]
        );
        assert_eq!(
            block("toml", "# Cargo.toml\n[a]\n\n# kernelmill.toml\nb = 1\n"),
            [file("Cargo.toml", "[a]\n\n"), file("kernelmill.toml", "b = 1\n")]
        );
    }

    #[test]
    fn codes_are_those_of_errors_and_findings() {
        let said = "error[KM0100]: x[0]\n  [KM0102] calls\nerror[E0308]: y\n  [KM0102] calls";
        assert_eq!(codes(said), [Code::Unsupported, Code::OperatingSystem]);
    }
}
