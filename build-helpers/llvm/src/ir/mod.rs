//! LLVM's intermediate representation: handles for values, types and blocks, a builder, and modules.
//!
//! inkwell owns contexts, modules and target machines. Passes that rewrite functions change operands,
//! move blocks and read attributes by name, which inkwell's typed values do not offer. So [`Value`],
//! [`Type`] and [`Block`] wrap the raw pointers; they are `Copy` and live as long as the
//! [`inkwell::context::Context`].
//!
//! The caller guarantees one thing: a value, block or function that was erased is not used again.
//! Each method that erases says so.

mod atomics;
mod block;
mod builder;
pub(crate) mod codes;
mod floats;
mod handle;
mod line_tables;
mod loops;
mod masked;
mod module;
mod returns;
pub(crate) mod selfcheck;
mod ty;
mod value;
mod vectors;

pub use atomics::SyncScope;
pub use builder::Builder;
pub use codes::{
    AtomicOperation, AtomicOrdering, FloatPredicate, IntPredicate, Linkage, Opcode, TypeKind,
    UnnamedAddress, Visibility, calling_convention,
};
pub use handle::{Block, Type, Value};
pub use line_tables::Lines;
pub use masked::{MaskedAccess, MaskedKind};
pub use module::{ModuleExt, parse_any, parse_bitcode, parse_ir};
pub use value::{DebugLocation, Place, SourceFrame};
