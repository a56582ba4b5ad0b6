//! Shared memory that kernels declare: statics of the type `SharedArray`, known by a tag in their
//! initial value.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Type, TypeKind, Value},
};

/// The last bytes of the initial value of every `SharedArray` before its padding, by which it is known.
pub(crate) const SHARED_TAG: [u8; 8] = 0x6b6d_5f73_6861_7265_u64.to_le_bytes();

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

/// The size of what comes before the tag, if the global has one. Elements that are aligned to more than the
/// tag have padding after it.
fn tagged_size(global: Value<'_>) -> Option<u64> {
    let ty = global.value_type();
    if ty.kind() != TypeKind::Struct {
        return None;
    }
    let parts = global.initializer()?.operands();
    let tag = parts.iter().rposition(|part| !part.is_undefined())?;
    if !parts[tag].as_bytes()?.ends_with(&SHARED_TAG) {
        return None;
    }
    let total: u64 = ty.fields()[..=tag].iter().map(|field| byte_size(*field)).sum();
    Some(total - SHARED_TAG.len() as u64)
}

/// The size of one of the fields that rustc gives a static: bytes and pointers.
fn byte_size(ty: Type<'_>) -> u64 {
    match ty.kind() {
        TypeKind::Array => ty.array_length(),
        _ => 8,
    }
}
