//! Shared memory that kernels declare: statics of the type `SharedArray`, known by a tag in their
//! initial value.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Type, TypeKind, Value},
};

use crate::base::bytes::contains;

/// The initial value of every `SharedArray`, between elements and padding that have none: it is known by that.
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

/// The globals that have a `SharedArray` as a part of their initial value: of a struct, an array or an `enum`.
pub(crate) fn globals_with_shared_parts<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let has_tag =
        |part: Value<'c>| part.as_bytes().is_some_and(|bytes| contains(bytes, &SHARED_TAG));
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    let has_part = |global: &Value<'c>| {
        let Some(initial) = global.initializer() else { return false };
        let is_tagged = has_tag(initial) || initial.operands().into_iter().any(has_tag);
        is_tagged && tagged_size(*global).is_none()
    };
    globals.filter(has_part).collect()
}

/// The size of what comes before the tag, if the global is a `SharedArray`: nothing else in it has a value. Elements
/// that are aligned to more than the tag have padding after it.
fn tagged_size(global: Value<'_>) -> Option<u64> {
    let ty = global.value_type();
    if ty.kind() != TypeKind::Struct {
        return None;
    }
    let parts = global.initializer()?.operands();
    let tag = parts.iter().position(|part| !part.is_undefined())?;
    let is_alone = parts[tag + 1..].iter().all(|part| part.is_undefined());
    if !is_alone || parts[tag].as_bytes()? != SHARED_TAG {
        return None;
    }
    Some(ty.fields()[..tag].iter().map(|field| byte_size(*field)).sum())
}

/// The size of one of the fields that rustc gives a static: bytes and pointers.
fn byte_size(ty: Type<'_>) -> u64 {
    match ty.kind() {
        TypeKind::Array => ty.array_length(),
        _ => 8,
    }
}
