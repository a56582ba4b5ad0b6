//! Sources in WGSL: their kernels, and their binaries. The store has none of them: naga takes milliseconds, and a key
//! would have to have its version.

use super::{binary::Binary, compiler::Failure};
use crate::{
    base::environment::BuildEnvironment, discovery::source::Source, plan::units::Unit,
    settings::resolved::Settings,
};
use kernelmill_compiler::frontend::{
    cuda::CudaKernel,
    wgsl::{self, WgslSource},
};
use kernelmill_store::KeyBuilder;

/// The kernels of a source.
pub(super) fn kernels(settings: &Settings, source: &Source) -> Result<Vec<CudaKernel>, Failure> {
    wgsl::kernels(&wgsl_source(settings, source)).map_err(Failure::from)
}

/// Makes one unit.
pub(super) fn binary(
    (environment, settings): (&BuildEnvironment, &Settings),
    source: &Source,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let target = &unit.config.target;
    let wanted = source.kernels().iter().filter(|it| source.wants(it, target, settings));
    let kernels: Vec<_> = wanted.map(|kernel| kernel.symbol.to_string()).collect();
    let step = environment.step("compile", &*source.display, &[("target", target)]);
    let artifact = wgsl::compile(&wgsl_source(settings, source), &unit.config, &kernels)?;
    drop(step);
    let fingerprint = KeyBuilder::new("wgsl unit")
        .part("path", &source.display)
        .part("artifact", artifact.to_bytes())
        .finish();
    Ok(Binary {
        source: unit.source,
        fingerprint,
        warnings: String::new(),
        artifact,
        inputs: vec![source.path.clone()],
        codes: Vec::new(),
        is_cached: false,
        variant: None,
    })
}

fn wgsl_source(settings: &Settings, source: &Source) -> WgslSource {
    WgslSource {
        display: source.display.clone(),
        text: source.text().to_owned(),
        constants: settings.defines.clone().into_iter().collect(),
    }
}
