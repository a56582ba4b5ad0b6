//! NVIDIA's own mathematics, `libdevice`, in place of the device crate's.

use kernelmill_llvm::{inkwell::module::Module, ir::ModuleExt};

use super::{MATH_PREFIX, math};
use crate::{Error, Job, MathLibrary, Toolchain, frontend::rust::read, target::Backend};

/// What the names of its functions start with.
pub(super) const PREFIX: &str = "__nv_";

/// The functions whose names differ: ours, and C's.
const NAMES: [(&str, &str); 4] =
    [("exp_m1", "expm1"), ("ln", "log"), ("ln_1p", "log1p"), ("powf", "pow")];

/// The bitcode of the library, where a job wants it and its target has it.
///
/// # Errors
///
/// [`Error::NoLibdevice`] where it is not there.
pub(crate) fn load(
    toolchain: &Toolchain,
    job: &Job<'_>,
    backend: &dyn Backend,
) -> Result<Option<Vec<u8>>, Error> {
    if job.config.params.math != MathLibrary::Vendor || !backend.has_libdevice() {
        return Ok(None);
    }
    let missing = || Error::NoLibdevice { target: job.config.target.clone() };
    let path = toolchain.libdevice.as_deref().ok_or_else(missing)?;
    read(path).map(Some)
}

/// Sends the calls of mathematical functions to the library.
pub(super) fn redirect(module: &Module<'_>) {
    for function in module.functions() {
        let name = function.name();
        let ours = math::ours(&name).or_else(|| of_device_crate(&super::path(function)));
        let ours = ours.unwrap_or(name);
        if let Some(theirs) = theirs(&ours) {
            let target = module.declare(&theirs, function.value_type());
            function.replace_with(target);
        }
    }
}

/// The symbol for `kernelmill_device::math::f32::sin`.
fn of_device_crate(path: &str) -> Option<String> {
    let (ty, name) = path.strip_prefix("kernelmill_device::math::")?.split_once("::")?;
    matches!(ty, "f32" | "f64").then(|| format!("{MATH_PREFIX}{name}_{ty}"))
}

/// NVIDIA's function for one of ours.
fn theirs(symbol: &str) -> Option<String> {
    let (name, ty) = symbol.strip_prefix(MATH_PREFIX)?.rsplit_once('_')?;
    let name = NAMES.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| *theirs);
    let suffix = if ty == "f32" { "f" } else { "" };
    Some(format!("{PREFIX}{name}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_nvidias() {
        let device = |path: &str| of_device_crate(path).and_then(|symbol| theirs(&symbol));
        assert_eq!(device("kernelmill_device::math::f32::ln_1p").as_deref(), Some("__nv_log1pf"));
        assert_eq!(device("kernelmill_device::math::f64::powf").as_deref(), Some("__nv_pow"));
        assert_eq!(device("kernelmill_device::math::circular::sin"), None);
        assert_eq!(theirs("__kernelmill_math_exp_m1_f64").as_deref(), Some("__nv_expm1"));
        assert_eq!(theirs("__kernelmill_panic"), None);
    }
}
