//! Steps of the pipeline that only some jobs ask for.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::ModuleExt,
};

use crate::{
    Error, Job, OptionError,
    entry::SHIM_PREFIX,
    link::{PREFIX, always_inline},
    target::Entry,
};

/// Marks every function to be made part of its callers, but for the compiler's own, which have
/// reasons to stay apart until later.
pub(crate) fn inline_all<'c>(context: &'c Context, module: &Module<'c>) {
    let ours = |name: &str| name.starts_with(PREFIX) && !name.starts_with(SHIM_PREFIX);
    for function in module.definitions() {
        if !ours(&function.name()) {
            always_inline(context, function);
        }
    }
}

/// Gives the one kernel of a job the name that its options have for it.
pub(crate) fn rename(
    module: &Module<'_>,
    job: &Job<'_>,
    entries: &mut [Entry],
) -> Result<(), Error> {
    let options = &job.config.options;
    let Some(name) = options.name.as_ref().filter(|_| options.toplevel) else { return Ok(()) };
    let [entry] = entries else {
        let kernels = job.source.signatures.iter().map(|kernel| format!("`{}`", kernel.name));
        let kernels = kernels.collect::<Vec<_>>().join(", ");
        let message = format!("the name `{name}` is for one kernel, and the source has {kernels}");
        return Err(OptionError::Together(message).into());
    };
    if let Some(function) = module.function(&entry.symbol) {
        if let Some(taken) = module.function(name).filter(|taken| *taken != function) {
            taken.set_name(&format!("{name}_of_the_source"));
        }
        function.set_name(name);
    }
    if let Some(symbol) = &mut entry.cpu_symbol
        && let Some(global) = module.global(symbol)
    {
        *symbol = format!("kernelmill_cpu_{}_{name}", job.source.unit);
        global.set_name(symbol);
    }
    entry.symbol.clone_from(name);
    Ok(())
}

/// Makes declarations of all functions but those that the device starts, or, where there are none
/// yet, those that they will be made of.
pub(crate) fn drop_bodies(module: &Module<'_>, entries: &[Entry]) {
    let is_entry = |name: &str| match entries {
        [] => name.starts_with(SHIM_PREFIX),
        entries => entries.iter().any(|entry| entry.symbol == name),
    };
    let functions = module.definitions().into_iter();
    let dropped: Vec<_> = functions.filter(|function| !is_entry(&function.name())).collect();
    for function in &dropped {
        let name = function.name();
        function.set_name(&format!("{name}.dropped"));
        function.replace_with(module.new_function(&name, function.value_type()));
    }
    // Without bodies nothing uses them any more.
    for function in dropped {
        function.delete_function();
    }
}
