//! Programs: what was compiled at run time, once in a process, and is loaded on a device.
//!
//! Guaranteed: equal programs are compiled once while one of them is held, by a program, a kernel or a launch in flight; what
//! is held by none is freed, and unloaded. What stays is a description for each different program, the `'static` values
//! that embedded kernels have too and that the program is given
//! ([`CompiledKernel::signature`](crate::CompiledKernel::signature)) and may keep.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use kernelmill_artifact::{
    ArtifactKind, FORMAT_VERSION, Fingerprint, Resources, Signature, ptx_entries,
};

use super::{database::Database, kernel::Kernel};
use crate::{
    compiled_set::CompiledSet,
    device::Device,
    embedded::{CpuKernel, EmbeddedArtifact, EmbeddedKernel, HeldCode, KernelSet},
    error::{Error, Result},
    loaded::Loaded,
    properties::Architecture,
    trace,
};

/// Where a program came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It was compiled for this call.
    Compiler,
    /// It was in the database.
    Database,
    /// This process had it already.
    Memory,
}

/// A program that was compiled at run time, loaded on a device.
///
/// It stays loaded while it or a kernel of it lives, and is unloaded and freed after the work that uses it.
#[derive(Clone)]
pub struct Program {
    loaded: Arc<Loaded>,
    made: Arc<Made>,
    described: &'static Described,
    origin: Origin,
    /// Files that stand for its kernels.
    pub(super) overrides: Arc<Overrides>,
}

/// Files that stand for kernels of a program: those kernels by their places in it, and what the user is told, a line each.
#[derive(Default)]
pub(super) struct Overrides {
    pub(super) kernels: BTreeMap<usize, Kernel>,
    pub(super) log: String,
}

/// The forms of binaries, by the numbers that entries of a database have for them.
const KINDS: [ArtifactKind; 3] = [ArtifactKind::Ptx, ArtifactKind::Cubin, ArtifactKind::Object];

/// What was compiled, before it has a place in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    kind: ArtifactKind,
    bytes: Vec<u8>,
    kernels: Vec<Entry>,
    /// Expressions of instances, with their symbols.
    pub(super) instances: BTreeMap<String, String>,
    /// Warnings of the compiler.
    pub(super) log: String,
}

/// A kernel in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    symbol: String,
    /// Sizes of its parameters in bytes; 0 where they are not known.
    parameters: Vec<u64>,
    max_block_threads: u32,
}

/// What was compiled, as long as somebody holds it.
pub(super) struct Made {
    /// That of its binary, which modules are loaded by.
    fingerprint: String,
    binary: Binary,
}

/// The programs that are in memory.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// The number of programs that were compiled at run time and are in memory, each counted once, however many hold it.
///
/// Where it grows without end, something keeps programs, kernels of them or launches that never end.
///
/// ```
/// assert_eq!(kernelmill::jit::programs_in_memory(), 0);
/// ```
#[must_use]
pub fn programs_in_memory() -> usize {
    MADE.load(Ordering::Relaxed)
}

impl Made {
    pub(super) fn new(key: Fingerprint, binary: Binary) -> Arc<Self> {
        MADE.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { fingerprint: key.to_string(), binary })
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        MADE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HeldCode for Made {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn image(&self) -> &[u8] {
        match self.binary.kind {
            ArtifactKind::Object => &[],
            _ => &self.binary.bytes,
        }
    }

    fn kernel(&self, _entry: &str) -> Option<*const CpuKernel> {
        None
    }
}

/// What is known of a program for as long as the process runs, as of embedded kernels.
struct Described {
    set: KernelSet,
    kernels: Vec<Entry>,
}

/// The descriptions of programs by key and compute capability.
type Descriptions = HashMap<(Fingerprint, u32), &'static Described>;

static DESCRIPTIONS: Mutex<Option<Descriptions>> = Mutex::new(None);

impl Binary {
    /// A binary, with the kernels that are in its PTX.
    pub(super) fn new(kind: ArtifactKind, bytes: Vec<u8>, ptx: &str) -> Self {
        let kernels = ptx_entries(ptx).into_iter().map(|entry| Entry {
            symbol: entry.name.to_owned(),
            parameters: entry.parameters.iter().map(|it| it.bytes().unwrap_or(0)).collect(),
            max_block_threads: entry.limits.most_threads().unwrap_or(0),
        });
        let kernels = kernels.collect();
        Self { kind, bytes, kernels, instances: BTreeMap::new(), log: String::new() }
    }

    /// As an entry of a database has it.
    fn write(&self) -> Vec<u8> {
        let kind = KINDS.iter().position(|kind| *kind == self.kind);
        let mut bytes = vec![kind.expect("nothing else is compiled at run time") as u8];
        let mut text = |part: &[u8]| {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        };
        text(&self.bytes);
        text(self.log.as_bytes());
        text(&(self.kernels.len() as u64).to_le_bytes());
        for kernel in &self.kernels {
            text(kernel.symbol.as_bytes());
            let sizes = kernel.parameters.iter().flat_map(|size| size.to_le_bytes());
            text(&sizes.collect::<Vec<_>>());
            text(&kernel.max_block_threads.to_le_bytes());
        }
        text(&(self.instances.len() as u64).to_le_bytes());
        for (expression, symbol) in &self.instances {
            text(expression.as_bytes());
            text(symbol.as_bytes());
        }
        bytes
    }

    /// What [`Binary::write`] has written; `None` for anything else.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let kind = *KINDS.get(usize::from(*kind))?;
        let mut part = || {
            let (length, after) = rest.split_at_checked(8)?;
            let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
            let (part, after) = after.split_at_checked(length)?;
            rest = after;
            Some(part)
        };
        let text = |part: &[u8]| String::from_utf8(part.to_vec()).ok();
        let number = |part: &[u8]| Some(u64::from_le_bytes(part.try_into().ok()?));
        let binary = part()?.to_vec();
        let log = text(part()?)?;
        let count = number(part()?)?;
        let mut kernels = Vec::new();
        for _ in 0..count {
            let symbol = text(part()?)?;
            let parameters = part()?.chunks(8).map(number).collect::<Option<_>>()?;
            let max_block_threads = u32::from_le_bytes(part()?.try_into().ok()?);
            kernels.push(Entry { symbol, parameters, max_block_threads });
        }
        let mut instances = BTreeMap::new();
        for _ in 0..number(part()?)? {
            instances.insert(text(part()?)?, text(part()?)?);
        }
        rest.is_empty().then_some(Self { kind, bytes: binary, kernels, instances, log })
    }

    /// Its description, which is made once for a key.
    fn described(&self, name: &str, key: Fingerprint, capability: u32) -> &'static Described {
        let mut all = DESCRIPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.get_or_insert_default().entry((key, capability));
        place.or_insert_with(|| self.describe(name, key, capability))
    }

    fn describe(&self, name: &str, key: Fingerprint, capability: u32) -> &'static Described {
        let name: &'static str = name.to_owned().leak();
        let symbols: Vec<&'static str> =
            self.kernels.iter().map(|kernel| &*kernel.symbol.clone().leak()).collect();
        let kernels = symbols.iter().enumerate().map(|(index, symbol)| {
            EmbeddedKernel::loaded(index, symbol, 0, false, Resources::UNKNOWN)
        });
        let signatures = self.kernels.iter().zip(&symbols).map(|(kernel, symbol)| {
            let mut signature = Signature::borrowed(symbol, &[]);
            signature.file = name.into();
            signature.limits.max_block_threads = kernel.max_block_threads;
            signature
        });
        // What PTX is for is in its text, and NVRTC has compiled cubins for this very device.
        let form = if self.kind == ArtifactKind::Ptx { "compute" } else { "sm" };
        let artifact = EmbeddedArtifact {
            fingerprint: key.to_string().leak(),
            target: format!("{form}_{capability}").leak(),
            kind: self.kind,
            source: name,
            // They are the program's.
            bytes: &[],
            kernels: kernels.collect::<Vec<_>>().leak(),
            locations: &[],
            backtraces: &[],
            messages: &[],
            relocations: &[],
            variables: &[],
        };
        Box::leak(Box::new(Described {
            set: KernelSet {
                format_version: FORMAT_VERSION,
                package: name,
                signatures: signatures.collect::<Vec<_>>().leak(),
                functions: &[],
                variables: &[],
                tuned: &[],
                artifacts: vec![artifact].leak(),
            },
            kernels: self.kernels.clone(),
        }))
    }
}

/// The programs of this process by key and compute capability. Whoever makes one holds its lock.
type Programs = HashMap<(Fingerprint, u32), Arc<Mutex<Weak<Made>>>>;

static PROGRAMS: Mutex<Option<Programs>> = Mutex::new(None);

/// The program with a key: the one that this process has, the one in the database, or what `make` makes. A program that
/// could not be made is made by the next one who asks.
pub(super) fn once(
    device: &Device,
    name: &str,
    key: Fingerprint,
    database: Option<&Database>,
    make: impl FnOnce() -> Result<Binary>,
) -> Result<Program> {
    let (made, origin) = made_once(device, name, key, database, make)?;
    if made.binary.kernels.is_empty() {
        return Err(Error::NoKernel {
            source_file: name.to_owned(),
            kernel: String::new(),
            known: "the source has no `__global__` function and no instance of a template"
                .to_owned(),
        });
    }
    let described = made.binary.described(name, key, capability(device));
    let code = vec![Arc::clone(&made) as Arc<dyn HeldCode>];
    let loaded = Arc::new(Loaded::new(device, CompiledSet { set: &described.set, code })?);
    Ok(Program { loaded, made, described, origin, overrides: Arc::default() })
}

/// The same, before it is loaded.
pub(super) fn made_once(
    device: &Device,
    name: &str,
    key: Fingerprint,
    database: Option<&Database>,
    make: impl FnOnce() -> Result<Binary>,
) -> Result<(Arc<Made>, Origin)> {
    let place = {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = programs.get_or_insert_default();
        programs.retain(|_, place| is_used(place));
        Arc::clone(programs.entry((key, capability(device))).or_default())
    };
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    let (made, origin) = match place.upgrade() {
        Some(made) => (made, Origin::Memory),
        None => {
            // Most of the time that a program takes to start may go here.
            let span = |origin: &'static str| {
                trace::span(|| {
                    let arguments =
                        vec![("device", device.to_string()), ("origin", origin.to_owned())];
                    trace::About { category: "compile", name: name.to_owned().into(), arguments }
                })
            };
            let kept = database.and_then(|database| {
                let _span = span("database");
                Binary::read(&database.get(&key)?)
            });
            let (binary, origin) = match kept {
                Some(binary) => (binary, Origin::Database),
                None => {
                    let _span = span("compiler");
                    let binary = make()?;
                    if let Some(database) = database {
                        database.put(&key, &binary.write());
                    }
                    (binary, Origin::Compiler)
                }
            };
            (Made::new(key, binary), origin)
        }
    };
    *place = Arc::downgrade(&made);
    Ok((made, origin))
}

/// The number of programs that are remembered.
#[cfg(all(test, feature = "jit-llvm"))]
pub(super) fn programs() -> usize {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, HashMap::len)
}

/// Whether there is a program in a place, or somebody makes one.
fn is_used(place: &Arc<Mutex<Weak<Made>>>) -> bool {
    Arc::strong_count(place) > 1 || place.try_lock().is_ok_and(|program| program.strong_count() > 0)
}

/// What programs are compiled for, apart from their key.
fn capability(device: &Device) -> u32 {
    match device.architecture() {
        Architecture::Nvidia { major, minor } => major * 10 + minor,
        _ => 0,
    }
}

#[cfg(feature = "jit-llvm")]
impl Made {
    /// The binary.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.binary.bytes
    }

    /// The sizes of the parameters of a kernel in bytes, where its form says them.
    pub(super) fn parameters(&self, symbol: &str) -> Option<&[u64]> {
        let kernel = self.binary.kernels.iter().find(|kernel| kernel.symbol == symbol);
        kernel.map(|kernel| &*kernel.parameters)
    }

    /// Its form.
    pub(super) fn kind(&self) -> ArtifactKind {
        self.binary.kind
    }
}

impl Program {
    /// A kernel, by its symbol, by the expression of [`Compiler::instance`](super::Compiler::instance), or by the name of
    /// its function where there is one of that name.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernel`] with the names that there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let binary = &self.made.binary;
        let symbol = binary.instances.get(name).map_or(name, String::as_str);
        let mut found = binary.kernels.iter().position(|kernel| kernel.symbol == symbol);
        if found.is_none() {
            let mut named = (0..binary.kernels.len())
                .filter(|index| function_name(&binary.kernels[*index].symbol) == Some(name));
            found = named.next().filter(|_| named.next().is_none());
        }
        let index = found.ok_or_else(|| {
            let symbols = binary.kernels.iter().map(|kernel| &kernel.symbol);
            let known: Vec<_> =
                binary.instances.keys().chain(symbols).map(|it| format!("`{it}`")).collect();
            Error::NoKernel {
                source_file: self.described.set.package.to_owned(),
                kernel: name.to_owned(),
                known: format!("it has {}", known.join(", ")),
            }
        })?;
        if let Some(other) = self.overrides.kernels.get(&index) {
            return Ok(other.clone());
        }
        Ok(Kernel::new(Arc::clone(&self.loaded), index, self.parameters(index)))
    }

    /// Expressions of instances, with their symbols.
    pub(super) fn instances(&self) -> impl Iterator<Item = (&str, &str)> {
        self.made.binary.instances.iter().map(|(expression, symbol)| (&**expression, &**symbol))
    }

    /// The sizes of a kernel's parameters in bytes; 0 where they are not known.
    pub(super) fn parameters(&self, index: usize) -> &'static [u64] {
        &self.described.kernels[index].parameters
    }

    /// The symbols of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.made.binary.kernels.iter().map(|kernel| kernel.symbol.as_str())
    }

    /// Where it came from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What the compiler has warned of; where files stand for kernels, or are to, what is said of that.
    #[must_use]
    pub fn log(&self) -> &str {
        match &*self.overrides.log {
            "" => &self.made.binary.log,
            of_overrides => of_overrides,
        }
    }

    /// The form of its binary: PTX or a cubin.
    #[must_use]
    pub fn kind(&self) -> ArtifactKind {
        self.made.binary.kind
    }

    /// Its binary.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.made.binary.bytes
    }

    /// The device that it is loaded on.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.loaded.device()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Program")
            .field("source", &self.described.set.package)
            .field("kind", &self.kind())
            .field("bytes", &self.bytes().len())
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The name of a function of no namespace in a symbol of the Itanium ABI: of `_Z5scalePff` `scale`.
pub(super) fn function_name(symbol: &str) -> Option<&str> {
    let rest = symbol.strip_prefix("_Z")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
    let (length, rest) = rest.split_at(digits);
    rest.get(..length.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary() -> Binary {
        let ptx = ".visible .entry _Z1kPfj(.param .u64 a, .param .align 4 .b8 p[12])\n.maxntid 128\n{ ret; }";
        let mut binary = Binary::new(ArtifactKind::Ptx, ptx.as_bytes().to_vec(), ptx);
        binary.log = "k.cu(1): warning".to_owned();
        binary.instances.insert("k<float>".to_owned(), "_Z1kPfj".to_owned());
        binary
    }

    #[test]
    fn entries_of_a_database_are_read_as_they_were_written() {
        let binary = binary();
        assert_eq!(binary.kernels[0].parameters, [8, 12]);
        let written = binary.write();
        assert_eq!(Binary::read(&written).as_ref(), Some(&binary));
        assert!((0..written.len()).all(|end| Binary::read(&written[..end]).is_none()));
        assert_eq!(Binary::read(&[&written[..], b"x"].concat()), None);
    }

    #[test]
    fn functions_are_found_in_symbols() {
        for (symbol, name) in [
            ("_Z5scalePff", Some("scale")),
            ("_Z1kv", Some("k")),
            ("scale", None),
            ("_Z9abc", None),
            ("_ZN1a1bEv", None),
        ] {
            assert_eq!(function_name(symbol), name.filter(|name| !name.is_empty()), "{symbol}");
        }
    }
}
