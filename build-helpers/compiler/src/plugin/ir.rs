//! What plugins work on: modules, functions, instructions, and what builds them.

pub use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::*,
};
