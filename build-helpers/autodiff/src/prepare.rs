//! Preparation: a copy of a function in the canonical form that is differentiated. Calls are inlined
//! where possible, values are in SSA form, loops are simplified, and there is one return.

use std::collections::HashSet;

use kernelmill_llvm::{
    ir::{Builder, Linkage, ModuleExt, Opcode, Place, Type, Value},
    machine::run_on_function_of_any_target,
};

use crate::{
    Error, Mode, Request,
    analysis::{Cfg, Elements, Memory, copies_of},
    copier::Copier,
    number_webs::type_webs,
    rules::{MATH_PREFIX, mark_pure, rule_of},
    unit::Unit,
};

/// Passes that resolve pointers to functions to constants.
const RESOLVE: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>";

/// Passes for the canonical form, which is the same for all targets: it decides whether a derivative needs a
/// tape, and that is part of its signature. Targets differ in which loops they unroll. Branches become selects only after loops have been canonicalised: the
/// counter of a loop over a range in Rust is found only while its end is tested by a branch.
const CANONICAL: &str = "sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-speculate-blocks>,\
    instcombine<no-verify-fixpoint>,jump-threading,correlated-propagation,\
    simplifycfg<no-speculate-blocks>,sroa<modify-cfg>,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg<no-speculate-blocks>,\
    loop-simplify,lcssa,loop-mssa(loop-rotate,licm),simplifycfg<no-speculate-blocks>,\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-full),\
    sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,jump-threading,simplifycfg,\
    loop-simplify,lcssa,loop-mssa(licm),loop(indvars),instcombine<no-verify-fixpoint>,\
    simplifycfg,early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,\
    loop-mssa(loop-rotate,licm),loop(indvars),early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    simplifycfg,adce";

/// Passes for the properties that both modes rely on.
const FORM: &str = "lower-switch,loop-simplify,break-crit-edges,lcssa";

/// A prepared copy of a function, which the caller deletes.
pub(crate) fn prepare<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    request: &Request,
) -> Result<Value<'c>, Error> {
    let name = format!("{}.prepared", function.name());
    let copy = unit.module.new_function(&name, function.value_type());
    copy.set_linkage(Linkage::Internal);
    let mut copier = Copier::new(unit.context, function, copy);
    copier.values.extend(function.parameters().into_iter().zip(copy.parameters()));
    copier.all();
    if request.distinct_pointers {
        // References are never null; loops over slices compare them with null.
        for (index, parameter) in copy.parameters().into_iter().enumerate() {
            if parameter.ty().is_pointer() {
                let place = Place::Parameter(index as u32);
                copy.add_attribute(unit.context, place, "nonnull", 0);
            }
        }
    }
    inline(unit, copy, request.mode)?;
    run_on_function_of_any_target(copy, CANONICAL)?;
    copy.merge_returns(unit.context, |_| true);
    run_on_function_of_any_target(copy, FORM)?;
    type_webs(unit, copy);
    type_copies(unit, copy);
    Ok(copy)
}

/// Inlines the calls of one function, and no others in the module.
fn inline<'c>(unit: &Unit<'_, 'c>, function: Value<'c>, mode: Mode) -> Result<(), Error> {
    const ALWAYS: &str = "alwaysinline";
    // Other functions and calls with the attribute, which rustc sets too, are inlined later.
    let mut others = unit.module.definitions();
    others.retain(|other| *other != function);
    others.extend(others.clone().into_iter().flat_map(Value::calls));
    others.retain(|other| other.has_attribute(Place::Function, ALWAYS));
    for other in others.iter().copied().chain(function.calls()) {
        other.remove_attribute(Place::Function, ALWAYS);
    }
    let recursive = unit.recursive();
    let mut resolved = false;
    loop {
        let calls = function.calls();
        let any = calls.iter().fold(false, |any, call| mark(unit, *call, mode, recursive) | any);
        if any {
            unit.machine.run(unit.module, "always-inline")?;
            resolved = false;
        } else if !resolved && calls.iter().any(|call| call.called_function().is_none()) {
            run_on_function_of_any_target(function, RESOLVE)?;
            resolved = true;
        } else {
            break;
        }
    }
    for other in others {
        other.add_attribute(unit.context, Place::Function, ALWAYS, 0);
    }
    Ok(())
}

/// Marks a call for inlining, or renames its callee to the symbol of its rule.
fn mark<'c>(unit: &Unit<'_, 'c>, call: Value<'c>, mode: Mode, recursive: &HashSet<String>) -> bool {
    let Some(callee) = call.called_function().filter(|callee| !callee.is_intrinsic()) else {
        return false;
    };
    if unit.rules.partials_of(callee).is_some() {
        return false;
    }
    if let Some((rule, ty)) = rule_of(callee) {
        if !callee.is_declaration() && !callee.name().starts_with("__kernelmill_") {
            let symbol = format!("{MATH_PREFIX}{}_{ty}", rule.name);
            let target = unit.module.declare(&symbol, callee.value_type());
            let last = call.operands().len() as u32 - 1;
            call.set_operand(last, target);
        }
        mark_pure(unit.context, call);
        return false;
    }
    let kept = mode == Mode::Forward && callee.has_attribute(Place::Function, "noinline");
    if callee.is_declaration() || recursive.contains(&callee.name()) || kept {
        return false;
    }
    call.remove_attribute(Place::Function, "noinline");
    call.add_attribute(unit.context, Place::Function, "alwaysinline", 0);
    true
}

/// Replaces integers that are loaded and stored, or used as numbers, by numbers of the element type. LLVM
/// copies small structs and arrays as integers, and sorting by `total_cmp` compares the bits of what it moves.
fn type_copies<'c>(unit: &Unit<'_, 'c>, function: Value<'c>) {
    let cfg = Cfg::of(function);
    let memory = Memory::of(function, &cfg, unit.rules, false);
    let elements = Elements::of(&cfg, &memory);
    let builder = Builder::new(unit.context);
    // Only loads are kept in the list: what uses them is erased on the way.
    let loads = cfg.instructions().filter(|instruction| instruction.opcode() == Opcode::Load);
    for load in loads.collect::<Vec<_>>() {
        let copies = copies_of(load);
        if copies.is_empty() {
            continue;
        }
        let Some(element) = elements.at(&memory, load.operand(0)) else { continue };
        let Some(ty) = as_numbers(unit, load.ty(), element) else { continue };
        if copies.iter().any(|user| user.opcode() == Opcode::BitCast && user.ty() != ty) {
            continue;
        }
        builder.before(load);
        let numbers = builder.load(ty, load.operand(0));
        numbers.set_alignment(load.alignment());
        for user in copies {
            if user.opcode() == Opcode::BitCast {
                user.replace_with(numbers);
            } else {
                builder.before(user);
                let typed = builder.store(numbers, user.operand(1));
                typed.set_alignment(user.alignment());
            }
            user.erase();
        }
        if !load.is_used() {
            load.erase();
        }
    }
}

/// The type of the numbers that fill an integer.
fn as_numbers<'c>(unit: &Unit<'_, 'c>, integer: Type<'c>, element: Type<'c>) -> Option<Type<'c>> {
    let (whole, part) = (unit.machine.size_of(integer), unit.machine.size_of(element));
    if !element.is_floating() || whole % part != 0 {
        return None;
    }
    Some(if whole == part { element } else { element.vector((whole / part) as u32) })
}
