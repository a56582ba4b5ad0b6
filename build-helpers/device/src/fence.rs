//! Memory fences: writes of this thread before a fence are visible to others before its writes after it.
//!
//! [`core::sync::atomic::fence`] works in kernels too; these name the scope. On the host they panic.

use crate::intrinsics;

/// Orders this thread's accesses to memory, as threads of its block see them.
#[inline(always)]
pub fn block() {
    intrinsics::fence_block();
}

/// Orders this thread's accesses to memory, as threads of the whole device see them.
#[inline(always)]
pub fn device() {
    intrinsics::fence_device();
}
