//! The front end with the store before it. A source is lowered once for all its targets, and not at all
//! where the store has the result for the same text and the same included files.

use super::{
    compiler::{Compile, Failure},
    cuda_source::cuda_source,
    kernel_package,
};
use crate::{
    base::{environment::BuildEnvironment, paths},
    discovery::{
        cfgs,
        source::{Source, SourceKind},
    },
    settings::{package::Package, resolved::Settings},
    store::dependency_record::{DependencyRecord, Inputs},
    toolchain,
};
use kernelmill_artifact::{DeviceFunction, Fingerprint, Target, VariableDeclaration};
use kernelmill_compiler::{
    Error as CompileError, Lowered, RustSource, Symbols,
    frontend::{
        Architecture,
        cuda::{
            CudaKernel,
            clang::{self, CudaLowered, UnsupportedFeature},
        },
        llvm_ir::IrSource,
        rust::FULL_DEBUG,
    },
};
use kernelmill_store::{KeyBuilder, Store, digest};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Everything that lowering needs besides the source.
pub(crate) struct FrontEnd<'a> {
    pub(crate) environment: &'a BuildEnvironment,
    pub(crate) package: &'a Package,
    pub(crate) settings: &'a Settings,
    pub(crate) compiler: &'a dyn Compile,
    pub(crate) store: &'a Store,
    pub(crate) inputs: &'a Inputs<'a>,
    /// What the compiler says of its version.
    pub(crate) version: String,
    /// clang, where it is needed and there.
    pub(crate) clang: Option<&'a toolchain::Clang>,
    /// The architectures that it compiles CUDA C++ and HIP for.
    pub(crate) architectures: &'a [Architecture],
}

/// A source that has been lowered, now or in an earlier build.
pub(crate) struct Front {
    /// Every file that was read, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// What the front end printed although it succeeded.
    pub(crate) warnings: String,
    /// The digest of the bitcode, and its key in the store: what is made of it depends on nothing
    /// else of the source, so an edit that changes no code compiles nothing again.
    pub(crate) stored: Fingerprint,
    /// The bitcode, once somebody needed it.
    lowered: Mutex<Option<Arc<Lowered>>>,
    /// The kernels that clang found; none for Rust.
    pub(crate) kernels: Vec<CudaKernel>,
    /// The variables that the host reads and writes, in C++.
    pub(crate) variables: Vec<VariableDeclaration>,
    /// What keeps them from targets.
    pub(crate) unsupported: Vec<UnsupportedFeature>,
    /// The functions in C++ that the host can give to kernels.
    pub(crate) functions: Vec<DeviceFunction>,
    /// The functions that it has for other sources, and those that it names.
    pub(crate) symbols: Symbols,
    /// The architecture that the source was told of.
    architecture: Option<Architecture>,
    /// The same source told of each architecture, where it asks.
    others: Vec<Front>,
    /// The source compiled with the macros of variants, in the order of [`Source::defined`], where a front end compiles
    /// it.
    pub(crate) defined: Vec<Front>,
}

impl Front {
    /// What came of the source for a target.
    pub(crate) fn of(&self, target: &Target) -> &Self {
        let architecture = Architecture::of(target);
        self.all().find(|front| front.architecture == architecture).unwrap_or(self)
    }

    /// What came of the source that is compiled with the macros of a variant; itself where there are none.
    pub(crate) fn with_defines(
        &self,
        source: &Source,
        defines: Option<&BTreeMap<String, String>>,
    ) -> &Self {
        let found = defines.and_then(|wanted| {
            let place = source.defined.iter().position(|it| it.defines == *wanted)?;
            self.defined.get(place)
        });
        found.unwrap_or(self)
    }

    /// What came of the source for all targets.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }
}

impl Front {
    /// What came of a source of another package, by architecture, the one told of none first.
    pub(crate) fn given(
        file: &Path,
        symbols: &Symbols,
        lowered: Vec<(Option<Architecture>, Lowered)>,
    ) -> Option<Self> {
        let mut fronts = lowered.into_iter().map(|(architecture, lowered)| Self {
            inputs: vec![file.to_owned()],
            warnings: String::new(),
            stored: digest(&lowered.to_bytes()),
            lowered: Mutex::new(Some(Arc::new(lowered))),
            kernels: Vec::new(),
            variables: Vec::new(),
            unsupported: Vec::new(),
            functions: Vec::new(),
            symbols: symbols.clone(),
            architecture,
            others: Vec::new(),
            defined: Vec::new(),
        });
        let mut first = fronts.next()?;
        first.others = fronts.collect();
        Some(first)
    }

    /// The architecture that the source was told of.
    pub(crate) fn architecture(&self) -> Option<&Architecture> {
        self.architecture.as_ref()
    }
}

/// How a source asks for its architecture.
const ARCHITECTURE: &str = "__CUDA_ARCH";

/// What is known of a source's code.
#[derive(Default)]
struct Facts {
    /// Of sources whose kernels a compiler reads; without bitcode.
    cuda: CudaLowered,
    symbols: Symbols,
}

impl FrontEnd<'_> {
    /// Lowers a source, or finds out that it was lowered before.
    pub(crate) fn run(&self, source: &Source) -> Result<Front, Failure> {
        if !matches!(source.kind, SourceKind::Cuda | SourceKind::Hip) {
            return self.run_for(source, None);
        }
        // A file in HIP is another one for each of AMD's processors, whose wavefronts differ; one in CUDA C++ is for
        // these what it is for the CPU.
        let is_amd = |it: &&Architecture| matches!(it, Architecture::Amd(_));
        let amd =
            self.architectures.iter().filter(is_amd).filter(|_| source.kind == SourceKind::Hip);
        let mut amd = amd.map(Some).peekable();
        let is_for_amd_alone = source.kind == SourceKind::Hip
            && self.settings.targets.iter().all(|target| matches!(target, Target::Amd(_)));
        let first = amd.next_if(|_| is_for_amd_alone).flatten();
        let mut front = self.run_for(source, first)?;
        let asks = |path: &PathBuf| {
            let text = fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(ARCHITECTURE)
        };
        let mut others: Vec<_> = amd.collect();
        let nvidia: Vec<_> = self.architectures.iter().filter(|it| !is_amd(it)).map(Some).collect();
        // A source includes a hundred files: they are only looked at where there is another way to compile it.
        if !nvidia.is_empty() && front.inputs.iter().any(asks) {
            others.extend(nvidia);
        }
        let others = others.into_iter().map(|arch| self.run_for(source, arch));
        front.others = others.collect::<Result<_, _>>()?;
        Ok(front)
    }

    fn run_for(&self, source: &Source, arch: Option<&Architecture>) -> Result<Front, Failure> {
        let key = self.key(source, arch);
        if let Some(record) = self.inputs.find(self.store, "front", &key)
            && let Some(facts) = self.facts(source, &record)
        {
            return Ok(self.front(arch.cloned(), record, facts, None));
        }
        let step = self.environment.step("front end", &*source.display, &[]);
        let mut cuda = self.lower(source, arch)?;
        drop(step);
        let lowered = std::mem::take(&mut cuda.lowered);
        let bytes = lowered.to_bytes();
        let stored = digest(&bytes);
        self.store.put("lowered", &stored, &bytes);
        let symbols = self.compiler.symbols(&lowered)?;
        self.store.put("symbols", &stored, &symbols.to_bytes());
        if source.kind.is_read_by_compiler() {
            self.store.put("facts", &stored, &cuda.facts_to_bytes());
        }
        let read = (&*lowered.inputs, &*lowered.variables);
        let record = self.inputs.record(stored, read, lowered.warnings.clone());
        let record = self.inputs.remember(self.store, ("front", &key), record);
        Ok(self.front(arch.cloned(), record, Facts { cuda, symbols }, Some(lowered)))
    }

    /// What is known of the code of a source that was lowered before; `None` where it must be
    /// lowered again to know.
    fn facts(&self, source: &Source, record: &DependencyRecord) -> Option<Facts> {
        let symbols = Symbols::from_bytes(&self.store.get("symbols", &record.stored)?)?;
        if !source.kind.is_read_by_compiler() {
            return Some(Facts { symbols, ..Facts::default() });
        }
        let cuda = CudaLowered::facts_from_bytes(&self.store.get("facts", &record.stored)?)?;
        Some(Facts { cuda, symbols })
    }

    /// The bitcode of a source: at hand, in the store, or made again.
    pub(crate) fn lowered(&self, source: &Source, front: &Front) -> Result<Arc<Lowered>, Failure> {
        let mut slot = front.lowered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lowered) = &*slot {
            return Ok(Arc::clone(lowered));
        }
        let stored = self.store.get("lowered", &front.stored);
        let lowered = match stored.and_then(|bytes| Lowered::from_bytes(&bytes)) {
            Some(lowered) => lowered,
            None => self.lower(source, front.architecture())?.lowered,
        };
        let lowered = Arc::new(lowered);
        *slot = Some(Arc::clone(&lowered));
        Ok(lowered)
    }

    /// The digest of what is known before the front end runs.
    pub(super) fn key(&self, source: &Source, arch: Option<&Architecture>) -> Fingerprint {
        let kind = match source.kind {
            SourceKind::File => "rust file",
            SourceKind::Package => "rust package",
            SourceKind::Cuda => "cuda",
            SourceKind::Hip => "hip",
            SourceKind::OpenCl => "opencl",
            SourceKind::LlvmIr => "llvm ir",
            SourceKind::Ptx => "ptx",
            SourceKind::Wgsl => "wgsl",
        };
        let mirror = source.module.as_ref().map(|module| &module.mirror);
        // Of a module of the crate's own source only its text counts, and where it stands.
        let pairs: Vec<(String, &str)> = match mirror {
            Some(mirror) => mirror
                .texts
                .iter()
                .map(|it| (paths::relative(&self.package.root, &it.path), &*it.text))
                .collect(),
            None => source.texts.iter().map(|(name, text)| (name.clone(), &**text)).collect(),
        };
        let texts = pairs.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
        let clang = self.clang.filter(|_| source.kind.is_for_clang());
        let is_declared = source.kind.may_be_declared();
        let declared = if is_declared { self.settings.declared() } else { Vec::new() };
        let variables = clang.iter().flat_map(|clang| &clang.variables);
        let defines = clang.map(|_| source.all_defines(self.settings)).unwrap_or_default();
        let is_package = source.kind == SourceKind::Package;
        let options = if is_package { kernel_package::options() } else { Vec::new() };
        let includes = clang.iter().flat_map(|_| &self.settings.includes);
        // With it set, rustc takes what it refuses without.
        let unstable = self.environment.raw("RUSTC_BOOTSTRAP");
        KeyBuilder::new("front")
            .part("version", &self.version)
            .part("unstable features", format!("{unstable:?}"))
            .part("clang", clang.map_or("", |clang| &clang.version))
            .parts("variable", variables.map(|variable| format!("{variable:?}")))
            .parts("define", defines.iter().map(|define| format!("{define:?}")))
            .parts("include", includes)
            .part("full debug information", self.settings.is_fully_debuggable().to_string())
            .part("language", kind)
            .part("architecture", arch.map_or_else(String::new, ToString::to_string))
            .parts("option", options)
            .part("host", &self.package.target)
            .part("edition", &self.package.edition)
            .part("path", &source.display)
            .parts("cfg", cfgs::with(self.package, &source.all_defines(self.settings)))
            .parts("argument", source.written_arguments(self.settings))
            .parts("declared", declared.iter().map(|kernel| format!("{kernel:?}")))
            .parts("instance", source.instances.iter().map(|instance| format!("{instance:?}")))
            .parts("text", texts)
            .finish()
    }

    fn front(
        &self,
        architecture: Option<Architecture>,
        record: DependencyRecord,
        facts: Facts,
        lowered: Option<Lowered>,
    ) -> Front {
        let Facts { cuda, symbols } = facts;
        let package = || self.package.name.clone().into();
        let functions = cuda.functions.into_iter();
        let functions = functions.map(|it| DeviceFunction { package: package(), ..it });
        Front {
            inputs: self.inputs.files(&record),
            warnings: record.warnings,
            stored: record.stored,
            lowered: Mutex::new(lowered.map(Arc::new)),
            kernels: cuda.kernels,
            variables: cuda.variables,
            unsupported: cuda.unsupported,
            functions: functions.collect(),
            symbols,
            architecture,
            others: Vec::new(),
            defined: Vec::new(),
        }
    }

    fn lower(&self, source: &Source, arch: Option<&Architecture>) -> Result<CudaLowered, Failure> {
        let lowered = match (source.kind, self.clang) {
            (SourceKind::Cuda | SourceKind::Hip | SourceKind::OpenCl, Some(clang)) => {
                let (program, version) = (clang.program.clone(), clang.version.clone());
                let clang = clang::Clang { program, version };
                let is_opencl = source.kind == SourceKind::OpenCl;
                let mut source = cuda_source(self.package, self.settings, source);
                if self.settings.is_fully_debuggable() {
                    source.arguments.push(clang::FULL_DEBUG.to_owned());
                }
                let mut lowered = match is_opencl {
                    true => self.compiler.lower_opencl(&clang, &source)?,
                    false => self.compiler.lower_cuda(&clang, &source, arch)?,
                };
                let files = lowered.kernels.iter_mut().map(|kernel| &mut kernel.signature.file);
                let functions = lowered.functions.iter_mut().map(|function| &mut function.file);
                let variables = lowered.variables.iter_mut().map(|variable| &mut variable.file);
                let files = files.chain(functions).chain(variables);
                files.for_each(|file| self.inputs.hide_checkout(file));
                return Ok(lowered);
            }
            (SourceKind::Cuda | SourceKind::Hip | SourceKind::OpenCl, None) => {
                return Err(CompileError::NoClang { file: source.display.clone() }.into());
            }
            (SourceKind::LlvmIr, _) => {
                return self.compiler.lower_ir(&IrSource {
                    path: source.path.clone(),
                    display: source.display.clone(),
                    package_root: self.package.root.clone(),
                    declared: self.settings.declared(),
                    full_debug: self.settings.is_fully_debuggable(),
                });
            }
            (SourceKind::Ptx | SourceKind::Wgsl, _) => {
                let tool = source.kind.compiler_name();
                let what = format!("{} is compiled by {tool}, without a front end", source.display);
                return Err(CompileError::Internal(what).into());
            }
            (SourceKind::Package, _) => {
                let mut lowered = kernel_package::lower(
                    self.environment,
                    self.package,
                    source,
                    self.full_debug(),
                )?;
                self.compiler.adopt(&mut lowered, source.kernels())?;
                lowered
            }
            (SourceKind::File, _) => self.lower_rust(source)?,
        };
        Ok(CudaLowered { lowered, ..CudaLowered::default() })
    }

    fn lower_rust(&self, source: &Source) -> Result<Lowered, Failure> {
        let mut arguments = Vec::new();
        let cfgs = cfgs::with(self.package, &source.all_defines(self.settings));
        let names = cfgs.iter().map(|cfg| cfg.split('=').next().unwrap_or(cfg)).chain(["feature"]);
        for name in names.collect::<BTreeSet<_>>() {
            let known = format!("cfg({name}, values(any()))");
            arguments.extend(["--check-cfg".to_owned(), known]);
        }
        arguments.extend(self.full_debug().map(|option| format!("-C{option}")));
        arguments.extend(source.arguments(self.settings));
        self.compiler.lower_rust(&RustSource {
            path: source.path.clone(),
            display: source.display.clone(),
            package_root: self.package.root.clone(),
            edition: self.package.edition.clone(),
            cfgs,
            arguments,
            signatures: source.kernels().to_vec(),
            functions: source.functions.clone(),
            instances: source.instances.clone(),
            mirror: source.module.as_ref().map(|module| module.mirror.clone()),
        })
    }

    /// The option of rustc that has it write down variables and types, where they are wanted.
    fn full_debug(&self) -> Option<&'static str> {
        self.settings.is_fully_debuggable().then_some(FULL_DEBUG)
    }
}
