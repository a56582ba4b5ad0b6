//! Compiles the kernels of this package.

fn main() {
    kernelmill_build::compile();
}
