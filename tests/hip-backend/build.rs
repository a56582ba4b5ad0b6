//! Compiles the kernels of this package, and those of the examples where they lie.

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
        .compile();
}
