//! Compiles the kernels below `kernels/` and in the modules of `src`.
fn main() {
    kernelmill_build::compile();
}
