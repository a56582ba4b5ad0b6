//! The name of a kernel or a function in the binary, where a job's options give one.

use kernelmill_llvm::{inkwell::module::Module, ir::ModuleExt};

use super::unit::Entry;
use crate::{
    Error,
    job::{Job, OptionError},
};

/// Gives the one entry of a job the name that its options have for it.
pub(crate) fn rename(
    module: &Module<'_>,
    job: &Job<'_>,
    entries: &mut [Entry],
) -> Result<(), Error> {
    let options = &job.config.options;
    let Some(name) = options.name.as_ref().filter(|_| options.toplevel) else { return Ok(()) };
    let [entry] = entries else {
        let (what, names) = match options.kernel {
            true => {
                ("kernel", job.source.signatures.iter().map(|it| it.name.to_string()).collect())
            }
            false => ("function", entries.iter().map(|it| it.symbol.clone()).collect::<Vec<_>>()),
        };
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        let message = format!(
            "the option `name` (`{name}`) is for a source with one {what}, and this one has \
                               {names}"
        );
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
