//! Seventy modules on lavapipe, as SPIR-V that the driver takes as it is, and translated.

use test_support::{
    checks::{self, Checked},
    tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wgsl-modules");

#[track_caller]
fn check(device: &str) {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, device);
    assert_eq!(passed, ["fresh_contexts", "lifetimes", "many_kernels"]);
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Acceptance: S4.6, S4.12, C25.
#[test]
fn modules_of_wgpu_come_and_go() {
    check("wgpu");
}

/// Acceptance: S4.12.
#[test]
fn modules_that_are_translated_come_and_go() {
    check("wgpu:translated");
}
