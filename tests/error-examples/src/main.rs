//! Builds the kernels of the package that the environment names, as its build script would; with the argument
//! `autodiff` also with that plugin.

use kernelmill_build::Build;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("autodiff") => Build::new().plugin(kernelmill_autodiff::plugin()).compile(),
        None => kernelmill_build::compile(),
        Some(other) => panic!("`autodiff` or nothing, not {other}"),
    }
}
