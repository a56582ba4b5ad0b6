//! The text of the bindings. Each item is written by one function, which has the item's text as it is
//! in the file.

use super::{
    embedded::Embedded,
    expr::hexadecimal,
    generic::{self, Wrapper},
    methods,
    model::{Interface, Kernel},
    names::identifier,
    set,
    tuned::Tuned,
    types::{self, function_type},
    variables,
};
use kernelmill_artifact::{ArtifactKind, DeviceFunction};

/// The text of the bindings.
pub(crate) fn render(
    package: &str,
    interface: &Interface,
    embedded: &[Embedded<'_>],
    tuned: &[Tuned<'_>],
) -> String {
    let mut text = kernel_set(package, interface, embedded, tuned);
    text += &symbols(interface, embedded);
    text.extend(interface.structs.iter().map(types::structure));
    text.extend(interface.enums.iter().map(types::enumeration));
    text.extend(interface.markers.iter().map(generic::marker));
    text += &generic::seals(interface);
    text.extend(wrappers(interface).map(|it| it.instances()));
    text += &functions(package, &interface.functions);
    if let Some(call) = types::needs_half(interface) {
        text += &format!("\n{call};\n");
    }
    text += &kernels(package, &interface.unread);
    text += &function_table(&interface.functions);
    text.extend(helpers(interface));
    if !setters(interface).is_empty() {
        text += SET_SCALARS_METHOD;
    }
    if is_free(interface, COMPILE) && (interface.lacks_bitcode || has_bitcode(embedded)) {
        text += COMPILE_METHOD;
    }
    if has_variables(interface) {
        text += variables::METHOD;
    } else if is_free(interface, variables::VARIABLES) {
        text += variables::NONE;
    }
    for (index, kernel) in interface.kernels.iter().enumerate() {
        text += &methods::method(index, kernel);
    }
    text.extend(wrappers(interface).map(|it| it.method()));
    text += "}\n";
    if is_free(interface, COMPILED) {
        text += &compiled(interface);
    }
    if is_free(interface, PREPARE) {
        text += &prepared(interface);
    }
    let setters = setters(interface);
    if !setters.is_empty() {
        text += &scalars(&setters);
    }
    if has_variables(interface) {
        text += &variables::structure(interface);
    }
    text
}

/// The wrappers of generic kernels.
fn wrappers(interface: &Interface) -> impl Iterator<Item = Wrapper<'_>> {
    interface.generics.iter().filter_map(|generic| Wrapper::new(interface, generic))
}

/// The static with everything that is embedded.
fn kernel_set(
    package: &str,
    interface: &Interface,
    embedded: &[Embedded<'_>],
    tuned: &[Tuned<'_>],
) -> String {
    let mut shared: String =
        set::shared_parameters(interface).iter().map(|item| format!("    {item}\n")).collect();
    if !shared.is_empty() {
        shared.push('\n');
    }
    let set = set::expression(package, interface, embedded, tuned);
    format!(
        "\
// The kernels of the package `{package}`, written by kernelmill-build. Changes are lost.

// A type beside these lines that is named as a primitive one does not compile.
::kernelmill::__codegen::assert_primitive_names!();

static SET: ::kernelmill::__codegen::KernelSet = {{
    use ::kernelmill::__codegen as cg;

{shared}    {set}
}};
"
    )
}

/// The symbols of the kernels and variables that are linked, if there are any.
fn symbols(interface: &Interface, embedded: &[Embedded<'_>]) -> String {
    let item = |symbol| format!("    static {symbol}: ::kernelmill::__codegen::CpuKernel;\n");
    let mut items: String = set::symbols(interface, embedded).map(item).collect();
    let variables = embedded.iter().flat_map(|it| set::variables(interface, it));
    items.extend(variables.map(|(bytes, _, symbol)| {
        format!("    static {symbol}: ::kernelmill::__codegen::VariableMemory<{bytes}>;\n")
    }));
    if items.is_empty() {
        return items;
    }
    format!("\nunsafe extern \"C\" {{\n{items}}}\n")
}

/// The struct with the functions that kernels can be given, if there are any.
fn functions(package: &str, functions: &[(String, DeviceFunction)]) -> String {
    let field = |(name, function): &(String, DeviceFunction)| {
        let (plain, file, line) = (&function.name, &function.file, function.line);
        let owner = match &*function.package {
            owner if owner == package => String::new(),
            owner => format!(" in the package `{owner}`"),
        };
        let (name, ty) = (identifier(name), function_type(&function.ty));
        format!(
            "    /// `{plain}` of `{file}:{line}`{owner}.
    pub {name}: ::kernelmill::DeviceFn<{ty}>,
"
        )
    };
    let fields: String = functions.iter().map(field).collect();
    if fields.is_empty() {
        return fields;
    }
    format!(
        "
/// The functions that the host can give to kernels.
#[derive(Clone, Copy, Debug)]
#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = \"named as in the kernels, and used or not\"
)]
pub struct Functions {{
{fields}}}
"
    )
}

/// The lints that methods with the parameters of kernels need not keep to.
const WRAPPERS: &str = "\
#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::large_types_passed_by_value,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::unreadable_literal,
    reason = \"wrappers have the names and parameters of their kernels, used or not\"
)]";

/// What the documentation of `Kernels` says of sources that nothing has read.
fn unread(sources: &[String]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    // In a block, as messages of tools are no Markdown.
    let lines = sources.iter().map(|line| format!("/// {}\n", line.replace("```", "` ` `")));
    let lines: String = lines.collect();
    format!(
        "///
/// # Kernels without wrappers
///
/// This build has no binaries, as on docs.rs, and it lacked what reads the kernels of these sources. Their wrappers and
/// structs are not in this documentation; a build with binaries has them.
///
/// ```text
{lines}/// ```
"
    )
}

/// The struct `Kernels`, and the start of its methods.
fn kernels(package: &str, sources: &[String]) -> String {
    let unread = unread(sources);
    format!(
        "
/// The kernels of the package `{package}`, loaded on one device.
{unread}#[derive(Debug)]
#[allow(dead_code, unreachable_pub, reason = \"a program need not launch anything\")]
pub struct Kernels {{
    loaded: ::kernelmill::__codegen::Loaded,
}}

{WRAPPERS}
impl Kernels {{
    /// Loads the best embedded binary of every source for a device.
    ///
    /// # Errors
    ///
    /// Where a source has no binary that runs on the device, or the device refuses one.
    pub fn load(device: &::kernelmill::Device) -> ::kernelmill::Result<Self> {{
        Ok(Self {{ loaded: ::kernelmill::__codegen::Loaded::new(device, &SET)? }})
    }}

    /// The signatures of all kernels.
    #[must_use]
    pub fn signatures() -> &'static [::kernelmill::Signature] {{
        SET.signatures
    }}
"
    )
}

/// The method with the values of [`functions`], if there are any.
fn function_table(functions: &[(String, DeviceFunction)]) -> String {
    let field = |(name, function): &(String, DeviceFunction)| {
        let (name, id) = (identifier(name), hexadecimal(function.id()));
        format!("            {name}: device_fn({id}),\n")
    };
    let fields: String = functions.iter().map(field).collect();
    if fields.is_empty() {
        return fields;
    }
    format!(
        "
    /// The functions that the host can give to kernels, the same for every device.
    #[must_use]
    pub const fn functions() -> Functions {{
        use ::kernelmill::__codegen::device_fn;
        Functions {{
{fields}        }}
    }}
"
    )
}

/// The method that gives compiled kernels.
const COMPILED: &str = "compiled";

/// The struct with a method for each compiled kernel.
fn compiled(interface: &Interface) -> String {
    let method = |(index, kernel): (usize, &Kernel)| {
        let signature = &kernel.signature;
        let (file, line, name) = (&signature.file, signature.line, identifier(&signature.name));
        format!(
            "
    /// The kernel of `{file}:{line}`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn {name}(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {{
        self.loaded.compiled({index})
    }}
"
        )
    };
    let methods: String = interface
        .kernels
        .iter()
        .enumerate()
        .map(method)
        .chain(wrappers(interface).map(|it| it.compiled()))
        .collect();
    let methods = methods.trim_start_matches('\n');
    format!(
        "
/// The kernels apart from their launches, for [`Kernels::compiled`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = \"a program need not look at its kernels\")]
pub struct CompiledKernels<'a> {{
    loaded: &'a ::kernelmill::__codegen::Loaded,
}}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::similar_names,
    reason = \"the methods have the names of the kernels, used or not\"
)]
impl CompiledKernels<'_> {{
{methods}}}
"
    )
}

/// The method that prepares launches.
const PREPARE: &str = "prepare";

/// The struct with a method for the prepared launch of each kernel.
fn prepared(interface: &Interface) -> String {
    let methods: String = interface
        .kernels
        .iter()
        .map(|kernel| methods::preparing(&kernel.signature))
        .chain(wrappers(interface).map(|it| it.preparing()))
        .collect();
    let methods = methods.trim_start_matches('\n');
    format!(
        "
/// The wrappers of launches that are made many times, for [`Kernels::prepare`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = \"a program need not prepare anything\")]
pub struct PreparedKernels<'k> {{
    kernels: &'k Kernels,
}}

{WRAPPERS}
impl PreparedKernels<'_> {{
{methods}}}
"
    )
}

/// The method that sets the scalars of prepared launches.
const SET_SCALARS: &str = "set_scalars";

/// Its text.
const SET_SCALARS_METHOD: &str = "
    /// Sets the scalars of prepared launches, with the checks of a launch.
    #[must_use]
    pub const fn set_scalars(&self) -> PreparedScalars<'_> {
        PreparedScalars { kernels: self }
    }
";

/// The methods that set scalars; nothing where no launch is prepared or no kernel has scalars.
fn setters(interface: &Interface) -> String {
    if !is_free(interface, PREPARE) || !is_free(interface, SET_SCALARS) {
        return String::new();
    }
    let kernels = interface.kernels.iter().enumerate();
    kernels.filter_map(|(index, kernel)| methods::setting(index, &kernel.signature)).collect()
}

/// The struct with these methods.
fn scalars(methods: &str) -> String {
    let methods = methods.trim_start_matches('\n');
    format!(
        "
/// The methods that set the scalars of prepared launches, for [`Kernels::set_scalars`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = \"a program need not set anything\")]
pub struct PreparedScalars<'k> {{
    kernels: &'k Kernels,
}}

{WRAPPERS}
impl PreparedScalars<'_> {{
{methods}}}
"
    )
}

/// The method that compiles bitcode.
const COMPILE: &str = "compile";

/// Its text.
const COMPILE_METHOD: &str = "
    /// Compiles the bitcode of every source that has some for this device, and loads what comes of it; of other sources
    /// the best embedded binary. `compiler` is a `kernelmill::jit::RustCompiler`, of the feature `jit-llvm`.
    ///
    /// # Errors
    ///
    /// Where there is no compiler for this device, a source does not compile with what was chosen, or as for `load`.
    pub fn compile(
        device: &::kernelmill::Device,
        compiler: &impl ::kernelmill::__codegen::KernelCompiler,
    ) -> ::kernelmill::Result<Self> {
        let set = compiler.compile_set(device, &SET)?;
        Ok(Self { loaded: ::kernelmill::__codegen::Loaded::new(device, set)? })
    }
";

/// Whether a source is embedded as bitcode.
fn has_bitcode(embedded: &[Embedded<'_>]) -> bool {
    embedded.iter().any(|it| it.binary.artifact.kind == ArtifactKind::Bitcode)
}

/// The methods that `Kernels` has where no kernel has their name.
fn helpers(interface: &Interface) -> impl Iterator<Item = &'static str> {
    HELPERS.into_iter().filter(|(name, _)| is_free(interface, name)).map(|(_, text)| text)
}

/// Whether no kernel has a name.
fn is_free(interface: &Interface, name: &str) -> bool {
    interface.kernels.iter().all(|kernel| kernel.signature.name() != name)
        && interface.generics.iter().all(|generic| generic.name != name)
}

/// Whether there is a method that gives variables.
fn has_variables(interface: &Interface) -> bool {
    !interface.variables.is_empty() && is_free(interface, variables::VARIABLES)
}

/// The names of those methods, and their texts.
const HELPERS: [(&str, &str); 7] = [
    (
        "best",
        "
    /// Loads the kernels on the best device of this machine that they are compiled for, or the one that the
    /// environment variable `KERNELMILL_DEVICE` names.
    ///
    /// # Errors
    ///
    /// Where no device has a binary, each with the reason, or the device refuses one.
    pub fn best() -> ::kernelmill::Result<Self> {
        Ok(Self { loaded: ::kernelmill::__codegen::Loaded::best(&SET)? })
    }
",
    ),
    (
        "candidates",
        "
    /// Every device of this machine with the binaries for it: what `best` chooses from, and why.
    ///
    /// # Errors
    ///
    /// Where `KERNELMILL_DEVICE` names a device that cannot be opened.
    pub fn candidates() -> ::kernelmill::Result<::kernelmill::Candidates> {
        ::kernelmill::Candidates::of(&SET)
    }
",
    ),
    (
        PREPARE,
        "
    /// Launches that are checked once and made many times.
    #[must_use]
    pub const fn prepare(&self) -> PreparedKernels<'_> {
        PreparedKernels { kernels: self }
    }
",
    ),
    (
        COMPILED,
        "
    /// The kernels apart from their launches.
    #[must_use]
    pub const fn compiled(&self) -> CompiledKernels<'_> {
        CompiledKernels { loaded: &self.loaded }
    }
",
    ),
    (
        "embedded",
        "
    /// Every binary that is embedded in this program, for all devices.
    #[must_use]
    pub fn embedded() -> &'static [::kernelmill::EmbeddedArtifact] {
        SET.artifacts
    }
",
    ),
    (
        "chosen",
        "
    /// Which binary was chosen for each source, and why each other one was not.
    #[must_use]
    pub fn chosen(&self) -> &[::kernelmill::Choice] {
        self.loaded.choices()
    }
",
    ),
    (
        "device",
        "
    /// The device that the kernels are loaded on.
    #[must_use]
    pub fn device(&self) -> &::kernelmill::Device {
        self.loaded.device()
    }
",
    ),
];
