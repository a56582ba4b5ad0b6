//! Builds the kernels of the package that the environment names, as its build script would, for tests that
//! read what it says.

fn main() {
    kernelmill_build::compile();
}
