//! The function of a region for a vector of threads: its type, its attributes, and its body.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, Linkage, ModuleExt, Place, Type, Value};

use super::{
    super::{
        analysis::plan::Plan,
        layout::{
            context_arrays::ContextArrays,
            region_function::RegionParameters,
            vector_value::{VectorValue, Vectors},
        },
    },
    assumptions::Assumptions,
    code::{BodyKind, Code},
    emitter::Emitter,
    exits::Exits,
    panics::Panics,
    rows::Rows,
    spills::Spills,
    values::Values,
};
use crate::{ScalarReason, cpu::uniformity::Shape, passes::entry::Unit};

/// Builds a body of a region. The unmasked one is given the masked one, which takes a mask as its last
/// parameter.
pub(in crate::cpu::vectorize) fn build<'c>(
    unit: &Unit<'_, 'c>,
    plan: &Plan<'c>,
    arrays: &ContextArrays<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
    region: usize,
    kind: BodyKind<'c>,
) -> Result<Value<'c>, ScalarReason> {
    let context = unit.context;
    let RegionFunction { function, extra, mask } = declare(unit, plan, arrays, region, kind);
    let entry = Block::append(context, function, "slots");
    let start = Block::append(context, function, "start");
    let (builder, slots) = (Builder::new(context), Builder::new(context));
    slots.at_end(entry);
    let end = slots.branch(start);
    slots.before(end);
    builder.at_end(start);
    let panics = Panics::new(plan, region, &slots, context);
    let shared = *plan.function.parameters().last().expect("shared memory is a parameter");
    let vectors = Vectors { context, lanes: plan.lanes };
    let code = Code { unit, function, builder, slots, vectors, size, shared };
    let assumptions = Assumptions::new(plan, arrays, region, kind);
    let parameters = widened_parameters(plan, function);
    let spills = Spills { arrays, extra };
    // A body for vectors that lack threads should be short.
    let has_affine = matches!(kind, BodyKind::Unmasked { .. });
    let parameters = (parameters, has_affine);
    let values = Values::new(code, plan, region, spills, assumptions, parameters);
    let mut emitter = Emitter {
        values,
        exits: Exits { kind, panics, other: None, changed: false, checked: HashSet::new() },
        masks: HashMap::new(),
        live: HashMap::new(),
        blocks: HashMap::new(),
        divergent_regions: HashMap::new(),
        rows: Rows::default(),
    };
    let built = emitter.region(mask);
    if let (Ok(()), BodyKind::Unmasked { masked: Some(masked) }) = (&built, kind) {
        emitter.exits.emit_checks(&mut emitter.values, entry, start, masked);
    }
    if let Err(why) = built {
        function.delete_function();
        return Err(why);
    }
    Ok(function)
}

/// The function of a region without its body.
struct RegionFunction<'c> {
    function: Value<'c>,
    /// The parameters after those of the kernel's body.
    extra: RegionParameters<'c>,
    /// The mask, which a masked body takes.
    mask: Option<Value<'c>>,
}

/// Declares the function of a region: the parameters of the kernel's body, and then those of a region.
fn declare<'c>(
    unit: &Unit<'_, 'c>,
    plan: &Plan<'c>,
    arrays: &ContextArrays<'c>,
    region: usize,
    kind: BodyKind<'c>,
) -> RegionFunction<'c> {
    let context = unit.context;
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let mut types = plan.function.value_type().parameters();
    let own = types.len();
    types.extend([pointer, pointer, pointer, wide, wide]);
    let has_mask = matches!(kind, BodyKind::Masked);
    if has_mask {
        types.push(Vectors { context, lanes: plan.lanes }.mask());
    }
    let axis = if plan.axis == 1 { ".columns" } else { "" };
    let name = format!("{}.region{region}x{}{axis}", plan.function.name(), plan.lanes);
    let ty = Type::int(context, 32).function(&types);
    let function = unit.module.new_function(&name, ty);
    function.set_linkage(Linkage::Internal);
    // Most blocks have no vector that lacks threads, so that should cost little time to compile.
    let how: &[_] = if has_mask { &["noinline", "cold", "optsize"] } else { &["alwaysinline"] };
    for name in how.iter().chain(&["nounwind"]) {
        function.add_attribute(context, Place::Function, name, 0);
    }
    promise_of_parameters(unit, plan, arrays, function);
    let values = function.parameters();
    let extra = RegionParameters {
        threads: values[own],
        block: values[own + 1],
        next: values[own + 2],
        padded: values[own + 3],
        at: values[own + 4],
    };
    RegionFunction { function, extra, mask: has_mask.then(|| values[own + 5]) }
}

/// Gives a region's parameters the attributes that hold for them.
fn promise_of_parameters<'c>(
    unit: &Unit<'_, 'c>,
    plan: &Plan<'c>,
    arrays: &ContextArrays<'c>,
    function: Value<'c>,
) {
    let own = plan.function.parameters().len() as u32;
    let is_not_aliased = |index| {
        function.add_attribute(unit.context, Place::Parameter(index), "noalias", 0);
    };
    (own + 1..own + 3).for_each(is_not_aliased);
    // An address that a region reads from memory is not derived from any parameter.
    let names: &[_] = if arrays.keeps_addresses() {
        &["nonnull", "readonly"]
    } else {
        is_not_aliased(own);
        if plan.lanes > 1 {
            // Functions that find shared memory themselves are not called by more lanes.
            (own - 2..own).for_each(is_not_aliased);
        }
        &["nonnull", "readonly", "noalias"]
    };
    copy_parameter_attributes(unit, plan.function, function, names);
}

/// The parameters of the kernel's body as those of a region hold them.
fn widened_parameters<'c>(
    plan: &Plan<'c>,
    function: Value<'c>,
) -> HashMap<Value<'c>, VectorValue<'c>> {
    let widened = |(old, new): (Value<'c>, Value<'c>)| match plan.shapes.shape(old) {
        Shape::Strided(step) => (old, VectorValue::strided(new, step)),
        Shape::Varying => unreachable!("no parameter varies"),
    };
    plan.function.parameters().into_iter().zip(function.parameters()).map(widened).collect()
}

/// What is known of the body's parameters is known of the vector's.
fn copy_parameter_attributes<'c>(
    unit: &Unit<'_, 'c>,
    from: Value<'c>,
    to: Value<'c>,
    names: &[&str],
) {
    for index in 0..from.parameters().len() as u32 {
        let place = Place::Parameter(index);
        for name in names {
            if from.has_attribute(place, name) {
                to.add_attribute(unit.context, place, name, 0);
            }
        }
    }
}
