//! The prelude of kernel files: `use kernelmill_device::prelude::*;`.

pub use crate::{
    DeviceFn, Function, atomic, autodiff,
    block_array::{BlockArray, BlockView},
    constant, deferred, device_fn, fast_math, fence,
    float::Float,
    gpu_println, grid,
    index::{BlockIndex, Index1D, Index2D, Index3, PerBlock, ThreadIndex},
    kernel, shadow,
    shared::{DynamicSharedArray, SharedArray},
    slice::DisjointSlice,
    stack::StackArray,
    static_assert, thread, warp,
};
