//! One call of clang: the signatures of the kernels, the unsupported features that they use, and their bitcode.

use std::{
    fmt::Write as _,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use kernelmill_artifact::{DeviceFunction, VariableDeclaration};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
    machine::Machine,
};

use super::{
    annotation, arguments, headers,
    lowered::CudaLowered,
    macros, module,
    unsupported::{self, Language},
};
use crate::{
    Error,
    base::names::{BARRIER, OF_WARPS},
    diagnostic::{Code, Message, MessageSeverity, SignatureError},
    frontend::{
        Architecture,
        cuda::{
            dependencies::{self, Writer},
            instances, message, signature,
            source::{CudaKernel, CudaSource},
        },
        limits::{self, LimitFault},
    },
    job::Lowered,
    toolchain::{TemporaryFolder, Toolchain, read_output, write},
};

/// clang, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    /// The program.
    pub program: PathBuf,
    /// What `clang --version` printed.
    pub version: String,
}

/// The architecture that clang compiles for. Where the target is none of NVIDIA's it is also what the
/// source is told: `__CUDA_ARCH__` is 800, which has everything of half precision, and nothing that
/// only one generation of processors has.
pub(crate) const ARCHITECTURE: &str = "sm_80";
/// The version of PTX that goes with it.
pub(crate) const PTX: &str = "+ptx70";

/// What one call of clang gives.
pub(crate) struct Compiled {
    pub(crate) bitcode: Vec<u8>,
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) messages: Vec<Message>,
}

/// Compiles a file to bitcode with the headers of its language. `command` is given the folder that
/// they lie in.
pub(crate) fn compile(
    toolchain: &Toolchain,
    source: &CudaSource,
    set: &headers::Headers,
    command: impl FnOnce(&Path) -> Result<Command, Error>,
) -> Result<Compiled, Error> {
    let headers = headers::install(set, &toolchain.scratch)?;
    let folder = TemporaryFolder::new(&toolchain.scratch, &source.display)?;
    let (bitcode, dependencies) = (folder.path.join("k.bc"), folder.path.join("k.d"));
    let mut command = command(&headers)?;
    command.arg("-MD").arg("-MF").arg(&dependencies).arg("-o").arg(&bitcode);
    let output = if source.instances.is_empty() {
        toolchain.limits.output(command.arg(source.input()), &source.display)?
    } else {
        // Read from the standard input, the text has no name that gets into the code.
        let text = instances::text(&source.instances);
        let path = write(&folder, "instances.cu", text.as_bytes())?;
        let text =
            File::open(&path).map_err(|error| Error::Io { action: "read", path, source: error })?;
        command.arg("-ffile-prefix-map=./=").arg("-include").arg(source.input()).arg("-");
        toolchain.limits.output_from(&mut command, text.into(), &source.display)?
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr = stderr.replace(&format!("{}/", headers.display()), set.name);
    let messages = message::parse(&stderr, &source.package_root);
    let mut messages = instances::about_instances(messages, source);
    if !output.status.success() {
        messages.retain(|message| !message.is_warning());
        let display = source.display.clone();
        return Err(match source.is_hip() {
            true => Error::Hip { messages, display },
            false => Error::Clang { messages, display },
        });
    }
    let program = PathBuf::from(command.get_program());
    let written = |path: &Path| read_output(path, &program, &source.display);
    let rule = String::from_utf8_lossy(&written(&dependencies)?).into_owned();
    let mut inputs = dependencies::inputs(&rule, &source.package_root, Writer::Clang);
    // Ours are part of the compiler's own digest. Their folder is known by its name: clang may be
    // told of it by another way through the file system.
    let ours = headers.file_name();
    inputs.retain(|path| !path.components().any(|part| Some(part.as_os_str()) == ours));
    instances::remove_text(&mut inputs, &source.package_root);
    Ok(Compiled { bitcode: written(&bitcode)?, inputs, messages })
}

/// Compiles a file to bitcode, and reads its kernels. LLVM must be open. `told` is the architecture
/// that the source is told it is compiled for.
pub(crate) fn lower(
    toolchain: &Toolchain,
    clang: &Clang,
    source: &CudaSource,
    told: Option<&Architecture>,
) -> Result<CudaLowered, Error> {
    let macros = macros::of(source, told);
    let command = |headers: &Path| {
        let mut command = command(clang, source, headers)?;
        command.args(macros);
        Ok(command)
    };
    let Compiled { bitcode, inputs, messages } =
        compile(toolchain, source, &headers::CUDA, command)?;
    let machine = Machine::new("nvptx64-nvidia-cuda", ARCHITECTURE, PTX, false)?;
    let Signatures { mut kernels, variables, functions } =
        signatures(&machine, clang, source, &bitcode)?;
    let context = Context::create();
    let module = parse(&context, clang, source, &bitcode)?;
    for (symbol, limits) in annotation::limits(&module) {
        let own = kernels.iter_mut().filter(|kernel| kernel.signature.symbol == symbol);
        own.for_each(|kernel| kernel.signature.limits = kernel.signature.limits.or(limits));
    }
    check_limits(&kernels)?;
    if let Some(barrier) = ModuleExt::function(&module, BARRIER) {
        barrier.add_text_attribute(&context, OF_WARPS, "");
    }
    let language = match told {
        Some(Architecture::Amd(_)) => Language::AmdIr,
        _ => Language::Cuda,
    };
    let unsupported = unsupported::find(&context, &module, source, language);
    let warnings = messages.iter().filter(|message| message.is_warning());
    let mut warnings: String = warnings.map(|message| message.line() + "\n").collect();
    let modules =
        vec![module::adapt(&context, &machine, &module, source, &variables, &mut warnings)?];
    let lowered = Lowered { modules, inputs, warnings, ..Lowered::default() };
    Ok(CudaLowered { lowered, kernels, variables, unsupported, functions })
}

/// What the debug information of a source says.
pub(crate) struct Signatures {
    pub(crate) kernels: Vec<CudaKernel>,
    /// The variables that the host can read and write.
    pub(crate) variables: Vec<VariableDeclaration>,
    /// The functions that the host can give to kernels.
    pub(crate) functions: Vec<DeviceFunction>,
}

/// Reads the signatures of kernels, of functions that the host can give to them, and variables, from the debug
/// information of unoptimised code.
pub(crate) fn signatures(
    machine: &Machine,
    clang: &Clang,
    source: &CudaSource,
    bitcode: &[u8],
) -> Result<Signatures, Error> {
    // Code generation changes a module, so it gets one of its own.
    let context = Context::create();
    let module = parse(&context, clang, source, bitcode)?;
    module::leave_parameters(&context, machine, &module)?;
    let ptx = machine.assembly(&module)?;
    let ptx = String::from_utf8_lossy(&ptx);
    let internal = |error: SignatureError| match error {
        SignatureError::Functions(faults) => Error::DeviceFunctions(faults),
        error => Error::Signatures { file: source.display.clone(), error },
    };
    let mut kernels = signature::read(&ptx, &source.display).map_err(internal)?;
    let functions = signature::read_functions(&ptx, &source.display).map_err(internal)?;
    let mut variables = signature::read_variables(&ptx, &source.display).map_err(internal)?;
    instances::name_source(source, &mut kernels, &mut variables);
    Ok(Signatures { kernels, variables, functions })
}

/// Checks what kernels say of their launches, all of them at once.
pub(crate) fn check_limits(kernels: &[CudaKernel]) -> Result<(), Error> {
    let mut stderr = String::new();
    for CudaKernel { signature, .. } in kernels {
        for LimitFault { message, help, .. } in limits::check(&signature.limits) {
            let (file, line, name) = (&signature.file, signature.line, &signature.name);
            let code = Code::Launches;
            let _ = writeln!(
                stderr,
                "{file}:{line}: error[{code}]: kernel `{name}` has launch bounds that are not valid: {message}\n  \
                 help: {help}"
            );
        }
    }
    if stderr.is_empty() { Ok(()) } else { Err(Error::Limits { text: stderr }) }
}

/// Reads clang's bitcode.
pub(crate) fn parse<'c>(
    context: &'c Context,
    clang: &Clang,
    source: &CudaSource,
    bitcode: &[u8],
) -> Result<kernelmill_llvm::inkwell::module::Module<'c>, Error> {
    parse_bitcode(context, bitcode, &source.display).map_err(|error| Error::ClangBitcode {
        program: clang.program.clone(),
        version: clang.version.lines().next().unwrap_or_default().trim().to_owned(),
        reason: error.to_string(),
    })
}

/// clang with everything but the names of files that it writes.
fn command(clang: &Clang, source: &CudaSource, headers: &Path) -> Result<Command, Error> {
    let mut command = Command::new(&clang.program);
    command.current_dir(&source.package_root);
    command.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib"]);
    command.arg(format!("--cuda-gpu-arch={ARCHITECTURE}"));
    command.args(["-Xclang", "-target-feature", "-Xclang", PTX]);
    // Level 2 without passes: attributes and lifetimes as for optimised code, and nothing done.
    command.args(["-O2", "-Xclang", "-disable-llvm-passes", "-g", "-emit-llvm", "-c"]);
    // With optimisation clang would leave types out of a device's debug information.
    command.args(["-Xclang", "-debug-info-kind=standalone"]);
    command.args(["-std=c++17", "-fdeclspec", "-fno-math-errno", "-ffp-contract=off"]);
    // `printf` has any number of arguments; before version 20 that needs leave.
    command.args(["-Xclang", "-fcuda-allow-variadic-functions"]);
    command.args(["-fno-color-diagnostics", "-Wno-unknown-cuda-version"]);
    // The storage class, which C++17 took away, is no error for nvcc, and a narrowing conversion in braces is a warning.
    command.args(["-Wno-register", "-Wno-error=c++11-narrowing"]);
    add_files(&mut command, source, headers, &headers::CUDA);
    command.args(arguments::translate(&source.arguments).map_err(|text| {
        let severity = MessageSeverity::Error;
        let message = Message { severity, text, place: None, details: Vec::new() };
        Error::Clang { messages: vec![message], display: source.display.clone() }
    })?);
    Ok(command)
}

/// Adds what is said of files and macros, in CUDA C++ and in OpenCL C alike.
pub(crate) fn add_files(
    command: &mut Command,
    source: &CudaSource,
    headers: &Path,
    set: &headers::Headers,
) {
    for (folder, name) in [(&*source.package_root, ""), (headers, set.name)] {
        let mut map = std::ffi::OsString::from("-ffile-prefix-map=");
        map.push(folder);
        map.push("/=");
        map.push(name);
        command.arg(map);
    }
    command.arg("-fdebug-compilation-dir=.");
    // By their names in that folder: clang writes `#include "NAME"`, which a path with a quotation mark would end.
    command.arg("-isystem").arg(headers).arg("-include").arg(headers::PRELUDE);
    if source.is_hip() {
        command.arg("-include").arg(headers::HIP_PRELUDE);
    }
    for folder in &source.includes {
        command.arg("-I").arg(folder);
    }
    for (name, value) in &source.defines {
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        command.arg(format!("-D{name}{value}"));
    }
}
