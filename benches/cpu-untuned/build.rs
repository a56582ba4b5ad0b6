//! Compiles the kernels, and the plain loops with OpenMP where the C compiler has it.

fn main() {
    println!("cargo::rerun-if-changed=src/plain.c");
    let mut plain = cc::Build::new();
    plain.file("src/plain.c").opt_level(3).warnings(false);
    if plain.is_flag_supported("-march=native").unwrap_or(false) {
        plain.flag("-march=native");
    }
    let has_openmp = plain.get_compiler().is_like_gnu();
    if has_openmp {
        plain.flag("-fopenmp");
    }
    plain.compile("plain");
    if has_openmp {
        println!("cargo::rustc-link-lib=gomp");
    }
    kernelmill_build::compile();
}
