//! Kernels with one comparison flipped or one address shifted: the checks of the cases must notice.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{CASES, Case};
use ptx_emulator::{Mutation, Options};

/// The case's text changed in each line where that is possible.
fn mutants(case: &Case, mutation: Mutation) -> Vec<(usize, String)> {
    let lines = 1..=case.text.lines().count();
    lines.filter_map(|line| Some((line, mutation.apply(case.text, line)?))).collect()
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
    let (all, caught, missed) = caught(Mutation::FlippedComparison);
    assert!(all >= 30 && caught * 100 >= all * 95, "{caught} of {all}, not {missed:?}");
}

#[test]
fn shifted_addresses_are_caught() {
    let (all, caught, missed) = caught(Mutation::ShiftedAddress);
    assert!(all >= 80 && caught * 100 >= all * 95, "{caught} of {all}, not {missed:?}");
}
