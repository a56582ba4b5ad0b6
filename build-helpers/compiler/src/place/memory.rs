use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Opcode, Type, TypeKind, Value},
};

/// The last bytes of the initial value of every `SharedArray`, by which it is known.
pub(crate) const SHARED_TAG: [u8; 8] = 0x6b6d_5f73_6861_7265_u64.to_le_bytes();

/// The numbers of a target's address spaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSpaces {
    pub(crate) global: u32,
    pub(crate) shared: u32,
    pub(crate) constant: u32,
    pub(crate) private: u32,
    /// The least alignment of shared arrays in bytes; smaller ones have that of their size, and 128 at
    /// least.
    pub(crate) shared_align: u64,
}

/// A global that a kernel declared as shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedMemory<'c> {
    pub(crate) global: Value<'c>,
    /// Size in bytes, without the tag.
    pub(crate) bytes: u64,
    /// Alignment in bytes.
    pub(crate) align: u64,
}

/// The shared memory that the module's kernels declare.
pub(crate) fn shared_globals<'c>(module: &Module<'c>) -> Vec<SharedMemory<'c>> {
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    globals
        .filter_map(|global| {
            let size = tagged_size(global)?;
            Some(SharedMemory { global, bytes: size, align: u64::from(global.alignment()).max(16) })
        })
        .collect()
}

/// The size of what comes before the tag, if the global has one.
fn tagged_size(global: Value<'_>) -> Option<u64> {
    let ty = global.value_type();
    if ty.kind() != TypeKind::Struct {
        return None;
    }
    let (fields, initializer) = (ty.fields(), global.initializer()?);
    let last = initializer.operands().last()?.as_bytes()?;
    if !last.ends_with(&SHARED_TAG) {
        return None;
    }
    let total: u64 = fields.iter().map(|field| byte_size(*field)).sum();
    Some(total - SHARED_TAG.len() as u64)
}

/// The size of one of the fields that rustc gives a static: bytes and pointers.
fn byte_size(ty: Type<'_>) -> u64 {
    match ty.kind() {
        TypeKind::Array => ty.array_length(),
        _ => 8,
    }
}

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
        let space = if constant { spaces.constant } else { spaces.global };
        let (ty, value) = (global.value_type(), global.initializer());
        let value = value.unwrap_or_else(|| ty.null());
        replace(context, module, global, ty, space, value).set_global_constant(constant);
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
