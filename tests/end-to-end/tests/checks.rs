//! What is checked before anything runs: types and dimensions by rustc, the LLVM library by the
//! build.

use end_to_end::{Project, SAXPY, SAXPY_MAIN, check_snapshot};
use std::process::Command;

/// The program of the documentation with its launch replaced.
fn with_launch(name: &str, launch: &str) -> Project {
    let old = "kernels.saxpy(&device.stream(), Launch::linear(1000), 3.0, &x, &mut y)?;";
    assert!(SAXPY_MAIN.contains(old));
    Project::new(name)
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", &SAXPY_MAIN.replace(old, launch))
}

#[test]
fn wrong_arguments_and_dimensions_do_not_compile() {
    let two = "Launch::grid([1, 1], [32, 32])";
    for (case, launch, message) in [
        ("scalar", "Launch::linear(9), 3_u32, &x, &mut y", "mismatched types"),
        ("dimension", &format!("{two}, 3.0, &x, &mut y"), "expected an array with a size of 1"),
        ("read", "Launch::linear(9), 3.0, &x, &y", "WriteSlice<f32>` is not satisfied"),
        (
            "element",
            "Launch::linear(9), 3.0, &device.upload(&[1_u8])?, &mut y",
            "ReadSlice<f32>` is not satisfied",
        ),
        ("number", "Launch::linear(9), 3.0, &x", "this method takes 5 arguments"),
    ] {
        let launch = format!("kernels.saxpy(&device.stream(), {launch})?;");
        let run = with_launch(&format!("wrong_{case}"), &launch).cargo(&["build"]);
        assert!(!run.success, "{case} compiled");
        assert!(run.stderr.contains(message), "{case}: {}", run.stderr);
    }
}

#[test]
fn another_llvm_library_can_be_named_and_one_that_is_not_there_is_an_error() {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc runs");
    let sysroot = String::from_utf8(sysroot.stdout).expect("a path in UTF-8");
    let lib = std::path::Path::new(sysroot.trim()).join("lib");
    let library = std::fs::read_dir(lib)
        .expect("the toolchain has a lib folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.to_string_lossy().contains("libLLVM.so."))
        .expect("the toolchain has an LLVM library");

    let project = |name: &str, path: &str| {
        Project::new(name)
            .file("kernels/saxpy.rs", SAXPY)
            .file("src/main.rs", SAXPY_MAIN)
            .environment("KERNELMILL_LLVM", path)
    };
    let run = project("named_llvm", &library.display().to_string()).cargo(&["run"]).succeeds();
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
    let run = project("no_llvm", "/nowhere/libLLVM.so").cargo(&["build"]);
    assert!(!run.success);
    let message = "cannot open the LLVM library /nowhere/libLLVM.so";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn a_contract_is_checked_at_each_launch_and_its_mistakes_stop_the_build() {
    let settings = |rule: &str| {
        format!(
            "targets = [\"cpu\"]\n[package.metadata.kernelmill.kernels.saxpy]\n\
             requires = [\"block.x == 256\", \"{rule}\"]"
        )
    };
    let project = Project::new("contract")
        .manifest("2024", &settings("x.len >= y.len"))
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", SAXPY_MAIN);
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "5\n");

    let project = project.manifest("2024", &settings("x.len > grid.x * 250"));
    let run = project.cargo(&["run"]);
    assert!(!run.success);
    let message = "kernel `saxpy`: its contract `x.len > grid.x * 250` does not hold";
    assert!(run.stderr.contains(message), "{}", run.stderr);

    let project = project.manifest("2024", &settings("z.len >= y.len"));
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("unknown-name-in-contract", &error);
}
