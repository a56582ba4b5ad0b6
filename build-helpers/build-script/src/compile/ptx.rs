//! Sources in PTX: their kernels, and their binaries with the store before them.

use super::{binary::Binary, compiler::Failure, front_end::FrontEnd, override_source};
use crate::{
    discovery::{override_file::KernelOverride, source::Source},
    plan::units::Unit,
    settings::{package::Package, resolved::Settings},
};
use kernelmill_compiler::{
    Artifact, Error as CompileError,
    frontend::{
        cuda::CudaKernel,
        ptx::{self, PtxSource},
    },
};
use kernelmill_store::{
    KeyBuilder,
    files::{Access, write},
};
use std::fs;

/// The kernels of a source.
pub(super) fn kernels(
    package: &Package,
    settings: &Settings,
    source: &Source,
) -> Result<Vec<CudaKernel>, Failure> {
    ptx::kernels(&ptx_source(package, settings, source)).map_err(Failure::from)
}

/// Makes one unit, or takes it from the store.
pub(super) fn binary(
    front_end: &FrontEnd<'_>,
    source: &Source,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let FrontEnd { package, settings, store, .. } = *front_end;
    let target = &unit.config.target;
    let wanted = source.kernels().iter().filter(|it| source.wants(it, target, settings));
    let kernels: Vec<_> = wanted.map(|kernel| kernel.symbol.to_string()).collect();
    let fingerprint = KeyBuilder::new("ptx unit")
        .part("version", &front_end.version)
        .part("target", target.to_string())
        .part("path", &source.display)
        .part("text", source.text())
        .parts("kernel", &kernels)
        .parts("override", unit.overrides(source, settings).map(KernelOverride::key))
        .finish();
    let made = |artifact: Artifact, is_cached| Binary {
        source: unit.source,
        variant: None,
        overridden: None,
        fingerprint,
        warnings: artifact.warnings.iter().map(|line| format!("{line}\n")).collect(),
        artifact,
        inputs: vec![source.path.clone()],
        codes: Vec::new(),
        is_cached,
    };
    let stored = store.get("artifact", &fingerprint);
    if let Some(artifact) = stored.and_then(|bytes| Artifact::from_bytes(&bytes)) {
        return Ok(made(artifact, true));
    }
    let mut text = ptx_source(package, settings, source);
    let mut overrides = unit.overrides(source, settings).peekable();
    if overrides.peek().is_some() {
        for it in overrides {
            let edited = ptx::with_entry(&text.text, &it.text(), &it.symbol);
            text.text = edited.map_err(|message| override_source::refuse(it, message))?;
        }
        // Such files of builds that were killed are removed by the next.
        text.path = package.out_dir.join("kernelmill").join(format!("{fingerprint}.ptx.tmp"));
        let written = write(&text.path, text.text.as_bytes(), Access::AsUsual);
        written
            .map_err(|error| CompileError::Internal(format!("{}: {error}", text.path.display())))?;
    }
    let step = front_end.environment.step("compile", &*source.display, &[("target", target)]);
    let artifact = front_end.compiler.assemble_ptx(&text, &unit.config, &kernels);
    if text.path != source.path {
        let _ = fs::remove_file(&text.path);
    }
    let artifact = artifact?;
    drop(step);
    store.put("artifact", &fingerprint, &artifact.to_bytes());
    Ok(made(artifact, false))
}

fn ptx_source(package: &Package, settings: &Settings, source: &Source) -> PtxSource {
    PtxSource {
        path: source.path.clone(),
        display: source.display.clone(),
        package_root: package.root.clone(),
        text: source.text().to_owned(),
        declared: settings.declared(),
    }
}
