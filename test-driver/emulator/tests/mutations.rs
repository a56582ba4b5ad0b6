//! Kernels with one comparison flipped or one address shifted: the checks of the cases must notice.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{CASES, Case};
use ptx_emulator::Options;

/// A change of one line.
type Mutation = fn(&str) -> Option<String>;

/// `setp.lt` becomes `setp.ge`, and so on.
fn flipped(line: &str) -> Option<String> {
    let names =
        [("lt", "ge"), ("le", "gt"), ("eq", "ne"), ("ltu", "ge"), ("leu", "gt"), ("equ", "ne")];
    if !line.trim_start().starts_with("setp.") {
        return None;
    }
    names.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).find_map(|(from, to)| {
        let from = format!("setp.{from}.");
        line.contains(&from).then(|| line.replace(&from, &format!("setp.{to}.")))
    })
}

/// `[%rd1+4]` becomes `[%rd1+8]`.
fn shifted(line: &str) -> Option<String> {
    let text = line.trim_start();
    let memory = ["ld.global", "st.global", "ld.shared", "st.shared"];
    if !memory.iter().any(|name| text.starts_with(name)) {
        return None;
    }
    Some(line.replace(']', "+4]"))
}

fn mutants(case: &Case, mutation: Mutation) -> Vec<(usize, String)> {
    let lines: Vec<&str> = case.text.lines().collect();
    let mutant = |(number, line): (usize, &&str)| {
        let changed = mutation(line)?;
        let mut all = lines.clone();
        all[number] = &changed;
        Some((number + 1, all.join("\n")))
    };
    lines.iter().enumerate().filter_map(mutant).collect()
}

/// Whether the line runs at all: a trap in its place is noticed.
fn runs(case: &Case, line: usize, options: &Options) -> bool {
    let lines = case.text.lines().enumerate();
    let trapped: Vec<&str> =
        lines.map(|(number, text)| if number + 1 == line { "trap;" } else { text }).collect();
    (case.check)(&trapped.join("\n"), options).is_err()
}

fn caught(mutation: Mutation) -> (usize, usize, Vec<String>) {
    let options =
        Options { detect_races: true, step_budget: Some(8_000_000), ..Options::default() };
    let (mut all, mut caught, mut missed) = (0, 0, Vec::new());
    for case in CASES {
        // Every run of this one is millions of instructions; a part of its mutants must do.
        let step = if case.name == "rust_nbody" { 5 } else { 1 };
        for (line, text) in mutants(case, mutation).into_iter().step_by(step) {
            if !runs(case, line, &options) {
                continue;
            }
            all += 1;
            match (case.check)(&text, &options) {
                Ok(()) => missed.push(format!("{}:{line}", case.name)),
                Err(_) => caught += 1,
            }
        }
    }
    (all, caught, missed)
}

#[test]
fn flipped_comparisons_are_caught() {
    let (all, caught, missed) = caught(flipped);
    assert!(all >= 30 && caught * 100 >= all * 95, "{caught} of {all}, not {missed:?}");
}

#[test]
fn shifted_addresses_are_caught() {
    let (all, caught, missed) = caught(shifted);
    assert!(all >= 80 && caught * 100 >= all * 95, "{caught} of {all}, not {missed:?}");
}
