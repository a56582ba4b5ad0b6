//! Barriers of the grid on GPUs: what the blocks of a cooperative launch synchronise by.
//!
//! The first thread of each block counts its block in a word of global memory, which each launch has alone, and waits
//! until the highest bit turns over, as in the [cooperative groups] of CUDA. So the word needs no reset between two
//! barriers. A panic sets a second word, by which all that wait end: no block waits for one that does not come any more.
//!
//! [cooperative groups]: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#grid-synchronization

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value},
};

use crate::{
    base::names::{GRID_BARRIER, GRID_WORKSPACE, SHIM_PREFIX},
    ir::{always_inline, calls_of},
    target_info::TargetInfo,
};

/// The operations of a target for the grid, as LLVM's textual IR. Where no kernel of the source has a barrier of the grid,
/// panics do nothing about it.
pub(crate) fn grid_operations(module: &Module<'_>, backend: &dyn TargetInfo) -> String {
    if !backend.is_gpu() {
        return String::new();
    }
    match module.function(GRID_BARRIER).filter(|barrier| barrier.is_used()) {
        Some(_) => include_str!("../../target/grid.ll").replace("SCOPE", backend.device_scope()),
        None => include_str!("../../target/grid_none.ll").to_owned(),
    }
}

/// Inlines the functions that come to a barrier of the grid into their kernels, whose argument they need.
pub(crate) fn inline_grid_barriers<'c>(context: &'c Context, module: &Module<'c>) {
    let Some(workspace) = module.function(GRID_WORKSPACE) else { return };
    let (mut work, mut seen) = (vec![workspace], HashSet::from([workspace]));
    while let Some(callee) = work.pop() {
        for caller in calls_of(callee).into_iter().map(|call: Value<'c>| call.block().function()) {
            if seen.insert(caller) && !caller.name().starts_with(SHIM_PREFIX) {
                always_inline(context, caller);
                work.push(caller);
            }
        }
    }
}
