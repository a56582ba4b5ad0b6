//! Streams.
//!
//! CUDA Driver API, "Stream Management".

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::call::call;
use crate::base::abi::{InOut, Out, enumerators};
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::context;
use crate::event;
use crate::graph;
use crate::memory;
use crate::stream::{self, Kind};
use crate::work::{Callback, HostCall, ValueWait, Work};
use cudarc::driver::sys::{CUhostFn, CUresult, CUstreamCallback, CUstreamCaptureStatus};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamCreate(created: Out<Handle>, flags: c_uint) -> CUresult {
    call("cuStreamCreate", || {
        created.check()?;
        created.set(context::create_stream(flags, 0)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamCreateWithPriority(
    created: Out<Handle>,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    call("cuStreamCreateWithPriority", || {
        created.check()?;
        created.set(context::create_stream(flags, priority)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamDestroy_v2(stream: Handle) -> CUresult {
    call("cuStreamDestroy_v2", || context::destroy_stream(stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetPriority(stream: Handle, priority: Out<c_int>) -> CUresult {
    call("cuStreamGetPriority", || priority.set(context::find_stream(stream)?.priority))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetFlags(stream: Handle, flags: Out<c_uint>) -> CUresult {
    call("cuStreamGetFlags", || {
        let kind = context::find_stream(stream)?.kind;
        flags.set(if kind == Kind::NonBlocking { stream::NON_BLOCKING } else { 0 })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetId(stream: Handle, id: Out<c_ulonglong>) -> CUresult {
    call("cuStreamGetId", || id.set(context::find_stream(stream)?.handle.0 as u64))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> CUresult {
    call("cuStreamGetCtx", || context.set(context::find_stream(stream)?.context()?.handle))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetDevice(stream: Handle, ordinal: Out<c_int>) -> CUresult {
    call("cuStreamGetDevice", || {
        ordinal.set(context::find_stream(stream)?.context()?.ordinal as c_int)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamSynchronize(stream: Handle) -> CUresult {
    call("cuStreamSynchronize", || context::find_stream(stream)?.synchronize())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamQuery(stream: Handle) -> CUresult {
    call("cuStreamQuery", || {
        let stream = context::find_stream(stream)?;
        stream.refuse_capture()?;
        let context = stream.context()?;
        context.refuse_legacy_capture(&stream)?;
        if context.is_idle(&stream) { context.report() } else { Err(Error::CUDA_ERROR_NOT_READY) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamWaitEvent(
    stream: Handle,
    event: Handle,
    _flags: c_uint,
) -> CUresult {
    call("cuStreamWaitEvent", || event::wait(stream, event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchHostFunc(
    stream: Handle,
    function: CUhostFn,
    data: *mut c_void,
) -> CUresult {
    call("cuLaunchHostFunc", || {
        let (_, stream) = context::resolve(stream)?;
        stream.submit(Work::Host(HostCall::new(function, data)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamWaitValue32_v2(
    stream: Handle,
    address: u64,
    value: u32,
    flags: c_uint,
) -> CUresult {
    call("cuStreamWaitValue32_v2", || {
        let (context, stream) = context::resolve(stream)?;
        stream.refuse_capture()?;
        stream.submit(Work::Wait(ValueWait::new(address, value, flags, context.ordinal)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamAddCallback(
    handle: Handle,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> CUresult {
    call("cuStreamAddCallback", || {
        if flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let (_, stream) = context::resolve(handle)?;
        stream.refuse_capture()?;
        stream.submit(Work::Callback(Callback::new(function, handle, data)?))
    })
}

enumerators! { u32: CUmemAttach_flags
    ATTACH_GLOBAL = CU_MEM_ATTACH_GLOBAL;
    ATTACH_HOST = CU_MEM_ATTACH_HOST;
    ATTACH_SINGLE = CU_MEM_ATTACH_SINGLE;
}

/// Managed memory is reached by host and devices at any time, whatever it is attached to.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamAttachMemAsync(
    stream: Handle,
    address: u64,
    _bytes: usize,
    flags: c_uint,
) -> CUresult {
    call("cuStreamAttachMemAsync", || {
        let (context, stream) = context::resolve(stream)?;
        let found =
            memory::find(address, context.ordinal).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        if found.kind != memory::Kind::Managed
            || !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST | ATTACH_SINGLE)
        {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        stream.submit(Work::Nothing)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> CUresult {
    call("cuStreamBeginCapture_v2", || {
        let (_, stream) = context::resolve(stream)?;
        graph::begin(&stream.slot, mode)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) -> CUresult {
    call("cuStreamEndCapture", || {
        graph.set(Handle::NULL)?;
        graph.set(graph::end(&context::find_stream(stream)?.slot)?)
    })
}

const NOT_CAPTURING: CUstreamCaptureStatus = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamIsCapturing(
    stream: Handle,
    status: Out<CUstreamCaptureStatus>,
) -> CUresult {
    call("cuStreamIsCapturing", || {
        let stream = context::find_stream(stream)?;
        if stream.context()?.implicit_capture(&stream).is_some() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        status.set(stream.capture().map_or(NOT_CAPTURING, |capture| capture.status()))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetCaptureInfo_v2(
    stream: Handle,
    status: Out<CUstreamCaptureStatus>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    dependencies: Out<Handle>,
    count: Out<usize>,
) -> CUresult {
    call("cuStreamGetCaptureInfo_v2", || {
        // A graph has a handle, and nodes, when its capture has ended.
        if !graph.is_null() || !dependencies.is_null() || !count.is_null() {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let capture = context::find_stream(stream)?.capture();
        status.set(capture.as_ref().map_or(NOT_CAPTURING, |capture| capture.status()))?;
        id.set_if_wanted(capture.map_or(0, |capture| capture.id));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuThreadExchangeStreamCaptureMode(mode: InOut<c_int>) -> CUresult {
    call("cuThreadExchangeStreamCaptureMode", || {
        mode.exchange(graph::exchange_thread_mode(mode.get()?)?)
    })
}
