//! Made-up crates, with a cycle and without.

use super::{check, cycles::Cycle};
use std::path::Path;

/// The cycles of a crate of these files.
fn cycles(files: &[(&str, &str)]) -> Vec<Cycle> {
    let read = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| (*text).to_owned())
    };
    check(Path::new("src/lib.rs"), &read).unwrap()
}

fn reports(files: &[(&str, &str)]) -> Vec<String> {
    cycles(files).iter().map(|cycle| cycle.report(Path::new(""))).collect()
}

const ROOT: (&str, &str) = ("src/lib.rs", "mod plan;\nmod store;\nmod unit;\n");
const PLAN: (&str, &str) =
    ("src/plan.rs", "use crate::{\n    unit::Unit,\n};\npub struct Plan(Vec<Unit>);\n");
const UNIT: (&str, &str) = ("src/unit.rs", "pub struct Unit(super::store::Store);\n");

#[test]
fn a_cycle_is_named_with_its_lines_and_turning_one_import_round_opens_it() {
    let store = ("src/store.rs", "use crate::plan::Plan;\npub struct Store(Plan);\n");
    let expected = "\
3 files import each other in a cycle:
  src/plan.rs:2: `crate::unit::Unit` -> src/unit.rs
  src/unit.rs:1: `super::store::Store` -> src/store.rs
  src/store.rs:1: `crate::plan::Plan` -> src/plan.rs";
    assert_eq!(reports(&[ROOT, PLAN, UNIT, store]), [expected]);
    let plan = (
        "src/plan.rs",
        "use crate::{store::Store, unit::Unit};\npub struct Plan(Vec<Unit>, Store);\n",
    );
    let store = ("src/store.rs", "pub struct Store;\n");
    assert!(reports(&[ROOT, plan, UNIT, store]).is_empty());
}

#[test]
fn a_re_export_is_transparent_and_hides_no_cycle() {
    let root = ("src/lib.rs", "mod a;\nmod b;\n");
    let face = ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;\n");
    let one = ("src/a/one.rs", "pub struct One;\n");
    let two = ("src/a/two.rs", "use super::One;\npub struct Two(One, crate::b::B);\n");
    let b = ("src/b.rs", "use crate::a;\npub struct B(a::One);\n");
    assert!(reports(&[root, face, one, two, b]).is_empty());
    let b = ("src/b.rs", "use crate::a;\npub struct B(a::Two);\n");
    let found = cycles(&[root, face, one, two, b]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].files, 2);
    assert_eq!(found[0].steps[1].from, Path::new("src/b.rs"));
    assert_eq!(found[0].steps[1].path, "a::Two");
}

#[test]
fn a_parent_that_uses_its_child_must_not_be_used_by_it() {
    let root = ("src/lib.rs", "mod a;\n");
    let child = ("src/a/one.rs", "use super::Shared;\npub fn one(_: Shared) {}\n");
    let parent = ("src/a/mod.rs", "mod one;\npub struct Shared;\n");
    assert!(reports(&[root, parent, child]).is_empty());
    let parent = ("src/a/mod.rs", "mod one;\npub struct Shared;\nfn f() { one::one(Shared) }\n");
    assert_eq!(reports(&[root, parent, child]).len(), 1);
}

#[test]
fn paths_count_in_macros_in_globs_and_under_other_names() {
    let root = ("src/lib.rs", "mod a;\nmod b;\n");
    let b = ("src/b.rs", "pub fn b() -> u8 { crate::a::a() }\n");
    for a in [
        "pub fn a() -> u8 { assert_eq!(1, [crate::b::b()].len()); 1 }\n",
        "use crate::b::*;\npub fn a() -> u8 { b() }\n",
        "use crate::b as other;\npub fn a() -> u8 { other::b() }\n",
        "pub fn a() -> u8 { use super::b::b; b() }\n",
        "mod inner { pub use crate::b::b; }\npub fn a() -> u8 { inner::b() }\n",
    ] {
        assert_eq!(reports(&[root, ("src/a.rs", a), b]).len(), 1, "{a}");
    }
}

#[test]
fn tests_and_names_of_modules_do_not_count() {
    let root = ("src/lib.rs", "mod a;\nmod b;\n");
    let b = ("src/b.rs", "pub fn b() -> u8 { crate::a::a() }\n");
    for a in [
        "pub fn a() -> u8 { 1 }\n#[cfg(test)]\nmod checks { use crate::b::b; }\n",
        "pub fn a() -> u8 { 1 }\n#[cfg(all(test, unix))]\nuse crate::b::b;\n",
        "pub fn a() -> u8 { 1 }\nmod tests;\n",
        "use crate::b;\npub fn a() -> u8 { 1 }\n",
    ] {
        let tests = ("src/a/tests.rs", "use crate::b::b;\n");
        assert!(reports(&[root, ("src/a.rs", a), b, tests]).is_empty(), "{a}");
    }
}

#[test]
fn an_exported_macro_is_in_the_file_that_defines_it() {
    let root = ("src/lib.rs", "mod a;\nmod b;\nfn f() { b::b() }\n");
    let a = ("src/a.rs", "#[macro_export]\nmacro_rules! one { () => { 1 } }\n");
    let b = ("src/b.rs", "pub fn b() -> u8 { crate::one!() }\n");
    assert!(reports(&[root, a, b]).is_empty());
}
