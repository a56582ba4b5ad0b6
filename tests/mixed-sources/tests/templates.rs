//! Instances of C++ templates that the settings list: by both compilers, and what is said of those that cannot be.

use test_support::{Package, snapshot, tool};

const SOURCE: (&str, &str) = (
    "kernels/a.cu",
    "#include \"a.cuh\"\n\n\
     enum Mode { Linear, Cubic };\n\
     struct Add { __device__ static float of(float a, float b) { return a + b; } };\n\n\
     namespace ns {\n\
     template <typename T, int N = 4, Mode M = Cubic>\n\
     __global__ void scale(T a, const T *x, T *y) {\n  \
       y[threadIdx.x] = a * x[threadIdx.x] + T(N) + T(M) + T(helper());\n\
     }\n\
     template <typename T> __global__ void over(T *y) { y[0] = T(1); }\n\
     template <typename T> __global__ void over(T *y, int k) { y[k] = T(2); }\n\
     }\n\n\
     extern \"C\" __global__ void plain(float *x) { x[0] = 1; }\n",
);
const HEADER: (&str, &str) = (
    "kernels/a.cuh",
    "#pragma once\n__device__ inline int helper() { return 7; }\n\
     template <class T> __global__ void shared(T *x) { x[threadIdx.x] = T(5); }\n",
);
const OTHER: (&str, &str) =
    ("kernels/b.cu", "#include \"a.cuh\"\n__global__ void other(float *x) { x[0] = helper(); }\n");

const PROGRAM: &str = env!("CARGO_BIN_EXE_build_mixed_package");

fn package(settings: &str) -> Package {
    Package::new(PROGRAM, settings, &[SOURCE, HEADER, OTHER])
}

/// Settings with instances, for these targets and this compiler.
fn listing(targets: &str, compiler: &str, kernel: &str, instances: &str) -> String {
    format!(
        "targets = [{targets}]\ncuda-compiler = \"{compiler}\"\n\n[kernels.{kernel}]\ninstances = {instances}\n"
    )
}

fn has_compilers() -> bool {
    tool::clang().is_some() && tool::nvidia("nvcc").is_some()
}

/// What the bindings of a package have, without the texts that name files of its build.
fn wrappers(package: &Package) -> Vec<String> {
    let bindings = package.output("kernels.rs");
    let lines = bindings.lines().map(str::trim);
    let heads = lines.filter(|line| {
        line.starts_with("pub fn") || line.starts_with("pub unsafe fn") || line.starts_with("impl ")
    });
    heads.map(str::to_owned).collect()
}

/// Of a file without an instance there is nothing to compile, and no clang to ask for its functions.
#[test]
fn a_file_with_a_template_alone_is_left_out_where_nvcc_reads_it() {
    let Some(nvcc) = tool::nvidia("nvcc") else { return };
    let rust = "use kernelmill_device::prelude::*;\n\n#[kernel]\npub fn ones(mut y: DisjointSlice<f32>) {\n    \
                if let Some(y) = y.get_mut(thread::index_1d()) {\n        *y = 1.0;\n    }\n}\n";
    let template =
        "template <typename T> __global__ void scale(T *x) { x[threadIdx.x] *= T(2); }\n";
    let files = [("kernels/ones.rs", rust), ("kernels/scale.cu", template)];
    let mut package = Package::new(PROGRAM, "targets = [\"compute_80\"]\n", &files);
    package.variables.push(("KERNELMILL_NVCC", nvcc.display().to_string()));
    let _ = package.summary();
    assert!(package.output("kernels.rs").contains("pub fn ones"));
    // Alone it is no kernel, and the error does not ask for one in Rust.
    std::fs::remove_file(package.path("kernels/ones.rs")).expect("the file is there");
    let error = package.error();
    let place = "\n  kernels/scale.cu:1: `scale`, a template of ";
    assert!(error.contains("error[KM0020]: no kernels") && error.contains(place), "{error}");
    assert!(!error.contains("#[kernel]"), "{error}");
}

#[test]
fn both_compilers_instantiate_what_the_settings_list() {
    if !has_compilers() {
        return;
    }
    let instances = "[\"float, 16\", \"f64\", \"int, 2, Linear\"]";
    let mut found = Vec::new();
    for (compiler, targets) in
        [("nvcc", "\"compute_80\""), ("clang", "\"compute_80\""), ("clang", "\"cpu\", \"gfx90a\"")]
    {
        let package = package(&listing(targets, compiler, "scale", instances));
        let summary = package.summary();
        assert!(summary.starts_with("kernelmill: compiled "), "{summary}");
        let manifest = package.output("kernelmill.json");
        for symbol in ["scaleIfLi16EL4Mode1EE", "scaleIdLi4EL4Mode1EE", "scaleIiLi2EL4Mode0EE"] {
            assert!(manifest.contains(symbol), "{compiler} {targets}: {symbol}\n{manifest}");
        }
        // Lines of the source are those of the source.
        assert!(manifest.contains("\"kernels/a.cu\""), "{manifest}");
        assert!(!manifest.contains("kernelmill-instances"), "{manifest}");
        found.push(wrappers(&package));
    }
    let of_nvcc = &found[0];
    for line in [
        "pub unsafe fn scale<T, const N: i32, const M: i32>(",
        "pub unsafe fn scale_float_16_1(",
        "impl ScaleInstance<f64, 4, 1> for Kernels {",
        "impl ScaleInstance<i32, 2, 0> for Kernels {",
    ] {
        assert!(of_nvcc.iter().any(|it| it == line), "{line}: {of_nvcc:#?}");
    }
    assert_eq!((&found[1], &found[2]), (of_nvcc, of_nvcc));
}

/// A file in HIP is compiled once more for each of AMD's processors.
#[test]
fn templates_in_hip_are_instantiated() {
    if tool::clang().is_none() {
        return;
    }
    let source = "#include <hip/hip_runtime.h>\n\
                  template <class T, int N> __global__ void wide(T *x) { x[threadIdx.x] = T(N + warpSize); }\n";
    let settings = "targets = [\"cpu\", \"gfx90a\", \"gfx1100\"]\n\n\
                    [kernels.wide]\ninstances = [\"f32, 3\"]\n";
    let package = Package::new(PROGRAM, settings, &[("kernels/w.hip", source)]);
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    let found = wrappers(&package);
    for line in ["impl WideInstance<f32, 3> for Kernels {", "pub unsafe fn wide_float_3("] {
        assert!(found.iter().any(|it| it == line), "{line}: {found:#?}");
    }
}

/// Whoever changes the list compiles again, and nobody else; what Cargo watches is what there is.
#[test]
fn what_is_built_follows_the_list() {
    if !has_compilers() {
        return;
    }
    let settings = |instances| listing("\"cpu\", \"compute_80\"", "nvcc", "scale", instances);
    let package = package(&settings("[\"float\"]"));
    assert_eq!(package.summary(), "kernelmill: compiled 4 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 4");
    package.write("kernelmill.toml", &settings("[\"double\"]"));
    // Those of the other file are as they were.
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 2");
    assert!(package.output("kernels.rs").contains("fn scale_double_4_1("));
    assert!(!package.output("kernels.rs").contains("fn scale_float_4_1("));
    // The place in the settings changes nothing.
    package.write("kernelmill.toml", &format!("\n\n{}", settings("[\"double\"]")));
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 4");
    let lines = package.build().lines;
    let watched: Vec<_> =
        lines.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed=")).collect();
    for file in ["kernels/a.cu", "kernels/a.cuh", "kernels/b.cu"] {
        assert!(watched.contains(&file), "{file}: {watched:#?}");
    }
    let missing: Vec<_> = watched.iter().filter(|it| !package.path(it).exists()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let header = HEADER.1.replace("return 7", "return 8");
    package.write("kernels/a.cuh", &header);
    assert_eq!(package.summary(), "kernelmill: compiled 4 cached 0");
}

/// Two checkouts have the same bitcode, and so the same code.
#[test]
fn a_second_checkout_is_made_of_the_same_bitcode() {
    if tool::clang().is_none() {
        return;
    }
    let settings = listing("\"cpu\"", "clang", "scale", "[\"float\"]");
    let [one, two] = [(), ()].map(|()| package(&settings));
    let of = |package: &Package| {
        let _ = package.summary();
        std::fs::read(package.path("target/out/a.cpu.o")).expect("an object")
    };
    assert!(of(&one) == of(&two), "the objects differ");
}

/// A template of a header that two files include is instantiated once, and a namespace may be left out or said.
#[test]
fn templates_of_headers_and_of_namespaces_are_found() {
    if tool::clang().is_none() {
        return;
    }
    let settings = "targets = [\"cpu\"]\ncuda-compiler = \"clang\"\n\n\
                    [kernels.\"kernels/a.cuh::shared\"]\ninstances = [\"float\"]\n\n\
                    [kernels.\"ns::scale\"]\ninstances = [\"float\"]\nlaunch-bounds = 64\n\n\
                    [kernels.scale_float_4_1]\nlaunch-bounds = 32\n\n\
                    [kernels.scale]\ninstances = [\"double\"]\n\n\
                    [kernels.\"ns::over\"]\ninstances = [\"<float>(float *, int)\", \"<int>(int *)\"]\n";
    let package = package(settings);
    let _ = package.summary();
    let found = wrappers(&package);
    for line in ["pub unsafe fn shared<T>(", "pub unsafe fn over_float(", "pub unsafe fn over_int("]
    {
        assert!(found.iter().any(|it| it == line), "{line}: {found:#?}");
    }
    // Overloads have no wrapper that is generic.
    assert!(!found.iter().any(|it| it.contains("fn over<")), "{found:#?}");
    let has = |file: &str, symbol: &str| {
        let bytes = std::fs::read(package.path("target/out").join(file)).expect("an object");
        bytes.windows(symbol.len()).any(|it| it == symbol.as_bytes())
    };
    assert!(has("a.cpu.o", "_Z6sharedIfEvPT_") && !has("b.cpu.o", "_Z6sharedIfEvPT_"));
    // What is said of one instance goes before what is said of all.
    let bindings = package.output("kernels.rs");
    let count = |limit: &str| bindings.matches(&format!("max_block_threads: {limit},")).count();
    assert_eq!((count("32"), count("64")), (1, 1), "{bindings}");
}

#[track_caller]
fn fails(name: &str, compiler: &str, kernel: &str, instances: &str) {
    if !has_compilers() {
        return;
    }
    let targets = if compiler == "nvcc" { "\"compute_80\"" } else { "\"cpu\"" };
    let package = package(&listing(targets, compiler, kernel, instances));
    // Where nvcc's files are kept is another folder in each run.
    let error = package.error();
    let said = error.split("\nnote: the command line of nvcc").next().unwrap_or_default();
    let folder = env!("CARGO_MANIFEST_DIR");
    snapshot::check(format!("{folder}/snapshots/templates-{name}.txt"), said);
}

const WRONG: &str =
    "[\n  \"float\",\n  \"floot\",\n  \"float, 1, Linear, 4\",\n  \"3\",\n  \"Add\",\n]";

#[test]
fn wrong_instances_are_named_with_the_line_that_lists_them() {
    fails("wrong-nvcc", "nvcc", "scale", WRONG);
    fails("wrong-clang", "clang", "scale", WRONG);
}

#[test]
fn an_overload_is_chosen_by_its_parameters() {
    fails("overloads-nvcc", "nvcc", "\"ns::over\"", "[\"float\"]");
    fails("overloads-clang", "clang", "\"ns::over\"", "[\"float\"]");
}

#[test]
fn what_is_no_list_and_what_is_there_twice_is_refused() {
    fails("lists", "clang", "scale", "[\"float, 16\", \"f32,16\", \"float>\", \"\"]");
}

#[test]
fn what_is_no_template_has_no_instances() {
    fails("plain", "clang", "plain", "[\"float\"]");
    fails("unknown", "clang", "scole", "[\"float\"]");
}
