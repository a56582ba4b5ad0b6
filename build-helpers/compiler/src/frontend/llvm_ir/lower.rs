//! From the file of another compiler to what the pipeline takes, with its kernels.

use std::fmt::Write as _;

use kernelmill_artifact::{Dimension, LaunchLimits, Parameter, Safety, Signature};
use kernelmill_llvm::{
    Diagnostics,
    crash::{self, Report},
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, parse_any, parse_bitcode, parse_ir},
    machine::Machine,
};

use super::{
    checks::{self, Lines, fault},
    entries::{self, Entry},
    operations,
    origin::Origin,
    parameters::{self, Slot},
    retained,
    source::IrSource,
    text,
};
use crate::{
    Error,
    frontend::{
        cuda::{
            CudaKernel, CudaSource, UnsupportedParameter,
            clang::{
                CudaLowered, FULL_DEBUG, UnsupportedFeature,
                lower::{ARCHITECTURE, PTX, check_limits},
                module::{adapt, leave_parameters, settle_shared},
                unsupported,
            },
            signature,
        },
        opencl::{required_block, shims},
    },
    job::Lowered,
    toolchain::{Toolchain, read},
};

/// Reads a file, and its kernels. LLVM must be open.
pub(crate) fn lower(toolchain: &Toolchain, source: &IrSource) -> Result<CudaLowered, Error> {
    let bytes = read(&source.path)?;
    let said = format!("  source: {}\n", source.display);
    let name = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = toolchain.scratch.join(format!("crash-{name}"));
    let report = Report::new(&said, &folder, &[(name, &bytes)]);
    crash::during(&report, || {
        crash::step("reading a module");
        let mut lowered = of_bytes(&bytes, source)?;
        lowered.lowered.inputs = vec![source.path.clone()];
        Ok(lowered)
    })
}

/// Why a kernel has no parameters.
enum Unfit {
    /// What is declared is not what the module has.
    Wrong(Vec<String>),
    /// Parameters cannot cross from host to device.
    NoWrapper(Vec<UnsupportedParameter>),
    /// Nothing says what they are; and what to do.
    Unknown(String, String),
}

/// A module that is on its way, and what is known of its file.
struct File<'a> {
    source: &'a IrSource,
    lines: Lines<'a>,
    origin: Origin,
    machine: &'a Machine,
}

fn of_bytes(bytes: &[u8], source: &IrSource) -> Result<CudaLowered, Error> {
    let context = Context::create();
    let _diagnostics = Diagnostics::of(&context);
    let module =
        parse_any(&context, bytes, &source.display).map_err(|error| unread(error, source))?;
    let original = module.to_text();
    let said = std::str::from_utf8(bytes).ok().filter(|_| !bytes.starts_with(b"BC"));
    let lines = Lines(said);
    let origin = Origin::of(&original).map_err(|faults| {
        let text = |(start, why): (&str, String)| {
            fault(source, lines.find(|line| line.starts_with(start)), &why)
        };
        refused(faults.into_iter().map(text).collect::<Vec<_>>().join("\n"))
    })?;
    let faults = checks::faults(&module, &original, origin, (source, &lines));
    if !faults.is_empty() {
        return Err(refused(faults.join("\n")));
    }
    let machine = Machine::new("nvptx64-nvidia-cuda", ARCHITECTURE, PTX, false)?;
    let entries =
        entries::settle(&module, source).map_err(|why| refused(fault(source, 0, &why)))?;
    if entries.is_empty() {
        return Err(refused(no_kernel(source)));
    }
    operations::settle_memory(&module);
    settle_shared(&context, &machine, &module)?;
    let file = File { source, lines, origin, machine: &machine };
    file.lower(&text::settle(&module.to_text()), &original, &entries)
}

impl File<'_> {
    /// Lowers the text of a module that has one form.
    fn lower(&self, text: &str, original: &str, entries: &[Entry]) -> Result<CudaLowered, Error> {
        let (source, machine) = (self.source, self.machine);
        let context = Context::create();
        let _diagnostics = Diagnostics::of(&context);
        let module = parse_ir(&context, text, machine.data_layout(), machine.triple());
        let module = module.map_err(|error| {
            let why = format!("the module cannot be converted to a single address space: {error}");
            refused(fault(source, 0, &why))
        })?;
        operations::settle(&context, machine, &module)?;
        let kernels = self.kernels(&module, original, entries)?;
        check_limits(&kernels)?;
        let cuda = cuda_source(source);
        let language = self.origin.language();
        let mut unsupported = unsupported::find(&context, &module, &cuda, language);
        unsupported.iter_mut().for_each(|feature| self.place(feature));
        let mut warnings = String::new();
        let bitcode = adapt(&context, machine, &module, &cuda, &[], &mut warnings)?;
        let lowered = Lowered {
            modules: vec![with_shims(&bitcode, &kernels)?],
            warnings,
            ..Lowered::default()
        };
        Ok(CudaLowered { lowered, kernels, unsupported, ..CudaLowered::default() })
    }

    /// The kernels, declared or as debug information describes them.
    fn kernels(
        &self,
        module: &Module<'_>,
        original: &str,
        entries: &[Entry],
    ) -> Result<Vec<CudaKernel>, Error> {
        let described = self.described(&module.to_text())?;
        let is_any_declared = entries.iter().any(|entry| self.declared(entry).is_some());
        let (mut kernels, mut faults) = (Vec::new(), String::new());
        for entry in entries {
            let Some(function) = ModuleExt::function(module, &entry.symbol) else { continue };
            let slots = parameters::slots(function, self.machine);
            let line = self.lines.of_name("define", &entry.name);
            let found = described.iter().find(|it| it.signature.symbol == entry.symbol);
            let limits = found.map_or(LaunchLimits::NONE, |it| it.signature.limits);
            let mut kernel = CudaKernel {
                signature: self.signature(entry, line, limits, original),
                full_name: signature::full_name(&entry.name),
                unsupported: Vec::new(),
            };
            match self.parameters(entry, &slots, found) {
                Ok(parameters) => kernel.signature.parameters = parameters.into(),
                Err(Unfit::Wrong(texts)) => texts.iter().for_each(|text| {
                    let text = format!("the kernel `{}`: {text}", entry.name);
                    let _ = writeln!(faults, "{}", fault(self.source, line, &text));
                }),
                Err(Unfit::NoWrapper(refused)) => kernel.unsupported = refused,
                Err(Unfit::Unknown(message, help)) if is_any_declared => {
                    let refused = UnsupportedParameter { parameter: None, message, help };
                    kernel.unsupported.push(refused);
                }
                Err(Unfit::Unknown(text, help)) => {
                    let text = fault(self.source, line, &text);
                    let _ = writeln!(faults, "{text}\n  help: {help}");
                }
            }
            kernels.push(kernel);
        }
        if faults.is_empty() { Ok(kernels) } else { Err(refused(faults)) }
    }

    /// The parameters of a kernel, as the settings declare them, or as debug information describes them.
    fn parameters(
        &self,
        entry: &Entry,
        slots: &[Slot<'_>],
        found: Option<&Described>,
    ) -> Result<Vec<Parameter>, Unfit> {
        if let Some(declared) = self.declared(entry) {
            let spaces = (&*entry.spaces, self.origin);
            return parameters::declared(declared, slots, spaces, self.machine)
                .map_err(Unfit::Wrong);
        }
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let Some(found) = found.filter(|it| it.is_described) else {
            let name = &entry.name;
            let text = format!("the types of the parameters of the kernel `{name}` are not known");
            let key = signature::wrapper_name(&entry.symbol);
            let suggestion = parameters::suggestion(slots, self.machine);
            let help = format!(
                "the file has no debug information of this kernel; declare its parameters, for example \
                 `[kernels.{key}] parameters = [{suggestion}]`"
            );
            return Err(Unfit::Unknown(text, help));
        };
        if !found.unsupported.is_empty() {
            return Err(Unfit::NoWrapper(found.unsupported.clone()));
        }
        let read = found.signature.parameters.iter().zip(&entry.spaces);
        let placed = read.map(|(Parameter { name, kind }, space)| {
            let kind = parameters::in_space(kind.clone(), *space, self.origin);
            Parameter { name: name.clone(), kind }
        });
        Ok(placed.collect())
    }

    /// What the settings declare of a kernel.
    fn declared(&self, entry: &Entry) -> Option<&[Parameter]> {
        let of_kernel = |symbol: &str| {
            self.source.declared.iter().find(|it| it.is(&self.source.display, symbol))
        };
        of_kernel(&entry.name).or_else(|| of_kernel(&entry.symbol)).map(|it| &*it.parameters)
    }

    /// A signature without parameters.
    fn signature(
        &self,
        entry: &Entry,
        line: u32,
        limits: LaunchLimits,
        original: &str,
    ) -> Signature {
        let block = required_block(original, &entry.name).unwrap_or_default();
        let said = LaunchLimits {
            block,
            max_block_threads: if block == [0; 3] { entry.max_threads } else { 0 },
            ..LaunchLimits::NONE
        };
        Signature {
            name: signature::wrapper_name(&entry.symbol).into(),
            symbol: entry.symbol.clone().into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: limits.or(said),
            parameters: Vec::new().into(),
            file: self.source.display.clone().into(),
            line,
        }
    }

    /// The kernels as debug information describes them, and what they say of launches.
    fn described(&self, text: &str) -> Result<Vec<Described>, Error> {
        let context = Context::create();
        let diagnostics = Diagnostics::of(&context);
        let (layout, triple) = (self.machine.data_layout(), self.machine.triple());
        let module = parse_ir(&context, &retained::retain(text), layout, triple)?;
        leave_parameters(&context, self.machine, &module)?;
        let ptx = self.machine.assembly(&module)?;
        if let Some(error) = diagnostics.take().into_iter().next() {
            let why = format!("LLVM cannot describe the parameters of its kernels: {error}");
            return Err(refused(fault(self.source, 0, &why)));
        }
        let ptx = String::from_utf8_lossy(&ptx);
        describe(&ptx, &self.source.display)
    }

    /// Puts a feature where it stands in the file, where debug information does not say it.
    fn place(&self, feature: &mut UnsupportedFeature) {
        if feature.line > 0 {
            return;
        }
        feature.file.clone_from(&self.source.display);
        let name = feature.reason.split('`').nth(1).unwrap_or_default();
        let is_asm = |line: &str| line.contains(" asm ") && line.contains(name);
        feature.line = match self.lines.find(is_asm) {
            line if line > 0 && feature.reason.starts_with("inline") => line,
            _ => match self
                .lines
                .find(|line| line.contains(&format!("{name}(")) && line.contains("call "))
            {
                0 => self.lines.of_name("define", &feature.symbol),
                line => line,
            },
        };
    }
}

/// A kernel as debug information describes it.
struct Described {
    signature: Signature,
    unsupported: Vec<UnsupportedParameter>,
    /// Whether there is debug information of it.
    is_described: bool,
}

/// The kernels of PTX that has been made to be read.
fn describe(ptx: &str, display: &str) -> Result<Vec<Described>, Error> {
    let internal = |error: crate::diagnostic::SignatureError| Error::Signatures {
        file: display.to_owned(),
        error,
    };
    let entries = signature::read_entries(ptx, display).map_err(internal)?;
    let read = match signature::read(ptx, display) {
        Ok(read) => read,
        Err(crate::diagnostic::SignatureError::NoDebugInformation { .. }) => Vec::new(),
        Err(error) => return Err(internal(error)),
    };
    let described = entries.into_iter().map(|entry| {
        let found = read.iter().find(|kernel| kernel.signature.symbol == entry.symbol);
        let empty = Signature {
            symbol: entry.symbol.into(),
            limits: entry.limits,
            ..Signature::borrowed("", &[])
        };
        // A kernel that nothing describes has parameters in the code alone.
        let is_described = found.is_some_and(|it| {
            it.signature.parameters.len() + it.unsupported.len() >= entry.parameters.len()
        });
        Described {
            is_described,
            unsupported: found.map_or_else(Vec::new, |it| it.unsupported.clone()),
            signature: found.map_or(empty, |it| it.signature.clone()),
        }
    });
    Ok(described.collect())
}

/// The module with shims where parameters cross in another form.
fn with_shims(bitcode: &[u8], kernels: &[CudaKernel]) -> Result<Vec<u8>, Error> {
    let context = Context::create();
    let module = parse_bitcode(&context, bitcode, "LLVM IR")?;
    for kernel in kernels.iter().filter(|kernel| kernel.unsupported.is_empty()) {
        shims::add(&context, &module, &kernel.signature);
    }
    Ok(module.to_bitcode())
}

/// The file as what is shared with other front ends takes it.
fn cuda_source(source: &IrSource) -> CudaSource {
    let arguments = source.full_debug.then(|| FULL_DEBUG.to_owned());
    CudaSource {
        path: source.path.clone(),
        display: source.display.clone(),
        package_root: source.package_root.clone(),
        includes: Vec::new(),
        defines: Vec::new(),
        arguments: arguments.into_iter().collect(),
        instances: Vec::new(),
    }
}

fn refused(text: String) -> Error {
    Error::Ir { text }
}

/// What LLVM says of a file that it does not read.
fn unread(error: kernelmill_llvm::Error, source: &IrSource) -> Error {
    let display = &source.display;
    let kernelmill_llvm::Error::Llvm(message) = error else { return error.into() };
    let message = message.trim_end();
    let version = kernelmill_llvm::Version::opened();
    // In a text LLVM names the line itself.
    let rest = message.strip_prefix(&format!("{display}:"));
    if rest.is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit())) {
        let help = format!(
            "write the file with LLVM {version} or an earlier version, whose text kernelmill reads"
        );
        return refused(format!("{message}\n  help: {help}"));
    }
    let message = rest.unwrap_or(message).trim_start();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    refused(format!(
        "{display}: error: LLVM {version} cannot read it: {message}\n  help: write the file again with LLVM \
         {version} or an earlier version"
    ))
}

fn no_kernel(source: &IrSource) -> String {
    let message = "it has no kernel: no function is a `ptx_kernel`, `spir_kernel` or `amdgpu_kernel`, or one in \
                   `nvvm.annotations`, and the settings declare none of its functions";
    format!(
        "{}\n  help: declare the parameters of a function, `[kernels.NAME] parameters = [\"x: *mut f32\"]`, or leave \
         the file out with `exclude`",
        fault(source, 0, message)
    )
}
