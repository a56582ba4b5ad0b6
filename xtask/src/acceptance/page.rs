//! The page of the acceptance table, as Markdown.

use super::{
    points::{Point, SECTIONS, Section, Table},
    tags::Tags,
};
use std::fmt::Write as _;

const START: &str = "\
# Acceptance table

Each row is a point that kernelmill has to meet, with the tests that fail when it is not met. The points S0 to S4 come
from reading the designs of other projects: GPUCompiler.jl (jobs, deferred references, plugins), nvFuser (compiled
kernels) and Halide (the module cache). C1 to C25 are tests of those projects and what became of them here.

This page is generated. The points are in `docs/acceptance.toml`; a line `/// Acceptance: S2.1, C22.` above a test says
what the test proves. `cargo xtask test --only acceptance` fails where a point has neither tests nor a reason, where a
tag names no point, and where this page is out of date. `cargo xtask bless -p xtask acceptance` writes it.

";

const SAMPLES: &str = "\
## Points broken by hand

For each row one line of the code was changed as it says, the test was seen to fail at that fact, and the change was
taken back. Changes of one crate that no test has in common were built together.

| point | change | test that failed |
| --- | --- | --- |
";

/// What has become of a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Tested,
    Partly,
    Open,
    NotApplicable,
}

impl State {
    const ALL: [Self; 4] = [Self::Tested, Self::Partly, Self::Open, Self::NotApplicable];

    fn of(point: &Point) -> Self {
        match point {
            Point { open: Some(_), .. } => Self::Open,
            Point { partly: Some(_), .. } => Self::Partly,
            Point { not_applicable: Some(_), .. } => Self::NotApplicable,
            _ => Self::Tested,
        }
    }
}

/// The page for a table without faults.
pub(super) fn write(table: &Table, tags: &Tags) -> String {
    let mut page = format!("{START}{}", totals(table));
    for section in &SECTIONS {
        let _ = write!(
            page,
            "\n## {}\n\n| point | what it asks | tests | what is missing |\n| --- | --- | --- | --- |\n",
            section.heading()
        );
        for point in section.ids().filter_map(|id| table.find(&id)) {
            let tests = tags.tests.get(&point.id).into_iter().flatten();
            let tests: Vec<_> = tests.map(|test| format!("`{test}`")).collect();
            let (id, asks, tests) = (&point.id, cell(&point.asks), tests.join("<br>"));
            let _ = writeln!(page, "| {id} | {asks} | {tests} | {} |", reason(point));
        }
    }
    if !table.broken.is_empty() {
        let _ = write!(page, "\n{SAMPLES}");
    }
    for row in &table.broken {
        let _ = writeln!(page, "| {} | {} | `{}` |", row.point, cell(&row.change), row.test);
    }
    page
}

/// How many points of each section are in each state.
fn totals(table: &Table) -> String {
    let mut text = "| section | points | tested | partly | open | not applicable |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let mut row = |title: &str, points: &[&Point]| {
        let [tested, partly, open, other] =
            State::ALL.map(|state| points.iter().filter(|point| State::of(point) == state).count());
        let all = points.len();
        let _ = writeln!(text, "| {title} | {all} | {tested} | {partly} | {open} | {other} |");
    };
    for section in &SECTIONS {
        let points: Vec<_> = section.ids().filter_map(|id| table.find(&id)).collect();
        row(&section.heading(), &points);
    }
    row("all", &table.point.iter().collect::<Vec<_>>());
    text
}

impl Section {
    fn heading(&self) -> String {
        format!("{}: {}", self.prefix.trim_end_matches('.'), self.title)
    }
}

/// Why a point is not tested as a whole.
fn reason(point: &Point) -> String {
    let Point { open, partly, not_applicable, adr, .. } = point;
    let link = adr.as_ref().map(|file| {
        let number = file.split('-').next().unwrap_or_default().trim_start_matches('0');
        format!(" ([ADR {number}](../adr/{file}))")
    });
    let (kind, why) = match (open, partly, not_applicable) {
        (Some(why), ..) => ("Open", why),
        (_, Some(why), _) => ("Partly", why),
        (.., Some(why)) => ("Not applicable", why),
        _ => return String::new(),
    };
    format!("**{kind}.** {}{}", cell(why), link.unwrap_or_default())
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.trim().replace('\n', " ").replace('|', "\\|")
}
