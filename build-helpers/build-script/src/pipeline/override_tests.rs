//! Overrides: which binaries a file changes, and what the user is told.

use crate::test_support::{Outcome, Project};
use std::fs;

const TARGETS: &str = "targets = [\"cpu\", \"compute_75\", \"sm_90\"]\n";
const TWO: &str = "#[kernel] fn fill(mut out: DisjointSlice<f32>) {}\n\
                   #[kernel] fn scale(mut out: DisjointSlice<f32>) {}";
const OTHER: &str = "#[kernel] fn other(mut out: DisjointSlice<f32>) {}";
const FILL: &str = "KERNELMILL_OVERRIDE_fill";

fn project() -> Project {
    Project::new(TARGETS, &[("kernels/two.rs", TWO), ("kernels/other.rs", OTHER)])
}

fn binary(project: &Project, name: &str) -> String {
    fs::read_to_string(project.out().join(name)).unwrap()
}

fn warnings(outcome: &Outcome) -> Vec<&str> {
    let lines = outcome.lines.iter();
    lines.filter_map(|line| line.strip_prefix("cargo::warning=")).collect()
}

/// Acceptance: S3.10.
#[test]
fn a_file_stands_for_its_kernel_where_its_form_is_and_is_in_the_key() {
    let mut project = project();
    assert_eq!(project.counts(), (6, 0));
    let plain = binary(&project, "two.compute_75.ptx");
    project.write("app/edited.ptx", "mine 1");
    project.set(FILL, "edited.ptx");
    assert_eq!(project.counts(), (2, 4), "PTX is for NVIDIA's targets, and for one source");
    for name in ["two.compute_75.ptx", "two.sm_90.cubin"] {
        let text = binary(&project, name);
        assert!(text.ends_with("\nfill is edited.ptx: Ptx(\"mine 1\")"), "{text}");
    }
    assert!(!binary(&project, "two.cpu.o").contains("mine"));
    assert_eq!(project.counts(), (0, 6), "it is in the store");
    project.write("app/edited.ptx", "mine 2");
    assert_eq!(project.counts(), (2, 4), "its content is in the key");
    fs::rename(
        project.folder.path().join("app/edited.ptx"),
        project.folder.path().join("app/moved.ptx"),
    )
    .unwrap();
    project.set(FILL, "moved.ptx");
    assert_eq!(project.counts(), (0, 6), "and its place is not");
    project.write("app/edited.ll", "define void @f()");
    project.set(FILL, "edited.ll");
    assert_eq!(project.counts(), (3, 3), "LLVM's IR is for all targets");
    assert!(binary(&project, "two.cpu.o").contains("FrontEnd"));
    project.variables.remove(FILL);
    assert_eq!(project.counts(), (0, 6));
    assert_eq!(binary(&project, "two.compute_75.ptx"), plain);
}

/// Acceptance: S3.10.
#[test]
fn a_build_with_overridden_code_says_so_and_watches_it() {
    let mut project = project();
    let lines = project.build().lines;
    for kernel in ["fill", "scale", "other"] {
        let line = format!("cargo::rerun-if-env-changed=KERNELMILL_OVERRIDE_{kernel}");
        assert!(lines.contains(&line), "{lines:#?}");
    }
    project.write("app/edited.ptx", "mine");
    project.set(FILL, "edited.ptx");
    let outcome = project.build();
    let expected = "this build has overridden code: `edited.ptx` replaces the PTX of the kernel `fill` of kernels/two.rs, \
                    because KERNELMILL_OVERRIDE_fill is set";
    assert_eq!(warnings(&outcome), [expected]);
    let line = "cargo::rerun-if-changed=edited.ptx".to_owned();
    assert!(outcome.lines.contains(&line), "{:#?}", outcome.lines);
}

/// Acceptance: S3.10.
#[test]
fn a_file_that_is_missing_is_a_warning_and_watched_and_the_source_is_compiled() {
    let mut project = project();
    assert_eq!(project.counts(), (6, 0));
    project.set(FILL, "gone.ptx");
    project.set("KERNELMILL_OVERRIDE_scal", "scale.ptx");
    let outcome = project.build();
    assert_eq!(outcome.result.as_ref().unwrap().cached, 6, "all is as it was");
    assert_eq!(
        warnings(&outcome),
        [
            "KERNELMILL_OVERRIDE_fill is `gone.ptx`, which cannot be read: the kernel `fill` is compiled from \
             kernels/two.rs",
            "KERNELMILL_OVERRIDE_scal is set, and the package `app` has no kernel `scal`; the nearest is `scale`",
        ]
    );
    let line = "cargo::rerun-if-changed=gone.ptx".to_owned();
    assert!(outcome.lines.contains(&line), "{:#?}", outcome.lines);
}

/// Acceptance: S3.10.
#[test]
fn a_file_of_another_kind_is_an_error() {
    let mut project = project();
    project.write("app/edited.txt", "mine");
    project.set(FILL, "edited.txt");
    let error = project.error();
    let expected = "error[KM0030]: KERNELMILL_OVERRIDE_fill is `edited.txt`, and no stage of a kernel has this extension";
    assert!(
        error.contains(expected)
            && error.contains("`.ll`, `.cu`, `.cl`, `.wgsl`, `.ptx` or `.spv`"),
        "{error}"
    );
}
