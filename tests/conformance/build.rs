//! Compiles the kernels below `kernels/`, each a file by itself, and those below `linked/`, which name
//! functions of each other or a plugin's marker: the one of `docs/src/guide/plugins.md`.

#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "../../build-helpers/compiler/tests/plugins/cycles.rs"]
mod cycles;

fn main() {
    let build = kernelmill_build::Build::new().source_dir("kernels").source_dir("linked");
    build.plugin(cycles::Cycles).compile();
}
