//! Programs for OpenCL devices: a file in OpenCL C as a SPIR-V module, or as one text that the device's own
//! compiler compiles.
//!
//! clang does both in one call, without kernelmill's headers: built-in functions are the device's. SPIR-V comes
//! from [LLVM's back end](https://llvm.org/docs/SPIRVUsage.html), in the oldest version that has what the source
//! needs, so that it runs on as many devices as it can.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use kernelmill_artifact::{ArtifactKind, Resources, Target};

use super::{arguments, lower::POINTER_TYPES, spirv, text};
use crate::{
    Error,
    artifact::{Artifact, CompiledKernel},
    frontend::cuda::{
        CudaSource, Trace,
        clang::Clang,
        dependencies::{self, Writer},
        message,
    },
    job::Config,
    toolchain::{TemporaryFolder, ToolLimits, read, write},
};

/// The versions of SPIR-V, in the order in which they are tried. Devices of OpenCL 2.2 and 3.0 read 1.2; shuffles of
/// sub-groups came with 1.3. A weak exchange of atomics, which LLVM writes in any version, went with 1.4.
const VERSIONS: [&str; 2] = ["1.2", "1.3"];

/// The file that clang reads before a source for SPIR-V.
const PRELUDE: &str = "kernelmill_spirv.h";

/// How clang says that a back end has failed.
const BACKEND: &str = "fatal error: error in backend: ";

/// A clang to call for programs of OpenCL devices. Plain data: whoever calls it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCompiler {
    /// The program and its version.
    pub clang: Clang,
    /// A folder for temporary files.
    pub scratch: PathBuf,
    /// What each process of it may take.
    pub limits: ToolLimits,
}

impl ProgramCompiler {
    /// Compiles a source for [`Target::Spirv64`] or [`Target::OpenClC`], as `config` says of the target and of
    /// contractions. `kernels` are the names of the kernels that are wanted.
    ///
    /// # Errors
    ///
    /// [`Error::OpenCl`] with clang's messages, [`Error::Tool`] where its back end cannot express a kernel, and
    /// [`Error::Unsupported`] for another target.
    pub fn compile(
        &self,
        source: &CudaSource,
        config: &Config,
        kernels: &[String],
    ) -> Result<(Artifact, Trace), Error> {
        let (target, contracts) = (&config.target, config.params.contract);
        let (kind, (bytes, inputs)) = match target {
            Target::Spirv64 => (ArtifactKind::Spirv, self.spirv(source, contracts)?),
            Target::OpenClC => (ArtifactKind::OpenClC, self.text(source, contracts)?),
            other => {
                let (file, target) = (source.display.clone(), other.clone());
                return Err(Error::Unsupported { file, target });
            }
        };
        let artifact = Artifact {
            target: target.clone(),
            kind,
            bytes,
            kernels: kernels.iter().map(|name| kernel(name)).collect(),
            locations: Vec::new(),
            messages: Vec::new(),
            relocations: Vec::new(),
            variables: Vec::new(),
            warnings: Vec::new(),
            passes: Vec::new(),
        };
        // What clang warns of, it has warned of when it read the signatures.
        Ok((artifact, Trace { inputs, ..Trace::default() }))
    }

    /// A SPIR-V module, and the files that were read.
    fn spirv(
        &self,
        source: &CudaSource,
        contracts: bool,
    ) -> Result<(Vec<u8>, Vec<PathBuf>), Error> {
        let contraction = if contracts { "-ffp-contract=on" } else { "-ffp-contract=off" };
        let mut failure = String::new();
        let folder = TemporaryFolder::new(&self.scratch, &source.display)?;
        write(&folder, PRELUDE, spirv::PRELUDE.as_bytes())?;
        let headers = folder.path.to_string_lossy();
        for version in VERSIONS {
            let target = format!("--target=spirv64v{version}-unknown-unknown");
            // An extension is only declared where the source needs it.
            let floats = "--spirv-ext=+SPV_EXT_shader_atomic_float_add";
            let arguments = [&*target, "-O2", contraction, "-c", "-mllvm", floats];
            match self.run(
                source,
                &[&arguments[..], &["-isystem", &headers, "-include", PRELUDE]].concat(),
            )? {
                Ran::Done(module, mut inputs) => {
                    inputs.retain(|path| !path.starts_with(&folder.path));
                    let module = spirv::repair(&module).ok_or_else(|| {
                        Error::Internal(format!("clang wrote no SPIR-V for {}", source.display))
                    })?;
                    return Ok((module, inputs));
                }
                Ran::Inexpressible(text) => failure = text,
            }
        }
        let subject = source.display.clone();
        Err(Error::Tool { tool: "clang", subject, stderr: failure + HELP, kept: None })
    }

    /// The source without includes, and the files that were read.
    fn text(&self, source: &CudaSource, contracts: bool) -> Result<(Vec<u8>, Vec<PathBuf>), Error> {
        // Without clang's header too: its macros are the device's.
        let arguments =
            ["--target=spir64-unknown-unknown", "-cl-no-stdinc", "-E", "-frewrite-includes"];
        match self.run(source, &arguments)? {
            Ran::Done(expanded, inputs) => {
                let expanded = String::from_utf8(expanded).map_err(|_| Error::Tool {
                    tool: "clang",
                    subject: source.display.clone(),
                    stderr: "the file is not UTF-8, which the target `opencl-c` requires"
                        .to_owned(),
                    kept: None,
                })?;
                Ok((text::of_program(&expanded, source, contracts).into_bytes(), inputs))
            }
            Ran::Inexpressible(stderr) => Err(Error::Tool {
                tool: "clang",
                subject: source.display.clone(),
                stderr,
                kept: None,
            }),
        }
    }

    /// Runs clang in the package's folder.
    fn run(&self, source: &CudaSource, how: &[&str]) -> Result<Ran, Error> {
        let folder = TemporaryFolder::new(&self.scratch, &source.display)?;
        let (output, rule) = (folder.path.join("k.out"), folder.path.join("k.d"));
        let mut command = Command::new(&self.clang.program);
        command.current_dir(&source.package_root).env("TMPDIR", &folder.path);
        command.args(["-x", "cl", "-cl-std=CL3.0", "-D__KERNELMILL__=1"]).args(how);
        command.args(["-fno-color-diagnostics", "-fno-crash-diagnostics", POINTER_TYPES]);
        command.args(source.includes.iter().flat_map(|it| ["-I".as_ref(), it.as_os_str()]));
        for (name, value) in &source.defines {
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            command.arg(format!("-D{name}{value}"));
        }
        command.args(arguments::translate(&source.arguments));
        command.arg("-MD").arg("-MF").arg(&rule).arg("-o").arg(&output).arg(source.input());
        let result = self.limits.output(&mut command, &source.display)?;
        if !result.status.success() {
            return refused(source, &result);
        }
        let rule = String::from_utf8_lossy(&read(&rule)?).into_owned();
        Ok(Ran::Done(
            read(&output)?,
            dependencies::inputs(&rule, &source.package_root, Writer::Clang),
        ))
    }
}

/// What came of a run.
enum Ran {
    /// What clang wrote, and the files that it read.
    Done(Vec<u8>, Vec<PathBuf>),
    /// The source is right, and its back end cannot express it: why.
    Inexpressible(String),
}

/// What to do where SPIR-V cannot express a source.
const HELP: &str = "\nhelp: leave the target `spirv64` out for this file; with `opencl-c` the device's own \
                    compiler compiles it";

/// Tells what the source has wrong from what the back end cannot do.
fn refused(source: &CudaSource, result: &Output) -> Result<Ran, Error> {
    let stderr = String::from_utf8_lossy(&result.stderr);
    if let Some(text) = stderr.lines().find_map(|line| line.strip_prefix(BACKEND)) {
        return Ok(Ran::Inexpressible(text.to_owned()));
    }
    let mut messages = message::parse(&stderr, &source.package_root);
    messages.retain(|message| !message.is_warning());
    Err(Error::OpenCl { messages, display: source.display.clone() })
}

/// The artifact of a SPIR-V module that somebody else has made, with one of its kernels: the only one, or that of a
/// name. Parameters of modules have no types of the host's, so nothing compares them.
///
/// # Errors
///
/// Why it has no such kernel.
pub fn spirv_artifact(module: &[u8], name: &str) -> Result<Artifact, String> {
    let kernels =
        spirv::kernels(module).ok_or("it is not a SPIR-V module in little-endian words")?;
    let found = match &*kernels {
        [one] => one,
        all => all.iter().find(|kernel| *kernel == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|kernel| format!("`{kernel}`")).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("it has no kernel `{name}`, only: {known}")
        })?,
    };
    Ok(Artifact {
        target: Target::Spirv64,
        kind: ArtifactKind::Spirv,
        bytes: module.to_vec(),
        kernels: vec![kernel(found)],
        locations: Vec::new(),
        messages: Vec::new(),
        relocations: Vec::new(),
        variables: Vec::new(),
        warnings: Vec::new(),
        passes: Vec::new(),
    })
}

/// A kernel under the name that it has in the source. How much local memory it declares, the device says.
fn kernel(name: &str) -> CompiledKernel {
    CompiledKernel {
        name: name.to_owned(),
        entry: name.to_owned(),
        static_shared_bytes: 0,
        panics: false,
        cooperative: false,
        cpu_symbol: None,
        strategy: None,
        resources: Resources::UNKNOWN,
        notes: Vec::new(),
    }
}
