//! From PTX text to a tree with line numbers.

mod declaration;
mod errors;
mod lexer;
mod operand;
mod parser;
mod statement;
mod tree;
mod types;

pub use errors::{ParseError, ParseErrors};
pub(crate) use parser::parse;
pub(crate) use tree::*;
pub(crate) use types::Type;
