//! Parameters of kernels: the space that a target has for them, and which of them are passed.

use kernelmill_artifact::{ParameterKind, Signature, TensorMapData};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Place, Type, Value},
};

use crate::{
    Error,
    base::names::{LAYOUT_PREFIX, SHIM_PREFIX, WRAPPED},
    error::ParameterSpace,
    ir::always_inline,
    job::Job,
    target_info::TargetInfo,
};

/// Bytes that the address of a panic record takes, where it is a parameter, and its alignment.
pub(crate) const RECORD_BYTES: u64 = 8;

/// Size and alignment in bytes of what is passed for a parameter: one value, or the address and the
/// length of a slice.
fn space(kind: &ParameterKind) -> (u64, u64) {
    match kind {
        ParameterKind::Value(ty) => (ty.size(), ty.align()),
        ParameterKind::Slice { .. } => (16, 8),
        ParameterKind::Pointer { .. } | ParameterKind::Shared { .. } => (8, 8),
        ParameterKind::TensorMap { .. } => (TensorMapData::BYTES, TensorMapData::ALIGN),
    }
}

/// The bytes that the parameters of a kernel take, each at a multiple of its alignment.
pub(crate) fn bytes(signature: &Signature) -> u64 {
    signature.parameters().iter().fold(0_u64, |offset, parameter| {
        let (size, align) = space(&parameter.kind);
        offset.next_multiple_of(align.max(1)).saturating_add(size)
    })
}

/// Refuses kernels with more parameters than the target has space for.
///
/// # Errors
///
/// [`Error::ParameterSpace`] with every such kernel, and the size of each of its parameters.
pub(crate) fn check_space(job: &Job<'_>, backend: &dyn TargetInfo) -> Result<(), Error> {
    let Some(limit) = backend.parameter_limit() else { return Ok(()) };
    let too_large = job.source.signatures.iter().filter(|kernel| bytes(kernel) > limit);
    let faults: Vec<_> = too_large
        .map(|kernel| ParameterSpace {
            file: kernel.file.to_string(),
            line: kernel.line,
            kernel: kernel.name.to_string(),
            bytes: bytes(kernel),
            parameters: kernel
                .parameters()
                .iter()
                .map(|parameter| {
                    let ty = parameter.kind.to_string();
                    (parameter.name.to_string(), ty, space(&parameter.kind).0)
                })
                .collect(),
        })
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::ParameterSpace { target: job.config.target.clone(), limit, faults })
}

/// Takes the parameters without bytes, which no signature has, from the shims of kernels.
pub(crate) fn drop_empty<'c>(
    context: &'c Context,
    module: &Module<'c>,
    signatures: &[Signature],
    convergent: bool,
) {
    for signature in signatures {
        let layout = module.global(&format!("{LAYOUT_PREFIX}{}", signature.symbol));
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let (Some(layout), Some(shim)) = (layout.and_then(Value::initializer), shim) else {
            continue;
        };
        let is_passed = passed(signature, &layout_entries(layout));
        if is_passed.contains(&false) && is_passed.len() == shim.parameters().len() {
            replace(context, module, shim, &is_passed, convergent);
        }
    }
}

/// Size and alignment of each parameter, as a layout static has them.
pub(crate) fn layout_entries(layout: Value<'_>) -> Vec<(u64, u64)> {
    // An array of no elements is no string in LLVM.
    let bytes = layout.as_bytes().unwrap_or_default();
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    bytes.as_chunks::<16>().0.iter().map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect()
}

/// For each parameter of a shim, whether it is one of the signature's.
fn passed(signature: &Signature, entries: &[(u64, u64)]) -> Vec<bool> {
    let mut parameters = signature.parameters().iter();
    let mut passed = Vec::new();
    for (size, _) in entries {
        if *size == 0 {
            passed.push(false);
            continue;
        }
        passed.push(true);
        if let Some(ParameterKind::Slice { .. }) = parameters.next().map(|it| &it.kind) {
            passed.push(true);
        }
    }
    passed
}

/// Puts a shim in the place of another that passes it nothing for some of its parameters, which
/// are addresses that it does not use.
fn replace<'c>(
    context: &'c Context,
    module: &Module<'c>,
    shim: Value<'c>,
    is_passed: &[bool],
    convergent: bool,
) {
    let old = shim.parameters();
    let types: Vec<Type<'c>> =
        old.iter().zip(is_passed).filter(|(_, passed)| **passed).map(|(it, _)| it.ty()).collect();
    let arguments = |parameters: &[Value<'c>]| {
        let mut parameters = parameters.iter().copied();
        let mut argument = |(old, passed): (&Value<'c>, &bool)| {
            let next = if *passed { parameters.next() } else { None };
            next.unwrap_or_else(|| old.ty().null())
        };
        old.iter().zip(is_passed).map(&mut argument).collect()
    };
    wrap(context, module, shim, &types, &arguments, convergent);
}

/// Puts a function with other parameters in the place of a shim, which it calls inline: with what
/// `arguments` makes of its parameters.
pub(crate) fn wrap<'c>(
    context: &'c Context,
    module: &Module<'c>,
    shim: Value<'c>,
    types: &[Type<'c>],
    arguments: &dyn Fn(&[Value<'c>]) -> Vec<Value<'c>>,
    convergent: bool,
) {
    let name = shim.name();
    shim.set_name(&format!("{name}{WRAPPED}"));
    let new = module.new_function(&name, Type::void(context).function(types));
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, new, "start"));
    let arguments = arguments(&new.parameters());
    let call = builder.call(shim, &arguments);
    builder.ret(None);
    if convergent {
        new.add_attribute(context, Place::Function, "convergent", 0);
        call.add_attribute(context, Place::Function, "convergent", 0);
    }
    new.add_attribute(context, Place::Function, "nounwind", 0);
    new.take_source_lines(shim);
    always_inline(context, shim);
    shim.set_linkage(Linkage::Internal);
}

#[cfg(test)]
mod tests {
    use kernelmill_artifact::{Parameter, Scalar, ValueType};

    use super::*;

    #[test]
    fn parameters_lie_at_multiples_of_their_alignment() {
        let value = |scalar| ParameterKind::Value(ValueType::Scalar(scalar));
        let element = ValueType::Scalar(Scalar::F32);
        let access = kernelmill_artifact::Access::Read;
        let kinds = [
            value(Scalar::U8),
            value(Scalar::U128),
            value(Scalar::Bool),
            ParameterKind::Slice { element, access },
        ];
        let parameter = |kind| Parameter { name: "p".into(), kind };
        let signature = Signature {
            parameters: kinds.map(parameter).to_vec().into(),
            ..Signature::borrowed("k", &[])
        };
        assert_eq!(bytes(&signature), 1 + 15 + 16 + 1 + 7 + 16);
    }
}
