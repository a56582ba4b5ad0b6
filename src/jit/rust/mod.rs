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
mod overrides;
mod sources;

pub use constant::ConstantValue;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use kernelmill_artifact::{
    ArtifactKind, CPU_KERNEL_PREFIX, Fingerprint, LaunchLimits, Resources, Signature, Target,
};
use kernelmill_llvm::{
    Diagnostics, Library,
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, parse_any, parse_bitcode, parse_ir},
};
use kernelmill_store::{KeyBuilder, digest};

use choices::settle;
use cpu::Linked;
use faults::{constant_faults, missing_kernel, narrowed};
use library::{no_compiler, open};
use overrides::{Code, KernelFile};
use sources::{Form, Processor, Source, check_version, processor, sources};

use super::{
    database::Database,
    dumps::{Dumps, Stage},
    program::{Binary, Made, Origin, made_once},
};
use crate::{
    backend::nvrtc,
    codegen::KernelCompiler,
    compiled_set::CompiledSet,
    device::Device,
    embedded::{CpuEntry, EmbeddedArtifact, EmbeddedKernel, HeldCode, KernelSet, LinkedKernel},
    error::{Error, Result},
};

/// What is run on a module after everything in it is known: what the build runs on modules for GPUs.
const PASSES: &str = "always-inline,default<O3>,globaldce";

/// Removes what a kernel that is dumped does not use.
const REMOVE_UNUSED: &str = "globaldce,strip-dead-prototypes";

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

    /// The code of a source: its key, and the program. What is dumped is compiled, whatever the database has.
    fn program(
        &self,
        device: &Device,
        (source, dumps): (&Source, Option<Named<'_>>),
        (llvm, processor): (&Library, &Processor),
        limits: &Limits,
    ) -> Result<(Fingerprint, Arc<Made>)> {
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
        let database = self.database.as_ref().filter(|_| dumps.is_none());
        let (made, origin) = made_once(device, name, key, database, || {
            let code = self.code((source, dumps), processor, limits);
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
        (source, dumps): (&Source, Option<Named<'_>>),
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
        let dump = |stages: &[Stage]| match dumps {
            Some(dumps) => dump(dumps, source, processor, (&module, stages)),
            None => Ok(()),
        };
        dump(&[Stage::Linked])?;
        let optimized = optimize((&context, &module), source.form, processor, limits);
        let optimized = optimized.and_then(|()| dump(&[Stage::Opt, Stage::Ptx, Stage::Asm]));
        let code = optimized.and_then(|()| emit(&module, source.form, processor));
        match diagnostics.take() {
            errors if errors.is_empty() => code,
            errors => Err(errors.join("\n")),
        }
    }

    /// What stands for a kernel of a program with this key.
    fn overridden(
        device: &Device,
        source: &Source,
        (llvm, processor): (&Library, &Processor),
        limits: &Limits,
        ((key, made), file): ((Fingerprint, &Arc<Made>), &KernelFile),
    ) -> Result<Overridden> {
        let entry = file.kernel.entry;
        let own = KeyBuilder::new("rust override").part("program", key.0).part("entry", entry);
        let own = own.part("code", format!("{:?}", file.code)).part("file", &file.text).finish();
        let fault = |log| Error::Compile {
            source_file: file.display.clone(),
            compiler: format!("LLVM {}", llvm.version()),
            options: processor.target.to_string(),
            log,
        };
        let limits: Limits =
            limits.iter().filter(|it| *it.0 == entry).map(|it| (*it.0, *it.1)).collect();
        let make = || {
            if file.code == Code::Ptx {
                return Ok(file.ptx());
            }
            let context = Context::create();
            let diagnostics = Diagnostics::of(&context);
            let module = parse_any(&context, file.text.as_bytes(), &file.display);
            let module = module.map_err(|error| fault(error.to_string()))?;
            processor.machine.adopt(&module);
            let optimized = optimize((&context, &module), source.form, processor, &limits);
            let code = optimized.and_then(|()| emit(&module, source.form, processor));
            match diagnostics.take() {
                errors if errors.is_empty() => code.map_err(fault),
                errors => Err(fault(errors.join("\n"))),
            }
        };
        // The file is read each time, so that no database is asked.
        let (binary, _) = made_once(device, &file.display, own, None, make)?;
        let (kernel, linked) = match source.form {
            Form::Nvidia(_) => {
                let ptx = String::from_utf8_lossy(binary.bytes());
                (file.kernel_in(&ptx, made.parameters(entry).unwrap_or_default())?, None)
            }
            Form::Cpu => {
                let linked = cpu::link(own, &binary, &limits).map_err(fault)?;
                (copied(file.kernel), Some(linked))
            }
        };
        Ok(Overridden { program: Ready { key: own, made: binary, linked }, kernel })
    }
}

/// Optimises a module in which all choices are made.
fn optimize<'c>(
    (context, module): (&'c Context, &Module<'c>),
    form: Form,
    processor: &Processor,
    limits: &Limits,
) -> Result<(), String> {
    let machine = &processor.machine;
    let optimized = match form {
        Form::Nvidia(_) => {
            nvidia::bound_kernels(context, module, limits);
            machine.run_with(module, PASSES, false)
        }
        Form::Cpu => {
            for (entry, limits) in limits.iter().filter(|(_, it)| it.block != [0; 3]) {
                cpu::assume_block(context, module, entry, limits.block)?;
            }
            machine.run(module, PASSES)
        }
    };
    optimized.map_err(|error| error.to_string())
}

/// The code of a module that is optimised.
fn emit(module: &Module<'_>, form: Form, processor: &Processor) -> Result<Binary, String> {
    let machine = &processor.machine;
    if form == Form::Cpu {
        let code = machine.object(module).map_err(|error| error.to_string())?;
        return Ok(Binary::new(ArtifactKind::Object, code, ""));
    }
    let code = machine.assembly(module).map_err(|error| error.to_string())?;
    let text = String::from_utf8(code).map_err(|error| error.to_string())?;
    Ok(Binary::new(ArtifactKind::Ptx, text.clone().into_bytes(), &text))
}

/// Dumps, and the signatures that have the names of kernels in them.
type Named<'a> = (&'a Dumps, &'a [Signature]);

/// Dumps each kernel of a module at those of these stages that are asked for, with what it uses.
fn dump(
    (dumps, signatures): Named<'_>,
    source: &Source,
    processor: &Processor,
    (module, stages): (&Module<'_>, &[Stage]),
) -> Result<(), String> {
    let code = if source.form == Form::Cpu { Stage::Asm } else { Stage::Ptx };
    let is_wanted = |stage: &&Stage| {
        let is_of_target = **stage == code || !matches!(stage, Stage::Asm | Stage::Ptx);
        dumps.has(**stage) && is_of_target
    };
    let wanted: Vec<_> = stages.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let (machine, target) = (&processor.machine, processor.target.to_string());
    let text = module.to_text();
    let mut all = source.artifact.kernels.iter().filter(|it| it.variant.is_none());
    let dumped = all.try_for_each(|kernel| {
        let context = Context::create();
        let own = parse_ir(&context, &text, machine.data_layout(), "")?;
        let roots = [kernel.entry.to_owned(), format!("{CPU_KERNEL_PREFIX}{}", kernel.entry)];
        let globals = own.globals().into_iter().filter(|global| !global.is_declaration());
        for value in own.definitions().into_iter().chain(globals) {
            let name = value.name();
            if !roots.contains(&name) && !name.starts_with("llvm.") {
                value.drop_comdat();
                value.set_linkage(Linkage::Internal);
            }
        }
        machine.adopt(&own);
        machine.run(&own, REMOVE_UNUSED)?;
        for stage in &wanted {
            let text = match stage {
                Stage::Ptx | Stage::Asm => {
                    String::from_utf8_lossy(&machine.assembly(&own)?).into_owned()
                }
                _ => own.to_text(),
            };
            let name = signatures[kernel.signature].name();
            dumps.write((name, &target), **stage, &text);
        }
        Ok::<_, kernelmill_llvm::Error>(())
    });
    dumped.map_err(|error| error.to_string())
}

/// A program that can be loaded.
struct Ready {
    key: Fingerprint,
    made: Arc<Made>,
    /// On the CPU, what it is in this process.
    linked: Option<Arc<Linked>>,
}

impl Ready {
    /// What is held for it.
    fn code(&self) -> Arc<dyn HeldCode> {
        match &self.linked {
            Some(linked) => Arc::clone(linked) as Arc<dyn HeldCode>,
            None => Arc::clone(&self.made) as Arc<dyn HeldCode>,
        }
    }

    /// What is known of one of its kernels.
    fn described(&self, kernel: &EmbeddedKernel) -> EmbeddedKernel {
        let of_cpu = self.linked.as_ref().and_then(|linked| linked.strategy(kernel.entry));
        let cpu = of_cpu.map(|strategy| {
            let place = Box::leak(Box::new(LinkedKernel::new(kernel.entry)));
            CpuEntry::linked(place).with_strategy(strategy)
        });
        EmbeddedKernel { resources: Resources::UNKNOWN, cpu, ..copied(kernel) }
    }

    /// What is known of its binary, with these kernels.
    fn artifact(
        &self,
        source: &EmbeddedArtifact,
        target: &'static str,
        kernels: Vec<EmbeddedKernel>,
    ) -> EmbeddedArtifact {
        EmbeddedArtifact {
            fingerprint: self.key.to_string().leak(),
            target,
            kind: self.made.kind(),
            // They are the program's.
            bytes: &[],
            ..with_kernels(source, kernels)
        }
    }
}

/// What a file has made that stands for a kernel.
struct Overridden {
    program: Ready,
    kernel: EmbeddedKernel,
}

/// A source that was compiled.
struct Compiled<'s> {
    source: &'s Source,
    target: Target,
    program: Ready,
    overridden: Vec<Overridden>,
}

impl Compiled<'_> {
    /// Its programs: the source's, and those of files that stand for kernels.
    fn programs(&self) -> impl Iterator<Item = &Ready> {
        std::iter::once(&self.program).chain(self.overridden.iter().map(|it| &it.program))
    }

    /// What stands for the source's bitcode: a binary of its kernels, and one of each that a file stands for. It stays for
    /// as long as the process runs, so it is made once for the same programs.
    fn artifacts(&self) -> Vec<EmbeddedArtifact> {
        let artifact = self.source.artifact;
        let is_own = |kernel: &&EmbeddedKernel| {
            kernel.variant.is_none()
                && self.overridden.iter().all(|it| it.kernel.signature != kernel.signature)
        };
        let kernels = artifact.kernels.iter().filter(is_own);
        let kernels: Vec<_> = kernels.map(|it| self.program.described(it)).collect();
        let target: &'static str = self.target.to_string().leak();
        let own = (!kernels.is_empty()).then(|| self.program.artifact(artifact, target, kernels));
        let others = self.overridden.iter().map(|it| {
            it.program.artifact(artifact, target, vec![it.program.described(&it.kernel)])
        });
        own.into_iter().chain(others).collect()
    }
}

/// The descriptions of sets, by the one that they are made of and the programs in them.
type Sets = HashMap<(usize, Vec<Fingerprint>), &'static KernelSet>;

static SETS: Mutex<Option<Sets>> = Mutex::new(None);

impl KernelCompiler for RustCompiler {
    /// # Errors
    ///
    /// [`Error::NoCompiler`] for a device that is neither the CPU nor one of NVIDIA's, where nothing is embedded as bitcode for it, where LLVM
    /// cannot be opened, is older than what wrote the bitcode, or does not know the architecture;
    /// [`Error::InvalidChoice`] for kernels and constants that are not there, values of other types, and launch bounds
    /// that the source does not allow; [`Error::Compile`] for damaged bitcode, and for what LLVM says.
    fn compile_set(&self, device: &Device, set: &'static KernelSet) -> Result<CompiledSet> {
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
            let dumps = Dumps::asked(set.package);
            let of_source = (source, dumps.as_ref().map(|it| (it, &*signatures)));
            let (key, made) = self.program(device, of_source, (llvm, &processor), &limits)?;
            let linked = match source.form {
                Form::Nvidia(_) => None,
                Form::Cpu => {
                    let linked = cpu::link(key, &made, &limits);
                    Some(linked.map_err(|log| Error::Compile {
                        source_file: source.artifact.source.to_owned(),
                        compiler: format!("LLVM {}", llvm.version()),
                        options: processor.target.to_string(),
                        log,
                    })?)
                }
            };
            let files = overrides::of(source, &signatures, &processor.target);
            let overridden = files.iter().map(|file| {
                let program = ((key, &made), file);
                Self::overridden(device, source, (llvm, &processor), &limits, program)
            });
            let overridden = overridden.collect::<Result<_>>()?;
            let program = Ready { key, made, linked };
            programs.push(Compiled { source, target: processor.target, program, overridden });
        }
        let set = described(set, signatures, (&programs, &compiled));
        let code: Vec<_> = programs.iter().flat_map(Compiled::programs).map(Ready::code).collect();
        // The description may be one of programs that were freed since.
        for code in &code {
            let own = set.artifacts.iter().filter(|it| it.fingerprint == code.fingerprint());
            let kernels = own.flat_map(|artifact| artifact.kernels);
            for linked in kernels.filter_map(|kernel| kernel.cpu.and_then(CpuEntry::link)) {
                linked.is_in(code);
            }
        }
        Ok(CompiledSet { set, code })
    }
}

/// The description of a set with programs in place of its bitcode; `compiled` are the kernels in these.
fn described(
    set: &'static KernelSet,
    signatures: Vec<Signature>,
    (programs, compiled): (&[Compiled<'_>], &BTreeSet<usize>),
) -> &'static KernelSet {
    let keys = programs.iter().flat_map(Compiled::programs).map(|it| it.key).collect();
    let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
    let place = sets.get_or_insert_default().entry((std::ptr::from_ref(set) as usize, keys));
    place.or_insert_with(|| {
        let mut artifacts = Vec::new();
        for artifact in set.artifacts {
            let other = |kernel: &&EmbeddedKernel| !compiled.contains(&kernel.signature);
            match programs.iter().find(|it| std::ptr::eq(it.source.artifact, artifact)) {
                Some(program) => artifacts.extend(program.artifacts()),
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
    })
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
