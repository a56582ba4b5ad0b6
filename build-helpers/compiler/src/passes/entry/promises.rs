//! `noalias` that front ends write for `__restrict__`: withdrawn where it does not hold of memory that the
//! threads of a launch share.
//!
//! Needs: a module in which nothing is undefined that a library has. Guarantees: where a parameter is
//! `noalias`, [`Sharing::promises`] it.

use kernelmill_artifact::{ParameterKind, Signature};
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Place, Value},
};

use super::{
    sharing::{KernelSharing, KernelsSharing, Sharing},
    shim::{Argument, arguments},
};
use crate::{Error, base::names::SHIM_PREFIX, target_info::TargetInfo};

/// Takes `noalias`, which front ends write for `__restrict__`, from the parameters of which it does not
/// hold, and gives what is known of each kernel.
///
/// # Errors
///
/// An internal error where a shim is not what its signature says.
pub(crate) fn find_sharing(
    module: &Module<'_>,
    signatures: &[Signature],
    backend: &dyn TargetInfo,
) -> Result<KernelsSharing, Error> {
    let mut kernels = KernelsSharing::new();
    let mut shims = Vec::new();
    for signature in signatures {
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let Some(shim) = shim.filter(|shim| !shim.is_declaration()) else { continue };
        shims.push(shim);
        let sharing = Sharing::of(shim, backend);
        let mut between_barriers = Vec::new();
        for (index, argument) in (0..).zip(arguments(signature, shim)?) {
            let promises = match argument {
                Argument::Address(
                    ParameterKind::Pointer { access, .. } | ParameterKind::Slice { access, .. },
                ) => sharing.promises(*access),
                _ => continue,
            };
            if !promises && withdraw(shim, index) && sharing == Sharing::AtBarriers {
                between_barriers.push(index);
            }
        }
        kernels.insert(signature.symbol.to_string(), KernelSharing { sharing, between_barriers });
    }
    for function in module.definitions().into_iter().filter(|it| !shims.contains(it)) {
        let places = 0..function.parameters().len() as u32;
        let has_any = places.clone().any(|index| has_promise(function, index));
        if has_any && Sharing::of(function, backend) != Sharing::Never {
            places.for_each(|index| _ = withdraw(function, index));
        }
    }
    Ok(kernels)
}

fn has_promise(function: Value<'_>, index: u32) -> bool {
    let place = Place::Parameter(index);
    function.has_attribute(place, "noalias") && !function.has_attribute(place, "byval")
}

/// Takes the attribute from a parameter; whether it was there.
fn withdraw(function: Value<'_>, index: u32) -> bool {
    let was_there = has_promise(function, index);
    if was_there {
        function.remove_attribute(Place::Parameter(index), "noalias");
    }
    was_there
}
