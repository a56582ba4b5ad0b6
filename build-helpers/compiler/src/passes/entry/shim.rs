//! Shims of kernels. For each kernel the attribute `#[kernel]` generates
//! `extern "C" fn __kernelmill_entry_NAME`, which takes scalars by value, slices as an address and a
//! length, and everything else by address.

use kernelmill_artifact::{Access, ParameterKind, Signature};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, Place, Type, Value},
};

use super::{sharing::Sharing, unit::Unit};
use crate::{Error, base::names::SHIM_PREFIX, passes::lengths};

/// One argument as the shim takes it, with what the signature says of it.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a, 'c> {
    /// A scalar.
    Scalar(Type<'c>),
    /// The bytes of a value: size and alignment.
    Bytes(u64, u64),
    /// The bytes of a tensor map, of which the device needs those that the host passed, and no copy.
    TensorMap,
    /// The address of elements.
    Address(&'a ParameterKind),
    /// A number of elements.
    Length(Type<'c>),
    /// A number of type `usize` or `isize`.
    Size(Type<'c>),
}

impl Argument<'_, '_> {
    /// Whether the shim takes the address of its bytes.
    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytes(..) | Self::TensorMap)
    }
}

/// The shim of a kernel.
pub(crate) fn shim<'c>(unit: &Unit<'_, 'c>, signature: &Signature) -> Result<Value<'c>, Error> {
    let name = format!("{SHIM_PREFIX}{}", signature.symbol);
    let shim = unit.module.function(&name).filter(|shim| !shim.is_declaration());
    shim.ok_or_else(|| Error::LeftOut {
        file: signature.file.to_string(),
        line: signature.line,
        kernel: signature.name.to_string(),
    })
}

/// Pairs the parameters of a shim with those of the signature.
pub(crate) fn arguments<'a, 'c>(
    signature: &'a Signature,
    shim: Value<'c>,
) -> Result<Vec<Argument<'a, 'c>>, Error> {
    let mut types = shim.value_type().parameters().into_iter();
    let mut arguments = Vec::new();
    for parameter in signature.parameters() {
        let mut next = || {
            types.next().ok_or_else(|| {
                Error::Internal(format!("the shim of {} lacks parameters", signature.name))
            })
        };
        match &parameter.kind {
            ParameterKind::Value(value) => {
                let ty = next()?;
                arguments.push(if ty.is_pointer() {
                    Argument::Bytes(value.size(), value.align())
                } else if value.is_size() && !lengths::is_length(parameter) {
                    Argument::Size(ty)
                } else {
                    Argument::Scalar(ty)
                });
            }
            ParameterKind::Slice { .. } => {
                next()?;
                arguments.push(Argument::Address(&parameter.kind));
                arguments.push(Argument::Length(next()?));
            }
            ParameterKind::Pointer { .. } => {
                next()?;
                arguments.push(Argument::Address(&parameter.kind));
            }
            ParameterKind::Shared { .. } => arguments.push(Argument::Scalar(next()?)),
            ParameterKind::TensorMap { .. } => {
                next()?;
                arguments.push(Argument::TensorMap);
            }
        }
    }
    Ok(arguments)
}

/// What is known of the address of a slice.
pub(crate) fn address_attributes<'c>(
    context: &'c Context,
    function: Value<'c>,
    place: Place,
    kind: &ParameterKind,
    sharing: Sharing,
) {
    if let ParameterKind::Slice { element, access } = kind {
        function.add_attribute(context, place, "nonnull", 0);
        function.add_attribute(context, place, "align", element.align());
        if sharing.promises(*access) {
            function.add_attribute(context, place, "noalias", 0);
        }
        if *access == Access::Read {
            function.add_attribute(context, place, "readonly", 0);
        }
    }
}
