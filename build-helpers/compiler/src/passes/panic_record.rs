//! Panic records as launch arguments: on GPUs each launch is given the address of the record that
//! its first panic fills.
//!
//! Launches of a module on several streams run at the same time, so a variable of the module cannot say
//! which of them panicked. A kernel that may panic has one more parameter, behind those of its signature and before
//! [buffer lengths](super::lengths). A kernel reads it where it panics, which costs other threads nothing.
//! Functions that stay out of line cannot see it: a kernel that calls such a one keeps the address in
//! shared memory from its start on.
//!
//! A kernel whose blocks wait for each other is given the address of what they synchronise by instead, in which the
//! address of the record is.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Type, Value, parse_ir},
    machine::Machine,
};

use crate::{
    Error,
    base::names::{COOPERATIVE, GRID_WORKSPACE, PANIC_RECORD, PANIC_RECORD_PARAMETER},
    ir::{calls_of, reachable},
    passes::{entry::Entry, parameters},
    target_info::TargetInfo,
};

/// What keeps the address for functions that are out of line. All threads of a block store the same one,
/// and each of them before it reads it.
const SLOT: &str = "
@__kernelmill_panic_slot = internal addrspace(3) global i64 undef, align 8
define void @__kernelmill_keep_panic_record(i64 %record) alwaysinline nounwind {
  store atomic i64 %record, ptr addrspace(3) @__kernelmill_panic_slot monotonic, align 8
  ret void
}
define ptr @__kernelmill_kept_panic_record() alwaysinline nounwind {
  %address = load atomic i64, ptr addrspace(3) @__kernelmill_panic_slot monotonic, align 8
  %pointer = inttoptr i64 %address to ptr
  ret ptr %pointer
}
";

/// Finds the address spaces of what is reached through a record: the module has been optimised already.
const INFER_SPACES: &str = "function(infer-address-spaces)";

/// Inlines the functions that use the slot.
const INLINE_SLOT: &str = "always-inline,globaldce";

/// Gives each panic the address of the record of its launch. Whether kernels can panic.
pub(crate) fn pass<'c>(
    context: &'c Context,
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    entries: &mut [Entry],
) -> Result<bool, Error> {
    let machine = backend.machine();
    pass_workspaces(context, module);
    let Some(marker) = module.function(PANIC_RECORD) else { return Ok(false) };
    let calls = calls_of(marker);
    let can_panic = !calls.is_empty();
    let builder = Builder::new(context);
    let pointer = Type::pointer(context, 0);
    let in_space = Type::pointer(context, backend.panic_record_space());
    let mut out_of_line = Vec::new();
    for call in calls {
        match parameter_of(call.block().function()) {
            Some(parameter) => {
                builder.before(call);
                let record = record_in(context, &builder, call.block().function(), parameter);
                let address = builder.int_to_pointer(record, in_space);
                call.replace_with(match backend.panic_record_space() {
                    0 => address,
                    _ => builder.address_space_cast(address, pointer),
                });
                call.erase();
            }
            None => out_of_line.push(call),
        }
    }
    let keeps = !out_of_line.is_empty();
    if keeps {
        keep_in_slot(context, module, machine, entries, &out_of_line)?;
    }
    marker.delete_function();
    if keeps {
        machine.run(module, INLINE_SLOT)?;
    }
    if backend.panic_record_space() != 0 {
        machine.run(module, INFER_SPACES)?;
    }
    Ok(can_panic)
}

/// Gives each barrier of the grid the address of what the blocks of its launch synchronise by.
fn pass_workspaces<'c>(context: &'c Context, module: &Module<'c>) {
    let Some(marker) = module.function(GRID_WORKSPACE) else { return };
    let builder = Builder::new(context);
    for call in calls_of(marker) {
        if let Some(parameter) = parameter_of(call.block().function()) {
            builder.before(call);
            call.replace_with(builder.int_to_pointer(parameter, call.ty()));
            call.erase();
        }
    }
    // A recursive function has no such parameter: the check of what is undefined names it.
    if !marker.is_used() {
        marker.delete_function();
    }
}

/// The address of the record, by the parameter of a kernel.
fn record_in<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    kernel: Value<'c>,
    parameter: Value<'c>,
) -> Value<'c> {
    if kernel.text_attribute(COOPERATIVE).is_none() {
        return parameter;
    }
    let workspace = builder.int_to_pointer(parameter, Type::pointer(context, 1));
    let place = builder.offset(context, workspace, RECORD_OFFSET);
    builder.load(Type::int(context, 64), place)
}

/// Where the address of the record is in a `GridWorkspace`.
const RECORD_OFFSET: u64 = std::mem::offset_of!(kernelmill_artifact::GridWorkspace, record) as u64;

/// The parameter of a kernel with the address of the record, or of what its blocks synchronise by.
fn parameter_of(function: Value<'_>) -> Option<Value<'_>> {
    let index = function.text_attribute(PANIC_RECORD_PARAMETER)?.parse::<usize>().ok()?;
    function.parameters().get(index).copied()
}

/// Lets kernels store the address of the record where they start, for calls in functions out of line.
fn keep_in_slot<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    entries: &mut [Entry],
    calls: &[Value<'c>],
) -> Result<(), Error> {
    let slot = parse_ir(context, SLOT, machine.data_layout(), machine.triple())?;
    module
        .link(slot)
        .map_err(|message| Error::Internal(format!("linking the panic slot: {message}")))?;
    let of_slot = |name: &str| {
        let function = module.function(name);
        let function = function.ok_or_else(|| Error::Internal(format!("{name} is not linked")))?;
        function.set_linkage(Linkage::Internal);
        Ok::<_, Error>(function)
    };
    let keep = of_slot("__kernelmill_keep_panic_record")?;
    let kept = of_slot("__kernelmill_kept_panic_record")?;
    let builder = Builder::new(context);
    let users: HashSet<_> = calls.iter().map(|call| call.block().function()).collect();
    for call in calls {
        builder.before(*call);
        call.replace_with(builder.call(kept, &[]));
        call.erase();
    }
    for entry in entries {
        let Some(kernel) = module.function(&entry.symbol) else { continue };
        let Some(parameter) = parameter_of(kernel) else { continue };
        if reachable(kernel).is_disjoint(&users) {
            continue;
        }
        if let Some(place) = start(kernel) {
            builder.before(place);
            let record = record_in(context, &builder, kernel, parameter);
            builder.call(keep, &[record]);
        }
        entry.static_shared_bytes += parameters::RECORD_BYTES as u32;
    }
    Ok(())
}

/// The first instruction of a kernel with a source line, whose line what is put before it has; what comes
/// before that calls nothing. The first of all where the entry block has no lines.
fn start(kernel: Value<'_>) -> Option<Value<'_>> {
    let instructions = kernel.instructions();
    let first = *instructions.first()?;
    let mut of_entry = instructions.into_iter().take_while(|it| it.block() == first.block());
    of_entry.find(|it| !it.debug_locations().is_empty()).or(Some(first))
}
