//! Kernels that are near to right ones: mutants of the workspace's own, one kernel a file.
//!
//! The operators are those of mutation testing (Offutt et al., ["An experimental determination of sufficient mutant
//! operators"](https://doi.org/10.1145/227607.227610)): other operators, other constants, statements that are lost,
//! doubled, exchanged or made conditional. To these come other types for all places of one, and barriers, returns
//! and panics where there were none. Most mutants pass the language's front end and reach code generation, which
//! changes of single tokens do not.
//!
//! Sources are read line by line, and are formatted: an item ends with a line that begins with `}`, or is one line.

use std::{fs, path::Path};
use test_support::Random;

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// CUDA C++.
    CudaCpp,
    /// OpenCL C.
    OpenClC,
}

/// A source: what all of its kernels need, and the kernels.
#[derive(Debug)]
struct Source {
    language: Language,
    common: String,
    kernels: Vec<String>,
}

/// The sources that mutants are made of.
#[derive(Debug)]
pub struct Mutants(Vec<Source>);

/// Operators of which one takes the place of another.
const OPERATORS: [&[&str]; 4] = [
    &[" + ", " - ", " * ", " / ", " % ", " & ", " | ", " ^ ", " << ", " >> "],
    &[" < ", " <= ", " > ", " >= ", " == ", " != "],
    &[" && ", " || "],
    &[" += ", " -= ", " *= ", " = "],
];

/// Integers at the edges of types, warps and blocks.
const INTEGERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "31",
    "32",
    "33",
    "63",
    "127",
    "255",
    "256",
    "1023",
    "65535",
    "65536",
    "2147483647",
];

/// Types of which one takes the place of another, in each place.
const TYPES: [&str; 12] =
    ["f32", "f64", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "usize"];
const C_TYPES: [&str; 8] =
    ["float", "double", "int", "unsigned", "char", "short", "long long", "unsigned long long"];

impl Language {
    /// The name of a file in it.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Rust => "mutant.rs",
            Self::CudaCpp => "mutant.cu",
            Self::OpenClC => "mutant.cl",
        }
    }

    fn is_kernel(self, item: &str) -> bool {
        item.contains(match self {
            Self::Rust => "#[kernel",
            Self::CudaCpp => "__global__",
            Self::OpenClC => "kernel void",
        })
    }

    /// Statements that end or stop threads, some of them alone.
    fn statements(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &[
                "thread::sync_threads();",
                "return;",
                "panic!(\"a mutant\");",
                "if thread::thread_idx().x % 2 == 0 { return; }",
                "if thread::thread_idx().x == 3 { thread::sync_threads(); }",
                "assert!(thread::block_idx().x < 2, \"block {}\", thread::block_idx().x);",
                "let _ = [0u8; 300][thread::thread_idx().x as usize];",
            ],
            Self::CudaCpp => &[
                "__syncthreads();",
                "return;",
                "if (threadIdx.x % 2 == 0) return;",
                "if (threadIdx.x == 3) __syncthreads();",
                "__syncwarp();",
                "__shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1);",
                "{ volatile int a[300]; a[threadIdx.x % 300] = 1; }",
            ],
            Self::OpenClC => &[
                "barrier(CLK_LOCAL_MEM_FENCE);",
                "return;",
                "if (get_local_id(0) % 2 == 0) return;",
                "if (get_local_id(0) == 3) barrier(CLK_GLOBAL_MEM_FENCE);",
                "mem_fence(CLK_GLOBAL_MEM_FENCE);",
            ],
        }
    }

    fn conditions(self) -> [(&'static str, &'static str); 3] {
        match self {
            Self::Rust => [
                ("if thread::thread_idx().x < 5 {", "}"),
                ("for _ in 0..thread::block_idx().x {", "}"),
                ("loop {", "if thread::thread_idx().x < 40 { break; } }"),
            ],
            Self::CudaCpp => [
                ("if (threadIdx.x < 5) {", "}"),
                ("for (unsigned q = 0; q < blockIdx.x; q++) {", "}"),
                ("do {", "} while (threadIdx.x > 40);"),
            ],
            Self::OpenClC => [
                ("if (get_local_id(0) < 5) {", "}"),
                ("for (uint q = 0; q < get_group_id(0); q++) {", "}"),
                ("do {", "} while (get_local_id(0) > 40);"),
            ],
        }
    }

    fn types(self) -> &'static [&'static str] {
        if self == Self::Rust { &TYPES } else { &C_TYPES }
    }
}

impl Mutants {
    /// Of the kernels in these files, each in a language and by itself. A file without a kernel gives none.
    ///
    /// # Panics
    ///
    /// Where a file cannot be read, or no file has a kernel.
    pub fn of<'p>(files: impl IntoIterator<Item = (Language, &'p Path)>) -> Self {
        let sources = files.into_iter().map(|(language, path)| Source::read(language, path));
        let sources: Vec<_> = sources.filter(|source| !source.kernels.is_empty()).collect();
        assert!(!sources.is_empty(), "there are kernels");
        Self(sources)
    }

    /// The mutant of a seed: one kernel with one to three changes, and what it needs.
    #[must_use]
    pub fn make(&self, random: &mut Random) -> (Language, String) {
        let source = random.pick(&self.0);
        let language = source.language;
        let mut lines: Vec<String> =
            random.pick(&source.kernels).lines().map(str::to_owned).collect();
        for _ in 0..=random.below(3) {
            change(language, &mut lines, random);
        }
        let mut text = format!("{}{}\n", source.common, lines.join("\n"));
        if random.below(4) == 0 {
            let (from, to) = (random.pick(language.types()), random.pick(language.types()));
            text = with_other_words(&text, from, to);
        }
        (language, text)
    }
}

impl Source {
    fn read(language: Language, path: &Path) -> Self {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (kernels, common): (Vec<_>, Vec<_>) =
            items(&text).into_iter().partition(|item| language.is_kernel(item));
        Self { language, common: common.concat(), kernels }
    }
}

/// The items of a text, each with the comments and attributes in front of it.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    for line in text.lines() {
        let item = items.last_mut().expect("there is one always");
        item.push_str(line);
        item.push('\n');
        let is_alone = !line.starts_with([' ', '/', '#', '{', ')']) && line.ends_with(';');
        if line.starts_with('}') || line.is_empty() || line.starts_with("//!") || is_alone {
            items.push(String::new());
        }
    }
    items
}

/// Whether a line is a whole statement.
fn is_statement(line: &str) -> bool {
    let balance = |open, close| line.matches(open).count() == line.matches(close).count();
    line.starts_with(' ') && line.ends_with(';') && balance('(', ')') && balance('{', '}')
}

fn change(language: Language, lines: &mut Vec<String>, random: &mut Random) {
    let places: Vec<usize> = (0..lines.len()).filter(|at| is_statement(&lines[*at])).collect();
    if places.is_empty() {
        return;
    }
    let (at, other) = (*random.pick(&places), *random.pick(&places));
    match random.below(10) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[other].clone()),
        2 => lines.swap(at, other),
        3 => {
            let (open, close) = random.pick(&language.conditions()).to_owned();
            lines[at] = format!("    {open}\n{}\n    {close}", lines[at]);
        }
        4 | 5 => lines.insert(at, format!("    {}", random.pick(language.statements()))),
        6 | 7 => {
            let at = random.below(lines.len());
            lines[at] = with_other_integer(&lines[at], random);
        }
        _ => {
            let at = random.below(lines.len());
            let class = random.pick(&OPERATORS);
            let (from, to) = (random.pick(class), random.pick(class));
            lines[at] = lines[at].replacen(from, to, 1);
        }
    }
}

/// The line with another number in place of its first one that stands alone.
fn with_other_integer(line: &str, random: &mut Random) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let start = line.char_indices().find_map(|(at, c)| {
        let is_first = !line[..at].ends_with(is_word);
        (c.is_ascii_digit() && is_first).then_some(at)
    });
    let Some(start) = start else { return line.to_owned() };
    let length = line[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len() - start);
    format!("{}{}{}", &line[..start], random.pick(&INTEGERS), &line[start + length..])
}

/// The text with another word in each place of a word.
fn with_other_words(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        changed.push_str(before);
        changed.push_str(if is_whole { to } else { from });
        rest = after;
    }
    changed + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use test_support::root;

    #[test]
    fn mutants_differ_and_have_one_kernel_each() {
        let path = root().join("tests/conformance/kernels/loops.rs");
        let mutants = Mutants::of([(Language::Rust, &*path)]);
        let made: BTreeSet<String> =
            (1..200).map(|seed| mutants.make(&mut Random::new(seed)).1).collect();
        assert!(made.len() > 150, "{}", made.len());
        for text in &made {
            assert_eq!(text.matches("#[kernel").count(), 1, "{text}");
            assert!(text.contains("use kernelmill_device"), "{text}");
        }
    }

    #[test]
    fn words_are_replaced_whole() {
        assert_eq!(with_other_words("u8 xu8 u8x u8", "u8", "f32"), "f32 xu8 u8x f32");
        let mut random = Random::new(1);
        assert_eq!(with_other_integer("    a.b2;", &mut random), "    a.b2;");
        assert!(!with_other_integer("    x(77);", &mut random).contains("77"));
    }
}
