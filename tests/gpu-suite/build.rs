//! Compiles the kernels of the examples, where they lie, and those of two files of `tests/conformance` that are timed.
fn main() {
    kernelmill_build::Build::new()
        .source_dir("../../examples/saxpy/kernels")
        .source_dir("../../examples/mandelbrot/kernels")
        .source_dir("../../examples/photo/kernels")
        .source_dir("../../examples/reduce/kernels")
        .source_dir("../../examples/matmul/kernels")
        .source_dir("../../examples/nbody/kernels")
        .source_dir("../../examples/dispatch/kernels")
        .source_files(["../conformance/kernels/atomics.rs", "../conformance/kernels/shared.rs"])
        .compile();
}
