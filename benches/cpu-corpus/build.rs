//! Compiles kernels of checkouts of public suites, which environment variables name, and the plain loops with OpenMP where the C compiler has it.

#[path = "../common/plain_loops.rs"]
mod plain_loops;

use std::{env, fmt::Write as _, fs, path::PathBuf};

/// The suites. For each an environment variable names a checkout, `CORPUS_RODINIA`.
const SUITES: [&str; 3] = ["polybench", "rodinia", "hecbench"];

/// The plain loops of each suite.
const PLAIN: [&str; 3] = ["src/plain/polybench.c", "src/plain/rodinia.c", "src/plain/hecbench.c"];

/// A source of a suite.
struct Source {
    /// The suite, and its path there.
    file: &'static str,
    /// Macros: sizes that the program's makefile would set, and other names for kernels whose names another source has.
    define: &'static [(&'static str, &'static str)],
}

include!("sources.rs");

/// Instances of kernels that are templates: a template and its arguments.
const INSTANCES: &[(&str, &str)] = &[
    ("wiAtomicOnGlobalMem", "int"),
    ("conv3d_s1", "float"),
    ("relextrema_1D", "float"),
    ("flip_kernel", "float"),
    ("sequenceMaskKernel", "float"),
    ("sigmas_kernel", "int, float"),
    ("surfel_render", "double"),
    ("threads_copy_kernel", "float, 4"),
];

/// Macros of all sources: what CUDA 13 has under other names, or not at all. It is in code for the host alone.
const OF_ALL: &[(&str, &str)] = &[
    ("cudaThreadSynchronize", "cudaDeviceSynchronize"),
    ("clockRate", "deviceNumaId"),
    ("deviceOverlap", "mpsEnabled"),
    // Its parameters have names that are macros for sizes: N, M.
    ("__cuda_cuda_h__", ""),
];

fn main() {
    for suite in SUITES {
        println!("cargo::rerun-if-env-changed={}", variable(suite));
    }
    for file in PLAIN.iter().chain(&["build.rs", "sources.rs", "../common/plain_loops.rs"]) {
        println!("cargo::rerun-if-changed={file}");
    }
    if env::var_os("CARGO_FEATURE_KERNELS").is_none() {
        return;
    }
    plain();
    plain_loops::tell_compiler();
    let mut build = kernelmill_build::Build::new();
    for source in SOURCES {
        let (suite, path) = source.file.split_once('/').expect("a suite and a path");
        let Some(folder) = env::var_os(variable(suite)).map(PathBuf::from) else {
            let variable = variable(suite);
            println!("cargo::error={variable} names no checkout; run `cargo xtask bench corpus`");
            return;
        };
        let file = folder.join(path);
        for (name, value) in source.define {
            build = build.define_for(file.display().to_string(), *name, value);
        }
        build = build.source_files([file]);
    }
    for (name, value) in OF_ALL {
        build = build.define(*name, value);
    }
    for (template, arguments) in INSTANCES {
        build = build.kernel(*template, |kernel| kernel.instances([*arguments]));
    }
    // `KERNELMILL_TARGETS` goes before these.
    build = build.target("cpu");
    if plain_loops::is_for_cuda() {
        build = build.targets(["cpu", "compute_75", "sm_90"]);
    }
    build.compile();
}

fn variable(suite: &str) -> String {
    format!("CORPUS_{}", suite.to_uppercase())
}

/// Compiles the plain loops, and declares them for Rust.
fn plain() {
    plain_loops::compile(&PLAIN);
    let mut declared = String::from("unsafe extern \"C\" {\n");
    for file in PLAIN {
        let source = fs::read_to_string(file).expect("the loops are part of the package");
        for function in source.split("\nvoid c_").skip(1) {
            let (name, rest) = function.split_once('(').expect("parameters");
            let (parameters, _) = rest.split_once(')').expect("the end of the parameters");
            let parameters: Vec<_> = parameters.split(',').map(parameter).collect();
            let parameters = parameters.join(", ");
            writeln!(declared, "    pub(crate) fn c_{name}({parameters});").expect("a string");
        }
    }
    declared.push_str("}\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("plain.rs"), declared).expect("the folder of the build");
}

/// A parameter of a plain loop, in Rust.
fn parameter(text: &str) -> String {
    let text = text.replace("restrict", "");
    let is_pointer = text.contains('*');
    let words: Vec<_> = text.split([' ', '*', '\n']).filter(|it| !it.is_empty()).collect();
    let (name, ty) = words.split_last().expect("a type and a name");
    let is_const = ty[0] == "const";
    let ty = match *ty.last().expect("a type") {
        "float" => "f32",
        "double" => "f64",
        "int" | "int32_t" => "i32",
        "unsigned" | "uint32_t" => "u32",
        "long" | "int64_t" => "i64",
        "uint64_t" => "u64",
        "int16_t" => "i16",
        "uint16_t" => "u16",
        "int8_t" | "char" => "i8",
        "uint8_t" => "u8",
        "bool" => "bool",
        other => panic!("{other} has no counterpart in Rust"),
    };
    let pointer = match (is_pointer, is_const) {
        (false, _) => "",
        (true, true) => "*const ",
        (true, false) => "*mut ",
    };
    format!("r#{name}: {pointer}{ty}")
}
