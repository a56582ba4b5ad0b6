//! Compiles plain loops in C with OpenMP, where the C compiler has it, for a build script that has this as a module.

use std::{env, path::Path};

/// Whether the program is to run on machines with a GPU, which may have other processors and libraries than this one.
pub(crate) fn is_for_cuda() -> bool {
    env::var_os("CARGO_FEATURE_CUDA").is_some()
}

/// Compiles files, for the processor of this machine where the program is not to be carried to others.
pub(crate) fn compile(files: &[&str]) {
    let mut plain = cc::Build::new();
    plain.files(files).opt_level(3).warnings(false);
    if !is_for_cuda() && plain.is_flag_supported("-march=native").unwrap_or(false) {
        plain.flag("-march=native");
    }
    let compiler = plain.get_compiler();
    let has_openmp = compiler.is_like_gnu();
    if has_openmp {
        plain.flag("-fopenmp");
    }
    plain.compile("plain");
    if has_openmp {
        link_openmp(&compiler);
    }
}

/// Links the library of OpenMP, as part of the program where that is to be carried to other machines.
fn link_openmp(compiler: &cc::Tool) {
    let asked = compiler.to_command().arg("-print-file-name=libgomp.a").output();
    let path = asked.ok().and_then(|it| String::from_utf8(it.stdout).ok()).unwrap_or_default();
    match Path::new(path.trim()).parent() {
        // The name alone: there is no such file.
        Some(folder) if is_for_cuda() && folder.is_absolute() => {
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib=static=gomp");
        }
        _ => println!("cargo::rustc-link-lib=gomp"),
    }
}

/// Tells the program who compiles the kernels for NVIDIA's GPUs, in the variable `CUDA_COMPILER`.
pub(crate) fn tell_compiler() {
    let compiler =
        env::var("KERNELMILL_CUDA_COMPILER").unwrap_or_else(|_| "the default".to_owned());
    println!("cargo::rerun-if-env-changed=KERNELMILL_CUDA_COMPILER");
    println!("cargo::rustc-env=CUDA_COMPILER={compiler}");
}
