//! Signatures of derivatives: their parameters and results, as [`Derivative`](crate::Derivative)
//! documents them.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, ModuleExt, Place, Type, Value},
};

use crate::{Activity, Mode, Request, analysis::holds_floats, unit::Unit};

/// Declares the derivative of a function. In reverse mode its last two parameters are the tape's.
pub(crate) fn declare<'c>(
    unit: &Unit<'_, 'c>,
    request: &Request,
    function: Value<'c>,
) -> Value<'c> {
    let result = function.value_type().result();
    let mut parameters = Vec::new();
    for (value, activity) in function.parameters().into_iter().zip(&request.activities) {
        parameters.push(value.ty());
        let has_shadow = match activity {
            Activity::Constant => false,
            Activity::Active => request.mode == Mode::Forward,
            Activity::Duplicated | Activity::Shared => true,
        };
        if has_shadow {
            parameters.push(value.ty());
        }
    }
    if request.mode == Mode::Reverse {
        if holds_floats(result) {
            parameters.push(result);
        }
        // The tape, whose parameters are removed again where none is needed.
        parameters.extend([Type::pointer(unit.context, 0), Type::int(unit.context, 64)]);
    }
    let ty =
        packed_type(unit.context, &results(unit.context, request, function)).function(&parameters);
    let mode = if request.mode == Mode::Forward { "forward" } else { "reverse" };
    let name = format!("__kernelmill_derivative_{mode}_{}", request.function);
    let new = unit.module.new_function(&name, ty);
    new.add_attribute(unit.context, Place::Function, "nounwind", 0);
    new
}

/// The types of the results.
fn results<'c>(context: &'c Context, request: &Request, function: Value<'c>) -> Vec<Type<'c>> {
    let result = function.value_type().result();
    let mut fields = Vec::new();
    if request.keep_result && result != Type::void(context) {
        fields.push(result);
    }
    match request.mode {
        Mode::Forward if holds_floats(result) => fields.push(result),
        Mode::Forward => {}
        Mode::Reverse => {
            let parameters = function.parameters().into_iter().zip(&request.activities);
            let active = parameters.filter(|(_, activity)| **activity == Activity::Active);
            fields.extend(active.map(|(value, _)| value.ty()));
        }
    }
    fields
}

/// The type of packed results: nothing, the only one, or a struct.
fn packed_type<'c>(context: &'c Context, fields: &[Type<'c>]) -> Type<'c> {
    match fields {
        [] => Type::void(context),
        [only] => *only,
        _ => Type::structure(context, fields),
    }
}

/// Returns these results, packed as in the type of the derivative.
pub(crate) fn return_all<'c>(context: &'c Context, builder: &Builder<'c>, results: &[Value<'c>]) {
    let result = match results {
        [] => None,
        [only] => Some(*only),
        _ => {
            let types: Vec<_> = results.iter().map(|result| result.ty()).collect();
            let empty = packed_type(context, &types).poison();
            let fields = results.iter().enumerate();
            Some(
                fields
                    .fold(empty, |all, (index, result)| builder.insert(all, *result, index as u32)),
            )
        }
    };
    builder.ret(result);
}
