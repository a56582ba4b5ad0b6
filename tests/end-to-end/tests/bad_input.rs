//! What a user reads after a mistake, as a whole.

use end_to_end::{Project, SAXPY, check_snapshot, scale};

/// Builds a package that must fail, and compares what its build script says.
#[track_caller]
fn fails(name: &str, change: impl FnOnce(Project) -> Project) {
    let project = change(Project::new(name).file("src/main.rs", "fn main() {}\n"));
    check_snapshot(name, &project.cargo(&["build"]).build_script_error());
}

#[test]
fn no_kernels_folder() {
    fails("no-kernels", |project| project);
}

#[test]
fn no_kernel_in_any_file() {
    fails("no-kernel-in-file", |project| {
        project.file("kernels/helpers.rs", "pub fn twice(x: f32) -> f32 {\n    2.0 * x\n}\n")
    });
}

#[test]
fn a_file_named_without_a_kernel() {
    fails("named-without-kernel", |project| {
        project
            .file("kernels/saxpy.rs", SAXPY)
            .file("other/helpers.rs", "pub fn twice(x: f32) -> f32 {\n    2.0 * x\n}\n")
            .file(
                "build.rs",
                "fn main() {\n    kernelmill_build::Build::new()\n        \
                 .source_files([\"other/helpers.rs\"])\n        .compile()\n}\n",
            )
    });
}

#[test]
fn code_that_rustc_does_not_finish() {
    let kernel = "use kernelmill_device::prelude::*;

#[allow(long_running_const_eval)]
const COUNT: u64 = {
    let mut count = 0;
    while count < u64::MAX {
        count += 1;
    }
    count
};

#[kernel]
pub fn counts(mut y: DisjointSlice<u64>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = COUNT;
    }
}
";
    let project = Project::new("no-end").file("src/main.rs", "fn main() {}\n");
    let project =
        project.file("kernels/no_end.rs", kernel).environment("KERNELMILL_TOOL_TIME", "8s");
    let error = project.cargo(&["build"]).build_script_error();
    // What rustc has said until then follows: it names the constant, more often on a faster machine.
    let expected = "error[KM0066]: rustc did not finish on kernels/no_end.rs: it took more than 8 s of processor \
                    time, the limit that KERNELMILL_TOOL_TIME sets\n";
    assert!(error.starts_with(expected), "{error}");
}

/// A kernel in a file that takes in another one, and the pipe `kernels/pipe`.
#[cfg(unix)]
fn with_pipe(name: &str, path: &str, file: &str) -> Project {
    let kernel = format!(
        "use kernelmill_device::prelude::*;\n\nconst TEXT: &str = include_str!({file});\n\n\
         #[kernel]\npub fn length(n: u32) {{\n    assert!(n as usize == TEXT.len());\n}}\n"
    );
    let project = Project::new(name).file("src/main.rs", "fn main() {}\n").file(path, &kernel);
    let pipe = project.package().join("kernels/pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    project
}

#[cfg(unix)]
#[test]
fn a_pipe_that_a_kernel_takes_in() {
    let project = with_pipe("pipe", "kernels/length.rs", "\"pipe\"");
    check_snapshot("pipe", &project.cargo(&["build"]).build_script_error());
}

/// Where only the compiler knows the file's name, it waits for whoever writes to the pipe.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_whose_name_the_compiler_makes() {
    let project = with_pipe("made-pipe", "kernels/length.rs", "env!(\"PIPE\")");
    let pipe = project.package().join("kernels/pipe").display().to_string();
    let project = project.environment("PIPE", &pipe).environment("KERNELMILL_TOOL_IDLE", "3s");
    check_snapshot("made-pipe", &project.cargo(&["build"]).build_script_error());
}

/// There it is cargo that waits, for its rustc.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_whose_name_the_compiler_makes_in_a_kernel_package() {
    let device = test_support::root().join("build-helpers/device");
    let manifest = format!(
        "[package]\nname = \"pack\"\nedition = \"2024\"\n[dependencies]\n\
         kernelmill-device = {{ path = \"{}\" }}\n[workspace]\n",
        device.display()
    );
    let project = with_pipe("pack-pipe", "kernels/pack/src/lib.rs", "env!(\"PIPE\")")
        .file("kernels/pack/Cargo.toml", &manifest);
    let pipe = project.package().join("kernels/pipe").display().to_string();
    let project = project.environment("PIPE", &pipe).environment("KERNELMILL_TOOL_IDLE", "3s");
    let error = project.cargo(&["build"]).build_script_error();
    let expected = "error[KM0066]: cargo did not finish on kernels/pack: it did nothing for 3 s, more than \
                    KERNELMILL_TOOL_IDLE allows; ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn two_kernels_of_one_name() {
    fails("one-name-twice", |project| {
        project
            .file("kernels/first.rs", &scale("scale", "2.0"))
            .file("kernels/second.rs", &scale("scale", "3.0"))
    });
}

#[test]
fn signatures_that_cannot_cross_all_in_one_go() {
    let kernels = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn returns(x: &[f32]) -> f32 {
    x[0]
}

#[kernel]
pub fn generic<T: Copy>(x: &[T]) {
    let _ = x;
}

#[kernel]
pub fn text(name: String) {
    let _ = name;
}

#[kernel]
pub fn mutable(y: &mut [f32]) {
    y[0] = 1.0;
}

#[kernel]
pub fn vector(x: Vec<f32>, good: u32) {
    let _ = (x, good);
}
";
    fails("bad-signatures", |project| {
        project
            .file("kernels/bad.rs", kernels)
            .file("kernels/worse.rs", "#[kernel]\npub fn tuple(x: (f32, u8), y: &str) {}\n")
    });
}

#[test]
fn an_unknown_target() {
    fails("unknown-target", |project| {
        project
            .manifest(
                "2024",
                "targets = [\"cpu\", \"sm_91\", \"sm_999\", \"gfx1l00\", \"compute75\"]",
            )
            .file("kernels/saxpy.rs", SAXPY)
    });
}

#[test]
fn an_unknown_key() {
    fails("unknown-key", |project| {
        project.manifest("2024", "target = [\"cpu\"]").file("kernels/saxpy.rs", SAXPY)
    });
}

#[test]
fn settings_in_two_places() {
    fails("two-places", |project| {
        project.file("kernelmill.toml", "targets = [\"cpu\"]\n").file("kernels/saxpy.rs", SAXPY)
    });
}

#[test]
fn an_error_of_rustc_in_a_kernel() {
    let broken = SAXPY.replace("a * x[i.get()]", "a * x[i]");
    let project = Project::new("rustc-error")
        .file("kernels/saxpy.rs", &broken)
        .file("src/main.rs", "fn main() {}\n");
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.contains("error[E0277]"), "{error}");
    assert!(error.contains("--> kernels/saxpy.rs:7:23"), "{error}");
    assert!(error.contains("*out += a * x[i];"), "{error}");
}

#[test]
fn a_kernel_that_needs_the_heap() {
    let kernel = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn allocates(n: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let numbers: Vec<u32> = (0..n).collect();
    if let Some(out) = y.get_mut(i) {
        *out = numbers.iter().sum();
    }
}
";
    let project = Project::new("needs-heap")
        .manifest("2024", "targets = [\"cpu\", \"gfx1100\"]")
        .file("kernels/allocates.rs", kernel)
        .file("src/main.rs", "fn main() {}\n");
    let error = project.cargo(&["build"]).build_script_error();
    for part in ["allocates on the heap", "gfx1100", "kernels/allocates.rs:6"] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}
