//! The nvcc compiler with the store before it: signatures once a source, binaries once a source and
//! target.

use super::{
    binary::Binary, compiler::Failure, cuda_source::cuda_source, index_width, nvcc_variants,
    override_source,
};
use crate::{
    base::environment::BuildEnvironment,
    discovery::{
        override_file::{Form, KernelOverride},
        source::{Source, SourceKind},
    },
    plan::{device_libraries::without_libraries, units::Unit},
    settings::{package::Package, resolved::Settings},
    store::dependency_record::Inputs,
    toolchain::Nvcc,
};
use kernelmill_artifact::{
    ArtifactKind, Fingerprint, LaunchLimits, NvidiaArch, Target, VariableDeclaration,
};
use kernelmill_compiler::{
    Artifact, Config, Error as CompileError,
    frontend::cuda::{
        self, CudaKernel, CudaSource, KernelOverrideCode, KernelOverrideFile, Reading, Trace,
    },
};
use kernelmill_store::{KeyBuilder, Store};
use std::{path::PathBuf, time::Instant};

/// The compiler that runs nvcc, with all that it needs besides a source.
pub(crate) struct NvccCompiler<'a> {
    pub(crate) package: &'a Package,
    pub(crate) settings: &'a Settings,
    pub(crate) store: &'a Store,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) nvcc: &'a Nvcc,
}

/// What is known of a source's kernels.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(crate) kernels: Vec<CudaKernel>,
    /// The variables that the host reads and writes.
    pub(crate) variables: Vec<VariableDeclaration>,
    /// Every file that was read, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// A warning a line.
    pub(crate) warnings: String,
    /// How long compiling the source takes next to others.
    pub(crate) weight: u64,
}

impl NvccCompiler<'_> {
    /// Reads the signatures of a source's kernels, or finds out that they were read before.
    pub(crate) fn read(
        &self,
        source: &Source,
        environment: &BuildEnvironment,
    ) -> Result<Kernels, Failure> {
        let start = Instant::now();
        let arch = self.newest();
        let key = self.key("cuda signatures", source).part("arch", arch.to_string()).finish();
        if let Some(record) = self.inputs.find(self.store, "signatures", &key)
            && let Some(bytes) = self.store.get("kernels", &record.stored)
            && let Some((kernels, variables, weight)) = Reading::from_bytes(&bytes)
        {
            let inputs = self.inputs.files(&record);
            environment.stored(&source.display, start, &[("stage", "signatures")]);
            return Ok(Kernels { kernels, variables, inputs, warnings: record.warnings, weight });
        }
        let step = environment.step("signatures", &*source.display, &[]);
        let Reading { mut kernels, mut variables, trace, weight } =
            self.compiler().read(&self.cuda_source(source), arch)?;
        drop(step);
        let files = kernels.iter_mut().map(|kernel| &mut kernel.signature.file);
        for file in files.chain(variables.iter_mut().map(|variable| &mut variable.file)) {
            self.inputs.hide_checkout(file);
        }
        let bytes = Reading::to_bytes(&kernels, &variables, weight);
        let stored = kernelmill_store::digest(&bytes);
        self.store.put("kernels", &stored, &bytes);
        let warnings = warnings(&trace);
        let record = self.inputs.record(stored, (&trace.inputs, &[]), warnings.clone());
        self.inputs.remember(self.store, ("signatures", &key), record);
        Ok(Kernels { kernels, variables, inputs: trace.inputs, warnings, weight })
    }

    /// Makes one unit, or takes it from the store. Libraries of device code are linked with it where
    /// it misses something without them. Files may stand for its kernels.
    pub(crate) fn binary(&self, source: &Source, unit: &Unit) -> Result<Binary, Failure> {
        let plain = without_libraries(&unit.config);
        let can_be_linked = matches!(plain.target, Target::Cubin(_));
        let linked =
            Some(&unit.config).filter(|it| can_be_linked && it.params.device_link.is_some());
        let known = std::iter::once(&plain).chain(linked);
        if let Some(binary) = known.into_iter().find_map(|it| self.stored(source, unit, it)) {
            return Ok(binary);
        }
        match (self.make(source, unit, &plain), linked) {
            (Err(error), Some(linked)) if misses_functions(&error) => {
                self.make(source, unit, linked)
            }
            (made, _) => made,
        }
    }

    /// What came of a unit in an earlier build.
    fn stored(&self, source: &Source, unit: &Unit, config: &Config) -> Option<Binary> {
        let record = self.inputs.find(self.store, "unit", &self.unit_key(source, unit, config))?;
        let artifact = self.store.get("artifact", &record.stored)?;
        Some(Binary {
            source: unit.source,
            variant: unit.variant.clone(),
            overridden: None,
            fingerprint: record.stored,
            artifact: Artifact::from_bytes(&artifact)?,
            inputs: self.inputs.files(&record),
            warnings: record.warnings,
            codes: Vec::new(),
            is_cached: true,
        })
    }

    fn make(&self, source: &Source, unit: &Unit, config: &Config) -> Result<Binary, Failure> {
        let key = self.unit_key(source, unit, config);
        let overrides = unit.overrides(source, self.settings);
        let said = unit.variant.as_ref().map_or(LaunchLimits::NONE, |it| it.limits);
        let is_narrow = said.has_narrow_indices();
        let overrides: Vec<_> = overrides.map(|it| self.override_file(it, is_narrow)).collect();
        let mut text = match is_narrow {
            true => self.cuda_source(&index_width::narrowed(source)),
            false => self.cuda_source(source),
        };
        text.arguments.extend(nvcc_variants::arguments(&said));
        let (mut artifact, trace) = self.compiler().compile(&text, config, &overrides)?;
        if artifact.kind == ArtifactKind::Ptx {
            let ptx = String::from_utf8_lossy(&artifact.bytes);
            artifact.bytes = nvcc_variants::with_directives(&ptx, &said).into_bytes();
        }
        let read = (&*trace.inputs, &[][..]);
        let named = KeyBuilder::new("artifact").part("unit", key.0);
        let record = self.inputs.record_by_inputs(named, read, warnings(&trace));
        self.store.put("artifact", &record.stored, &artifact.to_bytes());
        let record = self.inputs.remember(self.store, ("unit", &key), record);
        Ok(Binary {
            source: unit.source,
            variant: unit.variant.clone(),
            overridden: None,
            fingerprint: record.stored,
            artifact,
            inputs: trace.inputs,
            warnings: record.warnings,
            codes: Vec::new(),
            is_cached: false,
        })
    }

    fn unit_key(&self, source: &Source, unit: &Unit, config: &Config) -> Fingerprint {
        self.key("cuda unit", source)
            .part("config", config.key())
            .parts("variant", unit.variant.iter().map(|it| format!("{:?}", it.limits)))
            .parts("override", unit.overrides(source, self.settings).map(KernelOverride::key))
            .finish()
    }

    /// What a file is for nvcc, with indices of 32 bits or of 64.
    fn override_file(&self, it: &KernelOverride, is_narrow: bool) -> KernelOverrideFile {
        let code = match it.form {
            Form::Cuda => {
                let source = override_source::source(it, SourceKind::Cuda);
                let source = if is_narrow { index_width::narrowed(&source) } else { source };
                KernelOverrideCode::Source(self.cuda_source(&source))
            }
            _ => KernelOverrideCode::Ptx(it.text().into_owned()),
        };
        let (kernel, name, file) = (it.symbol.clone(), it.name.clone(), it.display.clone());
        KernelOverrideFile { kernel, name, file, code }
    }

    pub(crate) fn compiler(&self) -> cuda::Nvcc {
        cuda::Nvcc {
            program: self.nvcc.program.clone(),
            scratch: self.package.out_dir.join("kernelmill"),
            limits: self.package.limits,
        }
    }

    pub(crate) fn cuda_source(&self, source: &Source) -> CudaSource {
        let mut text = cuda_source(self.package, self.settings, source);
        index_width::define(&mut text.defines);
        text
    }

    /// The architecture that signatures are read for: the newest of the targets, on which a source
    /// has the most kernels.
    fn newest(&self) -> NvidiaArch {
        let arch = |target: &Target| match target {
            Target::Cubin(arch) | Target::Ptx(arch) => Some(*arch),
            _ => None,
        };
        let newest = self.settings.targets.iter().filter_map(arch);
        newest.max_by_key(|arch| (arch.major, arch.minor, arch.suffix as u8)).unwrap_or(OLDEST)
    }

    /// A key with nvcc itself, what it reads of the environment, and the host.
    pub(crate) fn tool_key(&self, kind: &str) -> KeyBuilder {
        let variables = self.nvcc.variables.iter().map(|variable| format!("{variable:?}"));
        KeyBuilder::new(kind)
            .part("kernelmill", kernelmill_compiler::DIGEST)
            .part("version", &self.nvcc.version)
            .parts("variable", variables)
            .part("host", &self.package.target)
    }

    /// A key with all that is known of a source before the compiler runs.
    pub(crate) fn key(&self, kind: &str, source: &Source) -> KeyBuilder {
        let text = source.texts.iter().map(|(_, text)| text.as_bytes());
        let defines = source.all_defines(self.settings);
        let defines = defines.iter().map(|define| format!("{define:?}"));
        self.tool_key(kind)
            .part("path", &source.display)
            .parts("text", text)
            .parts("include", &self.settings.includes)
            .parts("define", defines)
            .parts("argument", source.arguments(self.settings))
            .parts("instance", source.instances.iter().map(|instance| format!("{instance:?}")))
    }
}

/// An architecture that every nvcc knows.
const OLDEST: NvidiaArch =
    NvidiaArch { major: 7, minor: 5, suffix: kernelmill_artifact::NvidiaSuffix::None };

/// Whether ptxas has said that functions are defined nowhere.
fn misses_functions(error: &CompileError) -> bool {
    let CompileError::Cpp { messages, .. } = error else { return false };
    messages.iter().any(|message| message.text.contains(UNRESOLVED))
}

/// How ptxas starts to say so.
const UNRESOLVED: &str = "Unresolved extern function";

/// Warnings, one a line.
pub(crate) fn warnings(trace: &Trace) -> String {
    trace.warnings.iter().map(|message| message.line() + "\n").collect()
}
