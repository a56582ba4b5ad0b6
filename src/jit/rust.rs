//! Kernels in Rust that are compiled at run time, from the bitcode that the build has embedded.
//!
//! Needs: a target `bitcode_XX` in the build, and LLVM's shared library, which is found and opened when a program is first
//! compiled. Guaranteed: a process compiles the bitcode of a source once for the same choices, versions and device; what
//! comes of it has the kernels, parameters and panics of the source, and its launches are checked against the launch
//! bounds that were chosen. The bounds of the source are never widened: its code relies on them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    env, fmt,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use kernelmill_artifact::{
    ArtifactKind, Bitcode, BitcodeConstant, Fingerprint, LaunchLimits, NvidiaArch, NvidiaSuffix,
    PtxVersion, Resources, Signature, Target, target::NVIDIA_ARCHS, target::nearest,
};
use kernelmill_llvm::{
    Diagnostics, Library, Version,
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Type, Value, calling_convention, parse_bitcode},
    machine::Machine,
};
use kernelmill_store::{KeyBuilder, digest};

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

/// The name of the compiler in messages.
const LLVM: &str = "LLVM";

/// The variable that names the library.
const VARIABLE: &str = "KERNELMILL_LLVM";

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

/// The value of a constant: a number or `bool`, of the type that the source declares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConstantValue {
    ty: &'static str,
    bytes: [u8; 8],
    length: usize,
}

macro_rules! values {
    ($($ty:ident)*) => {$(
        impl From<$ty> for ConstantValue {
            fn from(value: $ty) -> Self {
                Self::new(stringify!($ty), &value.to_le_bytes())
            }
        }
    )*};
}

values! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

impl From<bool> for ConstantValue {
    fn from(value: bool) -> Self {
        Self::new("bool", &[u8::from(value)])
    }
}

/// `usize` has 64 bits on every device that kernels are compiled for.
impl From<usize> for ConstantValue {
    fn from(value: usize) -> Self {
        Self::new("usize", &(value as u64).to_le_bytes())
    }
}

/// `isize` has 64 bits on every device that kernels are compiled for.
impl From<isize> for ConstantValue {
    fn from(value: isize) -> Self {
        Self::new("isize", &(value as i64).to_le_bytes())
    }
}

impl ConstantValue {
    fn new(ty: &'static str, value: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..value.len()].copy_from_slice(value);
        Self { ty, bytes, length: value.len() }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for ConstantValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:02x?}", self.ty, self.bytes())
    }
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
    fn signatures(&self, set: &KernelSet, compiled: &BTreeSet<usize>) -> Result<Vec<Signature>> {
        let mut signatures = set.signatures.to_vec();
        for (name, chosen) in &self.limits {
            let mut found = false;
            for index in compiled {
                let signature = &mut signatures[*index];
                if signature.name() == name {
                    signature.limits = narrowed(signature, *chosen)?;
                    found = true;
                }
            }
            if !found {
                let names: Vec<_> =
                    compiled.iter().map(|index| set.signatures[*index].name().to_owned()).collect();
                let reason = format!(
                    "launch bounds are given for the kernel `{name}`, and the bitcode of the package `{}` has none of this \
                     name; it has {}. Instances of generic kernels that the build has not made cannot be had from bitcode",
                    set.package,
                    list(names)
                );
                return Err(no_compiler(reason));
            }
        }
        Ok(signatures)
    }

    /// Refuses values of constants that no source has, or that are of another type.
    fn check_constants(&self, package: &str, sources: &[Source]) -> Result<()> {
        let known: BTreeSet<_> = sources.iter().flat_map(|it| &it.bitcode.constants).collect();
        for (name, value) in &self.constants {
            let own: Vec<_> = known.iter().filter(|it| it.name == *name).collect();
            let all = || list(known.iter().map(|it| format!("{}: {}", it.name, it.ty)));
            if own.is_empty() {
                let near = nearest(name, known.iter().map(|it| it.name.clone()));
                let near = near.map_or_else(String::new, |it| format!(" (the nearest is `{it}`)"));
                let reason = format!(
                    "the bitcode of the package `{package}` has no constant `{name}`{near}; it has {}; constants are \
                     declared with `constant!` of kernelmill-device",
                    all()
                );
                return Err(no_compiler(reason));
            }
            if let Some(other) = own.iter().find(|it| it.ty != value.ty) {
                let reason = format!(
                    "the constant `{name}` of the package `{package}` is of type `{}`, and is given a value of type `{}`",
                    other.ty, value.ty
                );
                return Err(no_compiler(reason));
            }
        }
        Ok(())
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
    /// cannot be opened, is older than what wrote the bitcode, or does not know the architecture, and for kernels and
    /// constants that are not there; [`Error::Compile`] for damaged bitcode, for launch bounds that the source does not
    /// allow, and for what LLVM says.
    fn compile_set(&self, device: &Device, set: &'static KernelSet) -> Result<&'static KernelSet> {
        let sources = sources(device, set)?;
        let of = |artifact: &EmbeddedArtifact| {
            let plain = artifact.kernels.iter().filter(|it| it.variant.is_none());
            plain.map(|it| it.signature).collect::<BTreeSet<_>>()
        };
        let compiled: BTreeSet<usize> = sources.iter().flat_map(|it| of(it.artifact)).collect();
        self.check_constants(set.package, &sources)?;
        let signatures = self.signatures(set, &compiled)?;
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

/// The launch bounds of a kernel that are chosen, with those of its source, which they may only narrow.
fn narrowed(signature: &Signature, chosen: LaunchLimits) -> Result<LaunchLimits> {
    let own = signature.limits;
    let limits = chosen.or(own);
    let threads: u32 = limits.block.iter().product();
    let log = if limits.block != [0; 3] && limits.block.contains(&0) {
        format!("a block of {:?} threads has none", limits.block)
    } else if own.block != [0; 3] && own.block != limits.block {
        format!("its source states the block {:?}, and {:?} was chosen", own.block, limits.block)
    } else if own.max_block_threads > 0 && limits.max_block_threads > own.max_block_threads {
        format!(
            "its source states at most {} threads in a block, and {} were chosen",
            own.max_block_threads, limits.max_block_threads
        )
    } else if limits.max_block_threads > 0 && threads > limits.max_block_threads {
        format!(
            "a block of {:?} has more threads than the {} that there may be",
            limits.block, limits.max_block_threads
        )
    } else {
        return Ok(limits);
    };
    Err(Error::Compile {
        source_file: signature.file.to_string(),
        compiler: LLVM.to_owned(),
        options: format!("{}: {chosen:?}", signature.name()),
        log,
    })
}

/// Gives a constant the value that was chosen, or leaves it that of the source, and lets passes know it.
fn settle<'c>(
    context: &'c Context,
    module: &Module<'c>,
    constant: &BitcodeConstant,
    value: Option<&ConstantValue>,
) -> Result<(), String> {
    let symbol = constant.symbol();
    let global = module.global(&symbol).ok_or_else(|| format!("the bitcode lacks `{symbol}`"))?;
    let known = match value {
        None => global,
        Some(value) => {
            let byte = Type::int(context, 8);
            let bytes: Vec<_> =
                value.bytes().iter().map(|it| byte.constant(u64::from(*it))).collect();
            let content = byte.constant_array(&bytes);
            let space = global.ty().address_space();
            let known = module.new_global(&format!("{symbol}.chosen"), content.ty(), space);
            known.set_initializer(content);
            known.set_alignment(global.alignment().max(1));
            known.set_global_constant(true);
            global.replace_with(known);
            global.delete_global();
            known
        }
    };
    known.set_externally_initialized(false);
    known.set_linkage(Linkage::Internal);
    Ok(())
}

/// Says the launch bounds of a kernel in the way of LLVM's back end.
fn bound<'c>(context: &'c Context, kernel: Value<'c>, limits: &LaunchLimits) {
    let number = |number: u32| (number > 0).then(|| number.to_string());
    let block = limits.block.map(|size| size.to_string()).join(",");
    for (key, value) in [
        ("nvvm.maxntid", number(limits.max_block_threads)),
        ("nvvm.reqntid", (limits.block != [0; 3]).then_some(block)),
        ("nvvm.minctasm", number(limits.min_blocks)),
        ("nvvm.maxnreg", limits.registers().map(|number| number.to_string())),
    ] {
        // What nothing is said of stays: settings of the build may bound registers.
        if let Some(value) = value {
            kernel.remove_text_attribute(key);
            kernel.add_text_attribute(context, key, &value);
        }
    }
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

/// LLVM's library, opened once; else why there is none.
fn open() -> Result<&'static Library, &'static str> {
    static OPENED: OnceLock<Result<Library, String>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let named = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let path = find(named.map(PathBuf::from), rust_toolchain, Path::new("/usr"))?;
        Library::open_without_handlers(&path).map_err(|error| error.to_string())
    });
    opened.as_ref().map_err(|reason| &**reason)
}

/// The folder of the Rust toolchain, where there is one.
fn rust_toolchain() -> Option<PathBuf> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    folder.is_dir().then_some(folder)
}

/// Where LLVM's library is: what the environment names, that of the Rust toolchain, or that of the system.
fn find(
    named: Option<PathBuf>,
    toolchain: impl FnOnce() -> Option<PathBuf>,
    system: &Path,
) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return Ok(path);
    }
    let own = toolchain().and_then(|it| kernelmill_llvm::find_in_sysroot(&it).ok());
    let mut versions = (Version::OLDEST.major..=Version::NEWEST_TESTED).rev();
    let of_system = || versions.find_map(|it| kernelmill_llvm::find_library(system, Some(it)).ok());
    own.or_else(of_system).ok_or_else(|| {
        format!(
            "no shared library of it was found, in the Rust toolchain or the system: install LLVM {} or later (Debian's \
             package `libllvm{}`), or a Rust toolchain by rustup, or set {VARIABLE} to the library",
            Version::OLDEST.major,
            Version::NEWEST_TESTED - 1
        )
    })
}

fn no_compiler(reason: String) -> Error {
    Error::NoCompiler { compiler: LLVM, reason }
}

/// Names between backquotes, or that there are none.
fn list(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitcode() -> Bitcode {
        Bitcode { llvm: [22, 1, 0], ptx: 63, constants: Vec::new(), module: Vec::new() }
    }

    fn source(arch: &str, bitcode: Bitcode) -> Source {
        let artifact = Box::leak(Box::new(EmbeddedArtifact {
            fingerprint: "",
            target: "bitcode_75",
            kind: ArtifactKind::Bitcode,
            source: "kernels/a.rs",
            bytes: &[],
            kernels: &[],
            locations: &[],
            backtraces: &[],
            messages: &[],
            relocations: &[],
            variables: &[],
        }));
        let Ok(Target::Bitcode(arch)) = arch.parse() else { panic!("{arch}") };
        Source { artifact, arch, bitcode }
    }

    fn device(major: u32, minor: u32) -> Architecture {
        Architecture::Nvidia { major, minor }
    }

    #[test]
    fn a_library_older_than_the_one_of_the_bitcode_is_told() {
        let version = |major| Version { major, minor: 1, patch: 8 };
        assert_eq!(check_version(&bitcode(), version(22)), Ok(()));
        assert_eq!(check_version(&bitcode(), version(23)), Ok(()));
        let error = check_version(&bitcode(), version(21)).unwrap_err();
        let expected = "the library is of version 21.1.8, and the bitcode was written by LLVM 22.1.0: set KERNELMILL_LLVM";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_machine_without_the_library_is_told_what_to_install() {
        let nowhere = Path::new("/nonexistent");
        let error = find(None, || Some(nowhere.to_owned()), nowhere).unwrap_err();
        for part in ["no shared library of it was found", "libllvm", "rustup", "KERNELMILL_LLVM"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        let named = find(Some(nowhere.to_owned()), || None, nowhere);
        assert_eq!(named.as_deref(), Ok(nowhere));
    }

    #[test]
    fn the_architecture_is_the_newest_that_the_device_runs_and_llvm_knows() {
        open().unwrap();
        for (device, base, expected) in [
            (device(10, 3), "bitcode_75", "103"),
            (device(8, 6), "bitcode_75", "86"),
            (device(7, 5), "bitcode_75", "75"),
            (device(9, 0), "bitcode_90a", "90a"),
            // None is known between these.
            (device(12, 9), "bitcode_80", "121"),
        ] {
            let found = processor(&device, &source(base, bitcode())).map(|it| it.arch.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{base}");
        }
        let newer = Bitcode { ptx: 999, ..bitcode() };
        let error = processor(&device(8, 6), &source("bitcode_75", newer)).err().unwrap();
        assert!(error.contains("knows no architecture from sm_75 to sm_86"), "{error}");
    }

    #[test]
    fn damaged_bitcode_is_what_llvm_says_of_it() {
        open().unwrap();
        let damaged = Bitcode { module: b"BC\xc0\xde\x01\x02".to_vec(), ..bitcode() };
        let source = source("bitcode_75", damaged);
        let processor = processor(&device(8, 6), &source).unwrap();
        let error = RustCompiler::new().ptx(&source, &processor, &BTreeMap::new()).unwrap_err();
        assert!(error.starts_with("LLVM: "), "{error}");
    }
}
