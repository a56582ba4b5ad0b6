//! Streams.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::call::call;
use crate::base::abi::{HostFunction, InOut, Out, StreamCallback};
use crate::base::error::{Error, Status};
use crate::base::handle::Handle;
use crate::context;
use crate::event;
use crate::graph;
use crate::memory;
use crate::stream::{self, Kind};
use crate::work::{Callback, HostCall, Work};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamCreate(created: Out<Handle>, flags: c_uint) -> Status {
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
) -> Status {
    call("cuStreamCreateWithPriority", || {
        created.check()?;
        created.set(context::create_stream(flags, priority)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamDestroy_v2(stream: Handle) -> Status {
    call("cuStreamDestroy_v2", || context::destroy_stream(stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetPriority(stream: Handle, priority: Out<c_int>) -> Status {
    call("cuStreamGetPriority", || priority.set(context::find_stream(stream)?.priority))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetFlags(stream: Handle, flags: Out<c_uint>) -> Status {
    call("cuStreamGetFlags", || {
        let kind = context::find_stream(stream)?.kind;
        flags.set(if kind == Kind::NonBlocking { stream::NON_BLOCKING } else { 0 })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetId(stream: Handle, id: Out<c_ulonglong>) -> Status {
    call("cuStreamGetId", || id.set(context::find_stream(stream)?.handle.0 as u64))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> Status {
    call("cuStreamGetCtx", || context.set(context::find_stream(stream)?.context()?.handle))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetDevice(stream: Handle, ordinal: Out<c_int>) -> Status {
    call("cuStreamGetDevice", || {
        ordinal.set(context::find_stream(stream)?.context()?.ordinal as c_int)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamSynchronize(stream: Handle) -> Status {
    call("cuStreamSynchronize", || context::find_stream(stream)?.synchronize())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamQuery(stream: Handle) -> Status {
    call("cuStreamQuery", || {
        let stream = context::find_stream(stream)?;
        stream.refuse_capture()?;
        let context = stream.context()?;
        context.refuse_legacy_capture(&stream)?;
        if context.is_idle(&stream) { context.report() } else { Err(Error::NotReady) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamWaitEvent(
    stream: Handle,
    event: Handle,
    _flags: c_uint,
) -> Status {
    call("cuStreamWaitEvent", || event::wait(stream, event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchHostFunc(
    stream: Handle,
    function: HostFunction,
    data: *mut c_void,
) -> Status {
    call("cuLaunchHostFunc", || {
        let (_, stream) = context::resolve(stream)?;
        stream.submit(Work::Host(HostCall::new(function, data)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamAddCallback(
    handle: Handle,
    function: StreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Status {
    call("cuStreamAddCallback", || {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let (_, stream) = context::resolve(handle)?;
        stream.refuse_capture()?;
        stream.submit(Work::Callback(Callback::new(function, handle, data)?))
    })
}

/// Managed memory is reached by host and devices at any time, whatever it is attached to.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamAttachMemAsync(
    stream: Handle,
    address: u64,
    _bytes: usize,
    flags: c_uint,
) -> Status {
    call("cuStreamAttachMemAsync", || {
        let (context, stream) = context::resolve(stream)?;
        let found = memory::find(address, context.ordinal).ok_or(Error::InvalidValue)?;
        if found.kind != memory::Kind::Managed || !matches!(flags, 1 | 2 | 4) {
            return Err(Error::InvalidValue);
        }
        stream.submit(Work::Nothing)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> Status {
    call("cuStreamBeginCapture_v2", || {
        let (_, stream) = context::resolve(stream)?;
        graph::begin(&stream.slot, mode)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) -> Status {
    call("cuStreamEndCapture", || {
        graph.set(Handle::NULL)?;
        graph.set(graph::end(&context::find_stream(stream)?.slot)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamIsCapturing(stream: Handle, status: Out<c_int>) -> Status {
    call("cuStreamIsCapturing", || {
        let stream = context::find_stream(stream)?;
        if stream.context()?.implicit_capture(&stream).is_some() {
            return Err(Error::StreamCaptureImplicit);
        }
        status.set(stream.capture().map_or(0, |capture| capture.status()))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuStreamGetCaptureInfo_v2(
    stream: Handle,
    status: Out<c_int>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    dependencies: Out<Handle>,
    count: Out<usize>,
) -> Status {
    call("cuStreamGetCaptureInfo_v2", || {
        // A graph has a handle, and nodes, when its capture has ended.
        if !graph.is_null() || !dependencies.is_null() || !count.is_null() {
            return Err(Error::NotSupported);
        }
        let capture = context::find_stream(stream)?.capture();
        status.set(capture.as_ref().map_or(0, |capture| capture.status()))?;
        id.set_if_wanted(capture.map_or(0, |capture| capture.id));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuThreadExchangeStreamCaptureMode(mode: InOut<c_int>) -> Status {
    call("cuThreadExchangeStreamCaptureMode", || {
        mode.exchange(graph::exchange_thread_mode(mode.get()?)?)
    })
}
