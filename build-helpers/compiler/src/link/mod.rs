//! Gives a kernel's module everything it calls: panics, mathematics, and the functions of the
//! device crate and of the standard library that it needs, and no others.

mod ending;
mod math;
mod merge;
mod panics;

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Place, Value, parse_bitcode},
};

use crate::{
    Error,
    library::Libraries,
    prepare,
    target::{Backend, Entry},
};

pub(crate) use panics::{PANIC, is_panic};

/// Names that the compiler itself gives a meaning to.
pub(crate) const PREFIX: &str = "__kernelmill_";

/// C's `printf`, as kernels in CUDA C++ call it; what is there for it differs between targets.
pub(crate) const PRINT: &str = "__kernelmill_printf";

/// The mathematical functions of the device crate.
pub(crate) const MATH_PREFIX: &str = "__kernelmill_math_";

/// Makes panics part of the functions they are in, so that their arguments are seen to be unused.
const DROP_MESSAGES: &str = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,\
    simplifycfg,instcombine<no-verify-fixpoint>),globaldce";

/// The functions of C's library for memory that are there on every target.
const MEMORY: [&str; 7] = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "malloc", "free"];

/// Whether a function of C's library that a module calls is there on every target.
pub(crate) fn provides(name: &str) -> bool {
    MEMORY.contains(&name) || math::provides(name)
}

/// The names of the functions of C's library that are there on every target.
pub(crate) fn known() -> impl Iterator<Item = String> {
    MEMORY.iter().map(|name| (*name).to_owned()).chain(math::known())
}

/// Gives [`PRINT`] the name that the target has for it; without one, nothing is printed.
pub(crate) fn printing(module: &Module<'_>, name: Option<&str>) {
    let Some(print) = module.function(PRINT) else { return };
    if let Some(name) = name {
        print.set_name(name);
        return;
    }
    for call in print.users().into_iter().filter(|user| user.is_call()) {
        call.replace_with(call.ty().null());
        call.erase();
    }
}

/// Links until nothing is undefined that a library has.
pub(crate) fn libraries<'c>(
    context: &'c Context,
    module: &Module<'c>,
    libraries: &Libraries,
    backend: &dyn Backend,
) -> Result<(), Error> {
    panics::define(context, module, backend.formats_panics());
    if !backend.formats_panics() {
        // What a message is formatted from is not needed, and would bring formatting code along.
        backend.machine().run(module, DROP_MESSAGES)?;
    }
    let (mut asked, mut of_device) = (HashSet::new(), HashSet::new());
    loop {
        panics::define(context, module, backend.formats_panics());
        math::replace(context, module, backend.is_gpu());
        let wanted = undefined(module);
        // What comes from `core` may want more of the device crate, the formatting of panics.
        let of_device_now = wanted.iter().filter(|name| name.contains("kernelmill"));
        let known = of_device.len();
        of_device.extend(of_device_now.cloned());
        if of_device.len() > known {
            add(context, module, libraries.device(), "kernelmill_device", backend)?;
            continue;
        }
        let others: Vec<String> =
            wanted.into_iter().filter(|name| !name.starts_with(PREFIX)).collect();
        if others.is_empty() {
            return Ok(());
        }
        let members = libraries.defining(&others, &mut asked)?;
        if members.is_empty() {
            return Ok(());
        }
        for member in members {
            add(context, module, &member.bitcode, &member.name, backend)?;
        }
    }
}

/// The names of functions that the module uses and does not define.
pub(crate) fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .functions()
        .into_iter()
        .filter(|function| function.is_declaration() && function.is_used())
        .filter(|function| !function.is_intrinsic())
        .map(Value::name)
        .collect()
}

/// Links what the module needs of a library's module: its definitions are marked as ones that
/// may be dropped, and LLVM's linker brings over those that are referred to.
fn add<'c>(
    context: &'c Context,
    module: &Module<'c>,
    bitcode: &[u8],
    name: &str,
    backend: &dyn Backend,
) -> Result<(), Error> {
    let library = parse_bitcode(context, bitcode, name)?;
    backend.machine().adopt(&library);
    library.strip_debug_info();
    panics::withdraw(context, &library, backend.formats_panics());
    for value in library.functions().into_iter().chain(library.globals()) {
        if value.is_declaration() {
            continue;
        }
        let local = [Linkage::LLVMInternalLinkage, Linkage::LLVMPrivateLinkage];
        if !local.contains(&value.linkage()) {
            value.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
        }
        value.drop_comdat();
    }
    prepare::functions(context, &library, backend.is_gpu());
    module
        .link_in_module(library)
        .map_err(|message| Error::Internal(format!("linking {name}: {message}")))
}

/// Makes the function that writes a panic down part of the kernels of a GPU: a call costs
/// registers, by the convention for calls. It stays apart until everything is optimised, so that
/// it does not keep functions from being inlined; and each function gets it once, whatever the
/// number of its panics.
pub(crate) fn finish_panics<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn Backend,
    entries: &[Entry],
) {
    if let Some(function) = module.function(PANIC).filter(|function| !function.is_declaration())
        && backend.is_gpu()
    {
        merge::calls_that_do_not_return(context, module, function);
        if let Some(end) = backend.ends_group() {
            let kernels = entries.iter().filter_map(|entry| module.function(&entry.symbol));
            ending::by_return(context, module, function, end, &kernels.collect::<Vec<_>>());
        }
        always_inline(context, function);
    }
}

/// Makes a function part of every function that calls it.
pub(crate) fn always_inline<'c>(context: &'c Context, function: Value<'c>) {
    for name in ["noinline", "optnone", "cold", "minsize", "optsize"] {
        function.remove_attribute(Place::Function, name);
    }
    function.add_attribute(context, Place::Function, "alwaysinline", 0);
    for user in function.users() {
        if user.is_call() && user.callee() == Some(function) {
            user.remove_attribute(Place::Function, "noinline");
        }
    }
}
