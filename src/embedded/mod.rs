//! Embedded kernels: what the generated bindings embed in the application.
//!
//! Static data, which the back ends read. Its version is checked before it is used.

use std::{cell::UnsafeCell, fmt, sync::Arc};

use kernelmill_artifact::{
    ArtifactKind, FORMAT_VERSION, LaunchLimits, PanicKind, PanicRecord, Relocation, Resources,
    Signature, SourceFrame, SourceLocation,
};

pub use self::abi::Kernel as CpuKernel;
pub(crate) use self::code::{HeldCode, LinkedKernel};
use crate::error::{Error, KernelPanic, Result};

pub mod abi;
mod code;

/// All kernels of one package, as the generated bindings have them in a `static`.
#[derive(Debug)]
pub struct KernelSet {
    /// The version of the interface that the bindings were generated for.
    pub format_version: u32,
    /// The package's name.
    pub package: &'static str,
    /// The kernels, for callers.
    pub signatures: &'static [Signature],
    /// What names the functions that the host can give to them.
    pub functions: &'static [u64],
    /// The variables that the program reads and writes.
    pub variables: &'static [VariableLayout],
    /// The launches that were found to be fastest, of the file that `cargo kernelmill tune` writes.
    pub tuned: &'static [TunedLaunch],
    /// The binaries: for each source one per target.
    pub artifacts: &'static [EmbeddedArtifact],
}

/// A variable of device code that the program reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableLayout {
    /// Its name, for messages.
    pub name: &'static str,
    /// Its name in compiled code.
    pub symbol: &'static str,
    /// Its size.
    pub bytes: usize,
    /// The sources that have it, each a copy of its own.
    pub sources: &'static [&'static str],
}

/// The launch of a kernel, or the kernel of a group, that was found to be fastest on a device for a size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunedLaunch {
    /// The group that the kernel was chosen of; empty where a launch of it was.
    pub group: &'static str,
    /// The kernel's place among the signatures.
    pub signature: usize,
    /// The name of the device, as [`Device::name`](crate::Device::name) has it.
    pub device: &'static str,
    /// The size class: for each dimension of the launch, x first, the logarithm to base 2, rounded down, of the number of
    /// elements.
    pub size_class: &'static [u32],
    /// Threads in a block, as many numbers as the class has; none in a group.
    pub block: &'static [u32],
    /// The most registers of the build; 0 where any will do.
    pub max_registers: u8,
}

/// One embedded binary: a source, compiled for a target.
///
/// `Display` gives one line: source, target, kind and size in bytes.
#[derive(Debug)]
pub struct EmbeddedArtifact {
    /// The digest of all that went into it, 64 hexadecimal digits.
    pub fingerprint: &'static str,
    /// The target it was compiled for, as in the configuration.
    pub target: &'static str,
    /// The form of its bytes.
    pub kind: ArtifactKind,
    /// The source, relative to its package.
    pub source: &'static str,
    /// The binary; empty for the CPU, whose code is linked into the application, and where it was compiled at run time, as
    /// this description outlives it: [`CompiledKernel::binary`](crate::CompiledKernel::binary) has it.
    pub bytes: &'static [u8],
    /// The kernels inside.
    pub kernels: &'static [EmbeddedKernel],
    /// The places that panics of these kernels refer to by index.
    pub locations: &'static [SourceLocation<'static>],
    /// For each of these places the calls on the way there, the innermost first; empty where panics
    /// have no backtraces.
    pub backtraces: &'static [&'static [SourceFrame<'static>]],
    /// The texts that panics refer to by index.
    pub messages: &'static [&'static str],
    /// The symbols whose values it is given when it is loaded.
    pub relocations: &'static [Relocation],
    /// The variables of its kernels, for the CPU, where they are linked into the application.
    pub variables: &'static [CpuVariable],
}

/// A kernel inside an [`EmbeddedArtifact`].
#[derive(Debug)]
pub struct EmbeddedKernel {
    /// Its index among the signatures of its package.
    pub signature: usize,
    /// The symbol it is launched by.
    pub entry: &'static str,
    /// Bytes of shared memory it declares.
    pub static_shared_bytes: u64,
    /// Whether it can panic.
    pub panics: bool,
    /// Whether its blocks wait for each other: it is launched cooperatively.
    pub cooperative: bool,
    /// What it takes of its device, as far as the build knows.
    pub resources: Resources,
    /// The variant that it is; `None` for the kernel as its source and the settings have it.
    pub variant: Option<EmbeddedVariant>,
    /// The compiled functions, for the CPU.
    pub cpu: Option<CpuEntry>,
}

/// What a variant of a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedVariant {
    /// Its name, which says how its launches differ from the kernel's.
    pub name: &'static str,
    /// The limits of its launches, those of its kernel among them.
    pub limits: LaunchLimits,
    /// The macros that its source is compiled with besides those of its kernel, `NAME=value` each.
    pub defines: &'static [&'static str],
}

impl EmbeddedArtifact {
    /// The panic in a record that a kernel of this binary has set.
    pub(crate) fn panic(&self, record: &PanicRecord) -> KernelPanic {
        let (kind, location) = (record.kind(), record.location as usize);
        if kind == PanicKind::Silent {
            // The rest is of another panic, if of any.
            return KernelPanic {
                kind,
                message: record.message(&[], &[]),
                location: None,
                source: self.source,
                block: [0; 3],
                thread: [0; 3],
                backtrace: &[],
            };
        }
        KernelPanic {
            kind,
            message: record.message(self.messages, self.locations),
            location: self.locations.get(location).copied(),
            source: self.source,
            block: record.block,
            thread: record.thread,
            backtrace: self.backtraces.get(location).copied().unwrap_or_default(),
        }
    }
}

impl EmbeddedKernel {
    /// A kernel of a binary that a driver loads.
    #[must_use]
    pub const fn loaded(
        signature: usize,
        entry: &'static str,
        static_shared_bytes: u64,
        panics: bool,
        resources: Resources,
    ) -> Self {
        Self {
            signature,
            entry,
            static_shared_bytes,
            panics,
            cooperative: false,
            resources,
            variant: None,
            cpu: None,
        }
    }

    /// The kernel as one whose blocks wait for each other.
    #[must_use]
    pub const fn as_cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    /// The kernel as a variant.
    #[must_use]
    pub const fn as_variant(self, variant: EmbeddedVariant) -> Self {
        Self { variant: Some(variant), ..self }
    }
}

/// A kernel that is linked into the application, or into the process when it runs.
#[derive(Clone, Copy, Debug)]
pub struct CpuEntry {
    kernel: *const CpuKernel,
    /// Where it is in place of that, if it was compiled at run time.
    linked: Option<&'static LinkedKernel>,
    /// How its threads are run; empty where the build has not said it.
    strategy: &'static str,
}

// SAFETY: it is a pointer to a constant.
unsafe impl Send for CpuEntry {}
// SAFETY: as above.
unsafe impl Sync for CpuEntry {}

impl CpuEntry {
    /// The kernel that an object of kernelmill's compiler exports.
    ///
    /// # Safety
    ///
    /// `kernel` points to a [`CpuKernel`] that is never written and lives as long as the program,
    /// and whose functions are what that type says.
    #[must_use]
    pub const unsafe fn new(kernel: *const CpuKernel) -> Self {
        Self { kernel, linked: None, strategy: "" }
    }

    /// A kernel that was compiled at run time.
    #[cfg_attr(not(feature = "jit-llvm"), allow(dead_code, reason = "LLVM alone links code"))]
    pub(crate) const fn linked(linked: &'static LinkedKernel) -> Self {
        Self { kernel: std::ptr::null(), linked: Some(linked), strategy: "" }
    }

    /// Where it is, if it was compiled at run time.
    #[cfg_attr(not(feature = "jit-llvm"), allow(dead_code, reason = "LLVM alone links code"))]
    pub(crate) const fn link(self) -> Option<&'static LinkedKernel> {
        self.linked
    }

    /// The same kernel, with its lowering strategy as people read it.
    #[must_use]
    pub const fn with_strategy(self, strategy: &'static str) -> Self {
        Self { strategy, ..self }
    }

    /// Its lowering strategy, where the build has said it.
    pub(crate) fn strategy(self) -> Option<&'static str> {
        Some(self.strategy).filter(|it| !it.is_empty())
    }

    /// The constant in the object; `None` where it was compiled at run time.
    #[must_use]
    pub fn kernel(self) -> Option<&'static CpuKernel> {
        // SAFETY: promised to `new`; the pointer of others is null.
        unsafe { self.kernel.as_ref() }
    }

    /// The constant in the object, and the code that it is there with, if it was compiled at run time: its functions are
    /// called while that is held. `None` where nobody has held that.
    pub(crate) fn find(self) -> Option<(*const CpuKernel, Option<Arc<dyn HeldCode>>)> {
        match self.linked {
            None => Some((self.kernel, None)),
            Some(linked) => linked.find().map(|(kernel, code)| (kernel, Some(code))),
        }
    }
}

/// The memory of a variable that is linked into the application.
#[derive(Debug)]
#[repr(transparent)]
pub struct VariableMemory<const BYTES: usize>([UnsafeCell<u8>; BYTES]);

// SAFETY: it is read and written through its address alone, by code that sees to the order.
unsafe impl<const BYTES: usize> Sync for VariableMemory<BYTES> {}

impl<const BYTES: usize> VariableMemory<BYTES> {
    /// Memory that no object exports, for tests.
    #[must_use]
    pub const fn zeros() -> Self {
        Self([const { UnsafeCell::new(0) }; BYTES])
    }
}

/// A variable that is linked into the application.
#[derive(Clone, Copy, Debug)]
pub struct CpuVariable {
    /// Its name in compiled code, before it is linked.
    pub symbol: &'static str,
    address: *mut u8,
    bytes: usize,
}

// SAFETY: whoever uses the address sees to the order.
unsafe impl Send for CpuVariable {}
// SAFETY: as above.
unsafe impl Sync for CpuVariable {}

impl CpuVariable {
    /// A variable that an object of kernelmill's compiler exports.
    ///
    /// # Safety
    ///
    /// `memory` is that variable's, as long as the program runs, and nothing but kernels and this crate uses it.
    #[must_use]
    pub const unsafe fn new<const BYTES: usize>(
        symbol: &'static str,
        memory: *const VariableMemory<BYTES>,
    ) -> Self {
        Self { symbol, address: memory.cast::<u8>().cast_mut(), bytes: BYTES }
    }

    /// Its first byte.
    #[must_use]
    pub fn address(self) -> *mut u8 {
        self.address
    }

    /// Its size.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }
}

impl EmbeddedArtifact {
    /// The variable with this symbol that is linked into the application.
    pub(crate) fn variable(&self, symbol: &str) -> Option<CpuVariable> {
        self.variables.iter().find(|it| it.symbol == symbol).copied()
    }
}

impl fmt::Display for EmbeddedArtifact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {} ({}", self.source, self.target, self.kind)?;
        if !self.bytes.is_empty() {
            write!(formatter, ", {} bytes", self.bytes.len())?;
        }
        formatter.write_str(")")
    }
}

/// Compares an interface version with this crate's.
pub(crate) fn check_version(subject: impl FnOnce() -> String, found: u32) -> Result<()> {
    if found == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::FormatVersion { subject: subject(), found, expected: FORMAT_VERSION })
}
