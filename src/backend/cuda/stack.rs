//! The stack of threads whose need is not known.
//!
//! The driver gives each thread the stack that its kernel needs, where ptxas knows it. Recursion, function pointers and trait
//! objects, which formatting of numbers uses too, leave it open; then it is the limit of the context, `CU_LIMIT_STACK_SIZE`,
//! and at first that is 1024 bytes. What overflows writes beside its memory, or ends the context. So the limit is raised
//! before such kernels are launched. A limit that the program has raised itself stays.
//! [CUDA Driver API, "cuCtxSetLimit"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__CTX.html).

use cudarc::driver::sys;
use kernelmill_artifact::ptx_has_open_stack;

use super::{capture::BesideCaptures, driver::named};
use crate::{embedded::EmbeddedArtifact, error::Result};

/// Bytes for each thread. Formatting a number in floating point and sorting a hundred elements, which conformance tests do,
/// take less than half. The driver reserves it for as many threads as the device holds: 2 GB on one that holds 270 000.
pub(super) const OPEN: usize = 8 << 10;

/// Sees to it that kernels of a module have [`OPEN`] bytes where their need is not known. Its context is current.
pub(super) fn make_room(artifact: &EmbeddedArtifact, ptx: Option<&str>) -> Result<()> {
    let is_open = match ptx {
        Some(text) => ptx_has_open_stack(text),
        // Of a kernel that was assembled all is known but this.
        None => artifact.kernels.iter().any(|kernel| {
            kernel.resources.registers.is_some() && kernel.resources.stack_bytes.is_none()
        }),
    };
    if is_open { raise() } else { Ok(()) }
}

fn raise() -> Result<()> {
    let which = sys::CUlimit::CU_LIMIT_STACK_SIZE;
    let subject = || format!("{OPEN} bytes of stack for each thread");
    let _beside = BesideCaptures::begin();
    let mut limit = 0;
    // SAFETY: the driver writes one number.
    let read = unsafe { sys::cuCtxGetLimit(&raw mut limit, which) };
    named(read.result(), "cuCtxGetLimit", subject)?;
    if limit >= OPEN {
        return Ok(());
    }
    // SAFETY: a context is current.
    let set = unsafe { sys::cuCtxSetLimit(which, OPEN) };
    named(set.result(), "cuCtxSetLimit", subject)
}
