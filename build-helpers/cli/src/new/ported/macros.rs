//! Macros of a CUDA program, as the preprocessor has them at the end of its files where a command line defines none.

use super::{
    expression::{Expression, Function},
    files::Source,
    names::is_word,
    text::split,
};
use std::collections::{BTreeMap, BTreeSet};

/// A macro, and where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Macro {
    /// Of one with parameters.
    parameters: Option<Vec<String>>,
    pub(super) text: String,
    /// The index of the file among the program's.
    pub(super) source: usize,
    pub(super) line: usize,
}

/// The macros of a program.
#[derive(Debug, Default)]
pub(super) struct Macros {
    all: BTreeMap<String, Macro>,
    /// The lines that conditions leave out, by the index of their file.
    left_out: BTreeSet<(usize, usize)>,
}

impl Macros {
    pub(super) fn read(sources: &[Source]) -> Self {
        let mut macros = Self::default();
        // As nvcc and clang have them.
        for (name, text) in [("__CUDACC__", "1"), ("__cplusplus", "201703"), ("__NVCC__", "1")] {
            let text = text.to_owned();
            macros
                .all
                .insert(name.to_owned(), Macro { parameters: None, text, source: 0, line: 0 });
        }
        macros.file(sources, 0, 0);
        macros
    }

    /// A macro without parameters.
    pub(super) fn object(&self, name: &str) -> Option<&Macro> {
        self.all.get(name).filter(|it| it.parameters.is_none())
    }

    pub(super) fn function(&self, name: &str) -> Option<Function> {
        let found = self.all.get(name)?;
        Some((found.parameters.clone()?, found.text.clone()))
    }

    /// Whether a condition leaves a line out.
    pub(super) fn leaves_out(&self, source: usize, line: usize) -> bool {
        self.left_out.contains(&(source, line))
    }

    fn file(&mut self, sources: &[Source], at: usize, depth: usize) {
        let Some(source) = sources.get(at).filter(|_| depth < 32) else { return };
        // For each `#if` whether its lines count, and whether one of its branches did.
        let mut open: Vec<(bool, bool)> = Vec::new();
        let text = source.text.replace("\\\r\n", "\\\n");
        let mut lines = text.split('\n').enumerate();
        while let Some((line, text)) = lines.next() {
            if open.iter().any(|(counts, _)| !counts) {
                self.left_out.insert((at, line + 1));
            }
            let Some(rest) = text.trim_start().strip_prefix('#') else { continue };
            let mut rest = rest.trim_end().to_owned();
            while rest.ends_with('\\') {
                rest.pop();
                let Some((_, more)) = lines.next() else { break };
                rest = format!("{rest} {}", more.trim_end());
            }
            let rest = without_comments(&rest);
            let word = rest.split(|c| !is_word(c)).next().unwrap_or_default();
            let given = rest[word.len()..].trim();
            let counts = open.iter().all(|(counts, _)| *counts);
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let holds = counts && self.holds(word, given);
                    open.push((holds, holds));
                }
                "elif" | "else" => {
                    let Some((_, done)) = open.pop() else { continue };
                    let is_inside = open.iter().all(|(counts, _)| *counts);
                    let holds = is_inside && !done && (word == "else" || self.holds("if", given));
                    open.push((holds, done || holds));
                }
                "endif" => _ = open.pop(),
                "define" if counts => self.define(given, at, line + 1),
                "undef" if counts => _ = self.all.remove(given),
                "include" if counts => {
                    let included = source.includes.iter().find(|(it, _)| *it == line + 1);
                    if let Some((_, other)) = included {
                        self.file(sources, *other, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, given: &str, source: usize, line: usize) {
        let end = given.find(|c| !is_word(c)).unwrap_or(given.len());
        let (name, rest) = given.split_at(end);
        let (parameters, text) = match rest.strip_prefix('(').and_then(|it| it.split_once(')')) {
            Some((list, text)) => (Some(split(list)), text),
            None => (None, rest),
        };
        let text = text.trim().to_owned();
        self.all.insert(name.to_owned(), Macro { parameters, text, source, line });
    }

    fn holds(&self, word: &str, given: &str) -> bool {
        match word {
            "ifdef" => self.all.contains_key(given),
            "ifndef" => !self.all.contains_key(given),
            _ => self.condition(given).unwrap_or(0) != 0,
        }
    }

    /// The value of the condition of an `#if`.
    fn condition(&self, given: &str) -> Option<i64> {
        // `defined X` and `defined(X)` are 1 or 0, before any name is replaced.
        let mut text = String::new();
        let mut rest = given;
        while let Some((before, after)) = rest.split_once("defined") {
            text += before;
            let after = after.trim_start();
            let is_bracketed = after.starts_with('(');
            let after = after.trim_start_matches('(').trim_start();
            let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
            text += if self.all.contains_key(&after[..end]) { "1" } else { "0" };
            rest = after[end..].trim_start();
            if is_bracketed {
                rest = rest.strip_prefix(')')?;
            }
        }
        text += rest;
        let read = Expression::read(&text, &|name| self.function(name))?;
        // A name that is no macro is 0.
        read.value(&mut |name| Some(self.value(name, 0).unwrap_or(0)))
    }

    /// The number that a macro is.
    pub(super) fn value(&self, name: &str, depth: usize) -> Option<i64> {
        let found = self.object(name).filter(|_| depth < 8)?;
        let read = Expression::read(&found.text, &|name| self.function(name))?;
        read.value(&mut |name| self.value(name, depth + 1))
    }
}

/// A line of the preprocessor without comments.
fn without_comments(text: &str) -> String {
    let text = text.split("//").next().unwrap_or_default();
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        kept += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    (kept + rest).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_under_conditions_that_hold_count() {
        let source = |text: &str, includes| Source::of_text("k.cu", text, includes);
        let first = "#include \"sizes.h\"\n#if !defined(SMALL) && VERSION >= 3\n#define N 64 /* rows */\n#else\n#define N 8\n#endif\n\
            #ifdef __CUDACC__\n#define BYTES(n) \\\n    ((n) * 4)  // of floats\n#elif 1\n#define BYTES(n) n\n#endif\n#define BLOCKS (N / TILE)\n";
        let second = "#ifndef SIZES\n#define SIZES\n#ifndef TILE\n# define TILE 16\n#endif\n#define VERSION 4\n#define GONE 1\n#undef GONE\n#endif\n";
        let macros = Macros::read(&[source(first, vec![(1, 1)]), source(second, Vec::new())]);
        assert_eq!(macros.value("N", 0), Some(64));
        assert_eq!(macros.value("BLOCKS", 0), Some(4));
        assert_eq!(macros.value("GONE", 0), None);
        let tile = macros.object("TILE").unwrap();
        assert_eq!((tile.source, tile.line), (1, 4));
        assert_eq!(macros.function("BYTES").unwrap().1, "((n) * 4)");
        assert_eq!(macros.object("BYTES"), None);
        let left_out: Vec<_> = (1..=14).filter(|line| macros.leaves_out(0, *line)).collect();
        assert_eq!(left_out, [5, 6, 11, 12]);
    }
}
