//! The CPU back end: GPU kernels as functions of the run time's interface (`src/embedded/abi.rs` of
//! `kernelmill`).
//!
//! A kernel has one of three lowering strategies ([`lowering`] chooses, [`crate::Strategy`] says which):
//!
//! - **Thread loop**: threads never wait for each other. The kernel runs in a loop over the threads of a
//!   block, vectorised where that is proven correct ([`vectorize`]).
//! - **Barrier regions**: all barriers and warp collectives are uniform ([`uniformity`]). The kernel is
//!   split at them ([`region_formation`]), and each region is such a loop.
//! - **Coroutine**: any other kernel with barriers or warp collectives. Each thread is a coroutine that
//!   suspends where it waits. This is correct for every kernel, in divergent loops and after thread exits too.
//!
//! [`pipeline`] has the passes in order. What a thread knows of itself (its indices, its block's shared memory)
//! is its *context*. Functions that use it are inlined into the kernel, where it is at hand as values. Those
//! that
//! cannot be, because they are recursive or called through pointers, are *outlined*: they find it in a
//! thread-local
//! variable that the kernel fills in before it calls them.

mod abi;
mod atomics;
mod block_arrays;
mod block_entry;
mod block_functions;
mod block_shape;
mod body;
mod code_size;
mod context;
mod coroutine;
mod deadlock;
mod divisors;
mod early_exits;
mod exit_flags;
mod functions;
mod inlining;
mod instructions;
mod interchange;
mod joined_blocks;
mod linearization;
mod lockstep;
mod lowering;
mod merged_atomics;
mod operation;
mod outlined;
mod pipeline;
mod private_copies;
mod processor_levels;
mod promotion;
mod quotients;
mod recursion;
mod region_formation;
mod reports;
mod shared_memory;
mod shift_amounts;
mod sign_extensions;
mod simplification;
mod source_lines;
mod specialization;
mod stack;
mod thread_loop;
mod undefined_selects;
mod uniformity;
mod unroll_and_jam;
mod vectorize;
mod verify;
mod warp_collectives;
mod wide_integers;
mod workarounds;

pub(crate) use block_arrays::find_divergent_phases;
pub(crate) use context::keep_waits_apart;
pub(crate) use functions::find_context_uses;
pub(crate) use pipeline::enter;
pub(crate) use uniformity::{Graph, Loop, is_pure_intrinsic};
pub(crate) use wide_integers::split_copies as split_wide_copies;
pub(crate) use workarounds::store_single_lanes;
