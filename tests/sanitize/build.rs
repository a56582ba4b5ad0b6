//! Compiles the kernels below `kernels/` with the checks.
fn main() {
    kernelmill_build::Build::new().plugin(kernelmill_sanitize::plugin()).compile();
}
