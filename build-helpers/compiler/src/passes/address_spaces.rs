//! Address spaces: globals, shared memory and stack slots move to where the target keeps them.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Opcode, Type, Value},
    machine::Machine,
};

use crate::{
    ir::{shared_globals, variables},
    target_info::AddressSpaces,
};

/// Moves every global into its address space, under a name that assemblers take; uses see it
/// through a cast.
pub(crate) fn move_globals<'c>(context: &'c Context, module: &Module<'c>, spaces: AddressSpaces) {
    let shared = shared_globals(module);
    for memory in &shared {
        let ty = Type::int(context, 8).array(memory.bytes);
        let moved = replace(context, module, memory.global, ty, spaces.shared, ty.poison());
        let least = spaces.shared_align.min(memory.bytes.next_power_of_two().max(128));
        moved.set_alignment(memory.align.max(least) as u32);
    }
    for global in module.globals() {
        let name = global.name();
        let done = global.ty().address_space() != 0;
        if done || global.is_declaration() {
            continue;
        }
        if name.starts_with("llvm.") {
            global.delete_global();
            continue;
        }
        let constant = global.is_global_constant();
        let of_host = variables::is_variable(&global);
        let space = match (constant, of_host) {
            (true, true) => spaces.constant_variables,
            (true, false) => spaces.constant,
            (false, _) => spaces.global,
        };
        let (ty, value) = (global.value_type(), global.initializer());
        let value = value.unwrap_or_else(|| ty.null());
        let moved = replace(context, module, global, ty, space, value);
        moved.set_global_constant(constant);
        if of_host {
            moved.set_name(&name);
            variables::mark(moved);
        }
    }
}

fn replace<'c>(
    context: &'c Context,
    module: &Module<'c>,
    global: Value<'c>,
    ty: Type<'c>,
    space: u32,
    initializer: Value<'c>,
) -> Value<'c> {
    let name: String =
        global.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let moved = module.new_global(&format!("{name}_in{space}"), ty, space);
    moved.set_alignment(global.alignment().max(1));
    moved.set_linkage(Linkage::Internal);
    moved.set_initializer(initializer);
    global.replace_with(moved.cast_address_space(Type::pointer(context, 0)));
    global.delete_global();
    moved
}

/// Removes stack slots of no bytes. What has their address is given one that is aligned as they are, of no memory, as
/// Rust's `dangling` is.
pub(crate) fn drop_empty_slots<'c>(context: &'c Context, module: &Module<'c>, machine: &Machine) {
    let word = Type::int(context, 64);
    for function in module.definitions() {
        for slot in function.instructions() {
            let is_empty = || machine.size_of(slot.allocated_type()) == 0;
            if slot.opcode() != Opcode::Alloca || !is_empty() || has_lifetime(slot) {
                continue;
            }
            let address = word.constant(u64::from(slot.alignment().max(1)));
            let builder = Builder::new(context);
            builder.before(slot);
            slot.replace_with(builder.int_to_pointer(address, slot.ty()));
            slot.erase();
        }
    }
}

/// Whether a slot has [lifetime markers](https://llvm.org/docs/LangRef.html#int-lifestart), which are of slots alone.
fn has_lifetime(slot: Value<'_>) -> bool {
    let is_marker = |user: Value<'_>| {
        user.called_function().is_some_and(|it| it.name().starts_with("llvm.lifetime."))
    };
    slot.users().into_iter().any(is_marker)
}

/// Moves stack slots into the address space that the target keeps them in.
pub(crate) fn move_allocations<'c>(context: &'c Context, module: &Module<'c>, space: u32) {
    if space == 0 {
        return;
    }
    let builder = Builder::new(context);
    let flat = Type::pointer(context, 0);
    for function in module.definitions() {
        for slot in function.instructions() {
            if slot.opcode() != Opcode::Alloca || slot.ty().address_space() == space {
                continue;
            }
            builder.before(slot);
            let moved = builder.alloca(slot.allocated_type());
            moved.set_alignment(slot.alignment());
            let cast = builder.address_space_cast(moved, flat);
            slot.replace_with(cast);
            slot.erase();
        }
    }
}
