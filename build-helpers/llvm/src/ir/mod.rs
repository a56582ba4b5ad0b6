//! Values, types, blocks and modules of LLVM's intermediate representation, as cheap handles.
//!
//! inkwell owns contexts, modules and target machines. Passes that rewrite functions need what
//! its typed values do not give (changing operands, moving blocks, attributes by name), so these
//! handles wrap the raw pointers: [`Value`], [`Type`] and [`Block`] are `Copy`, live as long as
//! the [`inkwell::context::Context`], and compare by identity.
//!
//! One rule is the caller's: a value, block or function that was erased must not be used again.
//! Each function that erases says so.

mod block;
mod builder;
pub(crate) mod codes;
mod floats;
mod frames;
mod lanes;
mod lines;
mod loops;
mod masked;
mod module;
mod returns;
pub(crate) mod selfcheck;
mod ty;
mod value;

pub use block::Block;
pub use builder::Builder;
pub use codes::{
    AtomicOperation, AtomicOrdering, FloatPredicate, IntPredicate, Linkage, Opcode, TypeKind,
    UnnamedAddress, Visibility, calling_convention,
};
pub use frames::Frame;
pub use lines::Lines;
pub use masked::{MaskedAccess, MaskedKind};
pub use module::{ModuleExt, parse_bitcode, parse_ir};
pub use ty::Type;
pub use value::{Place, SourceFrame, Value};

use inkwell::context::Context;
use llvm_sys::prelude::LLVMContextRef;

/// The raw context.
pub(crate) fn raw(context: &Context) -> LLVMContextRef {
    context.raw()
}

/// The number of an attribute that has a name in LLVM; 0 where LLVM does not know it.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: the name is given with its length.
    unsafe { llvm_sys::core::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
