//! Functions of packages that an application depends on, in its kernels: by name and in tables.

use end_to_end::{Project, Run, check_snapshot};
use std::{fs, time::Duration};
use test_support::{
    root,
    tool::{clang, nvidia},
};

/// The functions of `colors`, in Rust.
const SHADE: &str = "\
use kernelmill_device::prelude::*;

/// By a function in C++.
#[unsafe(no_mangle)]
pub extern \"C\" fn shade(x: f32) -> f32 {
    let tint = deferred!(tint: fn(f32) -> f32);
    2.0 * unsafe { tint(x) }
}

#[device_fn]
pub fn square(x: f32) -> f32 {
    x * x
}

#[device_fn]
pub fn tinted(x: f32) -> f32 {
    let tint = deferred!(tint: fn(f32) -> f32);
    unsafe { tint(x) }
}
";

/// Those in C++, beside a kernel.
const TINT: &str = "\
extern \"C\" __device__ float tint(float x) { return x + 0.5f; }
extern \"C\" __global__ void nothing() {}
";

const KERNELS: &str = "\
use kernelmill_device::prelude::*;

#[device_fn]
pub fn negative(x: f32) -> f32 {
    -x
}

#[kernel]
pub fn shade_all(f: DeviceFn<fn(f32) -> f32>, mut out: DisjointSlice<f32>) {
    let shade = deferred!(shade: fn(f32) -> f32);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = f.call(unsafe { shade(*out) });
    }
}
";

const MAIN: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};
use kernels::Kernels;

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let kernels = Kernels::load(&device)?;
    let functions = Kernels::functions();
    for function in [functions.negative, functions.square, functions.tinted] {
        let mut y = device.upload(&[1.0f32; 4])?;
        kernels.shade_all(&device.stream(), Launch::linear(4), function, &mut y)?;
        println!(\"{}\", y.download()?[3]);
    }
    Ok(())
}
";

fn manifest(name: &str, dependencies: &str, rest: &str, targets: &str) -> String {
    let root = root().display();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}\n\
         [dependencies]\n{dependencies}\n[build-dependencies]\n\
         kernelmill-build = {{ path = \"{root}/build-helpers/build-script\" }}\n\
         [package.metadata.kernelmill]\ntargets = {targets}\n"
    )
}

/// An application that depends on `NAME-palette`, which hands on what it has of `NAME-colors`. All
/// projects share a target folder, so that names are each project's own.
fn project(name: &str) -> Option<Project> {
    let (nvcc, _) = (nvidia("ptxas")?, clang()?);
    let home = nvcc.ancestors().nth(2).expect("ptxas lies in bin").display().to_string();
    let script = "fn main() {\n    kernelmill_build::compile()\n}\n";
    let kernelmill = format!("kernelmill = {{ path = \"{}\" }}", root().display());
    let targets = "[\"cpu\", \"sm_75\"]";
    let on = |other: &str, path: &str| format!("{name}-{other} = {{ path = \"{path}\" }}");
    let inner = |own: &str, on: &str, targets| {
        let own = format!("{name}-{own}");
        manifest(&own, on, &format!("links = \"{own}\""), targets)
    };
    let outer = manifest(name, &format!("{kernelmill}\n{}", on("palette", "palette")), "", targets);
    let palette = inner("palette", &on("colors", "../colors"), targets);
    let colors = inner("colors", "", "[\"cpu\"]");
    let project = Project::bare(name)
        .environment("CUDA_HOME", &home)
        .file("Cargo.toml", &format!("{outer}[workspace]\n"))
        .file("build.rs", script)
        .file("kernels/shade_all.rs", KERNELS)
        .file("src/main.rs", MAIN)
        .file("palette/Cargo.toml", &palette)
        .file("palette/build.rs", script)
        .file("palette/kernels/own.rs", "#[unsafe(no_mangle)]\npub extern \"C\" fn own() {}\n")
        .file("palette/src/lib.rs", "")
        .file("colors/Cargo.toml", &colors)
        .file("colors/build.rs", script)
        .file("colors/kernels/shade.rs", SHADE)
        .file("colors/kernels/tint.cu", TINT)
        .file("colors/src/lib.rs", "");
    Some(project)
}

#[track_caller]
fn run(project: &Project) -> Run {
    project.cargo(&["run", "-vv"]).succeeds()
}

/// What the program printed, after what the build scripts did.
fn values(run: &Run) -> Vec<&str> {
    let numbers = run.stdout.lines().filter(|line| line.parse::<f32>().is_ok());
    numbers.collect()
}

/// How many binaries each build script that ran has compiled, in the order in which they ran.
fn compiled(run: &Run) -> Vec<u32> {
    let numbers = run.stdout.lines().chain(run.stderr.lines()).filter_map(|line| {
        let (_, rest) = line.split_once("kernelmill: compiled ")?;
        rest.split_whitespace().next()?.parse().ok()
    });
    numbers.collect()
}

/// See `next_tick` of the tests of incremental builds.
fn next_tick() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn kernels_call_functions_of_packages_that_the_application_depends_on() {
    let Some(project) = project("called-functions") else { return };
    let first = run(&project);
    assert_eq!(values(&first), ["-3", "9", "3.5"], "{}{}", first.stdout, first.stderr);
    let again = project.cargo(&["build", "-v"]).succeeds();
    assert!(again.stderr.contains("Fresh called-functions"), "{}", again.stderr);

    // One in C++ of the package further off.
    next_tick();
    project.write("colors/kernels/tint.cu", &TINT.replace("0.5f", "1.5f"));
    let edited = run(&project);
    assert_eq!(values(&edited), ["-5", "25", "6.5"], "{}{}", edited.stdout, edited.stderr);
    assert_eq!(compiled(&edited), [1, 0, 2], "tint, nothing of palette, both targets");

    // What changes no code compiles nothing.
    next_tick();
    project.write("colors/kernels/shade.rs", &format!("{SHADE}// nothing\n"));
    let same = run(&project);
    assert_eq!(values(&same), ["-5", "25", "6.5"]);
    assert_eq!(compiled(&same).iter().sum::<u32>(), 0, "{}", same.stdout);
}

#[test]
fn a_function_that_no_package_has_is_told_with_the_nearest_and_its_package() {
    let Some(project) = project("missing-functions") else { return };
    project
        .write("kernels/shade_all.rs", &KERNELS.replace("deferred!(shade:", "deferred!(shader:"));
    let error = project.cargo(&["build"]).build_script_error();
    let expected = "kernels/shade_all.rs:12: no source exports a function `shader`; the nearest \
                    is `shade` of kernels/shade.rs of the package `missing-functions-colors`";
    assert!(error.contains(expected), "{error}");

    project.write("kernels/shade_all.rs", &KERNELS.replace("fn(f32) -> f32>", "fn(f64) -> f64>"));
    let error = project.cargo(&["build"]).build_script_error();
    let expected = "kernel `shade_all` takes a `DeviceFn<fn(f64) -> f64>`, and no device function has \
                    that type";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn functions_of_one_name_in_two_packages_are_both_there() {
    let Some(project) = project("same-names") else { return };
    project.write("kernels/shade_all.rs", &KERNELS.replace("negative", "square"));
    let functions = "[functions.square, functions.same_names_colors_square, functions.tinted]";
    let main = MAIN.replace("[functions.negative, functions.square, functions.tinted]", functions);
    project.write("src/main.rs", &main);
    assert_eq!(values(&run(&project)), ["-3", "9", "3.5"]);

    // A name that is made so may be taken too.
    let text = KERNELS.replace("negative", "square");
    let other =
        "#[device_fn]\npub fn same_names_colors_square(x: f32) -> f32 {\n    x\n}\n\n#[kernel]";
    project.write("kernels/shade_all.rs", &text.replace("#[kernel]", other));
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("two-device-functions", &error);
}

const APPLY: &str = "\
KERNELMILL_DEVICE_FN(float, halved, float x) { return 0.5f * x; }

extern \"C\" __global__ void apply(kernelmill::DeviceFn<float(float)> f, float *out) {
  out[threadIdx.x] = f(out[threadIdx.x]);
}
";

const APPLY_MAIN: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, DeviceFn, Launch};
use kernels::Kernels;

fn main() -> kernelmill::Result<()> {
    let device = Device::cpu()?;
    let kernels = Kernels::load(&device)?;
    let functions = Kernels::functions();
    let (negative, square) = (functions.negative.into(), functions.square.into());
    let given: [DeviceFn<unsafe fn(f32) -> f32>; 4] =
        [functions.halved, negative, square, functions.cubed];
    for function in given {
        let mut y = device.upload(&[4.0f32; 4])?;
        let launch = Launch::grid([1], [4]);
        // SAFETY: it has an element for each thread.
        unsafe { kernels.apply(&device.stream(), launch, function, &mut y)? };
        println!(\"{}\", y.download()?[3]);
    }
    Ok(())
}
";

#[test]
fn kernels_in_cpp_are_given_functions_of_both_languages_and_of_other_packages() {
    let Some(project) = project("cpp-functions") else { return };
    let project = project.environment("KERNELMILL_CUDA_COMPILER", "clang");
    let cubed = "KERNELMILL_DEVICE_FN(float, cubed, float x) { return x * x * x; }\n";
    project.write("colors/kernels/cubed.cu", cubed);
    project.write("kernels/apply.cu", APPLY);
    project.write("src/main.rs", APPLY_MAIN);
    assert_eq!(values(&run(&project)), ["2", "-4", "16", "64"]);

    // A function in C++ is for the kernel that takes unsafe functions alone.
    next_tick();
    project.write("kernels/apply.cu", &APPLY.replace("0.5f", "0.25f"));
    let edited = run(&project);
    assert_eq!(values(&edited), ["1", "-4", "16", "64"]);
    assert_eq!(compiled(&edited), [2], "one kernel for two targets");

    // A kernel in Rust calls it in an `unsafe` block, and the wrapper of one that does not refuses it.
    project.write("src/main.rs", &MAIN.replace("functions.tinted]", "functions.halved]"));
    let error = project.cargo(&["build"]);
    assert!(error.stderr.contains("E0308"), "{}", error.stderr);
    let safe_calls = KERNELS
        .replace("<fn(f32)", "<unsafe fn(f32)")
        .replace("unsafe { shade(*out) }", "shade(*out)");
    project.write("kernels/shade_all.rs", &safe_calls);
    let error = project.cargo(&["build"]).build_script_error();
    assert_eq!(error.matches("error[E0133]").count(), 2, "by its name and out of a table: {error}");
    let unsafe_call = KERNELS
        .replace("<fn(f32)", "<unsafe fn(f32)")
        .replace("f.call(unsafe { shade(*out) })", "unsafe { f.call(shade(*out)) }");
    project.write("kernels/shade_all.rs", &unsafe_call);
    let given = "[functions.negative, functions.square, functions.tinted]";
    let main = MAIN.replace(given, "[functions.halved, functions.negative.into()]");
    project.write("src/main.rs", &main);
    assert_eq!(values(&run(&project)), ["0.75", "-3"]);

    let project = project.environment("KERNELMILL_CUDA_COMPILER", "nvcc");
    let error = project.cargo(&["build"]).build_script_error();
    let note = "which need kernelmill's own compiler: write `cuda-compiler = \"clang\"`";
    assert!(error.contains(note), "{error}");
}

#[test]
fn a_package_without_links_has_functions_for_nobody() {
    let Some(project) = project("no-links") else { return };
    let manifest = fs::read_to_string(project.package().join("palette/Cargo.toml")).unwrap();
    project.write("palette/Cargo.toml", &manifest.replace("links = \"no-links-palette\"\n", ""));
    // Nothing tells Cargo to run that build script before the application's.
    let error = project.cargo(&["build", "--package", "no-links-palette"]).build_script_error();
    assert!(error.contains("add `links = \"no-links-palette\"`"), "{error}");
}

/// The kernel's own source has no fault, and none is reported for it.
#[test]
fn a_function_that_does_not_compile_is_the_only_error() {
    let kernel = KERNELS.replace("    let shade = deferred!(shade: fn(f32) -> f32);\n", "");
    let kernel = kernel.replace("unsafe { shade(*out) }", "*out").replace("-x", "x");
    let wrong = "use kernelmill_device::prelude::*;\n\n#[device_fn]\npub fn wrong(x: f32) -> f32 {\n    \
                 y\n}\n";
    let project = Project::new("wrong-function").file("src/main.rs", "fn main() {}\n");
    let project = project.file("kernels/shade.rs", &kernel).file("kernels/wrong.rs", wrong);
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.starts_with("error[E0425]: cannot find value `y`"), "{error}");
    assert!(!error.contains("shade.rs"), "{error}");
}

/// Nobody knows what the source that does not compile has, so nothing is said of what names its functions: by
/// name, through a function of a third source, and in a table.
#[test]
fn a_source_that_does_not_compile_is_the_only_error_of_all_that_name_its_functions() {
    let named = "use kernelmill_device::prelude::*;\n\n#[kernel]\npub fn named(mut out: DisjointSlice<f32>) {\n    \
                 let half = deferred!(half: fn(f32) -> f32);\n    if let Some(out) = \
                 out.get_mut(thread::index_1d()) {\n        *out = unsafe { half(*out) };\n    }\n}\n";
    let given = KERNELS.replace("deferred!(shade:", "deferred!(half:");
    let wrong = "use kernelmill_device::prelude::*;\n\n#[unsafe(no_mangle)]\npub extern \"C\" fn half(x: f32) \
                 -> f32 {\n    y\n}\n";
    let project = Project::new("wrong-half").file("src/main.rs", "fn main() {}\n");
    let project = project.file("kernels/named.rs", named).file("kernels/given.rs", &given);
    let through = given.replace("f: DeviceFn<fn(f32) -> f32>, ", "").replace("f.call", "");
    let through = through.replace("fn negative", "fn positive").replace("shade_all", "through");
    let project = project.file("kernels/through.rs", &through).file("kernels/wrong.rs", wrong);
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.starts_with("error[E0425]: cannot find value `y`"), "{error}");
    let others = ["named.rs", "given.rs", "through.rs", "half`", "internal"];
    assert!(others.iter().all(|other| !error.contains(other)), "{error}");

    // What is wrong whatever that source has is told.
    project.write(
        "kernels/other.rs",
        &wrong.replace("    y", "    x").replace("x: f32", "x: f64").replace("-> f32", "-> f64"),
    );
    let error = project.cargo(&["build"]).build_script_error();
    assert!(
        error.contains("kernels/named.rs:7: `half` is declared with the type")
            && error.contains("E0425"),
        "{error}"
    );
}
