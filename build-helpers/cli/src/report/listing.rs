//! Code beside the source lines that it comes from: PTX by its `.loc` directives, SASS by the remarks that nvdisasm
//! writes with `--print-line-info`.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// Neighbouring instructions of one source line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// The file and line, `kernels/saxpy.rs:7`; empty before the first one.
    pub(super) place: String,
    /// The text of the line; empty where the file is not there.
    pub(super) source: String,
    /// The instructions, a line each.
    pub(super) code: String,
}

/// The source files of a package, each read once.
pub(super) struct Sources {
    root: PathBuf,
    lines: HashMap<String, Vec<String>>,
}

impl Sources {
    /// Those below a folder.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), lines: HashMap::new() }
    }

    fn line(&mut self, file: &str, line: usize) -> String {
        let root = &self.root;
        let lines = self.lines.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        line.checked_sub(1).and_then(|line| lines.get(line)).cloned().unwrap_or_default()
    }
}

/// Cuts the text of a kernel where its source line changes. `whole` is the file that it is in, with the names of files.
pub(super) fn pieces(kernel: &str, whole: &str, sources: &mut Sources) -> Vec<Piece> {
    let files = files(whole);
    let mut pieces = vec![Piece::default()];
    for line in kernel.lines() {
        let trimmed = line.trim();
        if let Some(place) = place(trimmed, &files) {
            // Line 0 is code of no line: it stays with what is before it.
            let Some((file, number)) = place else { continue };
            let place = format!("{}:{number}", shown(&file));
            if pieces.last().is_none_or(|last| last.place != place) {
                let source = sources.line(&file, number).trim().to_owned();
                pieces.push(Piece { place, source, code: String::new() });
            }
            continue;
        }
        if trimmed.is_empty() || trimmed.starts_with("$L__tmp") || trimmed.starts_with("$L__func") {
            continue;
        }
        if let Some(last) = pieces.last_mut() {
            last.code += line.trim_end();
            last.code.push('\n');
        }
    }
    pieces.retain(|piece| !piece.code.is_empty());
    pieces
}

/// The name of a file for people: rustc's library without the folder that rustc is in.
fn shown(file: &str) -> &str {
    file.split_once("/rustlib/src/rust/library/").map_or(file, |(_, name)| name)
}

/// The files of PTX by number: `.file 1 "kernels/saxpy.rs"`, with a folder before the name in some versions.
fn files(ptx: &str) -> HashMap<&str, String> {
    let file = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start().strip_prefix(".file")?;
        Some((line.len() - rest.len(), line.len()))
    };
    let lines =
        ptx.lines().filter_map(|line| file(line).map(|(start, end)| line[start..end].trim()));
    lines
        .filter_map(|rest| {
            let (number, names) = rest.split_once(char::is_whitespace)?;
            let names: Vec<_> = names.split('"').skip(1).step_by(2).collect();
            let name = match names[..] {
                [folder, name] if folder != "." && !name.starts_with('/') => {
                    format!("{folder}/{name}")
                }
                [.., name] => name.to_owned(),
                [] => return None,
            };
            Some((number, name))
        })
        .collect()
}

/// What a line says of the place of those after it: `None` if nothing, `Some(None)` if code of no line follows.
fn place(line: &str, files: &HashMap<&str, String>) -> Option<Option<(String, usize)>> {
    let of_file = |file: &str, number: &str| {
        let number = number.parse().ok().filter(|number| *number > 0)?;
        Some((file.to_owned(), number))
    };
    if let Some(rest) = line.strip_prefix(".loc") {
        let mut words = rest.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let (file, number) = (words.next()?, words.next()?);
        return Some(files.get(file).and_then(|file| of_file(file, number)));
    }
    let rest = line.strip_prefix("//## File \"")?;
    let (file, rest) = rest.split_once('"')?;
    let number = rest.trim_start_matches(", line ").split([' ', ',']).next()?;
    Some(of_file(file, number))
}

#[cfg(test)]
mod tests {
    use super::{Piece, Sources, pieces};
    use std::{fs, path::Path};

    fn texts(pieces: &[Piece]) -> Vec<(&str, &str, &str)> {
        pieces.iter().map(|it| (&*it.place, &*it.source, &*it.code)).collect()
    }

    #[test]
    fn ptx_stands_beside_its_source_lines() {
        let folder = test_support::temporary_folder();
        fs::create_dir(folder.path().join("kernels")).unwrap();
        fs::write(folder.path().join("kernels/a.rs"), "fn a() {\n    one();\n}\n").unwrap();
        let kernel = ".entry a()\n{\n\t.loc\t1 2 5\n$L__tmp0:\n\tadd.u32 %r1, %r1, 1;\n\t.loc\t1 0 5\n\tret;\n\
                      \t.loc 2 9 1, function_name $L__info_string0, inlined_at 1 2 5\n\ttrap;\n}\n";
        let whole = format!(
            "{kernel}\t.file\t1 \"kernels/a.rs\"\n\t.file\t2 \"/r/rustlib/src/rust/library/core/src\" \"panic.rs\"\n"
        );
        let mut sources = Sources::new(folder.path());
        let found = pieces(kernel, &whole, &mut sources);
        let expected = [
            ("", "", ".entry a()\n{\n"),
            ("kernels/a.rs:2", "one();", "\tadd.u32 %r1, %r1, 1;\n\tret;\n"),
            ("core/src/panic.rs:9", "", "\ttrap;\n}\n"),
        ];
        assert_eq!(texts(&found), expected);
    }

    #[test]
    fn sass_stands_beside_its_source_lines() {
        let sass = ".text.a:\n\t//## File \"kernels/a.rs\", line 7\n        /*0000*/  EXIT ;\n\
                    \t//## File \"kernels/b.rs\", line 3 inlined at \"kernels/a.rs\", line 8\n  /*0010*/  NOP ;\n";
        let found = pieces(sass, sass, &mut Sources::new(Path::new("/nonexistent")));
        let expected = [
            ("", "", ".text.a:\n"),
            ("kernels/a.rs:7", "", "        /*0000*/  EXIT ;\n"),
            ("kernels/b.rs:3", "", "  /*0010*/  NOP ;\n"),
        ];
        assert_eq!(texts(&found), expected);
    }
}
