//! Derivative rules: for each operation, its partial derivatives with respect to its operands.
//!
//! `table` has the rules as expressions of arguments and result (`expression`), `lookup` finds the rule
//! of an instruction, and `emit` writes its expressions as instructions. `names` knows the names of
//! mathematical functions in C, Rust and LLVM, `markdown` prints the table for the documentation.

mod emit;
mod expression;
mod lookup;
mod markdown;
mod names;
mod table;

pub(crate) use emit::{Emitter, Operand, mark_pure};
pub(crate) use expression::Partial;
pub use lookup::Rules;
pub(crate) use lookup::{Flow, flows, rule_of};
pub use markdown::rules_as_markdown;
pub(crate) use names::{MATH_PREFIX, path};
