//! NVIDIA's compiler: from a source to PTX or a cubin in one call for each target
//! (`docs/src/adr/0007-one-nvcc-call-a-target.md`).

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use kernelmill_artifact::{ArtifactKind, NvidiaArch, Resources, Target, VariableDeclaration};

use super::{
    binary::entries,
    dependencies::{self, Writer},
    instances, message,
    nvcc_arguments::{check_arguments, check_paths, in_list, option_arguments, source_arguments},
    nvcc_overrides::KernelOverrideFile,
    ptx_grid,
    ptx_shared::{self, SharedArray},
    signature,
    source::{CudaKernel, CudaSource},
    stored,
};
use crate::{
    Error,
    artifact::{Artifact, CompiledKernel},
    base::demangle::demangle,
    diagnostic::{Message, MessageSeverity},
    job::{Config, DeviceLink},
    resources::{self, ByKernel, Spills},
    toolchain::{KeptRun, Linked, Relocatable, TemporaryFolder, ToolLimits, read_output, write},
};

/// An nvcc to call. Plain data: whoever calls the compiler finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvcc {
    /// The program.
    pub program: PathBuf,
    /// A folder for temporary files, and for what a failed call leaves.
    pub scratch: PathBuf,
    /// What each process of it may take.
    pub limits: ToolLimits,
}

/// What a run of a C++ compiler gave besides its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Every file that was read, absolute: the source and all headers, the system's too.
    pub inputs: Vec<PathBuf>,
    /// The warnings, each once.
    pub warnings: Vec<Message>,
    /// The spills of kernels in a cubin, by their symbols.
    pub(crate) spills: BTreeMap<String, Spills>,
    /// The kernels whose blocks wait for each other, by their symbols.
    pub(crate) cooperative: Vec<String>,
}

/// The kernels of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The kernels in the order of the source.
    pub kernels: Vec<CudaKernel>,
    /// The variables that the host can read and write.
    pub variables: Vec<VariableDeclaration>,
    /// What else the run gave.
    pub trace: Trace,
    /// How long compiling it takes next to other sources: a length in bytes of unoptimised code.
    pub weight: u64,
}

/// The intrinsics that nvcc cannot compile without optimisation. Where only signatures are wanted
/// they get other names, which makes them functions that are declared only: nobody runs that code.
const UNOPTIMISABLE: [&str; 6] = [
    "__nv_idp4a_s_s_impl",
    "__nv_idp4a_u_u_impl",
    "__nv_idp2a_lo_s_s_impl",
    "__nv_idp2a_lo_u_u_impl",
    "__nv_idp2a_hi_s_s_impl",
    "__nv_idp2a_hi_u_u_impl",
];

impl Reading {
    /// Kernels and variables, and the weight of their source, as bytes for a store.
    #[must_use]
    pub fn to_bytes(
        kernels: &[CudaKernel],
        variables: &[VariableDeclaration],
        weight: u64,
    ) -> Vec<u8> {
        stored::write(kernels, variables, weight)
    }

    /// Reads what [`Reading::to_bytes`] wrote; `None` where it is not that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<(Vec<CudaKernel>, Vec<VariableDeclaration>, u64)> {
        stored::read(bytes)
    }
}

impl Nvcc {
    /// Reads the signatures of a source's kernels as they are on one architecture: from PTX that
    /// is compiled without optimisation, which takes a fraction of the time.
    ///
    /// # Errors
    ///
    /// [`Error::Cpp`] with nvcc's messages where it refuses the source, and [`Error::Signatures`]
    /// where its debug information cannot be read.
    pub fn read(&self, source: &CudaSource, arch: NvidiaArch) -> Result<Reading, Error> {
        // Full debug information has the lines too, and nvcc warns where both are asked for.
        let is_lines =
            |it: &&String| matches!(&***it, "-lineinfo" | "--generate-line-info" | "-li");
        let arguments = source.arguments.iter().filter(|it| !is_lines(it)).cloned().collect();
        let source = &CudaSource { arguments, ..source.clone() };
        let mut arguments = vec!["-ptx".into(), "-G".into(), format!("-arch=compute_{arch}")];
        arguments.extend(
            UNOPTIMISABLE.iter().map(|intrinsic| format!("-D{intrinsic}=__kernelmill{intrinsic}")),
        );
        let (ptx, trace) = self.run(source, &arguments, "signatures")?;
        let weight = ptx.len() as u64;
        let ptx = String::from_utf8_lossy(&ptx);
        let ask = |probe: &str| self.with_text_behind(source, probe, &arguments);
        let fault = |error| Error::Signatures { file: source.display.clone(), error };
        let mut kernels =
            signature::read_with_classes(&ptx, &source.display, ask).map_err(fault)?;
        let mut variables = signature::read_variables(&ptx, &source.display).map_err(fault)?;
        instances::name_source(source, &mut kernels, &mut variables);
        Ok(Reading { kernels, variables, trace, weight })
    }

    /// What a source gives with a text behind it, which need not compile.
    fn with_text_behind(
        &self,
        source: &CudaSource,
        text: &str,
        arguments: &[String],
    ) -> Option<String> {
        let folder = TemporaryFolder::new(&self.scratch, &source.display).ok()?;
        let path = folder.path.join("probe.cu");
        fs::write(&path, format!("#include \"{}\"\n{text}", source.path.display())).ok()?;
        let probe = CudaSource { path, instances: Vec::new(), ..source.clone() };
        let arguments = [arguments, &["-w".to_owned()]].concat();
        match self.run(&probe, &arguments, "classes") {
            Ok((output, _)) => Some(String::from_utf8_lossy(&output).into_owned()),
            Err(Error::Cpp { kept: Some(kept), .. }) => {
                // Nobody is told of it, so nobody looks for it.
                let _ = fs::remove_dir_all(kept);
                None
            }
            Err(_) => None,
        }
    }

    /// Compiles a source for one target, a cubin or PTX. Override files may replace kernels of it: then its PTX is made first,
    /// their entries are put in place of its own, and a cubin is assembled of that.
    ///
    /// # Errors
    ///
    /// [`Error::Cpp`] with the messages of nvcc and ptxas, [`Error::Unsupported`] for a target
    /// that is not NVIDIA's, [`Error::Override`] for a file that cannot replace its kernel.
    pub fn compile(
        &self,
        source: &CudaSource,
        config: &Config,
        overrides: &[KernelOverrideFile],
    ) -> Result<(Artifact, Trace), Error> {
        let target = &config.target;
        let (kind, mut arguments) = match target {
            Target::Cubin(arch) => {
                let arch = format!("-arch=sm_{arch}");
                (ArtifactKind::Cubin, vec!["-cubin".to_owned(), arch, "-Xptxas=-v".to_owned()])
            }
            Target::Ptx(arch) => {
                (ArtifactKind::Ptx, vec!["-ptx".to_owned(), format!("-arch=compute_{arch}")])
            }
            other => {
                let (file, target) = (source.display.clone(), other.clone());
                return Err(Error::Unsupported { file, target });
            }
        };
        arguments.extend(option_arguments(&config.params, &config.options));
        let link = config.params.device_link.as_ref();
        let run = |arguments: &[String]| match overrides {
            [] => self.run(source, arguments, &target.to_string()),
            overrides => self.run_with(source, arguments, config, overrides),
        };
        let (bytes, trace) = match (link, target) {
            (Some(link), Target::Cubin(arch)) => {
                arguments.push("-rdc=true".to_owned());
                let (cubin, trace) = run(&arguments)?;
                (self.linked(link, source, *arch, &cubin)?, trace)
            }
            (_, Target::Ptx(arch)) => {
                let (ptx, trace) = run(&arguments)?;
                (self.in_oldest_version(source, ptx, *arch), trace)
            }
            _ => run(&arguments)?,
        };
        let arrays = match kind {
            ArtifactKind::Ptx => ptx_shared::of_kernels(&String::from_utf8_lossy(&bytes)),
            _ => HashMap::new(),
        };
        check_shared_memory(source, target, &arrays)?;
        let mut resources = match kind {
            ArtifactKind::Cubin => resources::of_cubin(&bytes, &trace.spills),
            _ => ByKernel::new(),
        };
        let kernels = entries(kind, &bytes).into_iter().map(|entry| {
            let shared = arrays.get(&entry).map_or(&[][..], Vec::as_slice);
            let shared = u32::try_from(total(shared)).unwrap_or(u32::MAX);
            let own = Resources { static_shared_bytes: Some(shared), ..Resources::UNKNOWN };
            let cooperative = trace.cooperative.contains(&entry);
            CompiledKernel { cooperative, ..kernel(resources.remove(&entry).unwrap_or(own), entry) }
        });
        let kernels = kernels.collect();
        let target = target.clone();
        let (locations, messages, passes) = (Vec::new(), Vec::new(), Vec::new());
        // What nvcc warns of is in the trace.
        let warnings = Vec::new();
        let artifact = Artifact {
            target,
            kind,
            bytes,
            kernels,
            locations,
            messages,
            relocations: Vec::new(),
            variables: Vec::new(),
            warnings,
            passes,
        };
        Ok((artifact, trace))
    }

    /// Links a relocatable cubin with the libraries that have what it misses.
    fn linked(
        &self,
        link: &DeviceLink,
        source: &CudaSource,
        arch: NvidiaArch,
        cubin: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let display = source.display.as_str();
        let folder = TemporaryFolder::new(&self.scratch, display)?;
        let path = write(&folder, "kernel.cubin", cubin)?;
        let (limits, scratch) = (self.limits, &*self.scratch);
        let object = Relocatable { cubin: &path, arch, name: display, limits, scratch };
        match link.link(&object, &folder)? {
            Linked::Cubin(bytes) => Ok(bytes),
            Linked::OtherTypes(name) => Err(link.clash(&demangle(&name), arch)),
            Linked::Undefined(names) => {
                let (file, target, libraries) =
                    (display.to_owned(), Target::Cubin(arch), link.names());
                let names = names.iter().map(|name| demangle(name)).collect();
                Err(Error::NotInLibraries { file, target, names, libraries })
            }
        }
    }

    /// What [`Nvcc::run`] gives with override files.
    fn run_with(
        &self,
        source: &CudaSource,
        arguments: &[String],
        config: &Config,
        overrides: &[KernelOverrideFile],
    ) -> Result<(Vec<u8>, Trace), Error> {
        let target = &config.target;
        let (Target::Ptx(arch) | Target::Cubin(arch)) = target else {
            let (file, target) = (source.display.clone(), target.clone());
            return Err(Error::Unsupported { file, target });
        };
        let mut to_ptx = vec!["-ptx".to_owned(), format!("-arch=compute_{arch}")];
        to_ptx.extend(option_arguments(&config.params, &config.options));
        to_ptx.extend(arguments.iter().filter(|it| it.starts_with("-rdc")).cloned());
        let (ptx, mut trace) = self.run(source, &to_ptx, &target.to_string())?;
        let mut ptx = String::from_utf8_lossy(&ptx).into_owned();
        for it in overrides {
            ptx = it.replace_in(&ptx, |file| {
                let (text, read) = self.run(file, &to_ptx, &target.to_string())?;
                trace.inputs.extend(read.inputs);
                Ok(String::from_utf8_lossy(&text).into_owned())
            })?;
        }
        trace.inputs.sort();
        trace.inputs.dedup();
        if matches!(target, Target::Ptx(_)) {
            trace.cooperative = ptx_grid::cooperative_kernels(&ptx);
            return Ok((ptx.into_bytes(), trace));
        }
        let (cubin, assembled) = self.assemble(source, &ptx, arguments, &target.to_string())?;
        trace.warnings.extend(assembled.warnings);
        let inputs = trace.inputs;
        Ok((cubin, Trace { inputs, warnings: trace.warnings, ..assembled }))
    }

    /// Has nvcc assemble PTX of a source.
    pub(super) fn assemble(
        &self,
        source: &CudaSource,
        ptx: &str,
        arguments: &[String],
        purpose: &str,
    ) -> Result<(Vec<u8>, Trace), Error> {
        check_paths([&*self.scratch].into_iter())?;
        let folder = TemporaryFolder::new(&self.scratch, &source.display)?;
        let (input, output) =
            (write(&folder, "overridden.ptx", ptx.as_bytes())?, folder.path.join("kernel.out"));
        let mut command = Command::new(&self.program);
        command.current_dir(&source.package_root).env("TMPDIR", &folder.path);
        command.args(arguments).args(source.arguments.iter().map(OsString::from));
        command.arg("--keep").arg("--keep-dir").arg(&folder.path);
        command.arg(input).arg("-o").arg(&output);
        let name = format!("{}.{purpose}", source.display);
        let root = &source.package_root;
        let run = Run { scratch: &self.scratch, root, name: &name, limits: self.limits };
        let Ran { messages, spills, folder } = start(&mut command, folder, &run)?;
        let warnings = messages.into_iter().filter(Message::is_warning).collect();
        let cooperative = cooperative_kernels(&folder.path);
        let bytes = read_output(&output, &self.program, &source.display)?;
        Ok((bytes, Trace { inputs: Vec::new(), warnings, spills, cooperative }))
    }

    /// Runs nvcc in the package's folder; what a failed run worked on is kept.
    pub(super) fn run(
        &self,
        source: &CudaSource,
        arguments: &[String],
        purpose: &str,
    ) -> Result<(Vec<u8>, Trace), Error> {
        let folders = source.includes.iter().map(PathBuf::as_path);
        check_paths(folders.chain([source.input(), &self.scratch]))?;
        let folder = TemporaryFolder::new(&self.scratch, &source.display)?;
        let (output, rule) = (folder.path.join("kernel.out"), folder.path.join("kernel.d"));
        let files = in_list(&folder.path, &source.package_root)?;
        let mut command = Command::new(&self.program);
        command.current_dir(&source.package_root).env("TMPDIR", &files);
        let of_source = source_arguments(source)?;
        check_arguments(&of_source)?;
        command.args(arguments).args(of_source);
        command.args(["-MD", "-MF"]).arg(&rule);
        command.arg("--keep").arg("--keep-dir").arg(&files);
        if source.instances.is_empty() {
            command.arg(source.input());
        } else {
            let text = instances::text(&source.instances);
            let name = source.path.file_name().unwrap_or_default();
            let text = write(&folder, &name.to_string_lossy(), text.as_bytes())?;
            command.arg("-include").arg(in_list(source.input(), &source.package_root)?).arg(text);
        }
        command.arg("-o").arg(&output);
        let name = format!("{}.{purpose}", source.display);
        let root = &source.package_root;
        let run = Run { scratch: &self.scratch, root, name: &name, limits: self.limits };
        let Ran { messages, spills, folder } =
            start(&mut command, folder, &run).map_err(|error| match error {
                Error::Cpp { tool, messages, kept } => {
                    let messages = instances::about_instances(messages, source);
                    Error::Cpp { tool, messages, kept }
                }
                other => other,
            })?;
        let messages = instances::about_instances(messages, source);
        let written = |path: &Path| read_output(path, &self.program, &source.display);
        let rule = written(&rule)?;
        let mut inputs = dependencies::inputs(
            &String::from_utf8_lossy(&rule),
            &source.package_root,
            Writer::Nvcc,
        );
        inputs.retain(|path| !path.starts_with(&folder.path));
        instances::remove_text(&mut inputs, &source.package_root);
        let warnings = messages.into_iter().filter(Message::is_warning).collect();
        let cooperative = cooperative_kernels(&folder.path);
        Ok((written(&output)?, Trace { inputs, warnings, spills, cooperative }))
    }
}

/// The kernels whose blocks wait for each other, by the PTX that nvcc has left in a folder.
fn cooperative_kernels(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let is_ptx = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "ptx") || path.ends_with("kernel.out")
    };
    let texts = files.filter(is_ptx).filter_map(|path| fs::read_to_string(path).ok());
    texts.flat_map(|text| ptx_grid::cooperative_kernels(&text)).collect()
}

/// Refuses kernels with more static shared memory than a block can have.
fn check_shared_memory(
    source: &CudaSource,
    target: &Target,
    arrays: &HashMap<String, Vec<SharedArray>>,
) -> Result<(), Error> {
    let mut messages = Vec::new();
    for (kernel, arrays) in arrays {
        let bytes = total(arrays);
        let limit = NvidiaArch::STATIC_SHARED_BYTES;
        if bytes > limit {
            let shown = |it: &SharedArray| format!("`{}` has {}", demangle(&it.symbol), it.bytes);
            let text = format!(
                "kernel `{}` in {} has {bytes} bytes of static shared memory, and a block of {target} has \
                 {limit} at most: {}; make the arrays smaller, or use dynamic shared memory, of which \
                 some devices allow more",
                demangle(kernel),
                source.display,
                arrays.iter().map(shown).collect::<Vec<_>>().join(", "),
            );
            let (severity, details) = (MessageSeverity::Error, Vec::new());
            messages.push(Message { severity, text, place: None, details });
        }
    }
    messages.sort_by(|left, right| left.text.cmp(&right.text));
    if messages.is_empty() {
        Ok(())
    } else {
        Err(Error::Cpp { tool: "nvcc", messages, kept: None })
    }
}

/// The bytes of all.
fn total(arrays: &[SharedArray]) -> u64 {
    arrays.iter().fold(0, |sum: u64, array| sum.saturating_add(array.bytes))
}

/// A kernel of nvcc's.
fn kernel(resources: Resources, entry: String) -> CompiledKernel {
    CompiledKernel {
        name: entry.clone(),
        entry,
        static_shared_bytes: resources.static_shared_bytes.unwrap_or(0),
        panics: false,
        cooperative: false,
        cpu_symbol: None,
        strategy: None,
        resources,
        notes: Vec::new(),
    }
}

/// A run of nvcc.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    /// The folder below which the files of a failed run are kept.
    pub(super) scratch: &'a Path,
    /// The folder of the package.
    pub(super) root: &'a Path,
    /// What files of a failed run are kept under.
    pub(super) name: &'a str,
    /// What it may take.
    pub(super) limits: ToolLimits,
}

/// What a run of nvcc that succeeds gives.
pub(super) struct Ran {
    pub(super) messages: Vec<Message>,
    /// Of the kernels that ptxas was asked about, by their symbols.
    pub(super) spills: BTreeMap<String, Spills>,
    /// Where its files are.
    pub(super) folder: TemporaryFolder,
}

/// Starts nvcc and gives what it says; the temporary folder of a failed run is kept.
pub(super) fn start(
    command: &mut Command,
    folder: TemporaryFolder,
    run: &Run<'_>,
) -> Result<Ran, Error> {
    let Run { scratch, root, name, limits } = *run;
    let kept = KeptRun { limits, scratch, name, folder: &folder, root: Some(root) };
    let result = kept.output(command)?;
    let said = said(&result);
    let mut messages = message::parse(&said, run.root);
    if result.status.success() {
        return Ok(Ran { messages, spills: resources::spills(&said), folder });
    }
    // What nvcc warns of, it has said when the signatures were read.
    messages.retain(|message| !message.is_warning());
    messages.extend(hint(&messages));
    let kept = kept.keep(command);
    Err(Error::Cpp { tool: "nvcc", messages, kept })
}

/// What helps where a source has something of kernelmill's headers, which nvcc does not read.
fn hint(messages: &[Message]) -> Option<Message> {
    let has_ours = |text: &String| {
        ["KERNELMILL_", "kernelmill::", "__kernelmill_", "__KERNELMILL__"]
            .iter()
            .any(|ours| text.contains(ours))
    };
    let is_ours =
        |message: &Message| has_ours(&message.text) || message.details.iter().any(has_ours);
    messages.iter().any(is_ours).then(|| Message {
        severity: MessageSeverity::Note,
        text: "nvcc does not support derivatives, markers of plugins, external device functions and device \
               functions passed to kernels, which need kernelmill's own compiler: write `cuda-compiler = \
               \"clang\"`"
            .to_owned(),
        place: None,
        details: Vec::new(),
    })
}

/// What a tool printed, on both streams: nvcc uses either.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}
