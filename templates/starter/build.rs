//! Compiles the kernels below `kernels/` for the targets in `Cargo.toml`.

fn main() {
    kernelmill_build::compile();
}
