//! The compiler of run time: its options, and the key of what it makes.

use std::sync::Arc;

use kernelmill_artifact::{ArtifactKind, Fingerprint, ptx_entries};
use kernelmill_store::KeyBuilder;

use super::{
    database::Database,
    dumps::{Dumps, Stage},
    overrides,
    program::{Binary, Program, function_name, once},
    source::{Language, Source},
};
use crate::{
    backend::nvrtc::{self, Nvrtc, Request},
    device::Device,
    error::{Error, Result},
    properties::Architecture,
};

/// The name of the compiler in messages.
const NVRTC: &str = "NVRTC";

/// What CUDA C++ is compiled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// PTX, or a cubin where the driver is older than NVRTC and does not read its PTX.
    #[default]
    Automatic,
    /// PTX, which the driver compiles and keeps compiled in a cache of its own.
    Ptx,
    /// Machine code of the device's architecture.
    Cubin,
}

/// Compiles sources at run time, with options that all of them get.
///
/// See the [module](super) for an example.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    options: Vec<String>,
    headers: Vec<(String, String)>,
    instances: Vec<String>,
    output: Output,
    database: Option<Database>,
}

impl Compiler {
    /// Without options, and without a database.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines a macro.
    #[must_use]
    pub fn define(self, name: &str, value: &str) -> Self {
        self.option(format!("--define-macro={name}={value}"))
    }

    /// Adds an option of [NVRTC's](https://docs.nvidia.com/cuda/nvrtc/index.html#supported-compile-options). One that
    /// names a folder of headers is refused: what is in it would not be in the key of the database. Headers are given by
    /// [`Compiler::header`].
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// The most registers of a thread.
    #[must_use]
    pub fn max_registers(self, registers: u32) -> Self {
        self.option(format!("--maxrregcount={registers}"))
    }

    /// Adds a header: the name by which `#include` finds it, and its text.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Instantiates a template, such as `scale<float, 16>`: [`Program::kernel`] finds it by this expression.
    #[must_use]
    pub fn instance(mut self, expression: impl Into<String>) -> Self {
        self.instances.push(expression.into());
        self
    }

    /// What CUDA C++ is compiled to.
    #[must_use]
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    /// Looks for programs in a database before they are compiled, and keeps there what is.
    #[must_use]
    pub fn database(mut self, database: &Database) -> Self {
        self.database = Some(database.clone());
        self
    }

    /// Compiles a source for a device and loads it there.
    ///
    /// A process compiles a program once: whoever asks first does, others wait, and whoever asks later gets what there
    /// is. Programs stay in memory, as those do that a build has embedded.
    ///
    /// `KERNELMILL_OVERRIDE_<kernel>` names a `.cu` or `.ptx` file that stands for a kernel of the program, by the name of
    /// its function. Standard error and [`Program::log`] say so. A file that cannot be read is a warning there.
    ///
    /// # Errors
    ///
    /// [`Error::NoCompiler`] for a device that is none of NVIDIA's, and for CUDA C++ where NVRTC cannot be used or knows
    /// no architecture of the device; [`Error::Compile`] with what the compiler says; what loading reports. A file that
    /// stands for a kernel reports the same, [`Error::NoKernel`] where it lacks the kernel, and [`Error::Arguments`] where
    /// the sizes of its parameters are others.
    pub fn compile(&self, device: &Device, source: &Source) -> Result<Program> {
        let mut program = self.make(device, source)?;
        let compile =
            |source: &Source, instances| Self { instances, ..self.clone() }.make(device, source);
        program.overrides = Arc::new(overrides::of(source, &program, &compile)?);
        Ok(program)
    }

    /// The program without files that stand for its kernels.
    fn make(&self, device: &Device, source: &Source) -> Result<Program> {
        let Architecture::Nvidia { major, minor } = *device.architecture() else {
            let reason = format!(
                "{device} is not an NVIDIA GPU: CUDA C++ and PTX are compiled at run time for NVIDIA GPUs only"
            );
            return Err(Error::NoCompiler { compiler: NVRTC, reason });
        };
        match source.language {
            Language::Ptx => self.take_ptx(device, source),
            Language::Cuda => self.compile_cuda(device, source, major * 10 + minor),
        }
    }

    fn take_ptx(&self, device: &Device, source: &Source) -> Result<Program> {
        let key = KeyBuilder::new("ptx program").part("name", &source.name);
        let key = key.part("text", &source.text).finish();
        once(device, &source.name, key, None, || {
            let bytes = source.text.clone().into_bytes();
            Ok(Binary::new(ArtifactKind::Ptx, bytes, &source.text))
        })
    }

    fn compile_cuda(&self, device: &Device, source: &Source, capability: u32) -> Result<Program> {
        let nvrtc = nvrtc::open().map_err(|reason| no_compiler(reason.to_owned()))?;
        if let Some(option) = self.options.iter().find(|option| names_a_folder(option)) {
            let reason = format!(
                "the option `{option}` names files, whose content is not part of the key of the compiled program; \
                 pass headers with `Compiler::header`"
            );
            return Err(no_compiler(reason));
        }
        let architecture =
            architecture(&nvrtc.architectures, nvrtc.version, capability).map_err(|why| {
                no_compiler(format!("{why}, but {device} has {}", dotted(capability)))
            })?;
        // A cubin runs on its own architecture and later ones of the same major number.
        let kind = match self.output {
            Output::Ptx => ArtifactKind::Ptx,
            Output::Cubin => ArtifactKind::Cubin,
            Output::Automatic if nvrtc::driver_version() >= Some(nvrtc.version) => {
                ArtifactKind::Ptx
            }
            Output::Automatic if architecture / 10 != capability / 10 => ArtifactKind::Ptx,
            Output::Automatic => ArtifactKind::Cubin,
        };
        let form = if kind == ArtifactKind::Ptx { "compute" } else { "sm" };
        let mut options = self.options.clone();
        options.push(format!("--gpu-architecture={form}_{architecture}"));
        let key = self.key(nvrtc, source, &options);
        let dumps = Dumps::asked(&source.name);
        // What is dumped is compiled, whatever the database has.
        let database = self.database.as_ref().filter(|_| dumps.is_none());
        once(device, &source.name, key, database, || {
            let request = Request {
                name: &source.name,
                text: &source.text,
                headers: &self.headers,
                options: &options,
                instances: &self.instances,
            };
            let output = nvrtc.compile(&request).map_err(|log| Error::Compile {
                source_file: source.name.clone(),
                compiler: format!("{NVRTC} of CUDA {}.{}", nvrtc.version.0, nvrtc.version.1),
                options: options.join(" "),
                log,
            })?;
            let text = String::from_utf8_lossy(&output.ptx).into_owned();
            let bytes = if kind == ArtifactKind::Ptx { output.ptx } else { output.cubin };
            if let Some(dumps) = dumps.filter(|it| it.has(Stage::Ptx)) {
                dump(&dumps, &format!("{form}_{architecture}"), &text);
            }
            let mut binary = Binary::new(kind, bytes, &text);
            binary.log = output.log;
            binary.instances = self.instances.iter().cloned().zip(output.symbols).collect();
            Ok(binary)
        })
    }

    /// The key of a program: everything that can change its bytes.
    fn key(&self, nvrtc: &Nvrtc, source: &Source, options: &[String]) -> Fingerprint {
        let versions = (nvrtc.version, nvrtc::driver_version());
        KeyBuilder::new("cuda program")
            .part("kernelmill", env!("CARGO_PKG_VERSION"))
            .part("versions", format!("{versions:?}"))
            .part("name", &source.name)
            .part("text", &source.text)
            .parts("option", options)
            .parts("header", self.headers.iter().flat_map(|(name, text)| [name, text]))
            .parts("instance", &self.instances)
            .finish()
    }
}

/// Dumps each kernel in PTX, whole as NVRTC writes it: by the name of its function, or by its symbol where several functions
/// are called that.
fn dump(dumps: &Dumps, target: &str, ptx: &str) {
    let entries = ptx_entries(ptx);
    let name_of = |symbol| function_name(symbol).unwrap_or(symbol);
    for entry in &entries {
        let name = name_of(entry.name);
        let is_only = entries.iter().filter(|it| name_of(it.name) == name).count() == 1;
        dumps.write((if is_only { name } else { entry.name }, target), Stage::Ptx, ptx);
    }
}

/// The newest architecture that the compiler knows and the device runs; why there is none.
fn architecture(known: &[u32], version: (u32, u32), capability: u32) -> Result<u32, String> {
    known.iter().rev().find(|known| **known <= capability).copied().ok_or_else(|| {
        let ((major, minor), oldest) = (version, known.first().copied().unwrap_or_default());
        format!(
            "the one of CUDA {major}.{minor} compiles for compute capability {} and later",
            dotted(oldest)
        )
    })
}

/// Of 75 `7.5`.
fn dotted(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

fn no_compiler(reason: String) -> Error {
    Error::NoCompiler { compiler: NVRTC, reason }
}

/// Whether an option makes the compiler read files that are not given to it.
fn names_a_folder(option: &str) -> bool {
    let long = ["--include-path", "-include-path", "--pre-include", "-pre-include", "--pch"];
    let short = option.starts_with("-I") || option.starts_with("-include");
    short || option.starts_with("--use-pch") || long.iter().any(|long| option.starts_with(long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_architecture_that_a_device_runs_is_taken() {
        let known = [75, 80, 86, 90];
        for (capability, expected) in [(75, 75), (89, 86), (90, 90), (120, 90)] {
            assert_eq!(architecture(&known, (13, 5), capability), Ok(expected));
        }
        let expected = "the one of CUDA 13.5 compiles for compute capability 7.5 and later";
        assert_eq!(architecture(&known, (13, 5), 70), Err(expected.to_owned()));
    }

    #[test]
    fn options_that_name_files_are_known() {
        for option in [
            "-I/usr/include",
            "-I",
            "--include-path=a",
            "-include=a.h",
            "--pre-include=a.h",
            "--pch",
        ] {
            assert!(names_a_folder(option), "{option}");
        }
        for option in ["--define-macro=I=1", "--use_fast_math", "-std=c++20", "--maxrregcount=32"] {
            assert!(!names_a_folder(option), "{option}");
        }
    }
}
