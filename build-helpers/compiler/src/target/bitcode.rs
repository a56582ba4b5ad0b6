//! Bitcode for a program: the checked module of a source, to be compiled when the program runs for the device, the
//! launch bounds and the values of constants that are known then.
//!
//! Needs: a module behind all stages, for the oldest architecture that it may run on. Guaranteed: no pass of the build has
//! seen the value of a constant that the program may choose, nor a limit of a launch that the source does not have. A module
//! for the CPU has no thread-local variables, which a loader of objects has no memory for, and its kernels are
//! `CPU_KERNEL_PREFIX` with their entries.

use kernelmill_artifact::{
    Bitcode, BitcodeConstant, CPU_KERNEL_PREFIX, CPU_THREAD_MEMORY, CPU_THREAD_MEMORY_BYTES,
    PtxVersion,
};
use kernelmill_llvm::{
    Version,
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Type, Visibility},
    machine::Machine,
};

use crate::{
    Error,
    ir::{replace_uses, variables},
};

/// Marks the constants whose values the program may choose, so that no pass knows what they are.
pub(super) fn keep_constants(module: &Module<'_>) {
    for global in module.globals() {
        if !global.is_declaration() && BitcodeConstant::of_symbol(&global.name()).is_some() {
            variables::mark(global);
        }
    }
}

/// What is embedded of a module: itself, and what its compiler must know. `ptx` is what this LLVM makes of it, for NVIDIA's
/// GPUs.
pub(super) fn embed(module: &Module<'_>, ptx: Option<&[u8]>) -> Vec<u8> {
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    let mut constants: Vec<_> =
        globals.filter_map(|global| BitcodeConstant::of_symbol(&global.name())).collect();
    constants.sort();
    let Version { major, minor, patch } = Version::opened();
    let version = ptx.and_then(PtxVersion::of);
    let bitcode = Bitcode {
        llvm: [major, minor, patch],
        ptx: version.map_or(0, |version| version.major * 10 + version.minor),
        constants,
        module: module.to_bitcode(),
    };
    bitcode.to_bytes()
}

/// Gives the thread-local variables of a module for the CPU places in the memory that the run time has for each thread.
pub(super) fn place_thread_locals<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let mut used = 0;
    let pointer = Type::pointer(context, 0);
    for global in module.globals().into_iter().filter(|it| it.is_thread_local()) {
        let ty = global.value_type();
        let at = u64::next_multiple_of(used, machine.align_of(ty));
        used = at + machine.size_of(ty);
        let memory = module.declare(CPU_THREAD_MEMORY, pointer.function(&[]));
        for attribute in ["nounwind", "willreturn", "memory"] {
            // `memory` with 0 is none: what is returned depends on the thread alone.
            memory.add_attribute(context, Place::Function, attribute, 0);
        }
        replace_uses(context, global, &|builder| {
            builder.offset(context, builder.call(memory, &[]), at)
        })?;
        global.delete_global();
    }
    if used > CPU_THREAD_MEMORY_BYTES as u64 {
        return Err(Error::Internal(format!("thread-local variables have {used} bytes")));
    }
    Ok(())
}

/// Gives the kernels of a module for the CPU names without the unit that it is of.
pub(super) fn name_kernels(module: &Module<'_>) {
    let unit = module.get_name().to_string_lossy();
    let of_unit = format!("{CPU_KERNEL_PREFIX}{unit}_");
    for global in module.globals() {
        if let Some(entry) = global.name().strip_prefix(&of_unit) {
            global.set_name(&format!("{CPU_KERNEL_PREFIX}{entry}"));
            global.set_visibility(Visibility::Default);
        }
    }
}
