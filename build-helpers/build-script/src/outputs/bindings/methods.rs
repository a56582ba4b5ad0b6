//! Launch wrappers: one method for each kernel.

use super::{
    comments::{LINKS, commented},
    expr::Expr,
    model::{Check, Kernel},
    names::{identifier, parameter_names},
    types::type_name,
};
use kernelmill_artifact::{
    Access, Dimension, LaunchLimits, Parameter, ParameterKind, Safety, Signature, ValueType,
};
use kernelmill_compiler::frontend::cuda::signature::full_name;

/// One wrapper.
pub(super) fn method(index: usize, kernel: &Kernel) -> String {
    let signature = &kernel.signature;
    let names = parameter_names(&signature.parameters);
    let functions: String = signature
        .parameters
        .iter()
        .zip(&names)
        .filter_map(|it| must_be_known(signature, it))
        .map(|call| format!("        {call}?;\n"))
        .collect();
    let documentation = documentation(kernel, !functions.is_empty());
    let head = head(signature, &names);
    let shared = shared_memory(signature, &names);
    let launch = if kernel.contract.is_empty() {
        launch_with(index, signature, &names)
    } else {
        checked_launch(index, kernel, &names)
    };
    format!("\n{documentation}{head}{functions}{shared}{launch}    }}\n")
}

/// The wrapper that prepares a kernel's launch: the launch wrapper, on a stream that keeps what it is given.
pub(super) fn preparing(signature: &Signature) -> String {
    let names = parameter_names(&signature.parameters);
    let (launch, parameters) = parameters(signature, &names, "'a");
    let name = identifier(&signature.name);
    // rustdoc knows no raw identifiers in links.
    let link = &signature.name;
    let is_unsafe = signature.safety == Safety::Unsafe;
    let (safety, section, who) = match is_unsafe {
        true => (
            "unsafe ",
            format!(
                "    ///\n    /// # Safety\n    ///\n    /// As [`Kernels::{link}`], for every launch.\n"
            ),
            "; the caller answers for the rest",
        ),
        false => ("", String::new(), ""),
    };
    let arguments: String = names.iter().map(|name| format!(", {name}")).collect();
    format!(
        "
    /// Prepares a launch of [`Kernels::{link}`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::{link}`].
{section}    pub {safety}fn {name}<'a>(
        &self,
        __launch: {launch},
{parameters}    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {{
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`{who}.
        unsafe {{
            ::kernelmill::__codegen::prepare(__device, |__stream| {{
                self.kernels.{name}(__stream, __launch{arguments})
            }})
        }}
    }}
"
    )
}

/// The method that sets the scalars of a prepared launch: the launch wrapper, with the slices that the launch has. `None` for
/// a kernel without scalars, and for one with tensor maps, which a prepared launch does not keep.
pub(super) fn setting(index: usize, signature: &Signature) -> Option<String> {
    let is_scalar = |kind: &ParameterKind| {
        matches!(kind, ParameterKind::Value(_) | ParameterKind::Shared { .. })
    };
    let is_map = |kind: &ParameterKind| matches!(kind, ParameterKind::TensorMap { .. });
    let has = |is: &dyn Fn(&ParameterKind) -> bool| {
        signature.parameters.iter().any(|parameter| is(&parameter.kind))
    };
    if !has(&is_scalar) || has(&is_map) {
        return None;
    }
    let names = parameter_names(&signature.parameters);
    let dimension = match signature.dimension {
        Dimension::One => 1,
        Dimension::Two => 2,
        Dimension::Three | Dimension::Any => 3,
    };
    let (_, lines) = parameters(signature, &names, "");
    let is_of_scalar: Vec<_> =
        signature.parameters.iter().map(|parameter| is_scalar(&parameter.kind)).collect();
    let scalars = lines.lines().zip(&is_of_scalar).filter(|(_, is_scalar)| **is_scalar);
    let scalars: String = scalars.map(|(line, _)| format!("{line}\n")).collect();
    let passed = names.iter().zip(&is_of_scalar).map(|(name, is_scalar)| match is_scalar {
        true => format!(", {name}"),
        false => ", __slices.take()".to_owned(),
    });
    let passed: String = passed.collect();
    let (name, link) = (identifier(&signature.name), &signature.name);
    let (safety, section, who) = match signature.safety == Safety::Unsafe {
        true => (
            "unsafe ",
            format!(
                "    ///\n    /// # Safety\n    ///\n    /// As [`Kernels::{link}`], for every launch.\n"
            ),
            "; the caller answers for the rest",
        ),
        false => ("", String::new(), ""),
    };
    Some(format!(
        "
    /// Sets the scalars of a prepared launch of [`Kernels::{link}`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::{link}`], and for a launch of another kernel: the launch stays as it was.
{section}    pub {safety}fn {name}(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
{scalars}    ) -> ::kernelmill::Result<()> {{
        // SAFETY: the slices are where the kernel has slices{who}.
        unsafe {{
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                {index},
                |__stream, __launch: ::kernelmill::Launch<{dimension}>, __slices| {{
                    self.kernels.{name}(__stream, __launch{passed})
                }},
            )
        }}
    }}
"
    ))
}

/// Whether parameters lie in dynamic shared memory, for which a wrapper changes the launch.
fn has_shared_memory(signature: &Signature) -> bool {
    let is_shared = |it: &Parameter| matches!(it.kind, ParameterKind::Shared { .. });
    signature.parameters.iter().any(is_shared)
}

/// The launch with the dynamic shared memory that its parameters in shared memory take.
fn shared_memory(signature: &Signature, names: &[String]) -> String {
    if !has_shared_memory(signature) {
        return String::new();
    }
    let align = ParameterKind::shared_align(&signature.parameters);
    let part = |(parameter, name): (&Parameter, &String)| {
        let ParameterKind::Shared { element } = &parameter.kind else { return None };
        Some(format!("({name}, {})", element.size()))
    };
    let parts: Vec<_> = signature.parameters.iter().zip(names).filter_map(part).collect();
    let parts = parts.join(", ");
    format!(
        "        let __launch: ::kernelmill::Launch<3> = __launch.into();
        let __shared = [{parts}].into_iter().fold(0_usize, |__bytes, (__count, __size)| {{
            let __part: usize = usize::saturating_mul(__count, __size);
            __bytes.saturating_add(__part.saturating_add({last}) / {align} * {align})
        }});
        let __launch = __launch.shared_bytes(__shared);
",
        last = align - 1,
    )
}

/// The lines above a wrapper.
fn documentation(kernel: &Kernel, takes_functions: bool) -> String {
    let signature = &kernel.signature;
    let name = match signature.dimension {
        Dimension::Any => full_name(&signature.symbol),
        _ => signature.name.to_string(),
    };
    let (file, line) = (&signature.file, signature.line);
    let mut text = kernel.comment.clone();
    if !text.is_empty() {
        text += "\n\n";
    }
    text += &format!("Launches the kernel `{name}` of `{file}:{line}`:\n`{signature}`.\n\n");
    let limits = limits(signature.limits);
    if !limits.is_empty() {
        text += &format!("{limits}\n\n");
    }
    for state in signature.parameters.iter().filter_map(Parameter::state_name) {
        text += &format!(
            "`{state}` is state of the launch, which a plugin of the compiler asks for.\n\n"
        );
    }
    text += LAUNCH;
    if takes_functions {
        text += "\nWhere it is given a function that is none of [`Kernels::functions`].\n";
    }
    if !kernel.contract.is_empty() {
        text += "\nWhere a rule of its contract does not hold:\n";
        text.extend(kernel.contract.iter().map(|check| format!("- `{}`\n", check.text)));
    }
    if signature.safety == Safety::Unsafe {
        text += "\n# Safety\n\n";
        text += &match signature.dimension {
            Dimension::Any => safety_of_cpp(signature.name()),
            _ => SAFETY.to_owned(),
        };
    }
    let allowed = if kernel.comment.is_empty() { "" } else { LINKS };
    commented(&text) + allowed
}

/// What is said of every wrapper.
const LAUNCH: &str = "\
The launch is asynchronous: what goes wrong on the device is reported when the stream is
synchronised or a buffer is downloaded.

# Errors

Where the launch does not fit the device, a buffer is on another device, or the driver
refuses the launch.
";

/// What is said of an unsafe kernel in Rust.
const SAFETY: &str = "\
What the kernel does with its arguments must be sound for every thread of the launch: what
it reads and writes is in bounds, and no two threads race.
";

/// What is said of a kernel in C++ without a contract.
fn safety_of_cpp(key: &str) -> String {
    format!(
        "\
Nobody checks what the kernel does with its arguments. For every thread of the launch the
caller answers for it that what the kernel reads and writes is in bounds, that its blocks
and its shared memory are as large as it takes for granted, and that no two threads race.
A contract in the configuration, `[kernels.{key}]` with `requires`, makes this
a safe function.
"
    )
}

/// The type of a wrapper's launch, and the lines of its other parameters, which live for a lifetime where it is named.
fn parameters(signature: &Signature, names: &[String], lifetime: &str) -> (&'static str, String) {
    parameters_with(signature, names, lifetime, &|_, ty| type_name(ty))
}

/// As [`parameters`], with the type that each value or element has in the wrapper.
pub(super) fn parameters_with(
    signature: &Signature,
    names: &[String],
    lifetime: &str,
    name_of: &dyn Fn(usize, &ValueType) -> String,
) -> (&'static str, String) {
    let launch = match signature.dimension {
        Dimension::One => "::kernelmill::Launch<1>",
        Dimension::Two => "::kernelmill::Launch<2>",
        Dimension::Three => "::kernelmill::Launch<3>",
        Dimension::Any => "impl ::core::convert::Into<::kernelmill::Launch<3>>",
    };
    let parameter = |(index, (parameter, name)): (usize, (&Parameter, &String))| {
        let crossing = name_of(index, parameter.kind.crossing());
        let ty = match &parameter.kind {
            ParameterKind::Value(_) => crossing,
            ParameterKind::Slice { access, .. } | ParameterKind::Pointer { access, .. } => {
                memory(&crossing, *access, lifetime)
            }
            ParameterKind::Shared { .. } => "usize".to_owned(),
            ParameterKind::TensorMap { rank, access, .. } => {
                tensor_map(&crossing, *rank, *access, lifetime)
            }
        };
        format!("        {name}: {ty},\n")
    };
    (launch, signature.parameters.iter().zip(names).enumerate().map(parameter).collect())
}

/// The wrapper's name and parameters.
fn head(signature: &Signature, names: &[String]) -> String {
    let (launch, parameters) = parameters(signature, names, "");
    let safety = if signature.safety == Safety::Unsafe { "unsafe " } else { "" };
    format!(
        "    pub {safety}fn {name}(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: {launch},
{parameters}    ) -> ::kernelmill::Result<()> {{
",
        name = identifier(&signature.name),
    )
}

/// The body of a wrapper that checks a contract: it holds the arguments' memory before it launches.
fn checked_launch(index: usize, kernel: &Kernel, names: &[String]) -> String {
    let signature = &kernel.signature;
    let (mut holds, mut arguments) = (String::new(), String::new());
    for (parameter, name) in signature.parameters.iter().zip(names) {
        let (hold, argument) = match &parameter.kind {
            ParameterKind::Value(_) | ParameterKind::Shared { .. } => ("", "value"),
            ParameterKind::Slice { access, .. } => (hold(*access), "slice"),
            ParameterKind::Pointer { access, .. } => (hold(*access), "pointer"),
            ParameterKind::TensorMap { .. } => ("hold_map", "tensor_map"),
        };
        if !hold.is_empty() {
            holds += &format!(
                "        let {name} = ::kernelmill::__codegen::{hold}({name}, __stream)?;\n"
            );
        }
        arguments += &format!(
            "                    ::kernelmill::__codegen::Argument::{argument}(&{name}),\n"
        );
    }
    if signature.dimension != Dimension::Three && !has_shared_memory(signature) {
        holds += "        let __launch: ::kernelmill::Launch<3> = __launch.into();\n";
    }
    let checks: String = kernel.contract.iter().map(|it| check(signature, it)).collect();
    let arguments = match arguments.is_empty() {
        true => "&[]".to_owned(),
        false => format!("&[\n{arguments}                ]"),
    };
    let safety = safety_comment(index, signature, "the contract");
    format!(
        "        let __stream = ::kernelmill::__codegen::stream(__stream);
{holds}{checks}{safety}        unsafe {{
            ::kernelmill::__codegen::launch(
                &self.loaded,
                {index},
                __stream,
                __launch,
                {arguments},
            )
        }}
"
    )
}

/// The body of a wrapper without a contract.
fn launch_with(index: usize, signature: &Signature, names: &[String]) -> String {
    let line = |line: &String| format!("                    {line}\n");
    let lines: String = tuple(signature, names).iter().map(line).collect();
    let tuple = match lines.is_empty() {
        true => "()".to_owned(),
        false => format!("(\n{lines}                )"),
    };
    let safety = safety_comment(index, signature, "the kernel");
    format!(
        "{safety}        unsafe {{
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                {index},
                __stream,
                __launch,
                {tuple},
            )
        }}
"
    )
}

/// Why the launch is sound, where `safe` answers for a safe wrapper.
fn safety_comment(index: usize, signature: &Signature, safe: &str) -> String {
    let who = if signature.safety == Safety::Unsafe { "the caller" } else { safe };
    format!(
        "        // SAFETY: the arguments are those of signature {index}, in its order; {who}
        // answers for what it does with them.
"
    )
}

/// Elements of the largest tuple that the run time binds; one of them may be such a tuple again.
const TUPLE: usize = 8;

/// The arguments, as the lines of a tuple.
fn tuple(signature: &Signature, names: &[String]) -> Vec<String> {
    let argument = |(parameter, name): (&Parameter, &String)| match &parameter.kind {
        ParameterKind::Value(_) | ParameterKind::Shared { .. } => {
            format!("::kernelmill::__codegen::Value({name}),")
        }
        ParameterKind::Slice { access, .. } => {
            format!("::kernelmill::__codegen::{}_slice({name}),", hold(*access))
        }
        ParameterKind::Pointer { access, .. } => {
            format!("::kernelmill::__codegen::{}_pointer({name}),", hold(*access))
        }
        ParameterKind::TensorMap { .. } => {
            format!("::kernelmill::__codegen::tensor_map({name}),")
        }
    };
    let mut lines: Vec<_> = signature.parameters.iter().zip(names).map(argument).collect();
    while lines.len() > TUPLE {
        let groups = lines.chunks(TUPLE).map(|group| {
            let indented = group.iter().flat_map(|lines| lines.lines());
            let indented: String = indented.map(|line| format!("    {line}\n")).collect();
            format!("(\n{indented}),")
        });
        lines = groups.collect();
    }
    lines.iter().flat_map(|lines| lines.lines().map(str::to_owned)).collect()
}

/// The check of a function that is passed by value: that the kernel can call it.
fn must_be_known(
    signature: &Signature,
    (parameter, name): (&Parameter, &String),
) -> Option<String> {
    let ParameterKind::Value(ValueType::Function(_)) = &parameter.kind else { return None };
    let texts = [signature.name(), &parameter.name].map(Expr::text);
    let arguments = [Expr::atom(name), Expr::atom("&SET")].into_iter().chain(texts);
    let call =
        Expr::call("::kernelmill::__codegen::require_function", arguments.collect::<Vec<_>>());
    Some(call.print(INDENT, INDENT + 2))
}

/// The check of a rule.
fn check(signature: &Signature, check: &Check) -> String {
    let name = signature.name();
    let arguments = [
        check.condition.clone(),
        Expr::text(name),
        Expr::text(&check.text),
        Expr::Slice(check.operands.clone()),
    ];
    let call = Expr::call("::kernelmill::__codegen::require", arguments);
    format!("        {}?;\n", call.print(INDENT, INDENT + 2))
}

/// What the body of a wrapper stands in.
const INDENT: usize = 8;

/// What the source says of a block, as a sentence.
fn limits(limits: LaunchLimits) -> String {
    let mut text = match limits {
        LaunchLimits { block: [0, 0, 0], max_block_threads: 0, .. } => String::new(),
        LaunchLimits { block: [0, 0, 0], max_block_threads, .. } => {
            format!("Its source limits a block to {max_block_threads} threads.")
        }
        LaunchLimits { block: [x, y, z], .. } => {
            format!("Its source is made for blocks of {x} by {y} by {z} threads.")
        }
    };
    if limits.cluster != [0; 3] {
        let [x, y, z] = limits.cluster;
        let space = if text.is_empty() { "" } else { " " };
        text += &format!("{space}Its blocks come in clusters of {x} by {y} by {z}.");
    }
    text
}

fn memory(element: &str, access: Access, lifetime: &str) -> String {
    let bound = match access {
        Access::Read => "ReadSlice",
        Access::Write => "WriteSlice",
    };
    let lives = if lifetime.is_empty() { String::new() } else { format!(" + {lifetime}") };
    format!("impl ::kernelmill::{bound}<{element}>{lives}")
}

fn tensor_map(element: &str, rank: u32, access: Access, lifetime: &str) -> String {
    let reference = match access {
        Access::Read => "::kernelmill::TensorMap",
        Access::Write => "mut ::kernelmill::TensorMapMut",
    };
    let space = if lifetime.is_empty() { "" } else { " " };
    format!("&{lifetime}{space}{reference}<'_, {element}, {rank}>")
}

fn hold(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::Scalar;

    #[test]
    fn parameters_keep_their_names_where_they_can() {
        let names = |names: &[&'static str]| {
            let kind = ParameterKind::Value(ValueType::Scalar(Scalar::F32));
            let parameters: Vec<_> =
                names.iter().map(|name| Parameter::borrowed(name, kind.clone())).collect();
            parameter_names(&parameters)
        };
        assert_eq!(names(&["x", "_y", "__stream", "in"]), ["x", "y", "stream", "r#in"]);
        assert_eq!(names(&["x", "_x", "_1"]), ["x", "argument_1", "argument_2"]);
    }
}
