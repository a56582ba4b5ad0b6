//! Compiles the kernels below `kernels/`, with the plugin for derivatives.
fn main() {
    kernelmill_build::Build::new().plugin(kernelmill_autodiff::plugin()).compile();
}
