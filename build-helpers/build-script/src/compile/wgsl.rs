//! Sources in WGSL: their kernels, and their binaries. The store has none of them: naga takes milliseconds, and a key
//! would have to have its version.

use super::{
    binary::Binary,
    compiler::Failure,
    override_source::{self, check_parameters, kernel_of},
};
use crate::{
    base::environment::BuildEnvironment,
    discovery::{
        override_file::KernelOverride,
        source::{Source, SourceKind},
    },
    plan::units::Unit,
    settings::resolved::Settings,
};
use kernelmill_compiler::{
    KernelCode,
    frontend::{
        cuda::CudaKernel,
        wgsl::{self, WgslSource},
    },
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
    let kernels: Vec<_> =
        unit.kernels(source, settings).map(|kernel| kernel.symbol.to_string()).collect();
    let step = environment.step("compile", &*source.display, &[("target", target)]);
    let text = wgsl_source(settings, source);
    let artifact = wgsl::compile(&text, &unit.config, &kernels)?;
    let codes = wgsl::translate(&text, &kernels, &settings.dumps.translations())?;
    let warnings = wgsl::untranslatable(&text, &kernels)?;
    drop(step);
    let fingerprint = KeyBuilder::new("wgsl unit")
        .part("path", &source.display)
        .part("artifact", artifact.to_bytes())
        .finish();
    Ok(Binary {
        source: unit.source,
        fingerprint,
        warnings: warnings.into_iter().map(|line| line + "\n").collect(),
        artifact,
        inputs: vec![source.path.clone()],
        codes,
        is_cached: false,
        variant: None,
        overridden: None,
    })
}

/// Makes the module of a file that stands for a kernel.
pub(super) fn of_override(
    settings: &Settings,
    source: &Source,
    it: &KernelOverride,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let own = source.kernels().iter().find(|kernel| kernel.symbol == it.symbol);
    let Some(own) = own else { return Err(override_source::unknown_kernel(it, source)) };
    let text = wgsl_source(settings, &override_source::source(it, SourceKind::Wgsl));
    let kernels = wgsl::kernels(&text)?;
    let found = &kernel_of(it, &kernels)?.signature;
    check_parameters(it, own, found)?;
    if found.limits.block != own.limits.block {
        let (has, expected) = (found.limits.block, own.limits.block);
        let message =
            format!("its workgroup has {has:?} threads, and that of the kernel {expected:?}");
        return Err(override_source::refuse(it, message));
    }
    let kernels = [found.symbol.to_string()];
    let artifact = wgsl::compile(&text, &unit.config, &kernels)?;
    let codes = wgsl::translate(&text, &kernels, &settings.dumps.translations())?.into_iter();
    let codes = codes.map(|code| KernelCode { kernel: own.symbol.to_string(), ..code }).collect();
    let warnings = wgsl::untranslatable(&text, &kernels)?;
    let warnings = warnings.into_iter().map(|line| line + "\n").collect();
    Ok(Binary { codes, warnings, ..Binary::of_override(unit, (it, own), artifact, Vec::new()) })
}

fn wgsl_source(settings: &Settings, source: &Source) -> WgslSource {
    WgslSource {
        display: source.display.clone(),
        text: source.text().to_owned(),
        constants: source.all_defines(settings).into_iter().collect(),
    }
}
