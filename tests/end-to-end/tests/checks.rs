//! What is checked before anything runs: types and dimensions by rustc, the LLVM library by the
//! build.

use end_to_end::{Project, SAXPY, SAXPY_MAIN, check_snapshot};
use std::process::Command;
use test_support::tool::clang;

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
        ("read", "Launch::linear(9), 3.0, &x, &y", "write a mutable reference to a buffer"),
        (
            "element",
            "Launch::linear(9), 3.0, &device.upload(&[1_u8])?, &mut y",
            "`&Buffer<u8>` is not device memory that a kernel reads as elements of type `f32`",
        ),
        (
            "array",
            "Launch::linear(9), 3.0, &[1.0_f32; 4], &mut y",
            "`device.upload(&elements)?` copies elements of the host into a buffer",
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
fn a_package_whose_kernels_nobody_compiles_says_what_to_write() {
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\nfn main() {}\n";
    for (name, script) in [("no_build_script", None), ("no_call", Some("fn main() {}\n"))] {
        let project = Project::bare(name).manifest("2024", "").file("src/main.rs", main);
        let project = match script {
            Some(script) => project.file("build.rs", script),
            None => project,
        };
        let run = project.file("kernels/saxpy.rs", SAXPY).cargo(&["build"]);
        assert!(!run.success, "{name} compiled");
        let message = "error: this package has no kernels: no build script has called \
                       `kernelmill_build::compile()`. Write `fn main() { kernelmill_build::compile(); }` into `build.rs`";
        assert!(run.stderr.contains(message), "{name}: {}", run.stderr);
        assert!(!run.stderr.contains("OUT_DIR"), "{name}: {}", run.stderr);
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
    let run = project.cargo(&["build"]);
    // Cargo shows what a build script that failed has printed, in front of its errors.
    assert!(!run.stderr.contains("cargo::rerun-if-"), "{}", run.stderr);
    check_snapshot("unknown-name-in-contract", &run.build_script_error());
}

/// Structs of kernels, of which the package has its own.
const MAPPED: &str = "\
use kernelmill_device::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Inner {
    pub x: f32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Params {
    pub flag: u8,
    pub size: u32,
    pub inner: Inner,
    pub pair: [u32; 2],
    pub address: u64,
}

#[kernel]
pub fn fill(params: Params, mut out: DisjointSlice<Params>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = Params { size: params.size + 1, ..params };
    }
}
";

const MAPPED_MAIN: &str = "\
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};
use kernels::{Inner, Kernels};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Of<T> {
    flag: u8,
    size: u32,
    inner: Inner,
    pair: [T; 2],
    address: u64,
}
pub type Mine = Of<u32>;
kernelmill::device_copy!(unsafe Mine);

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let params = Mine { flag: 1, size: 2, inner: Inner { x: 0.5 }, pair: [3; 2], address: 4 };
    let mut out = device.upload(&[params])?;
    Kernels::load(&device)?.fill(&device.stream(), Launch::linear(1), params, &mut out)?;
    println!(\"{}\", out.download()?[0].size);
    Ok(())
}
";

#[test]
fn the_fields_of_structs_that_types_maps_are_those_of_the_kernels() {
    let project = Project::new("mapped")
        .manifest("2024", "targets = [\"cpu\"]\ntypes = { Params = \"crate::Mine\" }")
        .file("kernels/fill.rs", MAPPED)
        .file("src/main.rs", MAPPED_MAIN);
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "3\n");

    let wrong = |old: &str, new: &str| {
        assert!(MAPPED_MAIN.contains(old));
        project.write("src/main.rs", &MAPPED_MAIN.replace(old, new));
        let run = project.cargo(&["build"]);
        assert!(!run.success, "{new} compiled");
        run.stderr
    };
    for (old, new, error) in [
        (
            "flag: u8",
            "flag: bool",
            "a field has type `bool` in the struct that `types` maps to, and `u8`",
        ),
        ("Of<u32>", "Of<f32>", "a field has type `[f32; 2]` in the struct that"),
        ("address: u64", "address: &'static u64", "a field has type `&u64` in the struct that"),
        (
            "    inner: Inner",
            "    inner: [f32; 1]",
            "a field has type `[f32; 1]` in the struct that",
        ),
        // The kernels leave the bytes there as they are.
        (
            "flag: u8,",
            "flag: u8,\n    hidden: bool,",
            "missing field `hidden` in initializer of `Of<u32>`\n   --> [target]",
        ),
    ] {
        let stderr = wrong(old, new);
        assert!(stderr.contains(error), "{new}: {stderr}");
    }

    project.write("src/main.rs", MAPPED_MAIN);
    project.write("kernels/fill.rs", &MAPPED.replace("pub size", "size"));
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("mapped-struct-with-private-field", &error);
}

/// A kernel in C++ that writes whatever number it is given.
const NUMBERED: &str = "\
enum Mode { Off, On = 7 };
extern \"C\" __global__ void store(Mode *out, int number) { *out = static_cast<Mode>(number); }
";

const NUMBERED_MAIN: &str = "\
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Mine(i32);
kernelmill::device_copy!(unsafe Mine);

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let mut out = device.zeros::<Mine>(1)?;
    kernels::Kernels::load(&device)?.store(&device.stream(), Launch::linear(1), &mut out, 5)?;
    println!(\"{:?}\", out.download()?[0]);
    Ok(())
}
";

/// An enumeration of C++ may be any number: no type that has fewer values stands for it.
#[test]
fn a_type_for_an_enumeration_of_cpp_takes_every_number() {
    if clang().is_none() {
        return;
    }
    let settings = "targets = [\"cpu\"]\ntypes = { Mode = \"crate::Mine\" }\n\
                    [package.metadata.kernelmill.kernels.store]\nrequires = \"out.len >= 1\"";
    let project = Project::new("mapped-enumeration")
        .manifest("2024", settings)
        .file("kernels/mode.cu", NUMBERED)
        .file("src/main.rs", NUMBERED_MAIN);
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "Mine(5)\n");

    let item = "#[repr(C)]\npub struct Mine(i32);";
    assert!(NUMBERED_MAIN.contains(item));
    for (other, error) in [
        ("#[repr(i32)]\npub enum Mine { Off, On = 7 }", "expected struct, variant or union type"),
        ("#[repr(C)]\npub struct Mine(char);", "mismatched types"),
        ("#[repr(C)]\npub struct Mine(pub i32, pub [i32; 0]);", "pattern requires `..`"),
    ] {
        project.write("src/main.rs", &NUMBERED_MAIN.replace(item, other));
        let run = project.cargo(&["build"]);
        assert!(!run.success && run.stderr.contains(error), "{other}: {}", run.stderr);
    }
}

#[test]
fn a_compiler_that_writes_nothing_is_named() {
    let project = Project::new("nothing-written")
        .manifest(
            "2024",
            "targets = [\"compute_75\"]\narguments = [\"rustc:-Cllvm-args=-version\"]",
        )
        .file("kernels/saxpy.rs", "#[kernel]\npub fn nothing() {}\n")
        .file("src/lib.rs", "");
    let run = project.cargo(&["check"]);
    assert!(!run.success);
    let expected = "rustc succeeded on kernels/saxpy.rs and wrote no output: remove the option in the setting `arguments`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}
