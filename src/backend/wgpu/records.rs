//! Panic records of launches on a device that the host shares no memory with: each has a buffer, which is copied back after
//! every launch that uses it. Who waits for the launch then finds the panic where the other back ends have it.
//!
//! A kernel claims a record only where the host has acknowledged the panic before: what is in it stays until then. So
//! a copy that comes late says nothing new.

use std::{
    collections::{HashMap, hash_map::Entry},
    mem::offset_of,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc::{self, Receiver, TryRecvError},
    },
};

use kernelmill_artifact::PanicRecord;
use wgpu::{Buffer, BufferAsyncError, BufferUsages, CommandEncoder, MapMode};

use super::{driver::Gpu, staging};
use crate::error::Result;

/// The bytes of a record.
const BYTES: u64 = size_of::<PanicRecord>() as u64;

/// The records of a device, by their addresses on the host, and copies that are on their way.
#[derive(Default)]
pub(super) struct Records(Mutex<State>);

#[derive(Default)]
struct State {
    buffers: HashMap<u64, OnDevice>,
    copies: Vec<Copy>,
    /// Buffers that copies went through.
    free: Vec<Buffer>,
}

/// A record on the device.
struct OnDevice {
    buffer: Buffer,
    /// What the device knows of the host's answers.
    acknowledged: u32,
}

/// A record on its way to the host.
struct Copy {
    address: u64,
    buffer: Buffer,
    mapped: Receiver<std::result::Result<(), BufferAsyncError>>,
}

/// A record for a launch.
pub(super) struct OfLaunch {
    address: u64,
    /// On the device.
    pub(super) buffer: Buffer,
    staging: Buffer,
}

impl OfLaunch {
    /// Copies it once the launch is over.
    pub(super) fn copy(&self, encoder: &mut CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &self.staging, 0, BYTES);
    }
}

/// The record of the host at an address.
fn on_host(address: u64) -> *mut PanicRecord {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Records {
    /// The record at an address of the host, for a launch.
    ///
    /// # Safety
    ///
    /// It is there until the launches that use it are over and collected.
    pub(super) unsafe fn for_launch(&self, gpu: &Gpu, address: u64) -> Result<OfLaunch> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let host = on_host(address);
        // SAFETY: promised; the field is used atomically alone.
        let acknowledged = unsafe { AtomicU32::from_ptr(&raw mut (*host).acknowledged) };
        let acknowledged = acknowledged.load(Ordering::Acquire);
        let record = match state.buffers.entry(address) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
                let buffer = staging::temporary(gpu, BYTES, usage)?;
                // SAFETY: promised; nobody writes it, as no launch has used it.
                let bytes =
                    unsafe { std::slice::from_raw_parts(host.cast::<u8>(), BYTES as usize) };
                gpu.scoped("write_buffer", subject, || gpu.queue.write_buffer(&buffer, 0, bytes))?;
                entry.insert(OnDevice { buffer, acknowledged })
            }
        };
        if record.acknowledged != acknowledged {
            let place = offset_of!(PanicRecord, acknowledged) as u64;
            let word = acknowledged.to_le_bytes();
            let write = || gpu.queue.write_buffer(&record.buffer, place, &word);
            gpu.scoped("write_buffer", subject, write)?;
            record.acknowledged = acknowledged;
        }
        let buffer = record.buffer.clone();
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let staging = state.free.pop().map_or_else(|| staging::temporary(gpu, BYTES, usage), Ok)?;
        Ok(OfLaunch { address, buffer, staging })
    }

    /// Has the record of a launch that was submitted come to the host.
    pub(super) fn follow(&self, record: OfLaunch) {
        let (sender, mapped) = mpsc::channel();
        record.staging.slice(..).map_async(MapMode::Read, move |result| {
            // Who waits no longer has failed before.
            let _ = sender.send(result);
        });
        let copy = Copy { address: record.address, buffer: record.staging, mapped };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).copies.push(copy);
    }

    /// Writes the records that have come into those of the host.
    pub(super) fn collect(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { copies, free, .. } = &mut *state;
        copies.retain(|copy| match copy.mapped.try_recv() {
            Err(TryRecvError::Empty) => true,
            // The device is lost, which is reported elsewhere.
            Err(TryRecvError::Disconnected) | Ok(Err(_)) => false,
            Ok(Ok(())) => {
                if let Ok(bytes) = copy.buffer.slice(..).get_mapped_range() {
                    // SAFETY: the launch was given it, and is over.
                    unsafe { publish(copy.address, &bytes) };
                }
                copy.buffer.unmap();
                free.push(copy.buffer.clone());
                false
            }
        });
    }
}

/// Writes a panic of the device's record into the host's, where it is one that the host has not.
///
/// # Safety
///
/// The record of the host is there.
unsafe fn publish(address: u64, bytes: &[u8]) {
    assert_eq!(bytes.len(), size_of::<PanicRecord>());
    let host = on_host(address);
    // SAFETY: the bytes are those of a record, whose fields take any.
    let device = unsafe { bytes.as_ptr().cast::<PanicRecord>().read_unaligned() };
    // SAFETY: promised; the field is used atomically alone.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*host).state) };
    if device.state % 2 == 1 || state.load(Ordering::Acquire) == device.state {
        return;
    }
    let told = offset_of!(PanicRecord, message_len)..offset_of!(PanicRecord, acknowledged);
    // SAFETY: within the record; the host reads these bytes once the state is another, and no more once it has acknowledged
    // the panic before.
    unsafe {
        let target = host.cast::<u8>().add(told.start);
        std::ptr::copy_nonoverlapping(bytes[told.clone()].as_ptr(), target, told.len());
        (&raw mut (*host).launch).write(device.launch);
    }
    state.store(device.state, Ordering::Release);
}

fn subject() -> String {
    "the record of panics".to_owned()
}
