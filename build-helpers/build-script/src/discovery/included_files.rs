//! Files that a source in Rust takes in by `include!`, `include_bytes!` and `include_str!`.
//!
//! rustc waits for whoever writes to a named pipe, reads a device without end, and keeps all of a file in memory.
//! So what such a macro names is looked at before: in the text of the source, of its modules and of what `include!`
//! adds to them, under whatever condition and in whatever macro it stands. Names are literals, `concat!` and
//! `env!("CARGO_MANIFEST_DIR")`; what another name leads to is left to rustc, and to the limits of tools
//! (`KERNELMILL_TOOL_IDLE`).

use super::{
    candidate::{MOST_BYTES_OF_RUST, is_special},
    tokens::{Token, Tokens},
};
use crate::base::{
    paths,
    report::{Report, place},
};
use kernelmill_compiler::diagnostic::{Code, Diagnostic};
use std::{
    collections::{HashSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The bytes that a file may have. What kernels take from it is data of theirs, which has this limit.
const MOST_BYTES: u64 = 1 << 30;
/// The most files that are followed by `include!`.
const MOST_FILES: usize = 10_000;
/// How deep a name may be nested in `concat!`: rustc expands 128 macros within each other.
const MOST_NESTED: usize = 128;

/// A text of a source.
pub(super) struct TextFile {
    pub(super) path: PathBuf,
    /// Its name in messages.
    pub(super) display: String,
    pub(super) text: Arc<str>,
}

/// A file to look at.
enum Next {
    Read(TextFile),
    /// At this path, with its name in messages. Read when its turn comes, so that one is in memory at a time.
    Unread(PathBuf, String),
}

impl Next {
    fn read(self) -> Option<TextFile> {
        match self {
            Self::Read(file) => Some(file),
            // Where it cannot be read, rustc says so.
            Self::Unread(path, display) => {
                let text = fs::read_to_string(&path).ok()?.into();
                Some(TextFile { path, display, text })
            }
        }
    }
}

/// Reports each macro in these texts that names what is no file, or too large a one, and gives the files that the others
/// name. `package` is the folder of their `Cargo.toml`, `root` the one that names in messages start from.
pub(super) fn check(
    files: Vec<TextFile>,
    (package, root): (&Path, &Path),
    report: &mut Report,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen: HashSet<_> = files.iter().map(|file| file.path.clone()).collect();
    let mut queue: VecDeque<_> = files.into_iter().map(Next::Read).collect();
    while let Some(next) = queue.pop_front() {
        let Some(file) = next.read() else { continue };
        for inclusion in inclusions(&file.text, package) {
            let folder = file.path.parent().unwrap_or(package);
            let path = folder.join(&inclusion.name);
            let display = match path.starts_with(root) {
                true => paths::relative(root, &path),
                false => inclusion.name.clone(),
            };
            if let Some((code, message, help)) = fault(&path, &display, inclusion.is_code) {
                let end = inclusion.start + inclusion.length;
                let place = place(&file.display, &file.text, inclusion.start..end);
                report.add_text(&file.display, file.text.clone());
                report.diagnostic(Diagnostic::error(code, place, message).help(help));
                continue;
            }
            if Path::new(&inclusion.name).is_relative() && path.is_file() {
                found.push(paths::normal(&path));
            }
            if inclusion.is_code && seen.len() < MOST_FILES && seen.insert(path.clone()) {
                queue.push_back(Next::Unread(path, display));
            }
        }
    }
    found
}

/// What is wrong with a file that is taken in, and what to do.
fn fault(path: &Path, display: &str, is_code: bool) -> Option<(Code, String, &'static str)> {
    if is_special(path) {
        let message = format!("`{display}` is not a regular file");
        return Some((Code::UnreadableFile, message, "replace it by a regular file"));
    }
    let most = if is_code { MOST_BYTES_OF_RUST } else { MOST_BYTES };
    let bytes = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    let message = format!(
        "`{display}` has {bytes} bytes, more than the limit of {most} for a file that a kernel includes"
    );
    let help = "pass its content as a buffer, which the host fills";
    (bytes > most).then_some((Code::LargeSource, message, help))
}

/// A macro that takes in a file.
#[derive(Debug, PartialEq)]
struct Inclusion {
    /// The file, as it is written.
    name: String,
    /// Whether it is code in Rust.
    is_code: bool,
    /// Where the macro stands in the text, and for how many bytes.
    start: usize,
    length: usize,
}

fn inclusions(text: &str, package: &Path) -> Vec<Inclusion> {
    // Most texts have none.
    if !text.contains("include") {
        return Vec::new();
    }
    let tokens: Vec<_> = Tokens::new(text).collect();
    let is_macro = |index: &usize| {
        matches!(tokens[*index].text, "include" | "include_bytes" | "include_str")
            && tokens.get(index + 1).is_some_and(|next| next.text == "!")
    };
    let found = (0..tokens.len()).filter(is_macro).filter_map(|index| {
        let mut arguments = Arguments { tokens: tokens.get(index + 3..)?, package, nested: 0 };
        let name = arguments.text()?;
        let first = &tokens[index];
        // Up to the end of the first argument.
        let last = &tokens[tokens.len() - arguments.tokens.len() - 1];
        let length = last.start + last.text.len() - first.start;
        Some(Inclusion { name, is_code: first.text == "include", start: first.start, length })
    });
    found.collect()
}

/// What stands between the brackets of a macro, from its first argument on.
struct Arguments<'a, 't> {
    tokens: &'a [Token<'t>],
    package: &'a Path,
    /// How many macros the next argument stands in.
    nested: usize,
}

impl Arguments<'_, '_> {
    /// Takes the first argument, which is a text; `None` where it takes the compiler to know.
    fn text(&mut self) -> Option<String> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        let is_macro = rest.first().is_some_and(|next| next.text == "!");
        match first.text {
            "concat" if is_macro => {
                if self.nested == MOST_NESTED {
                    return None;
                }
                self.nested += 1;
                self.skip(2)?;
                let mut text = String::new();
                while !self.is_at_end()? {
                    text += &self.text()?;
                    if self.tokens.first()?.text == "," {
                        self.skip(1)?;
                    }
                }
                self.skip(1)?;
                self.nested -= 1;
                Some(text)
            }
            "env" if is_macro => {
                self.skip(2)?;
                let name = self.text()?;
                while !self.is_at_end()? {
                    self.skip(1)?;
                }
                self.skip(1)?;
                (name == "CARGO_MANIFEST_DIR").then(|| self.package.display().to_string())
            }
            literal => match syn::parse_str(literal).ok()? {
                syn::Lit::Str(text) => Some(text.value()),
                syn::Lit::Char(letter) => Some(letter.value().to_string()),
                syn::Lit::Int(number) => Some(number.base10_digits().to_owned()),
                _ => None,
            },
        }
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.tokens = self.tokens.get(count..)?;
        Some(())
    }

    fn is_at_end(&self) -> Option<bool> {
        Some(matches!(self.tokens.first()?.text, ")" | "]" | "}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        inclusions(text, Path::new("/app")).into_iter().map(|found| found.name).collect()
    }

    #[test]
    fn names_are_read_wherever_macros_stand() {
        let text = r##"
            #![doc = include_str!("a.md")]
            const B: &[u8] = core::include_bytes! { r#"b"#, };
            macro_rules! c { () => { include!["../c.rs"] } }
            const D: &str = include_str!(concat!("d", 1, '/', env!("CARGO_MANIFEST_DIR", "none"), "/d"));
            const E: &str = include_str!(concat!(env!("OUT_DIR"), "/e"));
            const F: &str = "include_str!(\"f\")"; // include_str!("g")
            fn include(x: u32) -> u32 { include(!x) }
            const H: &str = include_str!(h!());
            const I: &str = include_str!(concat!())"##;
        assert_eq!(names(text), ["a.md", "b", "../c.rs", "d1//app/d", ""]);
        for end in 0..text.len() {
            let _ = text.get(..end).map(names);
        }
    }

    /// rustc does not expand them either.
    #[test]
    fn names_in_many_macros_are_left_to_the_compiler() {
        let nested = |depth: usize| {
            let (open, close) = ("concat!(".repeat(depth), ")".repeat(depth));
            format!("include_str!({open}\"a\"{close}); include_str!(\"b\");")
        };
        assert_eq!(names(&nested(MOST_NESTED)), ["a", "b"]);
        assert_eq!(names(&nested(MOST_NESTED + 1)), ["b"]);
        assert_eq!(names(&nested(1_000_000)), ["b"]);
    }

    #[test]
    fn the_macro_is_marked_up_to_its_name() {
        let text = "x = include_str!(concat!(\"a\", \"b\"), );";
        let [found] = &inclusions(text, Path::new("/"))[..] else { panic!("one") };
        assert_eq!(&text[found.start..][..found.length], "include_str!(concat!(\"a\", \"b\")");
    }
}
