//! Memory of wgpu's devices: buffers, and copies that are queued.
//!
//! wgpu copies whole words of four bytes. What begins or ends within one is made of whole words with what is there already.
//! A copy to the host goes through a buffer that the host can read, and is waited for.

use std::{ffi::c_void, ops::Range, ptr::NonNull};

use wgpu::BufferUsages;

use super::{
    buffers::Place,
    driver::Gpu,
    driver_context::{DriverContext, WgpuStream},
    staging::{WORD, read_mapped, temporary},
};
use crate::{
    backend::{cpu::plain, gpu::calls::MemoryCalls},
    error::{Error, Result},
};

/// The most that is copied to the host at once.
const CHUNK: u64 = 64 << 20;

/// The place at an address of a buffer that is there.
fn place(gpu: &Gpu, address: u64) -> Result<Place> {
    gpu.buffers.place(address).ok_or_else(|| {
        gpu.error("a copy", format!("the address {address:#x}"), "there is no buffer".to_owned())
    })
}

/// The whole words around some bytes.
fn words(offset: u64, bytes: u64) -> Range<u64> {
    offset / WORD * WORD..(offset + bytes).next_multiple_of(WORD)
}

/// Copies to the host, and waits for that.
fn read(place: &Place, target: &mut [u8], stream: &WgpuStream) -> Result<()> {
    let gpu = &*stream.gpu;
    for (index, target) in target.chunks_mut(CHUNK as usize).enumerate() {
        let start = place.offset + index as u64 * CHUNK;
        let words = words(start, target.len() as u64);
        let (bytes, usage) =
            (words.end - words.start, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let staging = temporary(gpu, bytes, usage)?;
        let submission = gpu.submit(
            "copy_buffer_to_buffer",
            || format!("{bytes} bytes"),
            |encoder| {
                encoder.copy_buffer_to_buffer(&place.buffer, words.start, &staging, 0, bytes);
            },
        )?;
        stream.note(submission);
        read_mapped(gpu, (&staging, None), (start - words.start) as usize, target)?;
    }
    Ok(())
}

/// Copies from the host, whose memory is read before this returns.
fn write(place: &Place, source: &[u8], stream: &WgpuStream) -> Result<()> {
    let (gpu, bytes) = (&*stream.gpu, source.len() as u64);
    let words = words(place.offset, bytes);
    let first = place.offset - words.start;
    let whole = if first == 0 && words.end - words.start == bytes {
        None
    } else {
        let mut whole = vec![0; (words.end - words.start) as usize];
        let last = whole.len() - WORD as usize;
        for word in [0, last] {
            let there = Place { buffer: place.buffer.clone(), offset: words.start + word as u64 };
            read(&there, &mut whole[word..word + WORD as usize], stream)?;
        }
        whole[first as usize..first as usize + source.len()].copy_from_slice(source);
        Some(whole)
    };
    let source = whole.as_deref().unwrap_or(source);
    let submission = gpu.scoped(
        "write_buffer",
        || format!("{bytes} bytes"),
        || {
            gpu.queue.write_buffer(&place.buffer, words.start, source);
            gpu.queue.submit([])
        },
    )?;
    stream.note(submission);
    Ok(())
}

impl MemoryCalls for DriverContext {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        let gpu = &*self.gpu;
        let lacking = || Error::OutOfMemory { device: gpu.name.clone(), bytes };
        let size = (bytes as u64).checked_next_multiple_of(WORD).ok_or_else(lacking)?;
        if size > gpu.limits.max_buffer_size {
            return Err(lacking());
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffer = temporary(gpu, size, usage).map_err(|error| match gpu.check() {
            Ok(()) => lacking(),
            Err(_) => error,
        })?;
        Ok(gpu.buffers.add(buffer))
    }

    unsafe fn free(&self, address: u64, _bytes: usize) -> Result<()> {
        self.gpu.free(address);
        Ok(())
    }

    unsafe fn zero(address: u64, bytes: usize, stream: &WgpuStream) -> Result<()> {
        let gpu = &*stream.gpu;
        let Place { buffer, offset } = place(gpu, address)?;
        let end = offset + bytes as u64;
        let words = offset.next_multiple_of(WORD)..end / WORD * WORD;
        // Bytes of a word that is not whole, as others have the rest of it.
        let edges = if words.is_empty() {
            [offset..end, end..end]
        } else {
            [offset..words.start, words.end..end]
        };
        for edge in edges.into_iter().filter(|edge| !edge.is_empty()) {
            let zeros = vec![0; (edge.end - edge.start) as usize];
            write(&Place { buffer: buffer.clone(), offset: edge.start }, &zeros, stream)?;
        }
        if words.is_empty() {
            return Ok(());
        }
        let submission = gpu.submit(
            "clear_buffer",
            || format!("{bytes} bytes"),
            |encoder| {
                encoder.clear_buffer(&buffer, words.start, Some(words.end - words.start));
            },
        )?;
        stream.note(submission);
        Ok(())
    }

    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &WgpuStream,
    ) -> Result<()> {
        let source = place(&stream.gpu, source)?;
        // SAFETY: promised; nothing else uses the memory before the stream has come to the copy, which it has when this
        // returns.
        let target = unsafe { std::slice::from_raw_parts_mut(target, bytes) };
        read(&source, target, stream)
    }

    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &WgpuStream,
    ) -> Result<()> {
        let target = place(&stream.gpu, target)?;
        // SAFETY: promised.
        let source = unsafe { std::slice::from_raw_parts(source, bytes) };
        write(&target, source, stream)
    }

    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &WgpuStream) -> Result<()> {
        let gpu = &*stream.gpu;
        let (to, from, bytes) = (place(gpu, target)?, place(gpu, source)?, bytes as u64);
        if ![to.offset, from.offset, bytes].iter().all(|number| number.is_multiple_of(WORD)) {
            let mut host = vec![0; bytes as usize];
            read(&from, &mut host, stream)?;
            return write(&to, &host, stream);
        }
        // wgpu has no copies within one buffer.
        let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let is_within = to.buffer == from.buffer;
        let between = is_within.then(|| temporary(gpu, bytes, usage)).transpose()?;
        let submission = gpu.submit(
            "copy_buffer_to_buffer",
            || format!("{bytes} bytes"),
            |encoder| match &between {
                None => {
                    encoder.copy_buffer_to_buffer(
                        &from.buffer,
                        from.offset,
                        &to.buffer,
                        to.offset,
                        bytes,
                    );
                }
                Some(between) => {
                    encoder.copy_buffer_to_buffer(&from.buffer, from.offset, between, 0, bytes);
                    encoder.copy_buffer_to_buffer(between, 0, &to.buffer, to.offset, bytes);
                }
            },
        )?;
        stream.note(submission);
        Ok(())
    }

    fn allocate_host(
        bytes: usize,
        _mapped: bool,
        subject: impl FnOnce() -> String,
    ) -> Result<NonNull<c_void>> {
        plain::allocate(bytes, subject)
    }

    unsafe fn device_address(
        memory: NonNull<c_void>,
        _subject: impl FnOnce() -> String,
    ) -> Result<u64> {
        // Only records of panics are asked for it, which have a buffer of their own by it.
        Ok(memory.as_ptr().expose_provenance() as u64)
    }

    unsafe fn free_host(memory: NonNull<c_void>, _subject: impl FnOnce() -> String) -> Result<()> {
        plain::free(memory);
        Ok(())
    }
}
