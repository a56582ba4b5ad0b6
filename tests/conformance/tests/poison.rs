//! Poison in vector code: no branch asks what no thread need have computed.

mod common;

use std::fs;

use common::{folder, lower};

/// The checks of an unmasked body's assumptions stand at its start, before the branch that the values are
/// computed in.
#[test]
fn checks_of_assumptions_are_frozen() {
    let text = fs::read_to_string(folder().join("kernels/checks.rs")).unwrap();
    let module = lower("checks.rs", &text).unwrap().unoptimized("cpu");
    let functions =
        module.split("\ndefine ").filter(|it| it.contains("@check_in_branch.body.region"));
    let starts =
        functions.filter_map(|function| function.split_once("\nslots:\n")?.1.split("\n\n").next());
    let checked: Vec<_> = starts.filter(|start| start.contains("  br i1 ")).collect();
    assert!(checked.len() >= 2, "{module}");
    for start in checked {
        let (compared, frozen) =
            (start.matches(" = icmp ").count(), start.matches(" = freeze i1 ").count());
        assert!(compared > 0 && compared == frozen, "{start}");
    }
}
