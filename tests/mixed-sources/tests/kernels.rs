//! Kernels in several languages, each on the devices that suit it.

use kernelmill_build::manifest::Manifest;
use std::{collections::BTreeSet, path::Path};
use test_support::{
    checks::{self, Checked},
    snapshot, tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mixed-sources");

#[test]
fn each_source_is_compiled_for_the_targets_that_suit_it() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let found: BTreeSet<_> =
        manifest.binaries.iter().map(|it| format!("{} for {}", it.source, it.target)).collect();
    let expected = [
        ("scaled.rs", &["cpu", "compute_80"][..]),
        ("shifted.cu", &["cpu", "compute_80"]),
        ("doubled.cl", &["cpu", "compute_80", "spirv64", "opencl-c"]),
    ];
    let expected = expected.into_iter().flat_map(|(source, targets)| {
        targets.iter().map(move |target| format!("kernels/{source} for {target}"))
    });
    assert_eq!(found, expected.collect());
}

#[test]
fn the_cpu_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cpu");
    assert_eq!((passed.len(), lacking), (3, Vec::new()));
}

#[test]
fn the_fake_driver_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cuda");
    assert_eq!((passed.len(), lacking), (3, Vec::new()));
}

/// The kernels are loaded, and a launch of one that has no binary for the device says so.
#[test]
fn pocl_runs_what_suits_it() {
    if tool::pocl().is_none() {
        return;
    }
    let Checked { passed, lacking, errors } = checks::on(PROGRAM, "opencl");
    assert_eq!(
        (passed, lacking),
        (vec!["doubled".to_owned()], vec!["scaled".into(), "shifted".into()])
    );
    // The version of pocl and the name of the processor are the machine's.
    let errors: Vec<_> = errors
        .lines()
        .map(|line| {
            line.split_once(" runs on ")
                .map_or(line.to_owned(), |(it, _)| it.to_owned() + " runs on ..")
                + "\n"
        })
        .collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/lacking.txt");
    snapshot::check(path, &errors.concat());
}
