//! Gives a kernel's module everything it calls: panics, mathematics, and the functions of the
//! device crate and of the standard library that it needs, and no others.

mod clash;
mod ending;
mod heap;
mod math;
mod merge;
mod messages;
mod panics;
mod print;
mod vendor;

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Place, Value, parse_bitcode},
};

use crate::{
    Error, PanicLevel,
    library::Libraries,
    prepare,
    target::{Backend, Entry, Printf},
};

pub(crate) use clash::{declarations, redefinitions};
pub(crate) use messages::Messages;
pub(crate) use panics::PANIC_SILENT;
pub(crate) use panics::{PANIC, is_panic};
use panics::{PANIC_PARTS, PANIC_VALUES, Style};
pub(crate) use vendor::{Vendor, load as vendor_math};

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

/// Makes calls of [`PRINT`] calls of the target's function, where it has one.
pub(crate) fn printing<'c>(context: &'c Context, module: &Module<'c>, target: Option<Printf>) {
    match (module.function(PRINT), target) {
        (Some(print), Some(Printf::Variadic(name))) => print.set_name(name),
        (Some(_), Some(Printf::Packed(name))) => print::to_packed(context, module, name),
        _ => {}
    }
}

/// Links until nothing is undefined that a library has, and adds the texts of the panics that the
/// host puts together.
pub(crate) fn libraries<'c>(
    context: &'c Context,
    module: &Module<'c>,
    (libraries, vendor): (&Libraries, Option<&Vendor>),
    backend: &dyn Backend,
    level: PanicLevel,
    messages: &mut Messages,
) -> Result<(), Error> {
    let style = match level {
        PanicLevel::None => Style::Silent,
        _ if backend.formats_panics() => Style::Format,
        _ => Style::Record,
    };
    if style == Style::Record {
        messages::expose(context, module);
        backend.machine().run(module, DROP_MESSAGES)?;
        messages::attach(context, module, messages);
    }
    panics::define(context, module, style);
    if style != Style::Format {
        // What a message is formatted from is not needed, and would bring formatting code along.
        backend.machine().run(module, DROP_MESSAGES)?;
    }
    let (mut asked, mut of_device) = (HashSet::new(), HashSet::new());
    let mut style_of_the_rest = style;
    loop {
        if style_of_the_rest == Style::Record {
            messages::attach(context, module, messages);
        }
        panics::define(context, module, style_of_the_rest);
        if let Some(vendor) = vendor {
            vendor.redirect(module);
        }
        vendor::keep_own(context, module);
        math::replace(context, module, backend.is_gpu());
        heap::provide(context, module, backend.has_heap());
        if backend.print().is_none() {
            print::to_buffer(context, module);
        }
        let wanted = undefined(module);
        // What comes from `core` may want more of the device crate, the formatting of panics.
        let of_device_now = wanted.iter().filter(|name| name.contains("kernelmill"));
        let known = of_device.len();
        of_device.extend(of_device_now.cloned());
        if of_device.len() > known {
            add(context, module, libraries.device(), "kernelmill_device", backend, style)?;
            continue;
        }
        if let Some(vendor) = vendor
            && wanted.iter().any(|name| vendor.has(name) && asked.insert(name.clone()))
        {
            let library = vendor.module(context)?;
            add_module(context, module, library, vendor.name(), backend, style)?;
            vendor.answer(module);
            continue;
        }
        // Without a heap, what `alloc` does is named as the kernel's own fault.
        let has = |name: &String| backend.has_heap() || !heap::is_of_alloc(name);
        let others: Vec<String> =
            wanted.into_iter().filter(|name| !name.starts_with(PREFIX)).filter(has).collect();
        let members = libraries.defining(&others, &mut asked)?;
        if members.is_empty() && others.is_empty() | (style_of_the_rest != Style::Format) {
            return Ok(());
        }
        if members.is_empty() {
            // Instances of generic functions that are in other crates: `assert_failed::<u32, u32>`.
            style_of_the_rest = Style::Record;
        }
        for member in members {
            add(context, module, &member.bitcode, &member.name, backend, style)?;
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
    style: Style,
) -> Result<(), Error> {
    let library = parse_bitcode(context, bitcode, name)?;
    add_module(context, module, library, name, backend, style)
}

fn add_module<'c>(
    context: &'c Context,
    module: &Module<'c>,
    library: Module<'c>,
    name: &str,
    backend: &dyn Backend,
    style: Style,
) -> Result<(), Error> {
    backend.machine().adopt(&library);
    library.strip_debug_info();
    panics::withdraw(context, &library, style);
    for value in library.functions().into_iter().chain(library.globals()) {
        if value.is_declaration() {
            continue;
        }
        let local = [Linkage::Internal, Linkage::Private];
        if !local.contains(&value.linkage()) {
            value.set_linkage(Linkage::LinkOnceOdr);
        }
        value.drop_comdat();
    }
    prepare::functions(context, &library, backend.is_gpu());
    module
        .link_in_module(library)
        .map_err(|message| Error::Internal(format!("linking {name}: {message}")))
}

/// Makes the functions that write a panic down part of the kernels of a GPU: a call costs
/// registers, by the convention for calls. They stay apart until everything is optimised, so that
/// they do not keep functions from being inlined; and each function gets them once, whatever the
/// number of its panics.
pub(crate) fn finish_panics<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn Backend,
    entries: &[Entry],
) {
    for function in module.definitions().into_iter().filter(|it| is_panic(&it.name())) {
        function.set_linkage(Linkage::Internal);
    }
    if !backend.is_gpu() {
        return;
    }
    let kernels: Vec<_> =
        entries.iter().filter_map(|entry| module.function(&entry.symbol)).collect();
    for name in [PANIC, PANIC_VALUES, PANIC_PARTS, PANIC_SILENT] {
        let Some(function) = module.function(name).filter(|it| !it.is_declaration()) else {
            continue;
        };
        merge::calls_that_do_not_return(context, module, function);
        if let Some(end) = backend.ends_group() {
            ending::by_return(context, module, function, end, &kernels);
        }
        always_inline(context, function);
    }
}

/// Keeps what writes a panic down apart, and makes every function that can panic part of the kernels, where the end of a thread in a function
/// would be that of its whole group. Recursive ones, and those called by address, stay.
pub(crate) fn inline_panicking<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn Backend,
) {
    let panics = module.functions().into_iter().filter(|function| is_panic(&function.name()));
    let mut work: Vec<_> = panics.collect();
    if backend.is_gpu() {
        // Until `finish_panics`, also where they are small.
        for function in &work {
            function.add_attribute(context, Place::Function, "noinline", 0);
        }
    }
    if backend.ends_group().is_none() {
        return;
    }
    let mut seen: HashSet<_> = work.iter().copied().collect();
    while let Some(callee) = work.pop() {
        for call in crate::place::calls_of(callee) {
            let caller = call.block().function();
            if seen.insert(caller) {
                always_inline(context, caller);
                work.push(caller);
            }
        }
    }
}

/// The path of a function in Rust, without the hash at its end.
pub(crate) fn path(function: Value<'_>) -> String {
    format!("{:#}", rustc_demangle::demangle(&function.name()))
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
