//! Small tables and tags, with a fault and without; and the page of this workspace.

use super::{
    compare, faults, page,
    points::{Broken, Point, SECTIONS, Section, Table},
    tags::{Origin, Tags},
};
use crate::workspace::Workspace;

const FILE: &str = "/// Acceptance: S0.1, C2.\n#[test]\nfn adds() {}\n";

/// A table of which all points but these have a decision.
fn table(points: &[Point]) -> Table {
    let others = SECTIONS.iter().flat_map(Section::ids);
    let others = others.filter(|id| points.iter().all(|point| point.id != *id));
    let decided = |id: String| Point {
        not_applicable: Some("It has no meaning here.".to_owned()),
        adr: Some("0001-own-trampolines.md".to_owned()),
        ..point(&id)
    };
    let own = points.iter().map(|it| Point {
        id: it.id.clone(),
        asks: it.asks.clone(),
        open: it.open.clone(),
        partly: it.partly.clone(),
        not_applicable: it.not_applicable.clone(),
        adr: it.adr.clone(),
    });
    Table { point: own.chain(others.map(decided)).collect(), broken: Vec::new() }
}

fn point(id: &str) -> Point {
    let (id, asks) = (id.to_owned(), format!("The text of {id}."));
    Point { id, asks, open: None, partly: None, not_applicable: None, adr: None }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The tags of one file.
fn tags(text: &str) -> Tags {
    let mut tags = Tags::default();
    tags.add(&Origin { package: "sums", file: "tests/sums.rs" }, text);
    tags
}

fn faults(table: &Table, tags: &Tags) -> Vec<String> {
    faults::find(table, tags, &|path| path == "docs/src/adr/0001-own-trampolines.md")
}

#[test]
fn points_with_tests_or_reasons_are_right() {
    let tested = [point("S0.1"), point("C2")];
    assert_eq!(faults(&table(&tested), &tags(FILE)), [""; 0]);
    let partly = [point("S0.1"), Point { partly: some("The rest."), ..point("C2") }];
    assert_eq!(faults(&table(&partly), &tags(FILE)), [""; 0]);
    let open = [Point { open: some("All of it."), ..point("S4.13") }];
    assert_eq!(faults(&table(&open), &tags("")), [""; 0]);
    assert_eq!(faults(&table(&[]), &tags(FILE)), [""; 0], "a test may show it otherwise");
}

#[test]
fn a_tag_that_names_no_point_is_a_fault() {
    let file = FILE.replace("C2", "C26").replace("S0.1", "S0.14");
    let expected = ["C26", "S0.14"]
        .map(|id| format!("`{id}` is the tag of no point: sums::tests/sums.rs::adds"));
    assert_eq!(faults(&table(&[]), &tags(&file)), expected);
}

#[test]
fn a_point_without_tests_and_reason_is_a_fault() {
    let expected = ["S0.2: it has neither tests nor a reason"];
    assert_eq!(faults(&table(&[point("S0.2")]), &tags(FILE)), expected);
}

#[test]
fn an_open_point_with_tests_and_a_part_without_are_faults() {
    let points = [
        Point { open: some("All of it."), ..point("S0.1") },
        Point { partly: some("The rest."), ..point("S0.2") },
    ];
    let expected = [
        "S0.1: it is open and has tests; remove `open`, or say what they leave out in `partly`",
        "S0.2: it is partly there and has no test; say `open`",
    ];
    assert_eq!(faults(&table(&points), &tags(FILE)), expected);
}

#[test]
fn reasons_are_single_have_texts_and_decisions_have_files() {
    let points = [
        Point { open: some("a"), partly: some("b"), ..point("S1.1") },
        Point { open: some(" "), ..point("S1.2") },
        Point { not_applicable: some("a"), ..point("S1.3") },
        Point { not_applicable: some("a"), adr: some("0002-two.md"), ..point("S1.4") },
    ];
    let found = faults(&table(&points), &tags(FILE));
    let expected = [
        "S1.1: it has more than one of `open`, `partly` and `not-applicable`",
        "S1.1: it is partly there and has no test; say `open`",
        "S1.2: it has an empty text",
        "S1.3: `not-applicable` and `adr`, the decision that says so, go together",
        "S1.4: the file of its decision is not there",
    ];
    assert_eq!(found, expected);
}

#[test]
fn missing_unknown_and_repeated_points_are_faults() {
    let mut table = table(&[]);
    table.point.retain(|point| point.id != "S2.12");
    table.point.push(Point { open: some("a"), ..point("S2.13") });
    table.point.push(Point { open: some("a"), ..point("S2.11") });
    let expected = [
        "S2.13: there is no such point",
        "S2.11: it is in the table twice",
        "S2.12: it is not in the table",
    ];
    assert_eq!(faults(&table, &tags(FILE)), expected);
}

#[test]
fn a_tag_belongs_to_the_test_right_below_it() {
    let file = "mod a {\n    /// It adds.\n    /// Acceptance: S0.1.\n    /// Acceptance: S0.2.\n    #[cfg(unix)]\n    \
                // Twice.\n    #[test]\n    fn adds() {}\n}\n#[test]\nfn other() {}\n";
    let found = tags(file);
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    let points: Vec<_> = found.tests.keys().map(String::as_str).collect();
    assert_eq!(points, ["S0.1", "S0.2"]);
    assert!(found.tests.values().all(|tests| tests.iter().eq(["sums::tests/sums.rs::adds"])));
    for (text, fault) in [
        ("/// Acceptance: S0.1.\nfn adds() {}\n", "there is no test below the tag"),
        (
            "/// Acceptance: S0.1.\nuse b;\n#[test]\nfn adds() {}\n",
            "there is no test below the tag",
        ),
        ("/// Acceptance: S0.1.\n", "there is no test below the tag"),
        (
            "/// Acceptance: S0.1.\n#[test]\n#[ignore = \"slow\"]\nfn adds() {}\n",
            "the test below the tag is ignored",
        ),
    ] {
        let found = tags(text);
        assert_eq!(found.faults, [format!("sums::tests/sums.rs:1: {fault}")]);
        assert!(found.tests.is_empty());
    }
}

#[test]
fn a_sample_names_a_test_of_its_point() {
    let mut table = table(&[]);
    for (point, test) in [("S0.1", "adds"), ("S0.2", "adds"), ("C2", "other")] {
        let (point, test) = (point.to_owned(), test.to_owned());
        table.broken.push(Broken { point, change: "`+` is `-`".to_owned(), test });
    }
    let expected =
        ["S0.2: `adds` is no test of this point", "C2: `other` is no test of this point"];
    assert_eq!(faults(&table, &tags(FILE)), expected);
}

#[test]
fn a_page_shows_tests_and_reasons_and_a_page_that_differs_is_named() {
    let points = [point("S0.1"), Point { partly: some("The | rest."), ..point("C2") }];
    let page = page::write(&table(&points), &tags(FILE));
    for line in [
        "| S0: Compiler core | 13 | 1 | 0 | 0 | 12 |",
        "| all | 90 | 1 | 1 | 0 | 88 |",
        "| S0.1 | The text of S0.1. | `sums::tests/sums.rs::adds` |  |",
        "| C2 | The text of C2. | `sums::tests/sums.rs::adds` | **Partly.** The \\| rest. |",
        "| C3 | The text of C3. |  | **Not applicable.** It has no meaning here. ([ADR 1](../adr/0001-own-trampolines.md)) |",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    compare(&page, &page).unwrap();
    let error = compare(&page.replacen("generated", "written", 1), &page).unwrap_err();
    assert!(error.to_string().contains("differs from line 7 on"), "{error}");
}

#[test]
fn the_page_is_what_the_table_and_the_tags_say() {
    let workspace = Workspace::open().unwrap();
    let page = super::page(&workspace).unwrap_or_else(|error| panic!("{error}"));
    test_support::snapshot::check(workspace.root.join(super::PAGE), &page);
}
