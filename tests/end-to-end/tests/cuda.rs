//! Kernels in CUDA C++ through nvcc: what is compiled when, what users read, and that wrappers
//! launch what the source says.

use end_to_end::{Project, Run, Summary};
use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};
use test_support::{
    driver::fake_driver,
    tool::{clang, nvidia},
};

const SCALE: &str = "\
#include \"factor.cuh\"
extern \"C\" __global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR;
}
";
const FILL: &str = "extern \"C\" __global__ void fill(float *x, float value) { *x = value; }\n";
const IDLE: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
fn main() {
    for signature in kernels::Kernels::signatures() {
        println!(\"{signature}\");
    }
}
";

/// A package with two targets of NVIDIA's, where there is an nvcc.
fn project(name: &str) -> Option<Project> {
    let project = Project::new(name).manifest("2024", "targets = [\"sm_80\", \"compute_75\"]");
    let project = with_cuda(project)?;
    Some(project.file("src/main.rs", IDLE))
}

/// The project with the CUDA installation that the tests use.
fn with_cuda(project: Project) -> Option<Project> {
    let nvcc = nvidia("nvcc")?;
    let home = nvcc.ancestors().nth(2).expect("nvcc lies in bin");
    Some(project.environment("CUDA_HOME", &home.display().to_string()))
}

fn two_files(name: &str) -> Option<Project> {
    let project = project(name)?.file("kernels/scale.cu", SCALE).file("kernels/fill.cu", FILL);
    Some(project.file("kernels/factor.cuh", "#define FACTOR 2.0f\n"))
}

#[track_caller]
fn assert_counts(run: &Run, compiled: usize, cached: usize) {
    assert_eq!(run.summary(), Some(Summary { compiled, cached }), "{}{}", run.stdout, run.stderr);
}

#[track_caller]
fn run(project: &Project) -> Run {
    project.cargo(&["run", "-vv"]).succeeds()
}

/// Cargo compares modification times: a file must not be written within the resolution of the
/// file system's clock after a build.
fn next_tick() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn a_header_compiles_its_includers_and_touching_compiles_nothing() {
    let Some(project) = two_files("cuda-header") else { return };
    let first = run(&project);
    assert_counts(&first, 4, 0);
    let signatures = "unsafe fn fill(x: *mut f32, value: f32)\n\
                      unsafe fn scale(x: *mut f32, n: i32)\n";
    assert!(first.stdout.ends_with(signatures), "{}", first.stdout);
    let again = project.cargo(&["build", "-v"]).succeeds();
    assert!(again.stderr.contains("Fresh cuda-header"), "{}", again.stderr);
    next_tick();
    project.write("kernels/scale.cu", SCALE);
    project.write("kernels/factor.cuh", "#define FACTOR 2.0f\n");
    assert_counts(&run(&project), 0, 4);
    next_tick();
    project.write("kernels/factor.cuh", "#define FACTOR 3.0f\n");
    assert_counts(&run(&project), 2, 2);
    next_tick();
    project.write("kernels/factor.cuh", "#define FACTOR 2.0f\n");
    assert_counts(&run(&project), 0, 4);
    let headers = ["kernels/factor.cuh", "cuda_runtime.h", "stddef.h"];
    for header in headers {
        let is_watched = |line: &str| line.contains("rerun-if-changed=") && line.ends_with(header);
        assert!(first.stdout.lines().any(is_watched), "{header} is not watched: {}", first.stdout);
    }
}

#[test]
fn a_second_checkout_compiles_nothing() {
    let first = Project::checkout("cuda-checkout-a", "cuda-checkout");
    let second = Project::checkout("cuda-checkout-b", "cuda-checkout").with_store_of(&first);
    let (Some(first), Some(second)) = (with_cuda(first), with_cuda(second)) else { return };
    let fill = |project: Project| {
        project
            .manifest("2024", "targets = [\"sm_80\", \"compute_75\"]")
            .file("src/main.rs", IDLE)
            .file("kernels/scale.cu", SCALE)
            .file("kernels/factor.cuh", "#define FACTOR 2.0f\n")
    };
    assert_counts(&run(&fill(first)), 2, 0);
    assert_counts(&run(&fill(second)), 0, 2);
}

#[test]
fn another_nvcc_compiles_everything_again() {
    let Some(project) = two_files("cuda-other-nvcc") else { return };
    assert_counts(&run(&project), 4, 0);
    let real = nvidia("nvcc").expect("it was there before");
    let other = project.package().join("bin/nvcc");
    fs::create_dir_all(other.parent().expect("a folder")).expect("a folder");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then\n  \
         '{0}' --version | sed 's/release 1[0-9]*\\.[0-9]*/release 99.1/'\n\
         else\n  exec '{0}' \"$@\"\nfi\n",
        real.display()
    );
    fs::write(&other, script).expect("a script");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a program");
    let project = project.environment("NVCC", &other.display().to_string());
    assert_counts(&run(&project), 4, 0);
}

/// Signatures are read with full debug information, of which nvcc says that it takes the place of line tables.
#[test]
fn line_tables_are_asked_for_without_a_warning() {
    let Some(project) = project("cuda-lines") else { return };
    let settings = "targets = [\"compute_75\"]\narguments = [\"cuda:-lineinfo\"]";
    let project = project.manifest("2024", settings).file("kernels/fill.cu", FILL);
    let run = project.cargo(&["build"]).succeeds();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn fragments_are_no_sources_and_equal_names_do_not_clash() {
    let Some(project) = project("cuda-names") else { return };
    let kernel = |name: &str| format!("__global__ void {name}(int *x) {{ *x = 1; }}\n");
    let shared = "#pragma once\nextern \"C\" __global__ void shared(int *x) { *x = 2; }\n";
    let with_shared = |name: &str| format!("#include \"../shared.cuh\"\n{}", kernel(name));
    let settings = "targets = [\"sm_80\", \"compute_75\"]\nsource-dir = [\"kernels\", \"../made\"]";
    let project = project
        .manifest("2024", settings)
        .file("../made/outside.cu", &kernel("outside"))
        .file("kernels/a/same.cu", &with_shared("first"))
        .file("kernels/b/same.cu", &with_shared("second"))
        .file("kernels/shared.cuh", shared)
        .file("kernels/_part.cu", &kernel("part"))
        .file("kernels/nothing.cu", "// __global__ is only talked about here\nint x;\n")
        .file(
            "kernels/spaces.cu",
            "namespace left { __global__ void twin(float *x) { *x = 1; } }\n\
             namespace right { __global__ void twin(float *x) { *x = 2; } }\n\
             __global__ void over(float *x) { *x = 1; }\n\
             __global__ void over(int *x) { *x = 2; }\n\
             template <class T> __global__ void typed(T *x) { *x = 3; }\n\
             template __global__ void typed<float>(float *);\n\
             template __global__ void typed<double>(double *);\n",
        );
    let ran = run(&project);
    assert_counts(&ran, 8, 0);
    let expected = "\
unsafe fn outside(x: *mut i32)
unsafe fn first(x: *mut i32)
unsafe fn shared(x: *mut i32)
unsafe fn second(x: *mut i32)
unsafe fn left_twin(x: *mut f32)
unsafe fn right_twin(x: *mut f32)
unsafe fn over_float(x: *mut f32)
unsafe fn over_int(x: *mut i32)
unsafe fn typed_float(x: *mut f32)
unsafe fn typed_double(x: *mut f64)
";
    assert!(ran.stdout.ends_with(expected), "{}", ran.stdout);
}

#[test]
fn compilers_messages_reach_the_user_once_with_path_and_line() {
    let Some(project) = project("cuda-errors") else { return };
    let project = project
        .file("kernels/one.cu", "__global__ void one(int *x) {\n    *x = missing;\n}\n")
        .file("kernels/two.cu", "#include \"absent.h\"\n__global__ void two() {}\n")
        .file("kernels/three.cu", "__global__ void three() {}\n");
    let message = project.cargo(&["build"]).build_script_error();
    for expected in [
        "error[KM0080]: identifier \"missing\" is undefined\n --> kernels/one.cu:2\n  | *x = missing;\n",
        "error[KM0080]: absent.h: No such file or directory\n --> kernels/two.cu:1\n",
    ] {
        assert_eq!(message.matches(expected).count(), 1, "{message}");
    }
    assert!(message.contains("kernelmill/failed/kernels_one.cu.signatures"), "{message}");

    let only_one_target = "__global__ void one(int *x) {\n\
                           #if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error too old\n#endif\n}\n";
    project.write("kernels/one.cu", only_one_target);
    project.write("kernels/two.cu", "__global__ void two(int *x) { asm(\"no.such;\"); }\n");
    let message = project.cargo(&["build"]).build_script_error();
    assert_eq!(message.matches("error[KM0080]: #error too old").count(), 1, "{message}");
    assert!(message.contains(" --> kernels/one.cu:3\n"), "{message}");
    assert!(message.contains("kernels/two.cu, for sm_80:\n"), "{message}");

    let template =
        "namespace a {\ntemplate <typename T, int N>\n__global__ void one(T *x) { *x = N; }\n}\n";
    project.write("kernels/one.cu", template);
    project.write("kernels/two.cu", "#include \"more.cuh\"\n");
    project.write("kernels/more.cuh", "template <class T> __global__ void two(T *x) { *x = 1; }\n");
    project.write("kernels/three.cu", "int three;\n");
    let message = project.cargo(&["build"]).build_script_error();
    let expected = "\
error[KM0020]: no kernels found in the folder `kernels`: these templates have no instances
  kernels/one.cu:3: `a::one`, a template of T, N
  kernels/more.cuh:1: `two`, a template of T
  help: list in Cargo.toml what each is instantiated for, with a value for each parameter, as in
    [package.metadata.kernelmill.kernels.one]
    instances = [\"float, 16\"]";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn warnings_are_shown_once_and_kernels_that_cannot_be_launched_are_named() {
    let Some(project) = project("cuda-warnings") else { return };
    let project = project.file(
        "kernels/one.cu",
        "__global__ void one(int *x) {\n    int unused;\n    *x = 1;\n}\n\
         __global__ void by_reference(int &x) { x = 1; }\n#include \"more.cuh\"\n",
    );
    let project =
        project.file("kernels/more.cuh", "__global__ void in_a_header(int &x) { x = 1; }\n");
    let ran = run(&project);
    let warnings: Vec<_> =
        ran.stderr.lines().filter(|line| line.starts_with("warning: cuda-warnings")).collect();
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    assert!(warnings[0].contains("kernels/one.cu:2: variable \"unused\""), "{warnings:?}");
    let parts = ["kernels/one.cu:5", "by_reference", "`x`", "int&"];
    assert!(parts.iter().all(|part| warnings[1].contains(part)), "{warnings:?}");
    let header = "warning: cuda-warnings@0.1.0: kernels/more.cuh:1: parameter `x` of kernel `in_a_header(int&)`";
    assert!(warnings[2].starts_with(header), "{warnings:?}");
    assert!(ran.stdout.ends_with("unsafe fn one(x: *mut i32)\n"), "{}", ran.stdout);
}

#[test]
fn a_line_that_nvcc_and_clang_warn_of_is_shown_once() {
    if clang().is_none() {
        return;
    }
    let Some(project) = project("cuda-both-warn") else { return };
    let project = project
        .manifest("2024", "targets = [\"compute_75\", \"cpu\"]")
        .file("kernels/one.cu", "__global__ void one(int *x) {\n    *x == 2;\n    *x = 1;\n}\n");
    let ran = run(&project);
    let warnings: Vec<_> =
        ran.stderr.lines().filter(|line| line.starts_with("warning: cuda-both-warn")).collect();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert!(warnings[0].contains("kernels/one.cu:2: expression has no effect"), "{warnings:?}");
}

/// As docs.rs builds: no tool is there, and functions call wrappers that there are not.
#[test]
fn documentation_builds_need_no_nvcc() {
    let launches = "/// Fills.\npub fn fill(kernels: &kernels::Kernels, stream: &kernelmill::Stream, \
                    x: &mut kernelmill::Buffer<f32>) {\n    \
                    unsafe { kernels.fill(stream, kernelmill::Launch::linear(1), x, 1.0).unwrap() }\n}\n";
    let text = IDLE.replace("fn main", "pub fn show").replace("mod kernels", "pub mod kernels");
    let project = Project::new("cuda-docs")
        .manifest("2024", "targets = [\"cpu\", \"sm_80\", \"gfx1100\"]")
        .file("kernels/fill.cu", FILL)
        .file("src/lib.rs", &(text + launches))
        .environment("DOCS_RS", "1")
        .environment("NVCC", "/nonexistent/nvcc")
        .environment("KERNELMILL_CLANG", "/nonexistent/clang");
    let run = project.cargo(&["doc", "--no-deps"]).succeeds();
    assert!(run.stderr.contains("have no wrappers in this build"), "{}", run.stderr);
    let page = project.target().join("doc/cuda_docs/kernels/struct.Kernels.html");
    let page = std::fs::read_to_string(&page).unwrap();
    let (_, notice) = page.split_once("Kernels without wrappers").expect("the page says it");
    assert!(notice.contains("kernels/fill.cu: clang"), "{notice}");
}

/// A source with several kernels, with structs, an enumeration and a template.
const SEVERAL: &str = "\
struct Range { int from, to; };
enum class Mode { Add, Set };
template <typename T, int N> __global__ void step(T *x, T by) { x[threadIdx.x] += by * N; }
template __global__ void step<float, 2>(float *, float);
template __global__ void step<double, 3>(double *, double);
__global__ void clear(int *x, Range range) {
    int i = range.from + threadIdx.x;
    if (i < range.to) x[i] = 0;
}
extern \"C\" __global__ void change(unsigned *x, const Range *ranges, Mode mode) {
    *x = mode == Mode::Add ? *x + ranges->to : ranges->to;
}
";

/// nvcc reads the signatures, and nothing is compiled for a device.
#[test]
fn builds_without_binaries_have_the_same_wrappers() {
    let Some(project) = project("cuda-skipped") else { return };
    let project = project.file("kernels/several.cu", SEVERAL).file("kernels/fill.cu", FILL);
    let signatures = |run: &Run| {
        let lines = run.stdout.lines().filter(|line| line.starts_with("unsafe fn "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let built = run(&project);
    assert_counts(&built, 4, 0);
    let built = signatures(&built);
    assert_eq!(built.len(), 5, "{built:#?}");
    let change = "unsafe fn change(x: *mut u32, ranges: *const Range, mode: Mode)";
    assert!(built.iter().any(|it| it == change), "{built:#?}");
    let skipped = run(&project.environment("KERNELMILL_SKIP_BUILD", "1"));
    assert_counts(&skipped, 0, 0);
    assert_eq!(signatures(&skipped), built);
}

#[test]
fn without_the_feature_half_the_error_names_kernel_and_parameter() {
    let Some(project) = project("cuda-half") else { return };
    let text = "#include <cuda_fp16.h>\nstruct Pair { __half low, high; };\n\
                __global__ void halves(__half by, const Pair *x, float *y) { *y = __half2float(by) + __half2float(x->low); }\n";
    let run = project.file("kernels/halves.cu", text).cargo(&["build"]);
    assert!(!run.success);
    let errors: Vec<_> = run.stderr.lines().filter(|it| it.starts_with("error")).collect();
    assert_eq!(errors.len(), 2, "{}", run.stderr);
    assert_eq!(
        errors[0],
        "error: kernels/halves.cu:3: the parameters `by`, `x` of the kernel `halves` have numbers in \
         half precision; enable the feature `half` of kernelmill in Cargo.toml: `features = [\"half\"]`"
    );
    assert!(errors[1].starts_with("error: could not compile"), "{}", run.stderr);
}

#[test]
fn both_compilers_say_the_same_of_classes_with_constructors() {
    if clang().is_none() {
        return;
    }
    let text = "template <class T> struct Handle { __device__ Handle(const Handle&) {} T value; };\n\
                extern \"C\" __global__ void refused(Handle<int> handle, int *x) {}\n\
                extern \"C\" __global__ void pointed(const Handle<int> *handle, int *x) { *x = handle->value; }\n\
                __global__ void taken(int *x) { *x = 1; }\n";
    let said = |project: Project, targets: &str| {
        let project = project.manifest("2024", targets).file("src/main.rs", IDLE);
        let run = run(&project.file("kernels/classes.cu", text));
        assert!(run.stdout.ends_with("unsafe fn taken(x: *mut i32)\n"), "{}", run.stdout);
        assert!(run.stdout.contains("unsafe fn pointed(handle: *const Handle_int, x: *mut i32)\n"));
        let warnings = run.stderr.lines().filter(|line| line.starts_with("warning: "));
        let from_place = |line: &str| line.find("kernels/").map(|at| line[at..].to_owned());
        warnings.filter_map(from_place).collect::<Vec<_>>()
    };
    let Some(by_nvcc) = with_cuda(Project::new("cuda-classes-nvcc")) else { return };
    let by_nvcc = said(by_nvcc, "targets = [\"compute_75\"]");
    assert_eq!(by_nvcc, said(Project::new("cuda-classes-clang"), "targets = [\"cpu\"]"));
    let expected = "kernels/classes.cu:2: parameter `handle` of kernel `refused` has type \
                    `Handle<int>`, which cannot cross from host to device: it has a copy \
                    constructor or a destructor";
    assert!(by_nvcc.iter().any(|line| line.contains(expected)), "{by_nvcc:#?}");
}

/// nvcc and clang call such kernels differently; the program runs on the fake driver as on the CPU.
#[test]
fn one_wrapper_serves_both_compilers_for_kernels_without_a_public_name() {
    let Some(project) = with_cuda(Project::new("cuda-internal")) else { return };
    if clang().is_none() {
        return;
    }
    let text = "namespace {\nstruct S { float by; };\n\
                __global__ void hidden(float *x, S s) { x[threadIdx.x] *= s.by; }\n}\n\
                namespace b7 { namespace { __global__ void inner(float *x, S s) { x[threadIdx.x] += s.by; } } }\n\
                static __global__ void still(float *x) { x[threadIdx.x] += 1; }\n";
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\n\
                use kernelmill::{Device, Launch};\n\
                fn main() -> kernelmill::Result<()> {\n    let device = Device::best()?;\n    \
                let kernels = kernels::Kernels::load(&device)?;\n    \
                let mut x = device.upload(&[1.0f32; 4])?;\n    let stream = device.stream();\n    \
                let (launch, s) = (Launch::grid([1], [4]), kernels::S { by: 3.0 });\n    unsafe {\n        \
                kernels.hidden(&stream, launch, &mut x, s)?;\n        \
                kernels.inner(&stream, launch, &mut x, s)?;\n        \
                kernels.still(&stream, launch, &mut x)?;\n    }\n    \
                println!(\"{} {:?}\", device.backend(), x.download()?);\n    Ok(())\n}\n";
    let project = project.manifest("2024", "targets = [\"cpu\", \"compute_75\"]");
    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).unwrap();
    let manifest =
        manifest.replacen("kernelmill = { ", "kernelmill = { features = [\"cuda\"], ", 1);
    let project = project.file("Cargo.toml", &manifest).file("kernels/internal.cu", text);
    let project = project.file("src/main.rs", main);
    let on_cpu = run(&project);
    assert!(
        on_cpu.stdout.to_lowercase().ends_with("cpu [7.0, 7.0, 7.0, 7.0]\n"),
        "{}",
        on_cpu.stdout
    );
    let driver = fake_driver().display().to_string();
    let on_driver = run(&project.environment("LD_LIBRARY_PATH", &driver));
    let stdout = on_driver.stdout.to_lowercase();
    assert!(stdout.ends_with("cuda [7.0, 7.0, 7.0, 7.0]\n"), "{stdout}");
}

const KERNELS: &str = "\
#include <cuda_fp16.h>
enum Mode { ADD, SUBTRACT = 5 };
struct Params { float scale; short offset[2]; float4 bias; };

template <class T, int N>
__global__ void __launch_bounds__(128) axpy(T a, const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + T(N);
}
template __global__ void axpy<float, 2>(float, const float *, float *, int);
template __global__ void axpy<double, 3>(double, const double *, double *, int);

namespace filters {
__global__ void apply(Params p, Mode mode, unsigned n, bool twice, float *x) {
    __shared__ float tile[64];
    unsigned i = threadIdx.x;
    tile[i] = i < n ? x[i] : 0;
    __syncthreads();
    float other = tile[63 - i];
    float value = p.scale * other + p.offset[1] + p.bias.w;
    if (mode == SUBTRACT) value = -value;
    if (i < n) x[i] = twice ? 2 * value : value;
}
}
";

const PROGRAM: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};
use kernels::{Mode, Params};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    println!(\"{}\", device.backend());
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();
    let x = device.upload(&[1.0f32; 100])?;
    let mut y = device.upload(&[2.0f32; 100])?;
    // SAFETY: both buffers have 100 elements.
    unsafe { kernels.axpy_float_2(&stream, Launch::linear(100), 3.0, &x, &mut y, 100) }
        .expect_err(\"a block of 256 threads is more than the kernel is bounded to\");
    // SAFETY: both buffers have 100 elements.
    unsafe { kernels.axpy_float_2(&stream, Launch::grid([1], [128]), 3.0, &x, &mut y, 100)? };
    assert_eq!(y.download()?, [7.0; 100]);

    let mut data = device.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut params = Params { scale: 2.0, offset: [100, 1], ..Params::default() };
    params.bias.w = 0.5;
    // SAFETY: the buffer has 64 elements, as many as the block has threads.
    unsafe {
        let block = Launch::grid([1, 1], [64, 1]);
        kernels.apply(&stream, block, params, Mode::SUBTRACT, 64, true, &mut data)?;
    }
    let expected: Vec<f32> = (0..64).map(|i| -2.0 * (2.0 * (63 - i) as f32 + 1.5)).collect();
    assert_eq!(data.download()?, expected);
    Ok(())
}
";

/// The program that launches [`KERNELS`] and checks what they wrote.
fn launching(project: Project) -> Project {
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("the manifest was written");
    let text = text.replacen("kernelmill = { ", "kernelmill = { features = [\"cuda\"], ", 1);
    let project = project.file("Cargo.toml", &text).file("src/main.rs", PROGRAM);
    project.file("kernels/kernels.cu", KERNELS)
}

#[test]
fn wrappers_launch_what_the_source_says() {
    let Some(project) = project("cuda-launch") else { return };
    // The driver is an emulator of PTX, which takes no cubins.
    let project = project.manifest("2024", "targets = [\"compute_75\"]");
    let driver = fake_driver().display().to_string();
    let ran = run(&launching(project).environment("LD_LIBRARY_PATH", &driver));
    assert!(ran.stdout.to_lowercase().contains("cuda\n"), "{}", ran.stdout);
}

/// Both compilers; a device gets the code of its own architecture, or of the newest before it.
#[test]
fn each_target_is_compiled_for_its_own_architecture() {
    let Some(project) = project("cuda-arch") else { return };
    if clang().is_none() {
        return;
    }
    let text = "__global__ void arch(int *x) {\n#ifdef __CUDA_ARCH__\n    *x = __CUDA_ARCH__;\n\
                #else\n    *x = 1;\n#endif\n}\n";
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\n\
                use kernelmill::{Device, Launch};\n\
                fn main() -> kernelmill::Result<()> {\n    let device = Device::best()?;\n    \
                let kernels = kernels::Kernels::load(&device)?;\n    \
                let mut x = device.zeros::<i32>(1)?;\n    \
                unsafe { kernels.arch(&device.stream(), Launch::linear(1), &mut x)? };\n    \
                println!(\"{}\", x.download()?[0]);\n    Ok(())\n}\n";
    let driver = fake_driver().display().to_string();
    let settings = "targets = [\"cpu\", \"compute_75\", \"compute_80\", \"compute_90\"]";
    let mut project = launching(project.manifest("2024", settings))
        .file("kernels/kernels.cu", text)
        .file("src/main.rs", main)
        .environment("LD_LIBRARY_PATH", &driver);
    for compiler in ["nvcc", "clang"] {
        project = project.environment("KERNELMILL_CUDA_COMPILER", compiler);
        for (device, expected) in [("75", "750"), ("86", "800"), ("90", "900")] {
            project = project.environment("FAKE_CUDA_ARCH", device);
            let ran = run(&project);
            assert!(ran.stdout.ends_with(&format!("{expected}\n")), "{compiler}: {}", ran.stdout);
        }
    }
}

#[test]
fn clang_compiles_for_nvidia_beside_an_nvcc_where_it_is_chosen() {
    let Some(project) = project("cuda-chosen") else { return };
    if clang().is_none() {
        return;
    }
    let settings = "targets = [\"compute_75\"]\ncuda-compiler = \"clang\"";
    let driver = fake_driver().display().to_string();
    let project = launching(project.manifest("2024", settings));
    let project = project.environment("LD_LIBRARY_PATH", &driver);
    let ran = run(&project);
    assert_counts(&ran, 1, 0);
    assert!(ran.stdout.to_lowercase().contains("cuda\n"), "{}", ran.stdout);
    let project = project.environment("KERNELMILL_CUDA_COMPILER", "nvcc");
    assert_counts(&run(&project), 1, 0);
}

#[test]
fn the_same_file_runs_on_the_cpu_and_is_compiled_for_amd() {
    if clang().is_none() {
        return;
    }
    let project = Project::new("cuda-on-cpu");
    let project = project.manifest("2024", "targets = [\"cpu\", \"gfx1100\", \"gfx942\"]");
    let project = launching(project);
    let ran = run(&project);
    assert_counts(&ran, 3, 0);
    assert!(ran.stdout.to_lowercase().contains("cpu\n"), "{}", ran.stdout);
    next_tick();
    project.write("kernels/kernels.cu", KERNELS);
    assert_counts(&run(&project), 0, 3);
}

#[test]
fn what_cannot_leave_nvidia_is_named_with_its_line() {
    if clang().is_none() {
        return;
    }
    let project = Project::new("cuda-unsupported");
    let project = project.manifest("2024", "targets = [\"cpu\", \"gfx1100\"]").file(
        "kernels/two.cu",
        "__global__ void bound(unsigned *x) {\n    asm(\"mov.u32 %0, %%smid;\" : \"=r\"(*x));\n}\n\
         __global__ void free(unsigned *x) { *x = 1; }\n",
    );
    let message = project.file("src/main.rs", IDLE).cargo(&["build"]).build_script_error();
    assert!(message.contains("kernel `bound` cannot be compiled for"), "{message}");
    assert!(message.contains(" --> kernels/two.cu:2:5\n"), "{message}");
    assert!(message.contains("`cpu`, `gfx1100`: inline PTX"), "{message}");
    assert!(!message.contains("`free`"), "{message}");
}
