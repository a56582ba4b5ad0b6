//! A vendor's math library instead of the device crate's: NVIDIA's `libdevice`, AMD's `ocml`.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Visibility, parse_bitcode},
};

use super::math;
use crate::{
    Error,
    base::names::MATH_PREFIX,
    ir::{always_inline, path},
    job::{Job, MathLibrary},
    target_info::TargetInfo,
    target_info::VendorMath,
    toolchain::{Toolchain, read},
};

/// The functions whose names differ: ours, and C's.
const NAMES: [(&str, &str); 5] =
    [("exp_m1", "expm1"), ("ln", "log"), ("ln_1p", "log1p"), ("powf", "pow"), ("rem", "fmod")];

/// What `ocml` asks of those who link it, as variables: its version of the binary interface, and what
/// may be less exact, which is nothing.
const QUESTIONS: [(&str, u64); 5] = [
    ("__oclc_ABI_version", 500),
    ("__oclc_correctly_rounded_sqrt32", 1),
    ("__oclc_daz_opt", 0),
    ("__oclc_finite_only_opt", 0),
    ("__oclc_unsafe_math_opt", 0),
];

/// What `ocml` writes for an instruction of the processor's, and what the instruction is called today:
/// the former has become a function that is right everywhere, which is `ocml` itself here.
const INSTRUCTIONS: [(&str, &str); 2] =
    [("llvm.exp2.f32", "llvm.amdgcn.exp2.f32"), ("llvm.log2.f32", "llvm.amdgcn.log.f32")];

/// A library, and which one it is.
pub(crate) struct Vendor {
    kind: VendorMath,
    bitcode: Vec<u8>,
}

/// The library, where a job wants it and its target has one.
///
/// # Errors
///
/// [`Error::NoLibdevice`] and [`Error::NoOcml`] where it is not there.
pub(crate) fn load(
    toolchain: &Toolchain,
    job: &Job<'_>,
    backend: &dyn TargetInfo,
) -> Result<Option<Vendor>, Error> {
    let Some(kind) = backend.vendor_math() else { return Ok(None) };
    if job.config.params.math != MathLibrary::Vendor {
        return Ok(None);
    }
    let target = || job.config.target.clone();
    let path = match kind {
        VendorMath::Libdevice => {
            toolchain.libdevice.as_deref().ok_or_else(|| Error::NoLibdevice { target: target() })?
        }
        VendorMath::Ocml { .. } => {
            toolchain.ocml.as_deref().ok_or_else(|| Error::NoOcml { target: target() })?
        }
    };
    Ok(Some(Vendor { kind, bitcode: read(path)? }))
}

impl Vendor {
    /// What it is called in messages.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            VendorMath::Libdevice => "libdevice",
            VendorMath::Ocml { .. } => "ocml",
        }
    }

    /// The library, for a module of this context.
    ///
    /// # Errors
    ///
    /// Where LLVM cannot read it.
    pub(super) fn module<'c>(&self, context: &'c Context) -> Result<Module<'c>, Error> {
        let library = parse_bitcode(context, &self.bitcode, self.name())?;
        for (general, instruction) in INSTRUCTIONS {
            if let Some(function) = library.function(general) {
                function.replace_with(library.declare(instruction, function.value_type()));
            }
        }
        Ok(library)
    }

    /// Whether a name is of one of its functions.
    pub(super) fn has(&self, name: &str) -> bool {
        let prefix = match self.kind {
            VendorMath::Libdevice => "__nv_",
            VendorMath::Ocml { .. } => "__ocml_",
        };
        name.starts_with(prefix)
    }

    /// Sends the calls of mathematical functions to the library.
    pub(super) fn redirect(&self, module: &Module<'_>) {
        for function in module.functions() {
            let name = function.name();
            let ours = math::ours(&name).or_else(|| of_device_crate(&path(function)));
            let ours = ours.unwrap_or(name);
            if let Some(theirs) = theirs(self.kind, &ours) {
                let target = module.declare(&theirs, function.value_type());
                function.replace_with(target);
            }
        }
    }

    /// Answers what the library asks of the code that it was linked with.
    pub(super) fn answer(&self, module: &Module<'_>) {
        let VendorMath::Ocml { processor, has_waves_of_64 } = self.kind else { return };
        let of_target = [
            ("__oclc_ISA_version", u64::from(processor)),
            ("__oclc_wavefrontsize64", u64::from(has_waves_of_64)),
            ("__oclc_wavefrontsize_log2", 5 + u64::from(has_waves_of_64)),
        ];
        for global in module.globals().into_iter().filter(|global| global.is_declaration()) {
            let name = global.name();
            let mut known = QUESTIONS.iter().chain(&of_target);
            if let Some((_, answer)) = known.find(|(known, _)| *known == name) {
                global.set_initializer(global.value_type().constant(*answer));
                global.set_visibility(Visibility::Default);
                global.set_linkage(Linkage::Internal);
            }
        }
    }
}

/// Makes the device crate's functions, which were kept apart so that they could be replaced, part of
/// the code that calls them.
pub(super) fn keep_own<'c>(context: &'c Context, module: &Module<'c>) {
    for function in module.definitions() {
        if of_device_crate(&path(function)).is_some() {
            always_inline(context, function);
        }
    }
}

/// The symbol for `kernelmill_device::math::f32::sin`.
fn of_device_crate(path: &str) -> Option<String> {
    let (ty, name) = path.strip_prefix("kernelmill_device::math::")?.split_once("::")?;
    matches!(ty, "f32" | "f64").then(|| format!("{MATH_PREFIX}{name}_{ty}"))
}

/// The vendor's function for one of ours.
fn theirs(kind: VendorMath, symbol: &str) -> Option<String> {
    let (name, ty) = symbol.strip_prefix(MATH_PREFIX)?.rsplit_once('_')?;
    let name = NAMES.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| *theirs);
    Some(match kind {
        VendorMath::Libdevice => format!("__nv_{name}{}", if ty == "f32" { "f" } else { "" }),
        VendorMath::Ocml { .. } => format!("__ocml_{name}_{ty}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_vendors() {
        let amd = VendorMath::Ocml { processor: 9010, has_waves_of_64: true };
        let both = |path: &str| {
            let symbol = of_device_crate(path)?;
            Some([VendorMath::Libdevice, amd].map(|kind| theirs(kind, &symbol).unwrap()))
        };
        let names = |path: &str| both(path).unwrap();
        assert_eq!(
            names("kernelmill_device::math::f32::ln_1p"),
            ["__nv_log1pf", "__ocml_log1p_f32"]
        );
        assert_eq!(names("kernelmill_device::math::f64::powf"), ["__nv_pow", "__ocml_pow_f64"]);
        assert_eq!(names("kernelmill_device::math::f32::rem"), ["__nv_fmodf", "__ocml_fmod_f32"]);
        assert_eq!(both("kernelmill_device::math::circular::sin"), None);
        let nvidia = |symbol: &str| theirs(VendorMath::Libdevice, symbol);
        assert_eq!(nvidia("__kernelmill_math_exp_m1_f64").as_deref(), Some("__nv_expm1"));
        assert_eq!(nvidia("__kernelmill_panic"), None);
    }
}
