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
    let vectors = Vectors { context, lanes: plan.lanes };
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let mut types = plan.function.value_type().parameters();
    let own = types.len();
    types.extend([pointer, pointer, pointer, wide, wide]);
    let has_mask = matches!(kind, BodyKind::Masked);
    if has_mask {
        types.push(vectors.mask());
    }
    let name = format!("{}.region{region}x{}", plan.function.name(), plan.lanes);
    let ty = Type::int(context, 32).function(&types);
    let function = unit.module.new_function(&name, ty);
    function.set_linkage(Linkage::Internal);
    // Most blocks have no vector that lacks threads, so that should cost little time to compile.
    let how: &[_] = if has_mask { &["noinline", "cold", "optsize"] } else { &["alwaysinline"] };
    for name in how.iter().chain(&["nounwind"]) {
        function.add_attribute(context, Place::Function, name, 0);
    }
    let values = function.parameters();
    for index in own + 1..own + 3 {
        function.add_attribute(context, Place::Parameter(index as u32), "noalias", 0);
    }
    // An address that a region reads from memory is not derived from any parameter.
    let names: &[_] = if arrays.keeps_addresses() {
        &["nonnull", "readonly"]
    } else {
        function.add_attribute(context, Place::Parameter(own as u32), "noalias", 0);
        if plan.lanes > 1 {
            // Functions that find shared memory themselves are not called by more lanes.
            for index in own - 2..own {
                function.add_attribute(context, Place::Parameter(index as u32), "noalias", 0);
            }
        }
        &["nonnull", "readonly", "noalias"]
    };
    copy_parameter_attributes(unit, plan.function, function, names);
    let extra = RegionParameters {
        threads: values[own],
        block: values[own + 1],
        next: values[own + 2],
        padded: values[own + 3],
        at: values[own + 4],
    };
    let entry = Block::append(context, function, "slots");
    let start = Block::append(context, function, "start");
    let (builder, slots) = (Builder::new(context), Builder::new(context));
    slots.at_end(entry);
    let end = slots.branch(start);
    slots.before(end);
    builder.at_end(start);
    let widened = |(old, new): (Value<'c>, &Value<'c>)| match plan.shapes.shape(old) {
        Shape::Strided(step) => (old, VectorValue::strided(*new, step)),
        Shape::Varying => unreachable!("no parameter varies"),
    };
    let parameters = plan.function.parameters().into_iter().zip(&values).map(widened).collect();
    let panics = Panics::new(plan, region, &slots, context);
    let shared = *plan.function.parameters().last().expect("shared memory is a parameter");
    let code = Code { unit, function, builder, slots, vectors, size, shared };
    let assumptions = Assumptions::new(plan, arrays, region, kind);
    let spills = Spills { arrays, extra };
    let of_body = Values::new(code, plan, region, spills, assumptions, parameters);
    let checked = HashSet::new();
    let mut emitter = Emitter {
        values: of_body,
        exits: Exits { kind, panics, other: None, changed: false, checked },
        masks: HashMap::new(),
        live: HashMap::new(),
        blocks: HashMap::new(),
        divergent_regions: HashMap::new(),
    };
    let mask = has_mask.then(|| values[own + 5]);
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
