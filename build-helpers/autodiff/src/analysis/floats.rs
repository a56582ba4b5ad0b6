//! Types that hold floating-point numbers.

use kernelmill_llvm::ir::{Type, TypeKind};

/// Whether values of this type hold floating-point numbers.
pub(crate) fn holds_floats(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Struct => ty.fields().into_iter().any(holds_floats),
        TypeKind::Array | TypeKind::Vector => holds_floats(ty.element()),
        _ => ty.is_floating(),
    }
}
