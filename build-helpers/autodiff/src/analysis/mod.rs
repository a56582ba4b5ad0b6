//! What is known of a function before its derivative is written.

mod activity;
mod cfg;
mod elements;
mod induction;
mod loops;
mod memory;
mod support;

pub(crate) use activity::Activities;
pub(crate) use cfg::{Cfg, reverse_postorder};
pub(crate) use elements::{Elements, is_loaded_integer};
pub(crate) use induction::{Induction, Inductions, TripCount};
pub(crate) use loops::{LoopId, Loops};
use memory::Root;
pub(crate) use memory::{Memory, Transfer, is_pure, transfer};
pub(crate) use support::{Facts, unsupported};

use kernelmill_llvm::ir::{Type, TypeKind};

/// Whether values of this type hold floating-point numbers.
pub(crate) fn holds_floats(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Struct => ty.fields().into_iter().any(holds_floats),
        TypeKind::Array | TypeKind::Vector => holds_floats(ty.element()),
        _ => ty.is_floating(),
    }
}
