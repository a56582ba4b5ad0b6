//! Tensor cores: matrix multiply-accumulate (MMA) by the lanes of a warp or warpgroup, tensor maps, and
//! asynchronous copies, by the instructions of the target.
//!
//! A warp holds two matrices in fragments, [`A`] and [`B`], and the sums in an [`Accumulator`]; [`mma`]
//! multiplies. Shape and type of element are parameters: [`M16N8K16`] of [`F16`]
//! or [`Bf16`], [`M16N8K8`] of [`Tf32`], [`M16N8K32`] of `i8`, [`M8N8K4`] of `f64`.
//!
//! ```no_run
//! use kernelmill_device::{prelude::*, tensor::{A, Accumulator, B, F16, M16N8K16, mma}};
//!
//! /// Each warp multiplies a matrix of 16 by 16 by one of 16 by 8, of half precision.
//! #[kernel]
//! pub fn products(a: &[u16], b: &[u16], mut c: DisjointSlice<f32>) {
//!     let warp = thread::index_1d().get() / 32;
//!     if (warp + 1) * 128 <= c.len() {
//!         let left = A::<M16N8K16, F16>::from_rows(a, warp * 256, 16);
//!         let right = B::from_rows(b, warp * 128, 8);
//!         let product = mma(&left, &right, Accumulator::zero());
//!         // SAFETY: each warp has 128 elements of its own.
//!         unsafe { product.write_rows(&mut c, warp * 128, 8) };
//!     }
//! }
//! ```
//!
//! The elements that a lane holds depend on the target, and are hidden: fragments are made by `from_fn`,
//! `from_rows` and `from_columns`, accumulators are read by [`Accumulator::for_each`]. On
//! NVIDIA's processors fragments of [`SharedArray`](crate::shared::SharedArray)s are loaded by `ldmatrix`
//! where their rows start at multiples of 16 bytes.
//!
//! | | f16 | bf16 | tf32 | i8 | f64 |
//! | --- | --- | --- | --- | --- | --- |
//! | NVIDIA from sm_80 | `mma.sync` | `mma.sync` | `mma.sync` | `mma.sync` | `mma.sync` |
//! | NVIDIA sm_75 | `mma.sync` twice | additions | additions | `mma.sync` four times | additions |
//! | AMD gfx90a, gfx94x, gfx950 | `mfma` | `mfma` | `mfma`, of `f32` | `mfma` | additions |
//! | AMD gfx11xx | `wmma` | `wmma` | additions | `wmma` twice | additions |
//! | others, the CPU | additions | additions | additions | additions | additions |
//!
//! Additions means that each lane multiplies and adds by itself. The interface is the same, so one
//! kernel runs everywhere.
//!
//! [`AsyncCopies`] copies to shared memory asynchronously, by `cp.async` on NVIDIA's processors from sm_80
//! on, and by plain copies elsewhere.
//!
//! [`BulkBarrier`] waits for bulk copies (`cp.async.bulk`, from sm_90 on) and for tiles of tensors that the
//! host describes by a [`TensorMap`] (`cp.async.bulk.tensor`, the Tensor Memory Accelerator).
//! [`WarpgroupAccumulator`] multiplies tiles in shared memory by the 128 threads of a warpgroup (`wgmma`,
//! on sm_90a). Elsewhere the threads of the block copy and multiply.
//!
//! On the host, functions that need a warp panic.

mod accumulator;
mod bulk;
mod copy;
mod element;
mod fragment;
mod layout;
mod memory;
mod rows;
mod tensor_map;
mod warpgroup;

pub use accumulator::{Accumulator, mma};
pub use bulk::{BulkBarrier, BulkCopy};
pub use copy::{AsyncCopies, CopyQueue, PendingCopies};
pub use element::{Bf16, Element, F16, M8N8K4, M16N8K8, M16N8K16, M16N8K32, Product, Shape, Tf32};
pub use fragment::{A, B};
pub use memory::Memory;
pub use tensor_map::{BulkStore, TensorElement, TensorMap, TensorMapMut};
pub use warpgroup::{
    WARPGROUP_DEPTH, WARPGROUP_ROWS, WarpgroupAccumulator, WarpgroupElement, WarpgroupProduct,
    WarpgroupTile, sync_tiles,
};
