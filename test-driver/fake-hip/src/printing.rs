//! Printing: what the CPU's code of a kernel prints goes into the buffer of its launch, as the GPU's code appends it.
//!
//! The CPU's code prints to C's standard output. While a launch runs that may print, the output of the whole process is a
//! file that is read afterwards; each line of it becomes an entry of bytes (`device/src/print/entries.rs`). The GPU's code
//! sends most lines as values instead, of which the host's code has tests of its own.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    mem::ManuallyDrop,
    os::fd::FromRawFd as _,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use kernelmill::artifact::{PRINT_BUFFER_BYTES, PanicRecord};

use crate::memory::{Found, Kind, Memory, When};

/// C's standard output.
const OUTPUT: libc::c_int = 1;

/// Bytes of entries.
const ENTRY_BYTES: usize = PRINT_BUFFER_BYTES - 8;

/// Runs `work`; what it has printed.
pub(crate) fn printed<T>(work: impl FnOnce() -> T) -> Result<(T, Vec<u8>), String> {
    let failed = |what: &str| format!("{what}: {}", std::io::Error::last_os_error());
    // SAFETY: streams and descriptors are this function's own but for the standard output, which is as it was before at
    // the end.
    unsafe {
        let file = libc::tmpfile();
        if file.is_null() {
            return Err(failed("no temporary file"));
        }
        libc::fflush(ptr::null_mut());
        let before = libc::dup(OUTPUT);
        libc::dup2(libc::fileno(file), OUTPUT);
        let result = work();
        libc::fflush(ptr::null_mut());
        libc::dup2(before, OUTPUT);
        libc::close(before);
        let mut text = Vec::new();
        let mut reader = ManuallyDrop::new(File::from_raw_fd(libc::fileno(file)));
        let read = reader.rewind().and_then(|()| reader.read_to_end(&mut text));
        libc::fclose(file);
        read.map_err(|error| format!("what was printed cannot be read: {error}"))?;
        Ok((result, text))
    }
}

/// Appends each line of a text to the buffer that the record at an address names, as threads do.
pub(crate) fn hand_over(memory: &Memory, text: &[u8], record: usize) -> Result<(), String> {
    let is_mapped = Found::Live(Kind::Pinned { mapped: true });
    if memory.find(record, size_of::<PanicRecord>(), When::Done) != is_mapped {
        return Err(format!("a panic record at {record:#x}, which is not mapped memory"));
    }
    let record = ptr::with_exposed_provenance::<PanicRecord>(record);
    // SAFETY: the record is there, and nobody else writes this field while a launch uses it.
    let buffer = unsafe { (&raw const (*record).printed).read_volatile() } as usize;
    if memory.find(buffer, PRINT_BUFFER_BYTES, When::Done) != is_mapped {
        return Err(format!("a print buffer at {buffer:#x}, which is not mapped memory"));
    }
    let buffer = ptr::with_exposed_provenance_mut::<u64>(buffer);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // SAFETY: the buffer is there, with so many bytes; the host reads it by the same protocol.
        unsafe { append(buffer, line) };
    }
    Ok(())
}

/// Appends an entry with the bytes of a line.
///
/// # Safety
///
/// There are [`PRINT_BUFFER_BYTES`], which others use as entries alone.
unsafe fn append(buffer: *mut u64, line: &[u8]) {
    let words = 1 + line.len().div_ceil(8);
    // SAFETY: both counts are only used atomically; what was asked for is this thread's own.
    unsafe {
        let asked = AtomicU32::from_ptr(buffer.cast());
        let lost = AtomicU32::from_ptr(buffer.cast::<u32>().add(1));
        let is_full = asked.load(Ordering::Relaxed) as usize > ENTRY_BYTES;
        let start = match is_full {
            true => ENTRY_BYTES,
            false => asked.fetch_add(8 * words as u32, Ordering::Relaxed) as usize,
        };
        if start + 8 * words > ENTRY_BYTES {
            lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let entry = buffer.add(1 + start / 8);
        for (index, chunk) in line.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            entry.add(1 + index).write(u64::from_le_bytes(word));
        }
        AtomicU32::from_ptr(entry.cast()).store(words as u32, Ordering::Release);
    }
}
