//! Bitcode for a program: the checked module of a source, to be compiled when the program runs for the architecture, the
//! launch bounds and the values of constants that are known then.
//!
//! Needs: a module behind all stages, for the oldest architecture that it may run on. Guaranteed: no pass of the build has
//! seen the value of a constant that the program may choose, nor a limit of a launch that the source does not have.

use kernelmill_artifact::{Bitcode, BitcodeConstant, PtxVersion};
use kernelmill_llvm::{Version, inkwell::module::Module, ir::ModuleExt};

use crate::ir::variables;

/// Marks the constants whose values the program may choose, so that no pass knows what they are.
pub(super) fn keep_constants(module: &Module<'_>) {
    for global in module.globals() {
        if !global.is_declaration() && BitcodeConstant::of_symbol(&global.name()).is_some() {
            variables::mark(global);
        }
    }
}

/// What is embedded of a module: itself, and what its compiler must know. `ptx` is what this LLVM makes of it.
pub(super) fn embed(module: &Module<'_>, ptx: &[u8]) -> Vec<u8> {
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    let mut constants: Vec<_> =
        globals.filter_map(|global| BitcodeConstant::of_symbol(&global.name())).collect();
    constants.sort();
    let Version { major, minor, patch } = Version::opened();
    let version = PtxVersion::of(ptx);
    let bitcode = Bitcode {
        llvm: [major, minor, patch],
        ptx: version.map_or(0, |version| version.major * 10 + version.minor),
        constants,
        module: module.to_bitcode(),
    };
    bitcode.to_bytes()
}
