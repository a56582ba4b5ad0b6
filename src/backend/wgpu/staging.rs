//! Buffers of its own for a copy or a launch, and those that the host reads.

use std::sync::mpsc;

use wgpu::{Buffer, BufferDescriptor, BufferUsages, MapMode, SubmissionIndex};

use super::driver::Gpu;
use crate::error::Result;

/// The bytes of a word.
pub(super) const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// A buffer of its own, for a copy or a launch.
pub(super) fn temporary(gpu: &Gpu, bytes: u64, usage: BufferUsages) -> Result<Buffer> {
    let subject = || format!("{bytes} bytes");
    let size = bytes.next_multiple_of(WORD);
    let description = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    gpu.scoped("create_buffer", subject, || gpu.device.create_buffer(&description))
}

/// Waits for a buffer that the host can read, and reads it from `offset` on. What was given to the queue after the
/// submission that writes it is not waited for where that is known.
pub(super) fn read_mapped(
    gpu: &Gpu,
    (buffer, submission): (&Buffer, Option<SubmissionIndex>),
    offset: usize,
    target: &mut [u8],
) -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    let mapped = gpu.scoped(
        "map_async",
        || format!("{} bytes", target.len()),
        || {
            buffer.slice(..).map_async(MapMode::Read, move |result| {
                // Who waits no longer has failed before.
                let _ = sender.send(result);
            });
        },
    );
    mapped?;
    gpu.wait(submission)?;
    let failed = |message| gpu.error("map_async", format!("{} bytes", buffer.size()), message);
    let result = receiver.recv().map_err(|error| failed(error.to_string()))?;
    result.map_err(|error| failed(error.to_string()))?;
    let view = buffer.slice(..).get_mapped_range().map_err(|error| failed(error.to_string()))?;
    target.copy_from_slice(&view[offset..offset + target.len()]);
    drop(view);
    buffer.unmap();
    Ok(())
}
