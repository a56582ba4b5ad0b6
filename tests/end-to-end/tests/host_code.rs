//! Host code in `.cu` files: launchers and `extern "C"` functions that a package calls.
#![cfg(unix)]

use end_to_end::{Project, Run};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};
use test_support::tool;

const TARGETS: &str = "targets = [\"sm_80\", \"sm_90a\", \"compute_75\"]\n";

/// A launcher, and a function that uses the library of C++ and a header.
const LAUNCH: &str = "\
#include <vector>
#include \"factor.cuh\"

__global__ void scale(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= FACTOR;
}

extern \"C\" int launch_scale(float *y, int n) {
    scale<<<(n + 255) / 256, 256>>>(y, n);
    return (int)cudaGetLastError();
}

extern \"C\" int sum_of_factors(int n) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(FACTOR);
    int sum = 0;
    for (int one : all) sum += one;
    return sum;
}
";

const VERSION: &str = "\
extern \"C\" int runtime_version() {
    int version = 0;
    return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : -1;
}
";

/// Calls all three. Without a driver a launch fails with the runtime's own number.
const MAIN: &str = "\
unsafe extern \"C\" {
    fn launch_scale(y: *mut f32, n: i32) -> i32;
    fn sum_of_factors(n: i32) -> i32;
    fn runtime_version() -> i32;
}

fn main() {
    let (sum, version) = unsafe { (sum_of_factors(7), runtime_version()) };
    let launch = unsafe { launch_scale(std::ptr::null_mut(), 0) };
    println!(\"sum {sum}, runtime {}, launch {launch}\", version / 1000);
}
";

/// A package with two host files and a header that one of them includes.
fn launcher(project: Project) -> Project {
    project
        .manifest("2024", &format!("{TARGETS}host-files = [\"src/gpu/*.cu\"]"))
        .file("src/gpu/launch.cu", LAUNCH)
        .file("src/gpu/version.cu", VERSION)
        .file("src/gpu/factor.cuh", "#define FACTOR 3\n")
        .file("src/main.rs", MAIN)
}

/// An nvcc that notes its arguments, in a folder of the project.
struct Noted {
    program: PathBuf,
    log: PathBuf,
}

impl Noted {
    fn new(project: &Project, nvcc: &Path) -> Self {
        let folder = project.store().with_file_name("tools");
        fs::create_dir_all(&folder).unwrap();
        let (program, log) = (folder.join("nvcc"), folder.join("log"));
        let text = format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
            log.display(),
            nvcc.display()
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { program, log }
    }

    /// The files that were compiled, and `-dlink` for a device link, since the last call.
    fn compiled(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let _ = fs::remove_file(&self.log);
        let step = |line: &str| {
            let words: Vec<_> = line.split(' ').collect();
            let file = words.iter().find(|word| word.ends_with(".cu"));
            match words[0] {
                "-c" => file.map(|file| (*file).to_owned()),
                "-dlink" => Some("-dlink".to_owned()),
                _ => None,
            }
        };
        let mut steps: Vec<_> = text.lines().filter_map(step).collect();
        steps.sort();
        steps
    }
}

/// A project that uses a noted nvcc; `None` where there is no nvcc.
fn with_nvcc(name: &str) -> Option<(Project, Noted)> {
    let nvcc = tool::nvidia("nvcc")?;
    let project = Project::new(name);
    let noted = Noted::new(&project, &nvcc);
    let program = noted.program.display().to_string();
    Some((project.environment("KERNELMILL_NVCC", &program), noted))
}

#[track_caller]
fn printed(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or_default()
}

/// Cargo compares modification times.
fn next_tick() {
    sleep(Duration::from_millis(20));
}

#[test]
fn launchers_are_linked_and_compiled_again_where_something_changed() {
    let Some((project, noted)) = with_nvcc("host-launcher") else { return };
    let project = launcher(project);
    let run = || project.cargo(&["run"]).succeeds();
    let first = run();
    assert!(printed(&first).starts_with("sum 21, runtime 13, launch "), "{}", first.stdout);
    assert_eq!(noted.compiled(), ["src/gpu/launch.cu", "src/gpu/version.cu"]);

    let again = project.cargo(&["build", "-v"]).succeeds();
    assert!(again.stderr.contains("Fresh host-launcher"), "{}", again.stderr);
    assert!(noted.compiled().is_empty());

    next_tick();
    project.write("src/gpu/version.cu", VERSION);
    run();
    assert!(noted.compiled().is_empty(), "a file that was written again as it is");

    next_tick();
    project.write("src/gpu/factor.cuh", "#define FACTOR 5\n");
    assert!(printed(&run()).starts_with("sum 35, "));
    assert_eq!(noted.compiled(), ["src/gpu/launch.cu"], "only what includes the header");

    next_tick();
    project.write("src/gpu/third.cu", "extern \"C\" int third() { return 3; }\n");
    run();
    assert_eq!(noted.compiled(), ["src/gpu/third.cu"], "a new file is found");
}

#[test]
fn a_second_checkout_compiles_no_host_file() {
    let Some((project, noted)) = with_nvcc("host-first") else { return };
    let project = launcher(project);
    let _ = project.cargo(&["run"]).succeeds();
    assert_eq!(noted.compiled().len(), 2);
    let program = noted.program.display().to_string();
    let second = Project::checkout("host-second", "host-first").with_store_of(&project);
    let second = launcher(second.environment("KERNELMILL_NVCC", &program));
    let run = second.cargo(&["run"]).succeeds();
    assert!(printed(&run).starts_with("sum 21, "), "{}", run.stdout);
    assert!(noted.compiled().is_empty());
}

const CALLS: &str = "\
__device__ float twice(float x);
__global__ void fill(float *y) { y[threadIdx.x] = twice(threadIdx.x); }
extern \"C\" int launch_fill(float *y) {
    fill<<<1, 32>>>(y);
    return (int)cudaGetLastError();
}
";

#[test]
fn device_code_is_linked_across_files_and_reaches_programs_through_a_library() {
    let Some((project, noted)) = with_nvcc("host-rdc") else { return };
    let settings = format!("{TARGETS}host-files = [\"gpu/*.cu\"]\nrdc = true");
    let project = project
        .environment("KERNELMILL_TRACE", "trace.json")
        .manifest("2024", &settings)
        .file("gpu/calls.cu", CALLS)
        .file("gpu/twice.cu", "__device__ float twice(float x) { return 2 * x; }\n")
        .file(
            "src/lib.rs",
            "unsafe extern \"C\" { fn launch_fill(y: *mut f32) -> i32; }\n\
             pub fn fill() -> i32 { unsafe { launch_fill(std::ptr::null_mut()) } }\n\
             #[test]\nfn calls() { assert!(fill() >= 0); }\n",
        )
        .file("src/main.rs", "fn main() { println!(\"launch {}\", host_rdc::fill()); }\n");
    let run = project.cargo(&["run"]).succeeds();
    assert!(printed(&run).starts_with("launch "), "{}", run.stdout);
    assert_eq!(noted.compiled(), ["-dlink", "gpu/calls.cu", "gpu/twice.cu"]);
    // The trace has each of them.
    let trace = fs::read_to_string(project.package().join("trace.json")).unwrap();
    let host_code = trace.lines().filter(|line| line.contains("\"cat\":\"host code\""));
    let host_code: Vec<_> = host_code.collect();
    for name in ["device link", "gpu/calls.cu", "gpu/twice.cu"] {
        let name = format!("\"name\":\"{name}\"");
        assert_eq!(host_code.iter().filter(|it| it.contains(&name)).count(), 1, "{trace}");
    }
    let _ = project.cargo(&["test"]).succeeds();
    assert!(noted.compiled().is_empty());

    // Another package that knows nothing of all this.
    let root = project.package();
    let manifest = format!(
        "[package]\nname = \"host-rdc-user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nhost-rdc = {{ path = {root:?} }}\n\n[workspace]\n"
    );
    project.write("user/Cargo.toml", &manifest);
    project.write("user/src/main.rs", "fn main() { println!(\"launch {}\", host_rdc::fill()); }\n");
    fs::copy(root.join("Cargo.lock"), root.join("user/Cargo.lock")).unwrap();
    let run = project.cargo(&["run", "--manifest-path", "user/Cargo.toml"]).succeeds();
    assert!(printed(&run).starts_with("launch "), "{}", run.stdout);
    assert!(noted.compiled().is_empty());

    next_tick();
    project.write("gpu/twice.cu", "__device__ float thrice(float x) { return 3 * x; }\n");
    let error = project.cargo(&["build"]).build_script_error();
    let line = "error[KM0080]: Undefined reference to 'twice(float)' in 'gpu/calls.cu'";
    assert_eq!(error.matches(line).count(), 1, "{error}");
}

#[test]
fn faults_of_host_files_are_shown_at_their_place_and_all_at_once() {
    let Some((project, _)) = with_nvcc("host-faults") else { return };
    let project = launcher(project);
    project.write("src/gpu/launch.cu", "int one() {\n    return missing;\n}\n");
    project.write("src/gpu/version.cu", "#include \"nowhere.h\"\n");
    let error = project.cargo(&["build"]).build_script_error();
    assert_eq!(error.matches("identifier \"missing\" is undefined").count(), 1, "{error}");
    assert!(error.contains("src/gpu/launch.cu:2"), "{error}");
    assert_eq!(error.matches("nowhere.h: No such file").count(), 1, "{error}");
    assert!(error.contains("src/gpu/version.cu:1"), "{error}");
}

#[test]
fn host_files_that_cannot_be_built_are_refused() {
    let Some((project, noted)) = with_nvcc("host-refused") else { return };
    let project = project.file("src/main.rs", "fn main() {}\n").file("gpu/a.cu", VERSION);
    let error = |settings: &str| {
        next_tick();
        let manifest = fs::read_to_string(project.package().join("Cargo.toml")).unwrap();
        let head = manifest.split("[package.metadata.kernelmill]").next().unwrap();
        let text = format!("{head}[package.metadata.kernelmill]\n{settings}\n\n[workspace]\n");
        project.write("Cargo.toml", &text);
        project.cargo(&["build"]).build_script_error()
    };
    let none = error("host-files = \"gpu/*.cpp\"");
    assert!(
        none.starts_with(
            "error[KM0021]: no file matches `gpu/*.cpp`, which is named in `host-files`"
        )
    );
    let cpu = error("targets = \"cpu\"\nhost-files = \"gpu/a.cu\"");
    let line = "error[KM0065]: the host code in `gpu/a.cu` needs an NVIDIA target";
    assert!(cpu.starts_with(line), "{cpu}");
    assert!(noted.compiled().is_empty());
}
