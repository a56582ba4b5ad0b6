//! The kernels of a build, in the form in which two builds are compared: resources, lowering strategy, and the text of
//! PTX or SASS without what differs between two builds of the same code.

use crate::{
    assembly,
    package::Built,
    report::{self, Usage},
};
use anyhow::Result;
use kernelmill_build::{
    dump::kernel_of,
    manifest::{BinaryKind, CompiledKernel},
};
use std::collections::{BTreeMap, HashMap};

/// A kernel in one binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// PTX or SASS without what only says where it comes from; `None` for binaries that are not printed.
    pub(super) text: Option<String>,
    /// The digest of all that the binary depends on.
    pub(super) fingerprint: String,
    /// What it takes.
    pub(super) usage: Usage,
    /// Its lowering strategy on the CPU.
    pub(super) strategy: Option<String>,
}

/// The kernels of a build, by target and name.
pub(super) type Kernels = BTreeMap<(String, String), Code>;

/// Reads the kernels of a build, of one target or of all.
pub(super) fn kernels(built: &Built, target: Option<&str>) -> Result<Kernels> {
    let mut found = Kernels::new();
    let is_wanted = |it: &str| target.is_none_or(|target| target == it);
    for binary in built.manifest.binaries.iter().filter(|binary| is_wanted(&binary.target)) {
        let text = match assembly::is_printable(binary) {
            true => Some(assembly::text(binary.kind, &built.path(&binary.file))?),
            false => None,
        };
        for kernel in &binary.kernels {
            let text = text.as_ref().map(|text| kernel_of(text, &kernel.entry).unwrap_or_default());
            let sass = text.filter(|_| binary.kind == BinaryKind::Cubin).unwrap_or_default();
            let code = Code {
                text: text.map(bare),
                fingerprint: binary.fingerprint.clone(),
                usage: report::usage(binary, kernel, sass),
                strategy: strategy(kernel),
            };
            found.insert((binary.target.clone(), report::name(built, kernel)), code);
        }
    }
    Ok(found)
}

fn strategy(kernel: &CompiledKernel) -> Option<String> {
    kernel.strategy.as_ref().map(ToString::to_string)
}

/// Code without source lines, comments, and numbers that an edit elsewhere in the file changes: those of labels, and
/// the hashes in names of Rust.
fn bare(text: &str) -> String {
    let mut labels = Labels::default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let is_debug =
        |line: &str| [".loc", "$L__tmp", "$L__func"].iter().any(|it| line.starts_with(it));
    let is_code = |line: &&str| !line.is_empty() && !is_debug(line.trim_start());
    let bare: Vec<_> = lines.filter(is_code).map(|line| labels.renamed(line)).collect();
    bare.join("\n") + "\n"
}

/// Names of labels and symbols, numbered in the order in which a kernel has them.
#[derive(Default)]
struct Labels {
    numbers: HashMap<String, usize>,
}

impl Labels {
    /// A line with the names in it replaced.
    fn renamed(&mut self, line: &str) -> String {
        let mut renamed = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(start) = rest.find(|it: char| is_name(it) && !it.is_ascii_digit()) {
            renamed.push_str(&rest[..start]);
            let end =
                rest[start..].find(|it: char| !is_name(it)).map_or(rest.len(), |end| start + end);
            let word = &rest[start..end];
            match prefix(word) {
                Some(prefix) => renamed += &format!("{prefix}{}", self.number(word)),
                None => renamed.push_str(&without_hash(word)),
            }
            rest = &rest[end..];
        }
        renamed + rest
    }

    fn number(&mut self, word: &str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(word.to_owned()).or_insert(next)
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '.' | '%')
}

/// What a label begins with, in PTX (`$L__BB3_7`) and in SASS (`.L_x_12`).
fn prefix(word: &str) -> Option<&'static str> {
    ["$L__BB", ".L_x_"].into_iter().find(|prefix| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|it| it.chars().all(|it| it.is_ascii_digit() || it == '_'))
    })
}

/// A name of Rust without the hash of its crate's version, which an edit of a dependency changes: `17h0123456789abcdefE`
/// at the end of a legacy name, `Cs` with base 62 and `_` in one of version 0.
fn without_hash(word: &str) -> String {
    if let Some((before, hash)) = word.split_once("17h")
        && word.starts_with("_ZN")
        && hash.len() >= 17
        && hash.as_bytes()[..16].iter().all(u8::is_ascii_hexdigit)
    {
        return format!("{before}17h{}", &hash[16..]);
    }
    let mut pieces = word.split("Cs");
    let first = pieces.next().unwrap_or_default();
    if !word.starts_with("_R") {
        return word.to_owned();
    }
    pieces.fold(first.to_owned(), |name, piece| match piece.split_once('_') {
        Some((hash, rest)) if hash.chars().all(|it| it.is_ascii_alphanumeric()) => {
            name + "C" + rest
        }
        _ => name + "Cs" + piece,
    })
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn source_lines_and_comments_do_not_count() {
        let text = "{\n\t.loc 1 2 3\n\tadd.f32 %f1, %f2, %f3; // here\n\n// there\n}";
        assert_eq!(bare(text), "{\n\tadd.f32 %f1, %f2, %f3;\n}\n");
    }

    #[test]
    fn labels_are_numbered_by_kernel() {
        let ptx = |function: u32| {
            format!("$L__BB{function}_2:\n\tbra $L__BB{function}_4;\n\tbra $L__BB{function}_2;\n")
        };
        assert_eq!(bare(&ptx(0)), bare(&ptx(7)));
        assert_eq!(bare(&ptx(0)), "$L__BB0:\n\tbra $L__BB1;\n\tbra $L__BB0;\n");
        let sass = |first: u32| format!(".L_x_{first}:\n BRA `(.L_x_{});\n", first + 1);
        assert_eq!(bare(&sass(3)), bare(&sass(12)));
        let other = "$L__BB0_2:\n\tbra $L__BB0_2;\n\tbra $L__BB0_2;\n";
        assert_ne!(bare(other), bare(&ptx(0)));
    }

    #[test]
    fn hashes_of_names_do_not_count() {
        let call = |hash: &str| format!("\tcall.uni _ZN4core9panicking5panic17h{hash}E;\n");
        assert_eq!(bare(&call("0123456789abcdef")), bare(&call("fedcba9876543210")));
        let call = |hash: &str| format!("\tcall _RNvNtCs{hash}_4core9panicking5panic;\n");
        assert_eq!(bare(&call("aZ0")), bare(&call("1b2C")));
        assert_eq!(bare(&call("aZ0")), "\tcall _RNvNtC4core9panicking5panic;\n");
        assert_ne!(bare("\tadd.u32 %r17h1, %r2;\n"), bare("\tadd.u32 %r17h2, %r2;\n"));
    }
}
