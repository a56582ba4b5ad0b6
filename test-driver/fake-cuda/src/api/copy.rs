//! Copies of bytes that follow each other.
//!
//! CUDA Driver API, "Memory Management".

use std::sync::Arc;

use super::call::call;
use crate::base::abi::{In, Out};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context::{self, CONTEXTS};
use crate::memory::{
    self,
    copy::{Copy, Place, stage},
};
use crate::stream::Stream;
use crate::work::Work;
use cudarc::driver::sys::CUresult;

/// Copies in the order of the legacy default stream, and waits for it.
pub(super) fn now(copy: Copy) -> Result<()> {
    let context = context::usable()?;
    context::refuse_during_capture()?;
    if copy.width == 0 {
        return Ok(());
    }
    copy.check(context.ordinal)?;
    let legacy = context.legacy();
    context.refuse_legacy_capture(legacy)?;
    context.push(legacy, Vec::new(), Work::Copy(Arc::new(copy)))?.wait();
    context.report()
}

/// Whether copies of this memory of the program's can go on while the program does.
fn is_pinned(address: usize, ordinal: usize) -> bool {
    memory::find(address as u64, ordinal).is_some_and(|found| found.kind.is_of_host())
}

/// Copies in the order of a stream.
///
/// As with the real driver, pageable memory is read before the call returns, and written before it
/// returns too; pinned memory is used when the stream comes to it.
pub(super) fn later(stream: Handle, mut copy: Copy) -> Result<()> {
    let (context, stream) = context::resolve(stream)?;
    if copy.width == 0 {
        return Ok(());
    }
    copy.check(context.ordinal)?;
    let captured = stream.capture().is_some();
    let line = copy.height == 1 && copy.depth == 1;
    let pageable = |place: &Place| match place {
        Place::Host(address) => (!is_pinned(*address, context.ordinal)).then_some(*address),
        _ => None,
    };
    let mut wait = pageable(&copy.target.place).is_some();
    if let Some(address) = pageable(&copy.source.place) {
        if line && !captured {
            copy.source.place = Place::Staged(stage(address, copy.width));
        }
        wait |= !line;
    }
    stream.submit(Work::Copy(Arc::new(copy)))?;
    if wait && !captured { settle(&stream) } else { Ok(()) }
}

fn settle(stream: &Arc<Stream>) -> Result<()> {
    let context = stream.context()?;
    stream.queue.now().wait();
    context.report()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyHtoD_v2(target: u64, source: In<u8>, bytes: usize) -> CUresult {
    call("cuMemcpyHtoD_v2", || {
        now(Copy::line(Place::Host(source.address()), Place::Device(target), bytes))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoH_v2(target: Out<u8>, source: u64, bytes: usize) -> CUresult {
    call("cuMemcpyDtoH_v2", || {
        now(Copy::line(Place::Device(source), Place::Host(target.address()), bytes))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoD_v2(target: u64, source: u64, bytes: usize) -> CUresult {
    call("cuMemcpyDtoD_v2", || now(Copy::line(Place::Device(source), Place::Device(target), bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyHtoDAsync_v2(
    target: u64,
    source: In<u8>,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemcpyHtoDAsync_v2", || {
        later(stream, Copy::line(Place::Host(source.address()), Place::Device(target), bytes))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoHAsync_v2(
    target: Out<u8>,
    source: u64,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemcpyDtoHAsync_v2", || {
        later(stream, Copy::line(Place::Device(source), Place::Host(target.address()), bytes))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyDtoDAsync_v2(
    target: u64,
    source: u64,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemcpyDtoDAsync_v2", || {
        later(stream, Copy::line(Place::Device(source), Place::Device(target), bytes))
    })
}

/// What an address is in, which can be the program's or a device's.
pub(super) fn unified(address: u64) -> Result<Place> {
    let ordinal = context::current()?.ordinal;
    Ok(match memory::find(address, ordinal) {
        Some(_) => Place::Device(address),
        None => Place::Host(address as usize),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy(target: u64, source: u64, bytes: usize) -> CUresult {
    call("cuMemcpy", || now(Copy::line(unified(source)?, unified(target)?, bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyAsync(
    target: u64,
    source: u64,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemcpyAsync", || later(stream, Copy::line(unified(source)?, unified(target)?, bytes)))
}

/// A copy from the device of one context to that of another.
fn peer(target: u64, to: Handle, source: u64, from: Handle, bytes: usize) -> Result<Copy> {
    let ordinal = |context: Handle| {
        let context = CONTEXTS.get(context).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        context.usable().map(|()| context.ordinal)
    };
    let ordinals = Some([ordinal(from)?, ordinal(to)?]);
    Ok(Copy { ordinals, ..Copy::line(Place::Device(source), Place::Device(target), bytes) })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyPeer(
    target: u64,
    to: Handle,
    source: u64,
    from: Handle,
    bytes: usize,
) -> CUresult {
    call("cuMemcpyPeer", || now(peer(target, to, source, from, bytes)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpyPeerAsync(
    target: u64,
    to: Handle,
    source: u64,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemcpyPeerAsync", || later(stream, peer(target, to, source, from, bytes)?))
}
