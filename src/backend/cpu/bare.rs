//! Bare blocks: blocks of a compiled kernel without a device, a stream or a launch around them.
//!
//! For fake drivers of the tests, which run the CPU's code in the place of a GPU's. The caller has the arguments,
//! the panic record and the order of blocks.

use kernelmill_artifact::PanicRecord;

use super::{arena::Lacking, blocks::Blocks, stack, strategy::strategy};
use crate::{
    embedded::{
        abi::{BlockOrder, Geometry, Kernel},
        check_version,
    },
    error::{Error, Result},
};

/// Runs the block with this linear index, x fastest, on the calling thread. A panic is in the record then.
///
/// # Errors
///
/// [`Error::FormatVersion`] for a kernel of another version, [`Error::OutOfMemory`] where the block's memory cannot
/// be had.
///
/// # Safety
///
/// `arguments` are pointers to the kernel's device-level arguments, which are as it asks for, and the index is
/// that of a block of the grid.
pub unsafe fn run_block(
    kernel: &Kernel,
    geometry: &Geometry,
    arguments: &[*const u8],
    record: &mut PanicRecord,
    index: usize,
) -> Result<()> {
    // SAFETY: promised; nobody else runs this block.
    run(kernel, geometry, (arguments, record), |blocks| unsafe { blocks.run(index..index + 1) })
}

/// Runs all blocks of a cooperative launch on the calling thread. A panic is in the record then.
///
/// # Errors
///
/// As for [`run_block`].
///
/// # Safety
///
/// `arguments` are pointers to the kernel's device-level arguments, which are as it asks for.
pub unsafe fn run_together(
    kernel: &Kernel,
    geometry: &Geometry,
    arguments: &[*const u8],
    record: &mut PanicRecord,
) -> Result<()> {
    let count = geometry.grid.iter().map(|&n| n as usize).product();
    // SAFETY: promised; nobody else runs its blocks.
    run(kernel, geometry, (arguments, record), |blocks| unsafe {
        blocks.run_together(count, false)
    })
}

/// Runs blocks of a launch as `body` does, which promises what that needs.
fn run(
    kernel: &Kernel,
    geometry: &Geometry,
    (arguments, record): (&[*const u8], &mut PanicRecord),
    body: impl FnOnce(&Blocks<'_>) -> std::result::Result<(), Lacking>,
) -> Result<()> {
    check_version(|| "a kernel".to_owned(), kernel.version)?;
    let of_this_version = "kernels of this version have the functions of their strategy";
    let shared_bytes =
        kernel.static_shared_bytes.next_multiple_of(128) + u64::from(geometry.dynamic_shared_bytes);
    let blocks = Blocks {
        strategy: strategy(kernel).expect(of_this_version),
        order: BlockOrder::AlongX,
        geometry,
        arguments: arguments.as_ptr(),
        record,
        shared_bytes: shared_bytes as usize,
        guard_pages: None,
        stack_bytes: stack::needed(None),
    };
    body(&blocks)
        .map_err(|Lacking(bytes)| Error::OutOfMemory { device: "the CPU".to_owned(), bytes })
}
