//! The decoded program, without its code: names are numbers, registers are slots.

mod collective;
mod function;
mod kernel;
mod matrix;
mod module;

pub(crate) use collective::{Collective, Shuffle, ShuffleMode, Vote};
pub(crate) use function::{CallSite, Function, Origin, Parts, Slice, Symbol};
pub use kernel::{Kernel, Parameter, Unsupported};
pub(crate) use matrix::{
    Element, Fragment, FragmentMultiply, LoadMatrix, Multiply, Product, WarpgroupMultiply,
};
pub(crate) use module::{Address, Global, Program, SharedLayout, SharedVariable, Value};
