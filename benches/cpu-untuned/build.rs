//! Compiles the kernels, and the plain loops with OpenMP where the C compiler has it.

#[path = "../common/plain_loops.rs"]
mod plain_loops;

fn main() {
    println!("cargo::rerun-if-changed=src/plain.c");
    println!("cargo::rerun-if-changed=../common/plain_loops.rs");
    plain_loops::compile(&["src/plain.c"]);
    plain_loops::tell_compiler();
    let build = kernelmill_build::Build::new();
    match plain_loops::is_for_cuda() {
        // `KERNELMILL_TARGETS` goes before these.
        true => build.targets(["cpu", "compute_75", "sm_90"]).compile(),
        false => build.compile(),
    }
}
