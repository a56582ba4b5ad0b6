//! PTX text: lexer, parser and the syntax tree with line numbers; mutations of the text.

mod ast;
mod bounds;
mod declaration;
mod errors;
mod expression;
mod lexer;
mod literal;
mod mutation;
mod operand;
mod parser;
mod section;
mod statement;
mod types;

pub(crate) use ast::*;
pub(crate) use errors::MOST_ERRORS;
pub use errors::{ParseError, ParseErrors};
pub use mutation::Mutation;
pub(crate) use parser::parse;
pub(crate) use types::Type;
