//! Compiles the kernels below `kernels/`.
fn main() {
    kernelmill_build::compile();
}
