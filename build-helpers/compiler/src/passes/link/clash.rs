//! Clashes of a source's functions with those of the device crate.

use crate::diagnostic::Code;
use kernelmill_artifact::Target;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value, parse_bitcode, parse_ir},
};

use super::{grid::grid_operations, library::Libraries};
use crate::{
    Error,
    base::names::{PREFIX, SHIM_PREFIX},
    diagnostic::Fault,
    passes::call_chains::nameless,
    target_info::TargetInfo,
};

/// How rustc names the modules of the crate `kernelmill_device`.
const DEVICE_CRATE: &[u8] = b"kernelmill_device.";

/// Refuses a module that defines a function of the run-time library: it would take its place. The
/// module may be of the device crate itself, which a package of kernels depends on.
///
/// # Errors
///
/// [`Error::Invalid`] with every such function.
pub(crate) fn redefinitions(
    context: &Context,
    module: &Module<'_>,
    libraries: &Libraries,
    backend: &dyn TargetInfo,
    target: &Target,
) -> Result<(), Error> {
    let is_ours = |name: &str| name.starts_with(PREFIX) && !name.starts_with(SHIM_PREFIX);
    let definitions = module.definitions().into_iter();
    let claimed: Vec<_> = definitions.filter(|function| is_ours(&function.name())).collect();
    let is_device_crate = module.get_source_file_name().to_bytes().starts_with(DEVICE_CRATE);
    if claimed.is_empty() || is_device_crate {
        return Ok(());
    }
    let machine = backend.machine();
    let device = parse_bitcode(context, libraries.device(), "kernelmill_device")?;
    let text = backend.operations() + &grid_operations(module, backend);
    let operations = parse_ir(context, &text, machine.data_layout(), machine.triple())?;
    let known = |name: &str| device.function(name).or_else(|| operations.function(name));
    let faults = claimed.iter().filter_map(|function| {
        let name = function.name();
        let (ours, theirs) = (parameters(known(&name)?), parameters(*function));
        let difference = if ours == theirs {
            String::new()
        } else {
            format!(" (with {theirs} parameters, where the library's has {ours})")
        };
        let message = format!(
            "defines `{name}`{difference}, which is a function of kernelmill's own library"
        );
        let help = format!("rename it; names that start with `{PREFIX}` are the compiler's");
        Some(Fault::new(Code::OwnName, message, vec![nameless(&name)]).help(help))
    });
    refuse(faults.collect(), target)
}

/// Refuses a module whose declaration of a function differs from the definition in a library.
///
/// # Errors
///
/// [`Error::Invalid`] with every such function.
pub(crate) fn declarations(
    module: &Module<'_>,
    library: &Module<'_>,
    target: &Target,
) -> Result<(), Error> {
    let declared = module.functions().into_iter();
    let declared = declared.filter(|function| function.is_declaration() && function.is_used());
    let faults = declared.filter_map(|function| {
        let name = function.name();
        let defined = library.function(&name).filter(|it| !it.is_declaration())?;
        if !name.starts_with(PREFIX) || defined.value_type() == function.value_type() {
            return None;
        }
        let (theirs, ours) = (parameters(function), parameters(defined));
        let message = format!(
            "declares `{name}` with {theirs} parameters, and kernelmill's own library defines it with {ours}, or \
             with other types"
        );
        let help = "use the functions of `kernelmill_device`";
        Some(Fault::new(Code::OwnName, message, vec![nameless(&name)]).help(help))
    });
    refuse(faults.collect(), target)
}

fn parameters(function: Value<'_>) -> usize {
    function.value_type().parameters().len()
}

fn refuse(faults: Vec<Fault>, target: &Target) -> Result<(), Error> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Error::Invalid { targets: vec![target.clone()], faults })
    }
}
