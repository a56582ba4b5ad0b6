//! The build manifest: every fact of a build as data, in `OUT_DIR/kernelmill.json`.
//!
//! Tools read this file and nothing else of a build: `cargo kernelmill` and the tests do. The
//! [`SCHEMA`] number is raised when a field is removed or changes its meaning; new fields may come
//! without, so readers ignore fields that they do not know.
//!
//! ```
//! let text = r#"{
//!     "schema": 2, "kernelmill": "0.1.0", "package": "saxpy", "diagnostics": [],
//!     "kernels": [{
//!         "name": "saxpy", "symbol": "saxpy", "file": "kernels/saxpy.rs", "line": 4,
//!         "signature": "fn saxpy(a: f32)", "safe": true, "dimension": 1, "limits": {},
//!         "parameters": [{ "name": "a", "kind": "value", "type": "f32" }]
//!     }],
//!     "binaries": [{
//!         "file": "saxpy.compute_75.ptx", "source": "kernels/saxpy.rs", "target": "compute_75",
//!         "kind": "ptx", "bytes": 900, "fingerprint": "00ff",
//!         "kernels": [{ "symbol": "saxpy", "entry": "saxpy", "static_shared_bytes": 0, "panics": false }]
//!     }]
//! }"#;
//! let manifest = kernelmill_build::manifest::Manifest::parse(text)?;
//! let kernel = manifest.kernel("saxpy").unwrap();
//! assert_eq!(kernel.parameters[0].r#type, "f32");
//! let (binary, compiled) = manifest.compiled(kernel).next().unwrap();
//! assert_eq!((binary.target.as_str(), compiled.entry.as_str()), ("compute_75", "saxpy"));
//! # Ok::<(), kernelmill_build::manifest::ManifestError>(())
//! ```

use kernelmill_artifact::PtxVersion;
pub use kernelmill_compiler::{
    CoroutineReason, Lowering, Pass, PassFact, PassOutcome, PassReport, ScalarReason, Strategy,
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The version of the schema that this version of kernelmill writes and reads.
pub const SCHEMA: u32 = 2;

/// The name of the file in `OUT_DIR`.
pub const FILE: &str = "kernelmill.json";

/// Why a manifest cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// There is no manifest, or it cannot be opened.
    #[error("cannot read the build manifest {}: {source}; build the package, which writes it", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text is not a manifest.
    #[error(
        "the file is not a build manifest of kernelmill: {0}; build the package again, which writes it"
    )]
    Text(#[from] serde_json::Error),
    /// Another version of kernelmill wrote it.
    #[error(
        "the build manifest has schema {found}, and this version of kernelmill reads {SCHEMA}: use the \
         same version of cargo-kernelmill and kernelmill-build"
    )]
    Schema {
        /// The schema of the file.
        found: u32,
    },
}

/// Every fact of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of kernelmill-build.
    pub kernelmill: String,
    /// The package that was built.
    pub package: String,
    /// The kernels that have launch wrappers, in the order of their sources.
    pub kernels: Vec<Kernel>,
    /// The binaries, one for each source and target.
    pub binaries: Vec<Binary>,
    /// Warnings of the compilers, which were shown to the user too.
    pub diagnostics: Vec<Diagnostic>,
}

/// A kernel: one launch wrapper of the generated bindings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kernel {
    /// The name of its wrapper.
    pub name: String,
    /// The symbol that binaries know it by.
    pub symbol: String,
    /// The file that defines it, relative to the package.
    pub file: String,
    /// The line of its name, from 1; 0 where it is not known.
    pub line: u32,
    /// The signature as people read it.
    pub signature: String,
    /// Whether the wrapper is a safe function.
    pub safe: bool,
    /// The dimension of the index space, 1 to 3; 0 where the language does not say.
    pub dimension: u32,
    /// What its author says of the launches it is made for.
    pub limits: Limits,
    /// The parameters, in source order.
    pub parameters: Vec<Parameter>,
}

/// Limits of launches. A limit that is not stated is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// The most threads in a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_block_threads: Option<u32>,
    /// The exact block in threads, x first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 3]>,
    /// The number of blocks that a multiprocessor ought to hold at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_blocks: Option<u32>,
    /// The most registers of a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_registers: Option<u32>,
    /// The cluster in blocks, x first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<[u32; 3]>,
    /// The bits of indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_width: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in the source.
    pub name: String,
    /// What crosses from host to device.
    pub kind: ParameterKind,
    /// The type of the value, or of an element, as it is written in Rust.
    pub r#type: String,
    /// What the kernel does with the elements; absent for values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The number of dimensions of a tensor map; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

/// What crosses from host to device for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ParameterKind {
    /// A scalar or a struct, by value.
    Value,
    /// Elements in device memory with their number.
    Slice,
    /// The address of elements in device memory.
    Pointer,
    /// Elements in dynamic shared memory, whose number the launch gives.
    Shared,
    /// A tensor in device memory, whose tiles are copied.
    TensorMap,
}

/// What a kernel does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Access {
    /// Only reads.
    Read,
    /// Reads and writes.
    Write,
}

/// The binary of one source for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Binary {
    /// Its file in `OUT_DIR`.
    pub file: String,
    /// The source, relative to the package.
    pub source: String,
    /// The target, as settings write it: `cpu`, `compute_75`, `sm_90`, `gfx942`.
    pub target: String,
    /// The form of its bytes.
    pub kind: BinaryKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// The digest of everything that its bytes depend on, in hexadecimal.
    pub fingerprint: String,
    /// For PTX, its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<Ptx>,
    /// The kernels in it.
    pub kernels: Vec<CompiledKernel>,
    /// For the CPU, what the passes of the compiler's back end did, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<PassReport>,
}

/// What PTX asks of the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ptx {
    /// Its version, `6.3`.
    pub version: String,
    /// The CUDA release whose driver is the first that reads it, `10.0`; `None` where this version of kernelmill does
    /// not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
}

impl Ptx {
    /// What PTX of a version asks for.
    pub(crate) fn new(version: PtxVersion) -> Self {
        let cuda = version.cuda().map(|(major, minor)| format!("{major}.{minor}"));
        Self { version: version.to_string(), cuda }
    }
}

/// The form of the bytes of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BinaryKind {
    /// A native object, linked into the application.
    Object,
    /// NVIDIA PTX.
    Ptx,
    /// An NVIDIA cubin.
    Cubin,
    /// A linked AMD code object.
    CodeObject,
    /// A SPIR-V module.
    Spirv,
    /// OpenCL C, as text.
    OpenclC,
    /// LLVM bitcode that the program compiles when it runs.
    Bitcode,
}

/// A kernel in a binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompiledKernel {
    /// The [`Kernel::symbol`].
    pub symbol: String,
    /// The variant that it is; absent for the kernel as its source and the settings have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The name of its entry point in the binary.
    pub entry: String,
    /// Shared memory that it declares, in bytes a block.
    pub static_shared_bytes: u32,
    /// Whether it can panic.
    pub panics: bool,
    /// Whether its blocks wait for each other, so that its launches are cooperative.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// For the CPU, how its threads are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// What it takes of the device.
    #[serde(default)]
    pub resources: Resources,
    /// What plugins say of it, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A build of a kernel for some of its launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Variant {
    /// Its name, which says how its launches differ from the kernel's: `threads128_index32`.
    pub name: String,
    /// The limits of its launches, those of its kernel among them.
    pub limits: Limits,
    /// The macros that its source is compiled with besides those of its kernel, `NAME=value` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defines: Vec<String>,
}

/// What a kernel takes of a device. What its target does not have, or its compiler does not say, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Resources {
    /// Registers of a thread, of 32 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// Scalar registers of a wave, on AMD's GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalar_registers: Option<u32>,
    /// Bytes of a thread that stores of spilled registers write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_stores: Option<u32>,
    /// Bytes of a thread that loads of spilled registers read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_loads: Option<u32>,
    /// Registers of a thread that are spilled, on AMD's GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spilled_registers: Option<u32>,
    /// Bytes of a thread on its stack: local variables and, on GPUs, spilled registers. Absent where
    /// recursion leaves it open, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u32>,
    /// Bytes of a block of static shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_shared_bytes: Option<u32>,
    /// Bytes of constant memory: the parameters with what stands before them, and constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant_bytes: Option<u32>,
    /// The most threads of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_threads: Option<u32>,
}

impl From<kernelmill_artifact::Resources> for Resources {
    fn from(resources: kernelmill_artifact::Resources) -> Self {
        Self {
            registers: resources.registers,
            scalar_registers: resources.scalar_registers,
            spill_stores: resources.spill_stores,
            spill_loads: resources.spill_loads,
            spilled_registers: resources.spilled_registers,
            stack_bytes: resources.stack_bytes,
            static_shared_bytes: resources.static_shared_bytes,
            constant_bytes: resources.constant_bytes,
            max_threads: resources.max_threads,
        }
    }
}

/// A message of a compiler about a source that it compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The source, relative to the package.
    pub source: String,
    /// The target; absent where the message holds for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The message as it was shown.
    pub message: String,
}

/// How bad a diagnostic is. Errors stop a build, so that there is no manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Severity {
    /// The build goes on.
    Warning,
}

/// The text of the manifest in an `OUT_DIR`.
fn text_in(out_dir: &Path) -> Result<String, ManifestError> {
    let path = out_dir.join(FILE);
    fs::read_to_string(&path).map_err(|source| ManifestError::Io { path, source })
}

/// Whether this version reads a manifest.
fn check_schema(text: &str) -> Result<(), ManifestError> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    match serde_json::from_str(text)? {
        Version { schema: SCHEMA } => Ok(()),
        Version { schema: found } => Err(ManifestError::Schema { found }),
    }
}

/// The files of the binaries that the manifest in an `OUT_DIR` lists.
pub(crate) fn binary_files(out_dir: &Path) -> Result<Vec<String>, ManifestError> {
    #[derive(Deserialize)]
    struct Files {
        binaries: Vec<File>,
    }
    #[derive(Deserialize)]
    struct File {
        file: String,
    }
    let text = text_in(out_dir)?;
    check_schema(&text)?;
    let Files { binaries } = serde_json::from_str(&text)?;
    Ok(binaries.into_iter().map(|binary| binary.file).collect())
}

impl Manifest {
    /// Reads the manifest in an `OUT_DIR`.
    ///
    /// # Errors
    ///
    /// [`ManifestError::Io`], and as [`Manifest::parse`].
    // Inlined, as `parse` is: a program that reads manifests compiles the reader, and a build script
    // that only writes one does not.
    #[inline]
    pub fn read(out_dir: &Path) -> Result<Self, ManifestError> {
        Self::parse(&text_in(out_dir)?)
    }

    /// Reads the text of a manifest.
    ///
    /// # Errors
    ///
    /// [`ManifestError::Text`], and [`ManifestError::Schema`] where another version wrote it.
    #[inline]
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        check_schema(text)?;
        Ok(serde_json::from_str(text)?)
    }

    /// The kernel whose wrapper, or else whose symbol, has this name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        let by = |of: fn(&Kernel) -> &str| self.kernels.iter().find(|kernel| of(kernel) == name);
        by(|kernel| &kernel.name).or_else(|| by(|kernel| &kernel.symbol))
    }

    /// The binaries that hold a kernel, with what it has become in each, and after it its variants there.
    pub fn compiled<'m>(
        &'m self,
        kernel: &'m Kernel,
    ) -> impl Iterator<Item = (&'m Binary, &'m CompiledKernel)> {
        self.binaries.iter().flat_map(|binary| {
            let found = binary.kernels.iter().filter(|it| it.symbol == kernel.symbol);
            found.map(move |found| (binary, found))
        })
    }
}
