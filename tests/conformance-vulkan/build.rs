//! Compiles the kernels of `tests/conformance`, with its plugin.

#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "../../build-helpers/compiler/tests/plugins/cycles.rs"]
mod cycles;

fn main() {
    let build = kernelmill_build::Build::new()
        .source_dir("../conformance/kernels")
        .source_dir("../conformance/linked");
    build.plugin(cycles::Cycles).compile();
}
