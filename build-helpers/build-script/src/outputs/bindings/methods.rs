//! Launch wrappers, as the template takes them.

use super::{
    expr::{Expr, hexadecimal},
    model::{Check, Kernel},
    names::{identifier, parameter_names},
    types::{function_type, type_name},
};
use kernelmill_artifact::{
    Access, DeviceFunction, Dimension, LaunchLimits, Parameter, ParameterKind, Safety, Signature,
    ValueType,
};
use kernelmill_compiler::frontend::cuda::signature::full_name;
use minijinja::{Value, context};

/// One wrapper.
pub(super) fn method(index: usize, kernel: &Kernel) -> Value {
    let signature = &kernel.signature;
    let names = parameter_names(&signature.parameters);
    let parameters: Value = signature
        .parameters
        .iter()
        .zip(&names)
        .map(|(parameter, name)| {
            let (ty, hold, argument) = match &parameter.kind {
                ParameterKind::Value(ty) => (type_name(ty), "", "value"),
                ParameterKind::Slice { element, access } => {
                    (memory(element, *access), hold(*access), "slice")
                }
                ParameterKind::Pointer { element, access } => {
                    (memory(element, *access), hold(*access), "pointer")
                }
                ParameterKind::TensorMap { element, rank, access } => {
                    (tensor_map(element, *rank, *access), "hold_map", "tensor_map")
                }
            };
            context! {
                name => name,
                ty => ty,
                hold => hold,
                argument => argument,
            }
        })
        .collect();
    let functions: Value = signature
        .parameters
        .iter()
        .zip(&names)
        .filter_map(|it| must_be_known(signature, it))
        .collect();
    let checks: Value = kernel.contract.iter().map(|check| self::check(signature, check)).collect();
    let launch = match signature.dimension {
        Dimension::One => "::kernelmill::Launch<1>",
        Dimension::Two => "::kernelmill::Launch<2>",
        Dimension::Three => "::kernelmill::Launch<3>",
        Dimension::Any => "impl ::core::convert::Into<::kernelmill::Launch<3>>",
    };
    context! {
        index => index,
        name => identifier(&signature.name),
        kernel => match signature.dimension {
            Dimension::Any => full_name(&signature.symbol),
            _ => signature.name.to_string(),
        },
        key => &signature.name,
        limits => limits(signature.limits),
        is_of_c => signature.dimension == Dimension::Any,
        place => format!("{}:{}", signature.file, signature.line),
        signature => signature.to_string(),
        launch => launch,
        widens_launch => !kernel.contract.is_empty() && signature.dimension != Dimension::Three,
        functions => functions,
        checks => checks,
        tuple => tuple(signature, &names),
        is_unsafe => signature.safety == Safety::Unsafe,
        parameters => parameters,
    }
}

/// Elements of the largest tuple that the run time binds; one of them may be such a tuple again.
const TUPLE: usize = 8;

/// The arguments, as the lines of a tuple.
fn tuple(signature: &Signature, names: &[String]) -> Vec<String> {
    let argument = |(parameter, name): (&Parameter, &String)| match &parameter.kind {
        ParameterKind::Value(_) => format!("::kernelmill::__codegen::Value({name}),"),
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

/// A function that kernels can be given.
pub(super) fn function((name, function): &(String, DeviceFunction)) -> Value {
    context! {
        name => identifier(name),
        plain => &function.name,
        ty => function_type(&function.ty),
        place => format!("{}:{}", function.file, function.line),
        package => &function.package,
        id => hexadecimal(function.id()),
    }
}

/// The check of a rule, and the rule.
fn check(signature: &Signature, check: &Check) -> Value {
    let name = signature.name();
    let arguments = [check.condition.clone(), Expr::text(name), Expr::text(&check.text)];
    let call = Expr::call("::kernelmill::__codegen::require", arguments);
    context! { text => &check.text, call => call.print(INDENT, INDENT + 2) }
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

fn memory(element: &ValueType, access: Access) -> String {
    let bound = match access {
        Access::Read => "ReadSlice",
        Access::Write => "WriteSlice",
    };
    format!("impl ::kernelmill::{bound}<{}>", type_name(element))
}

fn tensor_map(element: &ValueType, rank: u32, access: Access) -> String {
    let reference = match access {
        Access::Read => "&::kernelmill::TensorMap",
        Access::Write => "&mut ::kernelmill::TensorMapMut",
    };
    format!("{reference}<'_, {}, {rank}>", type_name(element))
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
