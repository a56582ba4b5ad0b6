//! Decoding: from the syntax tree to what runs. Names become slots, instructions become handlers.

mod arithmetic;
mod async_copy;
mod atomic;
mod build;
mod compare;
mod context;
mod control;
mod convert;
mod float;
mod function;
mod globals;
mod instruction;
mod layout;
mod logic;
mod memory;
mod mma;
mod modifiers;
mod module;
mod moves;
mod names;
mod operands;
mod parameters;
mod problem;
mod prototype;
mod registers;
mod results;
mod rules;
mod warp;
mod wgmma;
mod wmma;

pub(crate) use build::{Build, Flow};
pub(crate) use function::Body;
pub(crate) use module::decode;
