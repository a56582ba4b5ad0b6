//! Units of variants: each compiles the kernels of a source that have one variant, for a target.
//!
//! GPUs have units of their own for variants. What is compiled for OpenCL devices is the same for all launches of a source
//! that is compiled with the same macros, and for the CPU that of all launches but those of one block size: variants that
//! differ in nothing else share it.

use super::units::{Unit, UnitCompiler};
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
        let listed = settings.variants(kernel, target);
        for variant in listed.iter().filter_map(|it| it.code_for(target)) {
            if !variants.contains(&variant) {
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
