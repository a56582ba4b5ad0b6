//! Units of variants: each compiles the kernels of a source that have one variant, for a target.
//!
//! GPUs have units of their own for variants. What is compiled for the CPU and for OpenCL devices is the same for all
//! launches of a source that is compiled with the same macros, and variants that differ in their launches share it.

use super::units::{Unit, UnitCompiler, has_own_code};
use crate::{
    discovery::source::Source,
    settings::{resolved::Settings, variants::VariantParameters},
};

/// The units of the variants of the kernels that a unit compiles, in the order in which they are listed.
pub(crate) fn of_unit(unit: &Unit, source: &Source, settings: &Settings) -> Vec<Unit> {
    let target = &unit.config.target;
    if matches!(unit.compiler, UnitCompiler::Ptxas | UnitCompiler::Naga) {
        return Vec::new();
    }
    let mut variants: Vec<VariantParameters> = Vec::new();
    for kernel in source.kernels().iter().filter(|kernel| settings.wants(kernel, target)) {
        for mut variant in settings.variants(kernel, target) {
            if !has_own_code(target) {
                variant = variant.without_limits();
            }
            let is_shared = !has_own_code(target) && variant.defines.is_empty();
            if !is_shared && !variants.contains(&variant) {
                variants.push(variant);
            }
        }
    }
    let unit = |variant| Unit {
        source: unit.source,
        compiler: unit.compiler,
        config: unit.config.clone(),
        variant: Some(variant),
        override_index: None,
    };
    variants.into_iter().map(unit).collect()
}
