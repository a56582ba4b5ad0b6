//! Libraries of device code: cubins are linked with them where something is undefined.
#![cfg(unix)]

use end_to_end::{Project, SAXPY, Summary, check_snapshot};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::Duration,
};
use test_support::tool;

const RUST: &str = "\
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    fn scaled(x: f32) -> f32;
}

#[kernel]
pub fn scale_all(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = unsafe { scaled(*out) };
    }
}
";

const CPP: &str = "\
__device__ float shifted(float x);

extern \"C\" __global__ void shift_all(float *out) {
  out[threadIdx.x] = shifted(out[threadIdx.x]);
}
";

/// What the library has: for C, for C++, and what nobody calls.
const LIBRARY: &str = "\
__device__ float factor = 3.0f;
extern \"C\" __device__ float scaled(float x) { return factor * x; }
__device__ float shifted(float x) { return x + 1.0f; }
extern \"C\" __device__ double unused(double x) { return x * x; }
__global__ void of_library(float *x) { *x = scaled(*x); }
void launch(float *x) { of_library<<<1, 1>>>(x); }
";

const MAIN: &str = "\
#![allow(dead_code)]
mod kernels {
    kernelmill::include_kernels!();
}

fn main() {}
";

/// NVIDIA's tools, which note that they run.
struct Tools {
    real: PathBuf,
    folder: PathBuf,
}

impl Tools {
    /// `None` where they are not there.
    fn new(project: &Project) -> Option<Self> {
        let real = tool::nvidia("nvlink")?.parent()?.to_owned();
        tool::clang()?;
        let folder = project.store().with_file_name("cuda");
        fs::create_dir_all(folder.join("bin")).unwrap();
        for name in ["nvcc", "ptxas", "nvlink"] {
            let (script, program) = (folder.join("bin").join(name), real.join(name));
            let (log, program) = (folder.join("log").display().to_string(), program.display());
            let text =
                format!("#!/bin/sh\necho {name} \"$*\" >> '{log}'\nexec '{program}' \"$@\"\n");
            fs::write(&script, text).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::os::unix::fs::symlink(real.with_file_name("lib"), folder.join("lib")).unwrap();
        Some(Self { real, folder })
    }

    fn run(&self, name: &str, arguments: &[&str], at: &Path) -> String {
        let mut command = Command::new(self.real.join(name));
        let output = command.args(arguments).current_dir(at).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// How often the linker has linked since the last call.
    fn links(&self) -> usize {
        let text = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let _ = fs::remove_file(self.folder.join("log"));
        text.lines().filter(|line| line.starts_with("nvlink -arch")).count()
    }

    /// Compiles the library of a project, for two architectures.
    fn library(&self, project: &Project, text: &str) {
        project.write("lib/device.cu", text);
        let at = project.package().join("lib");
        let codes = ["80", "90"].map(|it| format!("-gencode=arch=compute_{it},code=sm_{it}"));
        let [one, other] = codes.each_ref().map(String::as_str);
        self.run("nvcc", &["-dc", one, other, "device.cu", "-o", "device.o"], &at);
        let _ = fs::remove_file(at.join("libdevice.a"));
        let mut archive = Command::new("ar");
        let status = archive.args(["rc", "libdevice.a", "device.o"]).current_dir(at).status();
        assert!(status.unwrap().success());
    }

    /// The symbols of a cubin, `NAME` or `NAME undefined`.
    fn symbols(&self, cubin: &Path) -> Vec<String> {
        let folder = cubin.parent().unwrap();
        let text = self.run("cuobjdump", &["-elf", &cubin.to_string_lossy()], folder);
        let table = text.split(".section .symtab").nth(1).expect("a cubin has symbols");
        let lines = table.lines().skip(2).take_while(|line| !line.starts_with(".section"));
        let symbol = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            let (name, section) = (*words.last()?, *words.get(words.len().checked_sub(2)?)?);
            let text = if section == "0" { format!("{name} undefined") } else { name.to_owned() };
            // What starts with a dot is NVIDIA's own: sections, and memory that it keeps.
            (name != "(null)" && !name.starts_with('.')).then_some(text)
        };
        lines.filter_map(symbol).collect()
    }
}

fn settings(targets: &str, rest: &str) -> String {
    format!("targets = {targets}\ncuda-compiler = \"clang\"\n{rest}")
}

/// The cubins in the `OUT_DIR` of a project's last build whose names start so.
fn cubins(project: &Project, start: &str) -> Vec<PathBuf> {
    let name = project.package().parent().unwrap().file_name().unwrap().to_owned();
    let own = format!("{}-", name.to_string_lossy());
    let builds = fs::read_dir(project.target().join("debug/build")).unwrap();
    let builds = builds.map(|entry| entry.unwrap().path()).filter(|build| {
        build.file_name().unwrap().to_string_lossy().starts_with(&own)
            && build.join("out/kernels.rs").is_file()
    });
    // Other versions of kernelmill have folders of their own.
    let written = |build: &PathBuf| fs::metadata(build.join("output")).unwrap().modified().unwrap();
    let last = builds.max_by_key(written).expect("the project was built");
    let files = fs::read_dir(last.join("out")).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(start) && name.ends_with(".cubin")
    };
    let mut found: Vec<_> = files.filter(is_it).collect();
    found.sort();
    found
}

fn project(name: &str, targets: &str, rest: &str) -> Option<(Project, Tools)> {
    let project = Project::new(name);
    let tools = Tools::new(&project)?;
    let home = tools.folder.display().to_string();
    let project = project
        .environment("CUDA_HOME", &home)
        .environment("KERNELMILL_CLANG", &tool::clang()?.display().to_string())
        .manifest("2024", &settings(targets, rest))
        .file("kernels/scale.rs", RUST)
        .file("kernels/shift.cu", CPP)
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", MAIN);
    tools.library(&project, LIBRARY);
    Some((project, tools))
}

/// Builds; `-vv` shows what the build script prints.
#[track_caller]
fn built(project: &Project) -> Option<Summary> {
    project.cargo(&["build", "-vv"]).succeeds().summary()
}

const LIBRARIES: &str = "device-libraries = [\"lib/libdevice.a\"]";

/// Acceptance: S1.13.
#[test]
fn only_a_cubin_with_something_undefined_is_linked_and_then_has_all_of_it() {
    let name = "linked-cubins";
    let Some((project, tools)) = project(name, "[\"sm_80\", \"sm_90\"]", LIBRARIES) else { return };
    let first = built(&project);
    assert_eq!(first, Some(Summary { compiled: 6, cached: 0 }));
    assert_eq!(tools.links(), 8, "two kernels, two targets; each is checked, and linked");
    for (kernel, function) in [("scale", "scaled"), ("shift", "_Z7shiftedf")] {
        let cubins = cubins(&project, kernel);
        assert_eq!(cubins.len(), 2, "{cubins:?}");
        for cubin in cubins {
            let symbols = tools.symbols(&cubin);
            let has = |name: &str| symbols.iter().any(|symbol| symbol == name);
            assert!(has(&format!("{kernel}_all")) && has(function), "{symbols:?}");
            let undefined: Vec<_> = symbols.iter().filter(|it| it.ends_with("undefined")).collect();
            assert_eq!(undefined, [""; 0], "{symbols:?}");
        }
    }
    let linked =
        cubins(&project, "saxpy").iter().map(|it| fs::read(it).unwrap()).collect::<Vec<_>>();

    // Another library: the kernels that call it are compiled again.
    sleep(Duration::from_millis(20));
    tools.library(&project, &LIBRARY.replace("3.0f", "5.0f"));
    let edited = built(&project);
    assert_eq!(edited, Some(Summary { compiled: 4, cached: 2 }));
    assert_eq!(tools.links(), 8);
    assert_eq!(built(&project), None, "nothing has changed");

    // Without libraries the third is the same, to the byte.
    let plain = settings("[\"sm_80\", \"sm_90\"]", "source-files = [\"kernels/saxpy.rs\"]");
    let project = project.manifest("2024", &plain).environment("KERNELMILL_CACHE", "off");
    let _ = project.cargo(&["build"]).succeeds();
    assert_eq!(tools.links(), 0);
    let direct =
        cubins(&project, "saxpy").iter().map(|it| fs::read(it).unwrap()).collect::<Vec<_>>();
    assert_eq!(direct.len(), 2);
    assert_eq!(linked, direct);
}

#[test]
fn what_no_library_has_is_told_with_the_libraries_that_were_looked_at() {
    let name = "unlinked-cubins";
    let libraries = "device-libraries = [\"lib/libdevice.a\", \"cudadevrt\"]";
    let Some((project, tools)) = project(name, "[\"cpu\", \"sm_80\", \"compute_75\"]", libraries)
    else {
        return;
    };
    let wrong = RUST.replace("scaled", "scalde");
    let project = project
        .file("kernels/scale.rs", &wrong)
        .file("kernels/shift.cu", &CPP.replace("shifted", "shitfed"));
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("no-device-library-for-cpp", &error);

    fs::remove_file(project.package().join("kernels/shift.cu")).unwrap();
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("no-device-library-for-rust", &error);

    let project = project.environment("KERNELMILL_TARGETS", "sm_80").file(
        "kernels/scale.rs",
        &RUST
            .replace("scaled(x: f32) -> f32", "scaled(x: f64) -> f64")
            .replace("*out)", "*out as f64) as f32"),
    );
    let error = project.cargo(&["build"]).build_script_error();
    check_snapshot("other-types-in-device-library", &error);
    let project = project.environment("KERNELMILL_TARGETS", "");

    let text = settings("[\"sm_80\"]", "device-libraries = [\"lib/other.a\", \"cudadevrtt\"]");
    let project = project.manifest("2024", &text);
    let error = project.cargo(&["build"]).build_script_error();
    let error = error.replace(&tools.folder.display().to_string(), "[cuda]");
    check_snapshot("missing-device-libraries", &error);
}

/// What is undefined is all that asks for a library.
///
/// Acceptance: S1.13.
#[test]
fn a_kernel_calls_the_run_time_library_of_devices() {
    let kernel = "\
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    fn cudaDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) -> i32;
}

#[kernel]
pub fn ask(mut out: DisjointSlice<i32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        unsafe { cudaDeviceGetAttribute(out, 16, 0) };
    }
}
";
    let name = "device-runtime";
    let rest = "source-files = [\"kernels/ask.rs\"]";
    let Some((project, tools)) = project(name, "[\"sm_80\"]", rest) else { return };
    let project = project.file("kernels/ask.rs", kernel);
    let check = |project: &Project| {
        let cubins = cubins(project, "ask");
        assert_eq!(cubins.len(), 1);
        let symbols = tools.symbols(&cubins[0]);
        assert!(symbols.iter().any(|it| it == "ask"), "{symbols:?}");
        assert!(symbols.iter().any(|it| it == "cudaDeviceGetAttribute"), "{symbols:?}");
    };
    assert_eq!(built(&project), Some(Summary { compiled: 1, cached: 0 }));
    check(&project);

    let project = project.environment("KERNELMILL_DEVICE_LIBRARIES", "cudadevrt");
    assert_eq!(built(&project), Some(Summary { compiled: 0, cached: 1 }), "by its content alone");
    check(&project);

    let wrong = kernel.replace("cudaDeviceGetAttribute", "cudaDeviceGetAtribute");
    let project =
        project.environment("KERNELMILL_DEVICE_LIBRARIES", "").file("kernels/ask.rs", &wrong);
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.contains("calls `cudaDeviceGetAtribute`, which has no definition"), "{error}");
    assert!(!error.contains("device librar"), "the user has named none: {error}");
}

/// Acceptance: S1.13.
#[test]
fn nvccs_cubins_are_linked_too() {
    let name = "linked-by-nvcc";
    let rest = format!("{LIBRARIES}\nsource-glob = \"kernels/*.cu\"");
    let Some((project, tools)) = project(name, "[\"sm_80\"]", &rest) else { return };
    let project = project.environment("KERNELMILL_CUDA_COMPILER", "nvcc").file(
        "kernels/plain.cu",
        &CPP.replace("shifted(out", "sqrtf(out").replace("shift_", "root_"),
    );
    let first = built(&project);
    assert_eq!(first, Some(Summary { compiled: 2, cached: 0 }));
    assert_eq!(tools.links(), 1);
    let symbols = tools.symbols(&cubins(&project, "shift")[0]);
    assert!(symbols.iter().any(|it| it == "_Z7shiftedf"), "{symbols:?}");
    assert!(symbols.iter().any(|it| it == "shift_all"), "{symbols:?}");

    sleep(Duration::from_millis(20));
    tools.library(&project, &LIBRARY.replace("1.0f", "2.0f"));
    let edited = built(&project);
    assert_eq!(edited, Some(Summary { compiled: 1, cached: 1 }));

    project.write("kernels/shift.cu", &CPP.replace("shifted", "shitfed"));
    let error = project.cargo(&["build"]).build_script_error();
    let expected = "kernels/shift.cu calls functions that neither the file nor a device library defines for \
                    sm_80: shitfed(float); the device libraries are `lib/libdevice.a`";
    assert!(error.contains(expected), "{error}");
}
