//! Faults of the acceptance table: rows that are missing, wrong, or only look covered.

use super::{
    points::{Point, SECTIONS, Section, Table},
    tags::Tags,
};
use std::collections::BTreeSet;

/// Every fault of a table with the tags of the tests; `is_file` knows the files below the workspace's root.
pub(super) fn find(table: &Table, tags: &Tags, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut faults = tags.faults.clone();
    let known: BTreeSet<_> = SECTIONS.iter().flat_map(Section::ids).collect();
    let mut seen = BTreeSet::new();
    for point in &table.point {
        let id = &point.id;
        if !known.contains(id) {
            faults.push(format!("{id}: there is no such point"));
        }
        if !seen.insert(id) {
            faults.push(format!("{id}: it is in the table twice"));
        }
        let count = tags.tests.get(id).map_or(0, BTreeSet::len);
        faults.extend(of_point(point, count, is_file).into_iter().map(|it| format!("{id}: {it}")));
    }
    let missing = known.iter().filter(|id| !seen.contains(id));
    faults.extend(missing.map(|id| format!("{id}: it is not in the table")));
    for (id, tests) in tags.tests.iter().filter(|(id, _)| !known.contains(*id)) {
        let tests: Vec<_> = tests.iter().map(String::as_str).collect();
        faults.push(format!("`{id}` is the tag of no point: {}", tests.join(", ")));
    }
    faults.extend(of_samples(table, tags));
    faults
}

/// What is wrong with a point that has so many tests.
fn of_point(point: &Point, tests: usize, is_file: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
    let Point { asks, open, partly, not_applicable, adr, .. } = point;
    let reasons = [open, partly, not_applicable];
    let decision = adr.as_ref().map(|file| is_file(&format!("docs/src/adr/{file}")));
    let mut texts = reasons.into_iter().flatten().chain([asks]);
    let checks = [
        (texts.any(|text| text.trim().is_empty()), "it has an empty text"),
        (
            reasons.into_iter().flatten().count() > 1,
            "it has more than one of `open`, `partly` and `not-applicable`",
        ),
        (
            tests == 0 && open.is_none() && partly.is_none() && not_applicable.is_none(),
            "it has neither tests nor a reason",
        ),
        (
            tests > 0 && open.is_some(),
            "it is open and has tests; remove `open`, or say what they leave out in `partly`",
        ),
        (tests == 0 && partly.is_some(), "it is partly there and has no test; say `open`"),
        (
            not_applicable.is_some() != adr.is_some(),
            "`not-applicable` and `adr`, the decision that says so, go together",
        ),
        (decision == Some(false), "the file of its decision is not there"),
    ];
    checks.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, what)| what).collect()
}

/// What is wrong with the list of points that were broken by hand.
fn of_samples(table: &Table, tags: &Tags) -> Vec<String> {
    let is_of_point = |point: &str, test: &str| {
        let mut tests = tags.tests.get(point).into_iter().flatten();
        tests.any(|found| found.rsplit("::").next() == Some(test))
    };
    let wrong = table.broken.iter().filter(|row| !is_of_point(&row.point, &row.test));
    wrong.map(|row| format!("{}: `{}` is no test of this point", row.point, row.test)).collect()
}
