//! NVTX ranges: each load, launch and copy, for a tool that the test compiles.

use cuda_backend::{Kernels, clean_child, is_left_out, run_child};
use kernelmill::{Device, Launch};
use std::{env, fs, path::PathBuf};
use test_support::{TempDir, temporary_folder, tool};

/// The variable of NVIDIA's tools.
const INJECTION: &str = "NVTX_INJECTION64_PATH";

/// The tool, and a folder for what it writes.
fn injection() -> (TempDir, PathBuf) {
    let folder = temporary_folder();
    let library = folder.path().join("libinjection.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvtx/injection.rs");
    let arguments =
        ["--edition=2024", "--crate-type=cdylib", source, "-o", library.to_str().unwrap()];
    let printed = tool::output(&tool::rustc().program, &arguments);
    assert_eq!(printed, "");
    (folder, library)
}

/// Uploads, launches and downloads.
fn work() {
    let device = Device::cuda(0).unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let (x, mut y) = (device.upload(&[1.0_f32; 8]).unwrap(), device.zeros::<f32>(8).unwrap());
    kernels.saxpy(&device.stream(), Launch::grid([2], [4]), 3.0, &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [3.0; 8]);
}

#[test]
fn a_tool_is_told_of_loads_launches_and_copies() {
    let name = "a_tool_is_told_of_loads_launches_and_copies";
    if is_left_out(name) {
        return;
    }
    if env::var_os(INJECTION).is_some() {
        return clean_child(name, &[], work);
    }
    let (folder, library) = injection();
    let calls = folder.path().join("calls");
    let variables =
        [(INJECTION, library.to_str().unwrap()), ("NVTX_CALLS", calls.to_str().unwrap())];
    clean_child(name, &variables, work);
    let lines = "domain kernelmill\npush load kernels/saxpy.rs\npop\npush copy upload\npop\n\
                 push launch saxpy\npop\npush copy download\npop\n";
    assert_eq!(fs::read_to_string(&calls).unwrap(), lines);
}

#[test]
fn a_library_that_is_no_tool_is_a_warning() {
    let name = "a_library_that_is_no_tool_is_a_warning";
    if is_left_out(name) {
        return;
    }
    if env::var_os(INJECTION).is_some() {
        run_child(name, &[], work);
    }
    let (folder, library) = injection();
    let library = library.to_str().unwrap();
    let not_there = folder.path().join("none.so");
    let cases = [
        (
            vec![(INJECTION, library), ("NVTX_REFUSES", "1")],
            "its function `InitializeInjectionNvtx2` reports a failure",
        ),
        (vec![(INJECTION, not_there.to_str().unwrap())], "cannot open shared object file"),
        (vec![(INJECTION, "libm.so.6")], "undefined symbol: InitializeInjectionNvtx2"),
    ];
    for (variables, reason) in cases {
        let child = run_child(name, &variables, work);
        child.expect_success();
        let warnings: Vec<_> =
            child.stderr.lines().filter(|line| line.starts_with("kernelmill: NVTX_")).collect();
        let [warning] = warnings[..] else { panic!("{}", child.stderr) };
        assert!(
            warning.contains(reason) && warning.ends_with("; no NVTX ranges are recorded"),
            "{warning}"
        );
    }
}
