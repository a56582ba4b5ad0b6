//! Builds of small packages whose sources and targets do not go together.

use test_support::{Package, tool};

/// A package with these settings and files.
fn package(settings: &str, files: &[(&str, &str)]) -> Package {
    Package::new(env!("CARGO_BIN_EXE_build_mixed_package"), settings, files)
}

/// Builds a package that must fail, and compares what is said.
#[track_caller]
fn fails(name: &str, settings: &str, files: &[(&str, &str)]) {
    package(settings, files).fails(env!("CARGO_MANIFEST_DIR"), name);
}

const RUST: (&str, &str) = (
    "kernels/a.rs",
    "use kernelmill_device::prelude::*;\n\n#[kernel]\npub fn rust(mut x: DisjointSlice<f32>) {\n    \
     if let Some(x) = x.get_mut(thread::index_1d()) {\n        *x = 1.0;\n    }\n}\n",
);
const CUDA: (&str, &str) =
    ("kernels/b.cu", "extern \"C\" __global__ void cuda(float *x) { x[threadIdx.x] = 2; }\n");
const OPENCL: (&str, &str) =
    ("kernels/c.cl", "kernel void opencl(global float *x) { x[get_local_id(0)] = 3; }\n");
const IR: (&str, &str) = (
    "kernels/d.ll",
    "define ptx_kernel void @ir(ptr %x) {\n  store float 4.0, ptr %x\n  ret void\n}\n",
);
const PTX: (&str, &str) = (
    "kernels/f.ptx",
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry ptx(.param .u32 n)\n{\n  ret;\n}\n",
);

#[test]
fn a_source_that_no_target_suits_is_named_with_the_targets() {
    fails("no-target", "targets = [\"opencl-c\"]\n", &[RUST, CUDA, OPENCL, IR, PTX]);
}

#[test]
fn a_target_that_suits_no_source_is_named_with_the_sources() {
    let settings = "targets = [\"cpu\", \"compute_80\", \"opencl-c\", \"vulkan\"]\n";
    fails("no-source", settings, &[RUST, CUDA, ("kernels/e.cu", CUDA.1), IR, PTX]);
}

/// clang reads headers by names in quotation marks.
#[test]
fn a_path_may_have_quotation_marks() {
    let hip = ("kernels/h.hip", CUDA.1.replace(" cuda(", " hip("));
    let files = [CUDA, OPENCL, (hip.0, hip.1.as_str())];
    let settings = "targets = [\"cpu\", \"compute_80\", \"spirv64\"]\ncuda-compiler = \"clang\"\n";
    let mut package = package(settings, &files);
    let out = package.folder().join("an \"out\" folder, isn't it?");
    package.variables.push(("OUT_DIR", out.display().to_string()));
    assert_eq!(package.summary(), "kernelmill: compiled 9 cached 0");
}

/// nvcc reads the kernels, and clang compiles them for the CPU: both miss the header.
#[test]
fn a_header_that_two_compilers_miss_is_reported_once() {
    if tool::clang().is_none() || tool::nvidia("nvcc").is_none() {
        return;
    }
    let source = "#include \"absent.h\"\n__global__ void two(int *x) { *x = 1; }\n";
    let settings = "targets = [\"cpu\", \"compute_80\"]\n";
    let package = package(settings, &[("kernels/two.cu", source)]);
    let error = package.build().error.expect("the header is not there");
    assert_eq!(error.matches("--> kernels/two.cu:1").count(), 1, "{error}");
    assert_eq!(error.matches("help: add the folder of the header").count(), 1, "{error}");
}

/// The parameters of a wrapper in the bindings of a build.
fn wrapper(package: &Package, name: &str) -> Option<String> {
    let text = package.output("kernels.rs");
    let text = text.split_once(&format!("pub unsafe fn {name}("))?.1;
    Some(text.split(") ->").next()?.split_whitespace().collect())
}

const SKIPPED: (&str, &str) = ("KERNELMILL_SKIP_BUILD", "1");

#[test]
fn kernels_have_the_same_wrappers_without_binaries() {
    let hip = ("kernels/h.hip", CUDA.1.replace(" cuda(", " hip("));
    let files = [CUDA, OPENCL, IR, (hip.0, hip.1.as_str())];
    // A build without binaries needs no ptxas for the cubin.
    let settings = |targets: &str| {
        format!(
            "targets = [{targets}]\ncuda-compiler = \"clang\"\n[kernels.ir]\nparameters = [\"x: *mut f32\"]\n"
        )
    };
    let built = package(&settings("\"cpu\""), &files);
    assert_eq!(built.summary(), "kernelmill: compiled 4 cached 0");
    let mut skipped = package(&settings("\"cpu\", \"sm_80\", \"gfx1100\""), &files);
    skipped.variables.push((SKIPPED.0, SKIPPED.1.to_owned()));
    skipped.variables.push(("KERNELMILL_PTXAS", String::new()));
    assert_eq!(skipped.summary(), "kernelmill: compiled 0 cached 0");
    for name in ["cuda", "opencl", "ir", "hip"] {
        let parameters = wrapper(&built, name);
        assert!(parameters.is_some(), "{name}");
        assert_eq!(wrapper(&skipped, name), parameters, "{name}");
    }
}

/// What clang does not take has no wrapper without binaries, which is no error: it may be for nvcc alone.
#[test]
fn a_source_that_is_not_read_is_warned_of_where_there_are_no_binaries() {
    let wrong = ("kernels/e.cu", "#include <not_there.h>\n__global__ void e(int n) {}\n");
    let settings =
        "targets = [\"cpu\"]\ncuda-compiler = \"clang\"\n[kernels.e]\nrequires = [\"n >= 1\"]\n";
    let mut package = package(settings, &[CUDA, wrong]);
    package.variables.push((SKIPPED.0, SKIPPED.1.to_owned()));
    let build = package.build();
    assert_eq!(build.error, None);
    let said = "kernels/e.cu: its kernels have no wrappers in this build without binaries: ";
    assert!(build.lines.contains(said) && build.lines.contains("not_there.h"), "{}", build.lines);
    assert!(wrapper(&package, "cuda").is_some() && wrapper(&package, "e").is_none());
}

/// A compiler that cannot be used is as good as none, and one is not taken for another that the settings name.
#[test]
fn what_is_not_there_is_not_needed_without_binaries() {
    let hip = ("kernels/h.hip", CUDA.1.replace(" cuda(", " hip("));
    let build = |settings: &str| {
        let settings = format!("targets = [\"sm_80\", \"gfx1100\"]\n{settings}");
        let mut package = package(&settings, &[CUDA, (hip.0, hip.1.as_str())]);
        package.variables.push((SKIPPED.0, SKIPPED.1.to_owned()));
        package.variables.push(("KERNELMILL_NVCC", "/nowhere/nvcc".to_owned()));
        let build = package.build();
        assert_eq!(build.error, None);
        let has = |name| wrapper(&package, name).is_some();
        (has("cuda"), has("hip"), build.lines)
    };
    let (cuda, hip, lines) = build("cuda-compiler = \"nvcc\"\n");
    assert_eq!((cuda, hip), (false, true), "{lines}");
    assert!(
        lines.contains(
            "nvcc, which reads their signatures because `cuda-compiler` is `nvcc`, was not found"
        ),
        "{lines}"
    );
    let (cuda, hip, lines) = build("");
    assert_eq!((cuda, hip), (true, true), "{lines}");
}

/// That there are no kernels is not said of a file whose kernels cannot be launched: it is said why.
#[test]
fn kernels_that_are_all_refused_are_the_error() {
    let text = "union U { int i; float f; };\nextern \"C\" __global__ void u(U v, float *x) { x[0] = v.f; }\n\
                struct S { int tag; union { int i; float f; }; };\n\
                extern \"C\" __global__ void s(S v, float *x) { x[0] = v.f; }\n";
    let refused = ("kernels/u.cu", text);
    let settings = "targets = [\"cpu\"]\ncuda-compiler = \"clang\"\n";
    fails("refused", settings, &[refused]);
    let build = package(settings, &[refused, CUDA]).build();
    assert_eq!(build.error, None);
    let warnings = build.lines.lines().filter(|it| it.contains("cannot cross from host to device"));
    assert_eq!(warnings.count(), 2, "{}", build.lines);
}

/// What the settings say of a kernel is no way round the rule.
#[test]
fn a_target_that_is_named_for_a_kernel_suits_its_language() {
    let settings = "targets = [\"cpu\", \"opencl-c\"]\n\n[kernels.rust]\ntargets = [\"cpu\", \"opencl-c\"]\n\n\
                    [kernels.opencl]\ntargets = [\"cpu\", \"opencl-c\"]\n";
    fails("named", settings, &[RUST, OPENCL]);
}

/// Kernels in CUDA C++ with what SPIR-V, or LLVM's back end for it, lacks, and one without.
const LACKING: &str = r#"__constant__ float factor;
__device__ int calls;
__device__ int held;
__device__ int *holder = &held;
__device__ __attribute__((aligned(256))) int wide[64];
__device__ int depth;
__device__ int deeper(int n) { return n < 2 ? atomicAdd(&depth, 1) : deeper(n - 1) + deeper(n - 2); }
__device__ int again(int n) { return n < 2 ? n : again(n - 1) + again(n - 2); }
extern "C" {
__global__ void fine(int *x) { x[threadIdx.x] = 1; }
__global__ void prints(int *x) { printf("%d\n", x[0]); }
__global__ void scales(float *x) { x[threadIdx.x] *= factor; }
__global__ void counts() { atomicAdd(&calls, 1); }
__global__ void holds() { held += 1; }
__global__ void follows(int *x) { x[0] = *holder; }
__global__ void widens(int *x) { x[threadIdx.x] = wide[threadIdx.x]; }
__global__ void deepens(int *x) { x[0] = deeper(x[1]); }
__global__ void allocates(int **x) { x[threadIdx.x] = (int *)malloc(4); }
__global__ void parts(int *x) {
  if (x[threadIdx.x] > 0) __syncthreads();
  x[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] += x[threadIdx.x ^ 1];
}
__global__ void clocks(long long *x) { x[0] = clock64(); }
__global__ void recursive(int *x) { x[0] = again(x[1]); }
__global__ void halves(unsigned short *x) { atomicCAS(x, 1, 2); }
__global__ void either(float *x, bool own) {
  __shared__ float mine;
  mine = 1;
  atomicAdd(own ? &mine : x, 1.0f);
  x[1] = mine;
}
}
"#;

#[test]
fn what_spirv_lacks_is_named_for_kernels_in_cpp() {
    if tool::clang().is_none() {
        return;
    }
    let settings = "targets = [\"cpu\", \"spirv64\"]\n";
    fails("spirv", settings, &[("kernels/k.cu", LACKING)]);
    // Without the target for those the rest is compiled, and variables that have no place are gone.
    let lacking = [
        "holds",
        "follows",
        "widens",
        "deepens",
        "allocates",
        "parts",
        "clocks",
        "recursive",
        "halves",
        "either",
    ];
    let narrowed = lacking.map(|name| format!("[kernels.{name}]\ntargets = [\"cpu\"]\n"));
    let package =
        package(&(settings.to_owned() + &narrowed.concat()), &[("kernels/k.cu", LACKING)]);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let module = std::fs::read(package.path("target/out/k.spirv64.spv")).expect("a module");
    let names = |name: &str| module.windows(name.len()).any(|it| it == name.as_bytes());
    assert!(names("fine") && names("variable 0 4 calls") && names("factor") && names("prints"));
    assert!(!names("held") && !names("wide") && !names("holder"));
}

/// The targets of a kernel are those of its source that the settings leave.
#[test]
fn targets_of_single_kernels_narrow_those_of_their_source() {
    let settings =
        "targets = [\"cpu\", \"opencl-c\"]\n\n[kernels.opencl]\ntargets = [\"opencl-c\"]\n";
    let package = package(settings, &[RUST, OPENCL]);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let bindings = package.output("kernels.rs");
    let has = |file: &str| bindings.contains(file);
    assert!(has("c.opencl-c.cl") && !has("c.cpu"), "{bindings}");
}

/// A macro of one source is none of another, which has a variable of that name.
#[test]
fn macros_and_arguments_of_one_source_reach_no_other() {
    let rust = (
        "kernels/a.rs",
        "use kernelmill_device::prelude::*;\n\n#[cfg(SCALE = \"wide\")]\n#[kernel]\n\
         pub fn rust(mut x: DisjointSlice<f32>) {\n    if let Some(x) = x.get_mut(thread::index_1d()) {\n        \
         *x = 1.0;\n    }\n}\n",
    );
    let cuda = (
        "kernels/b.cu",
        "#ifndef FAST\n#error slow\n#endif\n\
         extern \"C\" __global__ void cuda(float *x) { x[threadIdx.x] = TILE; }\n",
    );
    let opencl = (
        "kernels/c.cl",
        "kernel void opencl(global float *x) { int TILE = 3, FAST = 1; x[get_local_id(0)] = TILE + FAST; }\n",
    );
    let settings = |tile: u32| {
        format!(
            "targets = [\"cpu\"]\ndefine = {{ TILE = 8 }}\n\n[sources.\"kernels/*.rs\"]\n\
             define = {{ SCALE = \"wide\" }}\n\n[sources.\"kernels/b.cu\"]\narguments = \"-DFAST\"\n\
             define = {{ TILE = {tile} }}\n\n[sources.\"kernels/*.cu\"]\ndefine = {{ TILE = 1 }}\n"
        )
    };
    let only = settings(16).replace("define = { TILE = 8 }\n", "");
    let package = package(&only, &[rust, cuda, opencl]);
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    assert!(package.output("kernels.rs").contains("pub fn rust("));
    // Where all have it, the one with the variable cannot be compiled.
    package.write("kernelmill.toml", &settings(16));
    let error = package.build().error.expect("`TILE` is a macro there");
    assert!(error.contains("kernels/c.cl:1") && !error.contains("kernels/b.cu"), "{error}");
    package.write("kernelmill.toml", &only.replace("16", "32"));
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 2");
}

/// What is said of sources that are not there, in words that there are not.
#[test]
fn settings_of_sources_that_are_wrong_are_all_told() {
    let settings = "targets = [\"cpu\"]\n\n[sources.\"kernels/a.r\"]\ndefine = { WIDE = true }\n\n\
                    [sources.\"kernels/*.cu\"]\narguments = \"-lineinfo\"\n";
    fails("sources-missing", settings, &[RUST]);
    let settings = "targets = [\"cpu\"]\n\n[sources.\"kernels/**a.rs\"]\ndefine = {}\n\n\
                    [sources.\"kernels/a.rs\"]\ndefines = {}\narguments = [\"-o\", \"x\"]\n\n[sources]\nb = 1\n";
    fails("sources-wrong", settings, &[RUST]);
}

/// Targets of one build, as `cargo kernelmill inspect` asks for: what they leave out has wrappers, and no binary.
#[test]
fn targets_of_the_environment_may_leave_sources_out() {
    let mut package = package("targets = [\"cpu\", \"compute_90a\"]\n", &[RUST, PTX]);
    package.variables.push(("KERNELMILL_TARGETS", "cpu".to_owned()));
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    let lines = package.build().lines;
    let warning = "cargo::warning=`kernels/f.ptx` is PTX for `sm_90a`, which is compiled for `compute_XX` and \
                   `sm_XX`, and the targets are `cpu`: its kernels have no binary in this build";
    assert!(lines.contains(warning), "{lines}");
    assert!(package.output("kernels.rs").contains("pub unsafe fn ptx"));
}
