//! Compiles the kernels of this package, and those of the examples where they lie, and makes the programs of some examples
//! parts of tests.

use std::{env, fs, path::Path};

/// The examples that run on every back end.
const PROGRAMS: [&str; 4] = ["saxpy", "photo", "matmul", "reduce"];

fn main() {
    kernelmill_build::Build::new()
        .source_dir("kernels")
        .source_dir("../../examples/saxpy/kernels")
        .source_dir("../../examples/mandelbrot/kernels")
        .source_dir("../../examples/photo/kernels")
        .source_dir("../../examples/reduce/kernels")
        .source_dir("../../examples/matmul/kernels")
        .source_dir("../../examples/nbody/kernels")
        .source_dir("../../examples/dispatch/kernels")
        .source_files([
            "../conformance/kernels/atomics.rs",
            "../conformance/kernels/grid_sync.rs",
            "../conformance/kernels/shared.rs",
            "../mixed-sources/kernels/suite.rs",
            "../mixed-sources/kernels/variables.cu",
            "../opencl-backend/kernels/printing.rs",
            "../opencl-backend/kernels/telling.cu",
        ])
        .compile();
    PROGRAMS.into_iter().for_each(write_program);
}

/// Writes the root of an example as a file that `include!` takes: without the comment on the whole, and with the paths of its
/// modules.
fn write_program(name: &str) {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&root).join("../../examples").join(name).join("src");
    let path = folder.join("main.rs");
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(&path).expect("the example is there");
    let lines = text.lines().filter(|line| !line.starts_with("//!")).map(|line| {
        let module = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
        let file = module.map(|module| folder.join(format!("{module}.rs")));
        match file {
            Some(file) => format!("#[path = {file:?}]\n{line}\n"),
            None => format!("{line}\n"),
        }
    });
    let output = env::var("OUT_DIR").expect("cargo sets it");
    let output = Path::new(&output).join(format!("program_{name}.rs"));
    fs::write(output, lines.collect::<String>()).expect("the folder is there");
}
