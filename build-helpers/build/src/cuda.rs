//! CUDA C++ through nvcc, with the store before it: signatures once a source, binaries once a
//! source and target.

use crate::{
    compile::Failure,
    key::KeyBuilder,
    manifest::Package,
    paths,
    pipeline::Binary,
    plan::Unit,
    record::Inputs,
    settings::{ArgumentsOf, Settings},
    source::Source,
    store::Store,
    toolchain::Nvcc,
};
use kernelmill_artifact::{Fingerprint, NvidiaArch, Target};
use kernelmill_compiler::{
    Artifact,
    frontend::cuda::{self, CudaKernel, CudaSource, Reading, Trace},
};
use std::path::PathBuf;

/// nvcc, and all that it needs besides a source.
pub(crate) struct Cuda<'a> {
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
    /// Every file that was read, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// A warning a line.
    pub(crate) warnings: String,
    /// How long compiling the source takes next to others.
    pub(crate) weight: u64,
}

impl Cuda<'_> {
    /// Reads the signatures of a source's kernels, or finds out that they were read before.
    pub(crate) fn read(&self, source: &Source) -> Result<Kernels, Failure> {
        let arch = self.newest();
        let key = self.key("cuda signatures", source).part("arch", arch.to_string()).finish();
        if let Some(record) = self.inputs.find(self.store, "signatures", &key)
            && let Some(bytes) = self.store.get("kernels", &record.stored)
            && let Some((kernels, weight)) = Reading::from_bytes(&bytes)
        {
            let inputs = self.inputs.files(&record);
            return Ok(Kernels { kernels, inputs, warnings: record.warnings, weight });
        }
        let Reading { mut kernels, trace, weight } =
            self.compiler().read(&self.cuda_source(source), arch)?;
        for kernel in &mut kernels {
            self.inputs.hide_checkout(&mut kernel.signature);
        }
        let bytes = Reading::to_bytes(&kernels, weight);
        let stored = crate::key::digest(&bytes);
        self.store.put("kernels", &stored, &bytes);
        let warnings = warnings(&trace);
        let record = self.inputs.record(stored, (&trace.inputs, &[]), warnings.clone());
        self.inputs.remember(self.store, ("signatures", &key), record);
        Ok(Kernels { kernels, inputs: trace.inputs, warnings, weight })
    }

    /// Makes one unit, or takes it from the store.
    pub(crate) fn binary(&self, source: &Source, unit: &Unit) -> Result<Binary, Failure> {
        let key = self.key("cuda unit", source).part("config", unit.config.key()).finish();
        let fingerprint = |record: &crate::record::Record| {
            record.add_to(KeyBuilder::new("artifact").part("unit", key.0)).finish()
        };
        let made = |fingerprint: Fingerprint, artifact, inputs, warnings, is_cached| Binary {
            source: unit.source,
            fingerprint,
            artifact,
            inputs,
            warnings,
            is_cached,
        };
        if let Some(record) = self.inputs.find(self.store, "unit", &key)
            && let Some(bytes) = self.store.get("artifact", &record.stored)
            && let Some(artifact) = Artifact::from_bytes(&bytes)
        {
            let inputs = self.inputs.files(&record);
            return Ok(made(record.stored, artifact, inputs, record.warnings, true));
        }
        let (artifact, trace) = self.compiler().compile(&self.cuda_source(source), &unit.config)?;
        let mut record =
            self.inputs.record(Fingerprint([0; 32]), (&trace.inputs, &[]), warnings(&trace));
        record.stored = fingerprint(&record);
        self.store.put("artifact", &record.stored, &artifact.to_bytes());
        let record = self.inputs.remember(self.store, ("unit", &key), record);
        Ok(made(record.stored, artifact, trace.inputs, record.warnings, false))
    }

    pub(crate) fn compiler(&self) -> cuda::Nvcc {
        cuda::Nvcc {
            program: self.nvcc.program.clone(),
            scratch: self.package.out_dir.join("kernelmill"),
        }
    }

    pub(crate) fn cuda_source(&self, source: &Source) -> CudaSource {
        cuda_source(self.package, self.settings, source)
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

    /// A key with all that is known before the compiler runs.
    pub(crate) fn key(&self, kind: &str, source: &Source) -> KeyBuilder {
        let text = source.texts.iter().map(|(_, text)| text.as_bytes());
        let variables = self.nvcc.variables.iter().map(|variable| format!("{variable:?}"));
        let defines = self.settings.defines.iter().map(|define| format!("{define:?}"));
        KeyBuilder::new(kind)
            .part("kernelmill", kernelmill_compiler::DIGEST)
            .part("version", &self.nvcc.version)
            .parts("variable", variables)
            .part("path", &source.display)
            .parts("text", text)
            .parts("include", &self.settings.includes)
            .parts("define", defines)
            .parts("argument", self.settings.arguments_for(ArgumentsOf::Cuda))
    }
}

/// An architecture that every nvcc knows.
const OLDEST: NvidiaArch =
    NvidiaArch { major: 7, minor: 5, suffix: kernelmill_artifact::NvidiaSuffix::None };

/// A source as C++ compilers take it.
pub(crate) fn cuda_source(package: &Package, settings: &Settings, source: &Source) -> CudaSource {
    let folder = |folder: &String| paths::normal(&package.root.join(folder));
    CudaSource {
        path: source.path.clone(),
        display: source.display.clone(),
        package_root: package.root.clone(),
        includes: settings.includes.iter().map(folder).collect(),
        defines: settings.defines.clone().into_iter().collect(),
        arguments: settings.arguments_for(ArgumentsOf::Cuda),
    }
}

/// Warnings, one a line.
pub(crate) fn warnings(trace: &Trace) -> String {
    trace.warnings.iter().map(|message| message.line() + "\n").collect()
}
