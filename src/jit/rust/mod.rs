//! Kernels in Rust that are compiled at run time, from the bitcode that the build has embedded, for NVIDIA's GPUs and the
//! CPU.
//!
//! Needs: a target `bitcode_XX` or `bitcode_cpu` in the build, and LLVM's shared library, which is found and opened when a
//! program is first compiled. Guaranteed: a process compiles the bitcode of a source once for the same choices, versions and device; what
//! comes of it has the kernels, parameters and panics of the source, and its launches are checked against the launch
//! bounds that were chosen. The bounds of the source are never widened: its code relies on them.

mod choices;
mod constant;
mod cpu;
mod faults;
mod library;
mod nvidia;
mod sources;

pub use constant::ConstantValue;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use kernelmill_artifact::{ArtifactKind, Fingerprint, LaunchLimits, Resources, Signature, Target};
use kernelmill_llvm::{Diagnostics, Library, inkwell::context::Context, ir::parse_bitcode};
use kernelmill_store::{KeyBuilder, digest};

use choices::settle;
use faults::{constant_faults, missing_kernel, narrowed};
use library::{no_compiler, open};
use sources::{Form, Processor, Source, check_version, processor, sources};

use super::{
    database::Database,
    program::{Binary, Made, Origin, made_once},
};
use crate::{
    backend::nvrtc,
    codegen::KernelCompiler,
    device::Device,
    embedded::{CpuEntry, EmbeddedArtifact, EmbeddedKernel, KernelSet},
    error::{Error, Result},
};

/// What is run on a module after everything in it is known: what the build runs on modules for GPUs.
const PASSES: &str = "always-inline,default<O3>,globaldce";

/// The launch bounds of the kernels of a source by their entries.
type Limits = BTreeMap<&'static str, LaunchLimits>;

/// Compiles the kernels of a package that are embedded as bitcode, with launch bounds and values of constants that are
/// chosen now, for the architecture of the device.
///
/// ```
/// # /* What the next line brings in is written by the build script:
/// mod kernels { kernelmill::include_kernels!(); }
/// # */
/// use kernelmill::jit::{Database, RustCompiler};
///
/// let compiler = RustCompiler::new()
///     .constant("TILE", 32_u32)
///     .block("transpose", [32, 8, 1])
///     .max_registers("transpose", 64)
///     .database(&Database::of_user()?);
/// # /*
/// let kernels = kernels::Kernels::compile(&Device::cuda(0)?, &compiler)?;
/// # */
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// Kernels that are generic are in the bitcode as the instances that the build has made: other instances cannot be had.
#[derive(Clone, Debug, Default)]
pub struct RustCompiler {
    constants: BTreeMap<String, ConstantValue>,
    limits: BTreeMap<String, LaunchLimits>,
    database: Option<Database>,
    origins: Arc<Mutex<Vec<Origin>>>,
}

impl RustCompiler {
    /// With the launch bounds and the constants of the sources, and without a database.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a constant of [`constant!`](https://docs.rs/kernelmill-device) its value, in every source that has one of this
    /// name. The type of the value is that of the constant.
    #[must_use]
    pub fn constant(mut self, name: impl Into<String>, value: impl Into<ConstantValue>) -> Self {
        self.constants.insert(name.into(), value.into());
        self
    }

    /// The blocks that a kernel is launched with, x first: launches of others are refused. A source that states its block
    /// can be given no other.
    #[must_use]
    pub fn block(self, kernel: impl Into<String>, block: [u32; 3]) -> Self {
        self.limit(kernel, LaunchLimits { block, ..LaunchLimits::NONE })
    }

    /// The most threads in a block of a kernel, at most what its source states.
    #[must_use]
    pub fn max_threads(self, kernel: impl Into<String>, threads: u32) -> Self {
        self.limit(kernel, LaunchLimits { max_block_threads: threads, ..LaunchLimits::NONE })
    }

    /// The number of a kernel's blocks that should be on a multiprocessor at once. It means nothing on the CPU.
    #[must_use]
    pub fn min_blocks(self, kernel: impl Into<String>, blocks: u32) -> Self {
        self.limit(kernel, LaunchLimits { min_blocks: blocks, ..LaunchLimits::NONE })
    }

    /// The most registers of a thread of a kernel. It means nothing on the CPU.
    #[must_use]
    pub fn max_registers(self, kernel: impl Into<String>, registers: u32) -> Self {
        self.limit(kernel, LaunchLimits { max_registers: registers, ..LaunchLimits::NONE })
    }

    fn limit(mut self, kernel: impl Into<String>, limits: LaunchLimits) -> Self {
        let own = self.limits.entry(kernel.into()).or_default();
        *own = limits.or(*own);
        self
    }

    /// Looks for what was compiled in a database, and keeps there what is.
    #[must_use]
    pub fn database(mut self, database: &Database) -> Self {
        self.database = Some(database.clone());
        self
    }

    /// Where the programs came from that this compiler and its clones have given, one for each source with bitcode, in
    /// the order in which they were asked for.
    #[must_use]
    pub fn origins(&self) -> Vec<Origin> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The signatures of a set with the launch bounds that were chosen.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidChoice`] with everything that does not suit the bitcode.
    fn signatures(
        &self,
        set: &KernelSet,
        sources: &[Source],
        compiled: &BTreeSet<usize>,
    ) -> Result<Vec<Signature>> {
        let known: BTreeSet<_> = sources.iter().flat_map(|it| &it.bitcode.constants).collect();
        let mut faults = constant_faults(&self.constants, &known);
        let mut signatures = set.signatures.to_vec();
        for (name, chosen) in &self.limits {
            let named = |index: &&usize| set.signatures[**index].name() == name;
            let mut own = compiled.iter().filter(named).peekable();
            if own.peek().is_none() {
                let names = compiled.iter().map(|index| set.signatures[*index].name());
                faults.push(missing_kernel(name, &names.collect::<Vec<_>>()));
            }
            for index in own {
                match narrowed(&signatures[*index], *chosen) {
                    Ok(limits) => signatures[*index].limits = limits,
                    Err(fault) => faults.push(fault),
                }
            }
        }
        if faults.is_empty() {
            return Ok(signatures);
        }
        Err(Error::InvalidChoice { package: set.package, faults })
    }

    /// The code of a source: its key, and the program.
    fn program(
        &self,
        device: &Device,
        source: &Source,
        (llvm, processor): (&Library, &Processor),
        limits: &Limits,
    ) -> Result<(Fingerprint, &'static Made)> {
        let has = |name: &String| source.bitcode.constants.iter().any(|it| it.name == *name);
        let constants = self.constants.iter().filter(|(name, _)| has(name));
        let options: Vec<_> = constants
            .map(|(name, value)| format!("{name}={value:?}"))
            .chain(limits.iter().map(|(entry, limits)| format!("{entry}: {limits:?}")))
            .collect();
        let driver = match source.form {
            Form::Nvidia(_) => nvrtc::driver_version(),
            Form::Cpu => None,
        };
        let key = KeyBuilder::new("rust program")
            .part("kernelmill", env!("CARGO_PKG_VERSION"))
            .part("llvm", format!("{} {}", llvm.version(), llvm.path().display()))
            .part("driver", format!("{driver:?}"))
            .part("machine", processor.machine.description())
            .part("bitcode", digest(source.artifact.bytes).to_string())
            .part("name", source.artifact.source)
            .parts("option", &options)
            .finish();
        let name = source.artifact.source;
        let (made, origin) = made_once(device, name, key, self.database.as_ref(), || {
            let code = self.code(source, processor, limits);
            code.map_err(|log| Error::Compile {
                source_file: name.to_owned(),
                compiler: format!("LLVM {}", llvm.version()),
                options: options.join(" "),
                log,
            })
        })?;
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).push(origin);
        Ok((key, made))
    }

    /// What LLVM makes of a source, PTX or an object; else what it says.
    fn code(
        &self,
        source: &Source,
        processor: &Processor,
        limits: &Limits,
    ) -> Result<Binary, String> {
        let context = Context::create();
        let diagnostics = Diagnostics::of(&context);
        let name = source.artifact.source;
        let module = parse_bitcode(&context, &source.bitcode.module, name);
        let module = module.map_err(|error| error.to_string())?;
        processor.machine.adopt(&module);
        for constant in &source.bitcode.constants {
            settle(&context, &module, constant, self.constants.get(&constant.name))?;
        }
        let machine = &processor.machine;
        let code = match source.form {
            Form::Nvidia(_) => {
                nvidia::bound_kernels(&context, &module, limits);
                machine.run_with(&module, PASSES, false).and_then(|()| machine.assembly(&module))
            }
            Form::Cpu => {
                for (entry, limits) in limits.iter().filter(|(_, it)| it.block != [0; 3]) {
                    cpu::assume_block(&context, &module, entry, limits.block)?;
                }
                machine.run(&module, PASSES).and_then(|()| machine.object(&module))
            }
        };
        let errors = diagnostics.take();
        if !errors.is_empty() {
            return Err(errors.join("\n"));
        }
        let code = code.map_err(|error| error.to_string())?;
        if source.form == Form::Cpu {
            return Ok(Binary::new(ArtifactKind::Object, code, ""));
        }
        let text = String::from_utf8(code).map_err(|error| error.to_string())?;
        Ok(Binary::new(ArtifactKind::Ptx, text.clone().into_bytes(), &text))
    }
}

/// A source that was compiled.
struct Compiled<'s> {
    source: &'s Source,
    target: Target,
    key: Fingerprint,
    made: &'static Made,
    /// On the CPU its kernels, by their entries.
    cpu: HashMap<&'static str, CpuEntry>,
}

impl Compiled<'_> {
    /// What stands for the source's bitcode.
    fn artifact(&self) -> EmbeddedArtifact {
        let artifact = self.source.artifact;
        let plain = artifact.kernels.iter().filter(|it| it.variant.is_none());
        let kernels = plain.map(|it| EmbeddedKernel {
            resources: Resources::UNKNOWN,
            cpu: self.cpu.get(it.entry).copied(),
            ..copied(it)
        });
        EmbeddedArtifact {
            fingerprint: self.key.to_string().leak(),
            target: self.target.to_string().leak(),
            kind: self.made.kind(),
            // What is in this process has no bytes to be loaded.
            bytes: if self.target.is_cpu() { &[] } else { self.made.bytes() },
            ..with_kernels(artifact, kernels.collect())
        }
    }
}

/// The sets of this process, by the one that they are made of and the programs in them.
type Sets = HashMap<(usize, Vec<Fingerprint>), &'static KernelSet>;

static SETS: Mutex<Option<Sets>> = Mutex::new(None);

impl KernelCompiler for RustCompiler {
    /// # Errors
    ///
    /// [`Error::NoCompiler`] for a device that is neither the CPU nor one of NVIDIA's, where nothing is embedded as bitcode for it, where LLVM
    /// cannot be opened, is older than what wrote the bitcode, or does not know the architecture;
    /// [`Error::InvalidChoice`] for kernels and constants that are not there, values of other types, and launch bounds
    /// that the source does not allow; [`Error::Compile`] for damaged bitcode, and for what LLVM says.
    fn compile_set(&self, device: &Device, set: &'static KernelSet) -> Result<&'static KernelSet> {
        let sources = sources(device, set)?;
        let of = |artifact: &EmbeddedArtifact| {
            let plain = artifact.kernels.iter().filter(|it| it.variant.is_none());
            plain.map(|it| it.signature).collect::<BTreeSet<_>>()
        };
        let compiled: BTreeSet<usize> = sources.iter().flat_map(|it| of(it.artifact)).collect();
        let signatures = self.signatures(set, &sources, &compiled)?;
        let llvm = open().map_err(|reason| no_compiler(reason.to_owned()))?;
        let mut programs = Vec::new();
        for source in &sources {
            check_version(&source.bitcode, llvm.version()).map_err(no_compiler)?;
            let processor = processor(device.architecture(), source).map_err(no_compiler)?;
            let limits: Limits = source.limits(&signatures).collect();
            let (key, made) = self.program(device, source, (llvm, &processor), &limits)?;
            let cpu = match source.form {
                Form::Nvidia(_) => HashMap::new(),
                Form::Cpu => {
                    let linked = cpu::link(key, made.bytes(), &limits);
                    linked.map_err(|log| Error::Compile {
                        source_file: source.artifact.source.to_owned(),
                        compiler: format!("LLVM {}", llvm.version()),
                        options: processor.target.to_string(),
                        log,
                    })?
                }
            };
            programs.push(Compiled { source, target: processor.target, key, made, cpu });
        }
        let keys = programs.iter().map(|it| it.key).collect();
        let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
        let place = sets.get_or_insert_default().entry((std::ptr::from_ref(set) as usize, keys));
        Ok(place.or_insert_with(|| {
            let mut artifacts = Vec::new();
            for artifact in set.artifacts {
                let other = |kernel: &&EmbeddedKernel| !compiled.contains(&kernel.signature);
                match programs.iter().find(|it| std::ptr::eq(it.source.artifact, artifact)) {
                    Some(program) => artifacts.push(program.artifact()),
                    None if artifact.kind == ArtifactKind::Bitcode => {}
                    None => {
                        let kernels: Vec<_> =
                            artifact.kernels.iter().filter(other).map(copied).collect();
                        if !kernels.is_empty() {
                            artifacts.push(with_kernels(artifact, kernels));
                        }
                    }
                }
            }
            Box::leak(Box::new(KernelSet {
                signatures: signatures.leak(),
                artifacts: artifacts.leak(),
                ..*set
            }))
        }))
    }
}

/// A binary with other kernels of it.
fn with_kernels(artifact: &EmbeddedArtifact, kernels: Vec<EmbeddedKernel>) -> EmbeddedArtifact {
    EmbeddedArtifact { kernels: kernels.leak(), ..*artifact }
}

fn copied(kernel: &EmbeddedKernel) -> EmbeddedKernel {
    EmbeddedKernel { ..*kernel }
}

#[cfg(test)]
mod tests;
