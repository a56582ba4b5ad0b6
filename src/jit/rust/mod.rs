//! Kernels in Rust that are compiled at run time, from the bitcode that the build has embedded.
//!
//! Needs: a target `bitcode_XX` in the build, and LLVM's shared library, which is found and opened when a program is first
//! compiled. Guaranteed: a process compiles the bitcode of a source once for the same choices, versions and device; what
//! comes of it has the kernels, parameters and panics of the source, and its launches are checked against the launch
//! bounds that were chosen. The bounds of the source are never widened: its code relies on them.

mod choices;
mod constant;
mod faults;
mod library;

pub use constant::ConstantValue;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use kernelmill_artifact::{
    ArtifactKind, Bitcode, Fingerprint, LaunchLimits, NvidiaArch, NvidiaSuffix, PtxVersion,
    Resources, Signature, Target, target::NVIDIA_ARCHS,
};
use kernelmill_llvm::{
    Diagnostics, Library, Version,
    inkwell::context::Context,
    ir::{ModuleExt, calling_convention, parse_bitcode},
    machine::Machine,
};
use kernelmill_store::{KeyBuilder, digest};

use choices::{bound, settle};
use faults::{constant_faults, missing_kernel, narrowed};
use library::{LLVM, VARIABLE, open};

use super::{
    database::Database,
    program::{Binary, Made, Origin, made_once},
};
use crate::{
    backend::nvrtc,
    codegen::KernelCompiler,
    device::Device,
    embedded::{EmbeddedArtifact, EmbeddedKernel, KernelSet},
    error::{Error, Result},
    properties::Architecture,
    select::compiles,
};

/// What is run on a module after everything in it is known: what the build runs on modules for GPUs.
const PASSES: &str = "always-inline,default<O3>,globaldce";

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

    /// The number of a kernel's blocks that should be on a multiprocessor at once.
    #[must_use]
    pub fn min_blocks(self, kernel: impl Into<String>, blocks: u32) -> Self {
        self.limit(kernel, LaunchLimits { min_blocks: blocks, ..LaunchLimits::NONE })
    }

    /// The most registers of a thread of a kernel.
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

    /// The PTX of a source: its key, and the program.
    fn program(
        &self,
        device: &Device,
        source: &Source,
        (llvm, processor): (&Library, &Processor),
        signatures: &[Signature],
    ) -> Result<(Fingerprint, &'static Made)> {
        let own = &source.artifact.kernels;
        let limits: BTreeMap<_, _> = own
            .iter()
            .filter(|it| it.variant.is_none())
            .map(|it| (it.entry, signatures[it.signature].limits))
            .collect();
        let has = |name: &String| source.bitcode.constants.iter().any(|it| it.name == *name);
        let constants = self.constants.iter().filter(|(name, _)| has(name));
        let options: Vec<_> = constants
            .map(|(name, value)| format!("{name}={value:?}"))
            .chain(limits.iter().map(|(entry, limits)| format!("{entry}: {limits:?}")))
            .collect();
        let key = KeyBuilder::new("rust program")
            .part("kernelmill", env!("CARGO_PKG_VERSION"))
            .part("llvm", format!("{} {}", llvm.version(), llvm.path().display()))
            .part("driver", format!("{:?}", nvrtc::driver_version()))
            .part("machine", processor.machine.description())
            .part("bitcode", digest(source.artifact.bytes).to_string())
            .part("name", source.artifact.source)
            .parts("option", &options)
            .finish();
        let name = source.artifact.source;
        let (made, origin) = made_once(device, name, key, self.database.as_ref(), || {
            let failed = |log: String| Error::Compile {
                source_file: name.to_owned(),
                compiler: format!("LLVM {}", llvm.version()),
                options: options.join(" "),
                log,
            };
            let text = self.ptx(source, processor, &limits).map_err(failed)?;
            Ok(Binary::new(ArtifactKind::Ptx, text.clone().into_bytes(), &text))
        })?;
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).push(origin);
        Ok((key, made))
    }

    /// What LLVM makes of a source; else what it says.
    fn ptx(
        &self,
        source: &Source,
        processor: &Processor,
        limits: &BTreeMap<&str, LaunchLimits>,
    ) -> Result<String, String> {
        let context = Context::create();
        let diagnostics = Diagnostics::of(&context);
        let name = source.artifact.source;
        let module = parse_bitcode(&context, &source.bitcode.module, name);
        let module = module.map_err(|error| error.to_string())?;
        processor.machine.adopt(&module);
        for constant in &source.bitcode.constants {
            settle(&context, &module, constant, self.constants.get(&constant.name))?;
        }
        for kernel in module.definitions() {
            if kernel.calling_convention() == calling_convention::PTX_KERNEL
                && let Some(limits) = limits.get(&*kernel.name())
            {
                bound(&context, kernel, limits);
            }
        }
        let made = processor.machine.run_with(&module, PASSES, false);
        let text = made.and_then(|()| processor.machine.assembly(&module));
        let errors = diagnostics.take();
        if !errors.is_empty() {
            return Err(errors.join("\n"));
        }
        let text = text.map_err(|error| error.to_string())?;
        String::from_utf8(text).map_err(|error| error.to_string())
    }
}

/// A source with bitcode for a device.
struct Source {
    artifact: &'static EmbeddedArtifact,
    arch: NvidiaArch,
    bitcode: Bitcode,
}

/// An architecture that LLVM compiles for and the device runs.
struct Processor {
    arch: NvidiaArch,
    machine: Machine,
}

/// The sets of this process, by the one that they are made of and the programs in them.
type Sets = HashMap<(usize, Vec<Fingerprint>), &'static KernelSet>;

static SETS: Mutex<Option<Sets>> = Mutex::new(None);

impl KernelCompiler for RustCompiler {
    /// # Errors
    ///
    /// [`Error::NoCompiler`] for a device that is none of NVIDIA's, where nothing is embedded as bitcode for it, where LLVM
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
            let made = self.program(device, source, (llvm, &processor), &signatures)?;
            programs.push((source, processor.arch, made.0, made.1));
        }
        let keys = programs.iter().map(|(_, _, key, _)| *key).collect();
        let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
        let place = sets.get_or_insert_default().entry((std::ptr::from_ref(set) as usize, keys));
        Ok(place.or_insert_with(|| {
            let mut artifacts = Vec::new();
            for artifact in set.artifacts {
                let other = |kernel: &&EmbeddedKernel| !compiled.contains(&kernel.signature);
                match programs.iter().find(|(it, ..)| std::ptr::eq(it.artifact, artifact)) {
                    Some((_, arch, key, made)) => {
                        let target = Target::Ptx(*arch).to_string().leak();
                        let plain = artifact.kernels.iter().filter(|it| it.variant.is_none());
                        let kernels = plain.map(|it| EmbeddedKernel {
                            resources: Resources::UNKNOWN,
                            ..copied(it)
                        });
                        artifacts.push(EmbeddedArtifact {
                            fingerprint: key.to_string().leak(),
                            target,
                            kind: ArtifactKind::Ptx,
                            bytes: made.bytes(),
                            ..with_kernels(artifact, kernels.collect())
                        });
                    }
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
                tuned: &[],
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

/// The sources of a set with bitcode for a device: of each that for the newest architecture.
fn sources(device: &Device, set: &'static KernelSet) -> Result<Vec<Source>> {
    if !matches!(device.architecture(), Architecture::Nvidia { .. }) {
        let reason = format!(
            "{device} is no NVIDIA device: kernels in Rust are compiled for no other at run time"
        );
        return Err(no_compiler(reason));
    }
    let (mut found, mut reasons) = (Vec::<Source>::new(), Vec::new());
    for artifact in set.artifacts.iter().filter(|it| it.kind == ArtifactKind::Bitcode) {
        // Builds of variants are no alternative to the kernels themselves.
        if artifact.kernels.iter().all(|it| it.variant.is_some()) {
            continue;
        }
        let Ok(Target::Bitcode(arch)) = artifact.target.parse() else { continue };
        if let Err(reason) = compiles(device.architecture(), arch) {
            reasons.push(format!("{} for {}: {reason}", artifact.source, artifact.target));
            continue;
        }
        let rank = |arch: NvidiaArch| (arch.number(), arch.suffix as u8);
        let place = found.iter().position(|it| it.artifact.source == artifact.source);
        if place.is_some_and(|place| rank(found[place].arch) >= rank(arch)) {
            continue;
        }
        let bitcode = Bitcode::from_bytes(artifact.bytes).ok_or_else(|| Error::Compile {
            source_file: artifact.source.to_owned(),
            compiler: LLVM.to_owned(),
            options: artifact.target.to_owned(),
            log: "its embedded bitcode is damaged, or of another version of kernelmill".to_owned(),
        })?;
        let source = Source { artifact, arch, bitcode };
        match place {
            Some(place) => found[place] = source,
            None => found.push(source),
        }
    }
    if found.is_empty() {
        let reason = match &*reasons {
            [] => format!(
                "the package `{}` has no bitcode of kernels in Rust: add the target `bitcode_75` to its settings",
                set.package
            ),
            reasons => format!("no bitcode is for {device}: {}", reasons.join("; ")),
        };
        return Err(no_compiler(reason));
    }
    Ok(found)
}

/// Refuses a library that is older than the one that wrote bitcode: it does not read it, or misreads it.
fn check_version(bitcode: &Bitcode, opened: Version) -> Result<(), String> {
    let [major, minor, patch] = bitcode.llvm;
    if opened.major >= major {
        return Ok(());
    }
    Err(format!(
        "the library is of version {opened}, and the bitcode was written by LLVM {major}.{minor}.{patch}: set {VARIABLE} to \
         the library of that version or a later one"
    ))
}

/// The newest architecture that LLVM knows, the device runs and the bitcode is for, and its oldest version of PTX that
/// has what the kernels use.
fn processor(device: &Architecture, source: &Source) -> Result<Processor, String> {
    let Architecture::Nvidia { major, minor } = *device else {
        return Err("the device is none of NVIDIA's".to_owned());
    };
    let number = major * 10 + minor;
    let base = source.arch;
    let all = NVIDIA_ARCHS.iter().rev().map(|known| NvidiaArch {
        major: known / 10,
        minor: known % 10,
        suffix: base.suffix,
    });
    let fits = |arch: &NvidiaArch| {
        let is_between = arch.number() >= base.number() && arch.number() <= number;
        is_between
            && match base.suffix {
                NvidiaSuffix::None => true,
                NvidiaSuffix::Family => arch.major == base.major,
                NvidiaSuffix::Exact => *arch == base,
            }
    };
    for arch in all.filter(fits) {
        let Some(version) = PtxVersion::of_architecture(arch) else { continue };
        let oldest = (version.major * 10 + version.minor).max(source.bitcode.ptx);
        let versions = PtxVersion::all().filter(|it| it.major * 10 + it.minor >= oldest);
        for version in versions {
            if let Some(machine) = machine(arch, version)? {
                return Ok(Processor { arch, machine });
            }
        }
    }
    Err(format!(
        "LLVM {} knows no architecture from sm_{base} to sm_{number}, or no version of PTX from {}.{} on: set {VARIABLE} to \
         a later library",
        Version::opened(),
        source.bitcode.ptx / 10,
        source.bitcode.ptx % 10
    ))
}

/// LLVM's machine for an architecture and a version of PTX; `None` where it does not know one of them.
fn machine(arch: NvidiaArch, version: PtxVersion) -> Result<Option<Machine>, String> {
    let features = format!("+ptx{}{}", version.major, version.minor);
    let machine = Machine::new("nvptx64-nvidia-cuda", &format!("sm_{arch}"), &features, false);
    let machine = machine.map_err(|error| error.to_string())?;
    let context = Context::create();
    let module = context.create_module("version");
    machine.adopt(&module);
    let text = machine.assembly(&module).map_err(|error| error.to_string())?;
    let target = format!(".target sm_{arch}");
    let said = String::from_utf8_lossy(&text);
    let knows_arch = said.lines().any(|line| line.trim().split(',').next() == Some(&*target));
    Ok((knows_arch && PtxVersion::of(&text) == Some(version)).then_some(machine))
}

fn no_compiler(reason: String) -> Error {
    Error::NoCompiler { compiler: LLVM, reason }
}

#[cfg(test)]
mod tests;
