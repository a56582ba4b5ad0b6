//! Buffer lengths: sizes of memory that kernels get by its address alone, for plugins that ask for them.
//!
//! The run time passes them to every kernel, in bytes and after its own arguments, one for each
//! such address in their order. Only kernels that were compiled with them read them.

use kernelmill_artifact::{MAX_ARGUMENTS, Parameter, ParameterKind, Scalar, Signature, ValueType};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Type, Value},
};

use crate::{base::names::SHIM_PREFIX, passes::parameters};

/// What the name of such a parameter has after that of the address. No name in a source ends so.
pub(crate) const SUFFIX: &str = ".bytes";

/// The kernels with lengths.
pub(crate) fn signatures(kernels: &[Signature]) -> Vec<Signature> {
    kernels.iter().map(with_lengths).collect()
}

/// A kernel with as many arguments as there can be has none of its lengths.
fn with_lengths(signature: &Signature) -> Signature {
    let own: usize = signature.parameters().iter().map(|it| it.kind.arguments()).sum();
    let pointers = signature.parameters().iter().filter(|it| is_pointer(it));
    let lengths = pointers.map(|pointer| Parameter {
        name: format!("{}{SUFFIX}", pointer.name).into(),
        kind: ParameterKind::Value(ValueType::Scalar(Scalar::U64)),
    });
    let lengths: Vec<_> = lengths.collect();
    let mut signature = signature.clone();
    if own + lengths.len() <= MAX_ARGUMENTS {
        signature.parameters.to_mut().extend(lengths);
    }
    signature
}

fn is_pointer(parameter: &Parameter) -> bool {
    matches!(parameter.kind, ParameterKind::Pointer { .. })
}

/// How many lengths a signature has, behind its own parameters.
pub(crate) fn lengths_of(signature: &Signature) -> usize {
    signature.parameters().iter().filter(|it| is_length(it)).count()
}

/// Whether a parameter is such a length.
pub(crate) fn is_length(parameter: &Parameter) -> bool {
    parameter.name.ends_with(SUFFIX)
}

/// Gives the shims of kernels a parameter for each length that their signatures have.
pub(crate) fn add<'c>(
    context: &'c Context,
    module: &Module<'c>,
    signatures: &[Signature],
    convergent: bool,
) {
    for signature in signatures {
        let shim = module.function(&format!("{SHIM_PREFIX}{}", signature.symbol));
        let count = lengths_of(signature);
        let Some(shim) = shim.filter(|shim| count > 0 && !shim.is_declaration()) else { continue };
        let mut types: Vec<_> = shim.parameters().into_iter().map(Value::ty).collect();
        let own = types.len();
        types.extend(std::iter::repeat_n(Type::int(context, 64), count));
        let arguments = |parameters: &[Value<'c>]| parameters[..own].to_vec();
        parameters::wrap(context, module, shim, &types, &arguments, convergent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::Access;

    #[test]
    fn each_address_has_a_length_while_there_is_room() {
        let element = || ValueType::Scalar(Scalar::F32);
        let pointer = || ParameterKind::Pointer { element: element(), access: Access::Write };
        let slice = ParameterKind::Slice { element: element(), access: Access::Read };
        let kernel = |kinds: Vec<ParameterKind>| Signature {
            parameters: kinds
                .into_iter()
                .map(|kind| Parameter { name: "x".into(), kind })
                .collect::<Vec<_>>()
                .into(),
            ..Signature::borrowed("k", &[])
        };
        let signature = kernel(vec![pointer(), slice, pointer()]);
        let changed = with_lengths(&signature);
        assert_eq!(changed.parameters().len(), 5);
        assert_eq!(changed.parameters()[4].name, "x.bytes");
        assert_eq!(lengths_of(&changed), 2);
        let many = |count| with_lengths(&kernel(vec![pointer(); count])).parameters().len();
        assert_eq!((many(MAX_ARGUMENTS / 2), many(MAX_ARGUMENTS / 2 + 1)), (64, 33));
    }
}
