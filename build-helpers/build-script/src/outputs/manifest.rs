//! The build manifest: the facts of a build, written to `OUT_DIR/kernelmill.json`.

use super::{
    bindings::{
        embedded::{Build, Embedded},
        model::Interface,
    },
    spills::Excess,
};
use crate::{
    base::{error::Error, files::write_if_changed},
    discovery::source::Source,
    manifest::{
        Access, Binary, BinaryKind, CompiledKernel, Diagnostic, FILE, Kernel, Limits, Manifest,
        Parameter, ParameterKind, Ptx, SCHEMA, Severity, Variant,
    },
    settings::package::Package,
};
use kernelmill_artifact::{
    self as artifact, ArtifactKind, LaunchLimits, PtxVersion, Safety, Signature,
};
use kernelmill_compiler::CompiledKernel as Compiled;

/// A warning of a source's front end.
pub(crate) struct FrontWarning<'a> {
    /// The source's place among the sources.
    pub(crate) source: usize,
    /// What the compiler printed, a warning a line.
    pub(crate) text: &'a str,
}

/// Writes the manifest of a build.
pub(crate) fn write(
    package: &Package,
    sources: &[Source],
    interface: &Interface,
    binaries: &[Embedded<'_>],
    (warnings, excess): (&[FrontWarning<'_>], &[Excess<'_>]),
) -> Result<(), Error> {
    let kernels = interface.kernels.iter().map(|it| kernel(&it.signature)).collect();
    let mut diagnostics = Vec::new();
    for warning in warnings {
        let source = &sources[warning.source].display;
        diagnostics.extend(warning.text.lines().map(|line| diagnostic(source, None, line)));
    }
    for binary in binaries {
        let lines = binary.binary.warnings.lines();
        let line = |line| diagnostic(binary.source, Some(&binary.target), line);
        diagnostics.extend(lines.map(line));
    }
    diagnostics.extend(excess.iter().map(|excess| {
        let target = excess.kernel.target.to_string();
        diagnostic(excess.kernel.source, Some(&target), &excess.to_string())
    }));
    let manifest = Manifest {
        schema: SCHEMA,
        kernelmill: env!("CARGO_PKG_VERSION").to_owned(),
        package: package.name.clone(),
        kernels,
        binaries: binaries.iter().map(|it| binary(interface, it)).collect(),
        diagnostics,
    };
    let mut text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Error::Internal(format!("{FILE}: {error}")))?;
    text.push('\n');
    write_if_changed(&package.out_dir.join(FILE), text.as_bytes())
}

fn diagnostic(source: &str, target: Option<&String>, line: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        source: source.to_owned(),
        target: target.cloned(),
        message: line.to_owned(),
    }
}

fn kernel(signature: &Signature) -> Kernel {
    Kernel {
        name: signature.name.to_string(),
        symbol: signature.symbol.to_string(),
        file: signature.file.to_string(),
        line: signature.line,
        signature: signature.to_string(),
        safe: signature.safety == Safety::Safe,
        dimension: signature.dimension as u32,
        limits: limits(&signature.limits),
        parameters: signature.parameters.iter().map(parameter).collect(),
    }
}

fn limits(limits: &LaunchLimits) -> Limits {
    let number = |number: u32| Some(number).filter(|number| *number > 0);
    let sizes = |sizes: [u32; 3]| Some(sizes).filter(|sizes| *sizes != [0; 3]);
    Limits {
        max_block_threads: number(limits.max_block_threads),
        block: sizes(limits.block),
        min_blocks: number(limits.min_blocks),
        max_registers: number(limits.max_registers),
        cluster: sizes(limits.cluster),
        index_width: number(limits.index_width),
    }
}

fn parameter(parameter: &artifact::Parameter) -> Parameter {
    use artifact::ParameterKind as Kind;
    let (kind, access, rank) = match &parameter.kind {
        Kind::Value(_) => (ParameterKind::Value, None, None),
        Kind::Slice { access, .. } => (ParameterKind::Slice, Some(*access), None),
        Kind::Pointer { access, .. } => (ParameterKind::Pointer, Some(*access), None),
        Kind::Shared { .. } => (ParameterKind::Shared, None, None),
        Kind::TensorMap { access, rank, .. } => {
            (ParameterKind::TensorMap, Some(*access), Some(*rank))
        }
    };
    let access = access.map(|access| match access {
        artifact::Access::Read => Access::Read,
        artifact::Access::Write => Access::Write,
    });
    let r#type = parameter.kind.crossing().to_string();
    Parameter { name: parameter.name.to_string(), kind, r#type, access, rank }
}

fn binary(interface: &Interface, embedded: &Embedded<'_>) -> Binary {
    let (source, artifact) = (embedded.binary.source, &embedded.binary.artifact);
    let kind = match artifact.kind {
        ArtifactKind::Ptx => BinaryKind::Ptx,
        ArtifactKind::Cubin => BinaryKind::Cubin,
        ArtifactKind::CodeObject => BinaryKind::CodeObject,
        ArtifactKind::Spirv => BinaryKind::Spirv,
        ArtifactKind::OpenClC => BinaryKind::OpenclC,
        ArtifactKind::Bitcode => BinaryKind::Bitcode,
        _ => BinaryKind::Object,
    };
    // Compilers may have symbols of their own for what is in a namespace without a name.
    let symbol = |kernel: &Compiled| {
        let known = interface.index_of(source, &kernel.name).map(|it| &interface.kernels[it]);
        known.map_or_else(|| kernel.name.clone(), |known| known.signature.symbol.to_string())
    };
    let kernels = embedded.builds.iter().map(|build @ Build { kernel, variant }| CompiledKernel {
        symbol: symbol(kernel),
        variant: variant.as_ref().map(|variant| Variant {
            name: variant.name.to_string(),
            limits: limits(&variant.limits),
            defines: variant.defines.clone(),
        }),
        entry: kernel.entry.clone(),
        static_shared_bytes: kernel.static_shared_bytes,
        panics: kernel.panics,
        cooperative: kernel.cooperative,
        strategy: kernel.strategy.clone(),
        resources: build.resources().into(),
        notes: kernel.notes.clone(),
    });
    let is_ptx = kind == BinaryKind::Ptx;
    let version = is_ptx.then(|| PtxVersion::of(&artifact.bytes)).flatten();
    Binary {
        file: embedded.file.clone(),
        source: embedded.source.to_owned(),
        target: embedded.target.clone(),
        kind,
        bytes: artifact.bytes.len() as u64,
        fingerprint: embedded.binary.fingerprint.to_string(),
        ptx: version.map(Ptx::new),
        kernels: kernels.collect(),
        passes: artifact.passes.clone(),
    }
}
