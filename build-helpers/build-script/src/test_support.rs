//! Packages in temporary folders, and a compiler that only notes what it is asked.

use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment, error::Error},
    compile::{
        compilation::{Lacking, Open},
        compiler::{Compile, Failure},
    },
    pipeline,
    settings::layer::Layer,
    summary::Summary,
};
use kernelmill_artifact::{
    ArtifactKind, Parameter, ParameterKind, Resources, Scalar, Signature, Target, ValueType,
};
use kernelmill_compiler::{
    Artifact, CodeStage, CompiledKernel, Config, Error as CompileError, Job, KernelCode, Lowered,
    Lowering, RustSource, Strategy, Symbols, exported,
    frontend::{
        Architecture,
        cuda::{
            CudaSource,
            clang::{Clang, CudaLowered},
        },
        llvm_ir::IrSource,
        ptx::PtxSource,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use test_support::{TempDir, temporary_folder, write_file};

/// A package with a store of its own.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
    pub(crate) variables: BTreeMap<String, OsString>,
    pub(crate) builder: Layer,
}

/// What came of a build.
pub(crate) struct Outcome {
    pub(crate) result: Result<Summary, Error>,
    /// What was printed for Cargo.
    pub(crate) lines: Vec<String>,
}

pub(crate) const SAXPY: &str =
    "#[kernel]\npub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {}\n";

impl Project {
    /// A package `app` of edition 2024 with these files; `metadata` is what its
    /// `[package.metadata.kernelmill]` says.
    pub(crate) fn new(metadata: &str, files: &[(&str, &str)]) -> Self {
        let folder = temporary_folder();
        let mut project = Self { folder, variables: BTreeMap::new(), builder: Layer::default() };
        let package = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        let table = if metadata.is_empty() { "" } else { "\n[package.metadata.kernelmill]\n" };
        project.write("app/Cargo.toml", &format!("{package}{table}{metadata}"));
        for (name, text) in files {
            project.write(&format!("app/{name}"), text);
        }
        let path = |name: &str| project.folder.path().join(name).into_os_string();
        let cargo = option_env!("CARGO").unwrap_or("cargo").into();
        project.variables = [
            ("CARGO_MANIFEST_DIR", path("app")),
            ("OUT_DIR", path("app/target/out")),
            ("XDG_CACHE_HOME", path("cache")),
            ("CARGO_PKG_NAME", "app".into()),
            ("CARGO_PKG_VERSION", "0.1.0".into()),
            ("TARGET", "x86_64-unknown-linux-gnu".into()),
            ("RUSTC", "rustc".into()),
            ("CARGO", cargo),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        project
    }

    /// Writes a file relative to the folder that holds the package `app`.
    pub(crate) fn write(&self, name: &str, text: &str) {
        write_file(&self.folder, name, text);
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.into());
    }

    pub(crate) fn out(&self) -> PathBuf {
        PathBuf::from(&self.variables["OUT_DIR"])
    }

    /// The names of the files in `OUT_DIR`.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.out()).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// What a build script of it would see, which prints to `written`.
    pub(crate) fn environment(&self, written: &Shared) -> BuildEnvironment {
        BuildEnvironment::fixed(self.variables.clone(), Cargo::to(Box::new(written.clone())))
    }

    pub(crate) fn build(&self) -> Outcome {
        let written = Shared::default();
        let environment = self.environment(&written);
        let open: Open<'_> = &|package, _| Ok(Box::new(Fake::on(&package.target)));
        let lacking = Lacking::default();
        let result = pipeline::run_with(&environment, self.builder.clone(), (open, &lacking));
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        Outcome { result, lines: text.lines().map(str::to_owned).collect() }
    }

    /// The numbers of compiled and cached units of a build that succeeds.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let summary = self.build().result.unwrap_or_else(|error| panic!("{error}"));
        (summary.compiled, summary.cached)
    }

    /// The number of the store's entries of a kind.
    pub(crate) fn stored(&self, kind: &str) -> usize {
        let entries = files(&self.folder.path().join("cache/kernelmill"));
        entries.iter().filter(|path| path.extension().is_some_and(|it| it == kind)).count()
    }

    /// The text of the error of a build that fails.
    pub(crate) fn error(&self) -> String {
        self.build().result.expect_err("the build succeeds").to_string()
    }
}

#[derive(Clone, Default)]
pub(crate) struct Shared(pub(crate) Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes a file and the modules it includes for bitcode, and that with the target for a binary.
/// The words `RUSTC_ERROR` and `UNIT_ERROR` in a text make it fail; lines that start with `// note`
/// are not in the bitcode.
pub(crate) struct Fake {
    pub(crate) host: String,
    pub(crate) plugins: String,
}

impl Fake {
    /// A compiler for a host.
    pub(crate) fn on(host: &str) -> Self {
        Self { host: host.to_owned(), plugins: String::new() }
    }
}

impl Compile for Fake {
    fn version(&self) -> String {
        "fake 1".to_owned()
    }

    fn plugins(&self) -> String {
        self.plugins.clone()
    }

    fn resolved(&self, target: &Target) -> Result<String, Failure> {
        Ok(if *target == Target::Cpu { self.host.clone() } else { format!("GPU {target}") })
    }

    fn lower_cuda(
        &self,
        _: &Clang,
        source: &CudaSource,
        _: Option<&Architecture>,
    ) -> Result<CudaLowered, Failure> {
        Err(CompileError::Internal(format!("{} is not Rust", source.display)).into())
    }

    fn lower_opencl(&self, _: &Clang, source: &CudaSource) -> Result<CudaLowered, Failure> {
        Err(CompileError::Internal(format!("{} is not Rust", source.display)).into())
    }

    fn lower_ir(&self, source: &IrSource) -> Result<CudaLowered, Failure> {
        Err(CompileError::Internal(format!("{} is not Rust", source.display)).into())
    }

    fn assemble_ptx(
        &self,
        source: &PtxSource,
        _: &Config,
        _: &[String],
    ) -> Result<Artifact, Failure> {
        let what = format!("{} is for ptxas, and this is none", source.display);
        Err(CompileError::Internal(what).into())
    }

    fn lower_rust(&self, source: &RustSource) -> Result<Lowered, Failure> {
        let (mut inputs, mut text) = match &source.mirror {
            None => (vec![source.path.clone()], fs::read_to_string(&source.path).unwrap()),
            Some(mirror) => {
                let whole = mirror.texts.iter().filter(|it| it.is_whole);
                let inputs = whole.map(|it| it.path.clone()).collect();
                (inputs, mirror.texts.iter().map(|it| &*it.text).collect::<String>())
            }
        };
        let has_files = source.mirror.is_none();
        let included: Vec<_> = text
            .lines()
            .filter(|_| has_files)
            .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
            .map(|name| source.path.with_file_name(format!("{name}.rs")))
            .collect();
        for path in included {
            text.push_str(&fs::read_to_string(&path).unwrap());
            inputs.push(path);
        }
        if text.contains("RUSTC_ERROR") {
            let stderr = format!("error[E0001]: wrong\n --> {}:1:1\n", source.display);
            return Err(CompileError::Rustc { stderr }.into());
        }
        let seen = format!("{} {:?} {:?}", source.edition, source.cfgs, source.arguments);
        let is_code = |line: &&str| !line.starts_with("// note");
        let text: String = text.lines().filter(is_code).map(|line| format!("{line}\n")).collect();
        let modules = vec![(text + &seen).into_bytes()];
        Ok(Lowered { modules, inputs, ..Lowered::default() })
    }

    fn adopt(&self, _: &mut Lowered, _: &[Signature]) -> Result<(), Failure> {
        Ok(())
    }

    fn qualify(&self, _: &mut Lowered, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn symbols(&self, lowered: &Lowered) -> Result<Symbols, Failure> {
        let text = String::from_utf8_lossy(&lowered.modules[0]).into_owned();
        let names = |before: &str| {
            text.match_indices(before)
                .map(|(at, _)| &text[at + before.len()..])
                .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
                .map(str::to_owned)
                .collect()
        };
        let mut defines: Vec<_> = names("extern \"C\" fn ");
        defines.extend(names("#[device_fn] pub fn ").iter().map(|name| exported(name)));
        let [defers, externals] = [names("deferred!("), names("external ")];
        // One function for each kernel: all that the text names.
        let kernels = text.match_indices("#[kernel] pub fn ").map(|(at, before)| {
            let name = text[at + before.len()..].split('(').next().unwrap_or_default();
            (format!("__kernelmill_entry_{name}"), names(&format!("{name} asks ")))
        });
        let reaches = kernels.collect();
        Ok(Symbols { defines, defers, externals, reaches })
    }

    fn states(&self, reached: &BTreeSet<String>) -> Vec<Parameter> {
        let kind = || ParameterKind::Value(ValueType::Scalar(Scalar::U64));
        reached.iter().map(|name| Parameter::state(name, kind())).collect()
    }

    fn compile(
        &self,
        job: &Job<'_>,
        wanted: &[CodeStage],
    ) -> Result<(Artifact, Vec<KernelCode>), Failure> {
        let mut text = String::from_utf8(job.source.lowered.modules[0].clone()).unwrap();
        for function in &job.source.lowered.functions {
            text += &format!("\n{function:?}");
        }
        for it in &job.source.lowered.overrides {
            text += &format!("\n{} is {}: {:?}", it.kernel, it.file, it.code);
        }
        for child in &job.source.lowered.children {
            text += &format!("\n{}: {:?}", child.display, child.lowered.modules);
        }
        let target = &job.config.target;
        if text.contains("UNIT_ERROR") {
            let stderr = format!("no {target}");
            return Err(CompileError::Tool {
                tool: "ptxas",
                subject: "b".to_owned(),
                stderr,
                kept: None,
            }
            .into());
        }
        let kernels = job.source.signatures.iter().map(|signature| CompiledKernel {
            name: signature.name.to_string(),
            entry: signature.name.to_string(),
            static_shared_bytes: 0,
            panics: false,
            cooperative: false,
            cpu_symbol: (*target == Target::Cpu)
                .then(|| format!("kernelmill_cpu_{}_{}", job.source.unit, signature.name)),
            strategy: (*target == Target::Cpu && text.contains("STRATEGIES")).then(thread_loop),
            resources: match (text.contains("SPILLS"), target) {
                (true, Target::Cubin(_)) => Resources {
                    registers: Some(40),
                    spill_stores: Some(24),
                    spill_loads: Some(40),
                    stack_bytes: Some(16),
                    static_shared_bytes: Some(512),
                    ..Resources::UNKNOWN
                },
                (true, Target::Amd(_)) => {
                    Resources { spilled_registers: Some(3), ..Resources::UNKNOWN }
                }
                _ => Resources::UNKNOWN,
            },
            notes: text
                .contains("NOTES")
                .then(|| "count: 3 additions".to_owned())
                .into_iter()
                .collect(),
        });
        let file = &job.source.signatures[0].file;
        let said = text.contains("WARNED").then(|| format!("{file}: LLVM refuses its lines"));
        let codes = job.source.signatures.iter().flat_map(|signature| {
            wanted.iter().map(|stage| KernelCode {
                kernel: signature.name.to_string(),
                stage: *stage,
                text: format!("{stage:?} of {} for {target}", signature.name),
            })
        });
        let codes = codes.collect();
        let artifact = Artifact {
            target: target.clone(),
            kind: match target {
                Target::Cpu => ArtifactKind::Object,
                Target::Cubin(_) => ArtifactKind::Cubin,
                Target::Amd(_) => ArtifactKind::CodeObject,
                _ => ArtifactKind::Ptx,
            },
            bytes: format!("{target}: {text}").into_bytes(),
            kernels: kernels.collect(),
            locations: Vec::new(),
            messages: Vec::new(),
            relocations: Vec::new(),
            variables: Vec::new(),
            warnings: said.into_iter().collect(),
            passes: Vec::new(),
        };
        Ok((artifact, codes))
    }
}

/// Every file under a folder, in the order of names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// The lowering strategy of a kernel without barriers.
pub(crate) fn thread_loop() -> Strategy {
    Strategy {
        lowering: Lowering::ThreadLoop,
        widths: vec![8, 16],
        along_y: false,
        narrow_along_y: false,
        narrow_width: 0,
        scalar: None,
        block: None,
        interchanged_loops: 0,
        jammed_rows: 0,
    }
}
