//! Compiles the kernels below `kernels/`, and those of tests/conformance, with the checks.

#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "../../build-helpers/compiler/tests/plugins/cycles.rs"]
mod cycles;

fn main() {
    let mut build = kernelmill_build::Build::new()
        .source_dir("kernels")
        .source_dir("../conformance/kernels")
        .source_dir("../conformance/linked")
        .plugin(cycles::Cycles);
    if !cfg!(feature = "unchecked") {
        build = build.plugin(kernelmill_sanitize::plugin());
    }
    build.compile();
}
