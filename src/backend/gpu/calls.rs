//! Driver calls: what the shared part of the GPU back ends asks of a driver.
//!
//! CUDA's driver and the HIP run time have the same functions under other names: contexts that are current on
//! a thread, streams, events, memory of the device and of the host, modules. Each trait here is the calls about one of
//! these, and [`Driver`] is all of them. An error names the function that has failed and what it was called
//! for.
//!
//! All calls but those of [`ContextCalls`] need the context to be current on the calling thread.

use std::{
    ffi::{CStr, c_void},
    ptr::NonNull,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    embedded::EmbeddedArtifact,
    error::Result,
    hal::{AsyncError, ErrorSlot, RowCopy, StreamRef},
};

/// All calls of a driver.
pub(in crate::backend) trait Driver:
    EventCalls + MemoryCalls + ModuleCalls
{
}

impl<D: EventCalls + MemoryCalls + ModuleCalls> Driver for D {}

/// What every driver's context keeps.
#[derive(Default)]
pub(in crate::backend) struct DriverState {
    /// Whether a stream beside the default one was ever used.
    has_streams: AtomicBool,
    /// An error that could not be returned where it was met.
    late: ErrorSlot,
}

/// Which stream a handle is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum StreamKind {
    /// The default stream.
    Default,
    /// The handle that stands for the default stream of whatever thread uses it.
    #[cfg_attr(
        not(feature = "cuda"),
        allow(dead_code, reason = "only programs with cudarc have one")
    )]
    PerThread,
    /// One that was made.
    Other,
}

/// Calls about a context, and about its streams.
pub(in crate::backend) trait ContextCalls:
    Send + Sync + Sized + 'static
{
    /// A stream, of this crate or of the program.
    type Stream: Send + Sync;
    /// What is gone when nobody can wait for streams of the context any more.
    type Anchor: Send + Sync;

    fn state(&self) -> &DriverState;

    fn default_stream(&self) -> &Arc<Self::Stream>;

    fn anchor(&self) -> Weak<Self::Anchor>;

    fn kind(stream: &Self::Stream) -> StreamKind;

    /// The driver's stream behind `stream`.
    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<Self::Stream>>;

    /// The stream of a launch or a copy, which is refused where it cannot take one.
    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<Self::Stream>>;

    /// Makes the context current.
    fn make_current(&self) -> Result<()>;

    /// Waits for all streams, with the context made current.
    fn synchronize(&self) -> Result<()>;

    /// Waits for a stream.
    fn wait(&self, stream: &Self::Stream, subject: impl FnOnce() -> String) -> Result<()>;

    /// Whether a stream has work, or cannot be asked.
    fn has_work(stream: &Self::Stream) -> bool;

    /// Whether the device is lost in such a way that nothing of it runs any more and all of it can be given back.
    fn is_lost(&self) -> bool {
        false
    }

    /// Brings records of panics to the host, where it shares no memory with the device.
    fn collect_panics(&self) {}

    /// An error that the library which drives the device has kept.
    fn library_error(&self) -> Result<()> {
        Ok(())
    }

    /// Told before work goes to `stream`: from the first one on that is not the default stream,
    /// accesses of memory are recorded.
    fn expect(&self, stream: &Self::Stream) {
        let has_streams = &self.state().has_streams;
        if Self::kind(stream) != StreamKind::Default && !has_streams.load(Ordering::Relaxed) {
            has_streams.store(true, Ordering::Relaxed);
        }
    }

    /// Whether accesses on `stream` are not recorded: it is the default stream, and the only one.
    fn is_lazy(&self, stream: &Self::Stream) -> bool {
        Self::kind(stream) == StreamKind::Default && self.has_default_alone()
    }

    /// Whether no stream beside the default one was ever used.
    fn has_default_alone(&self) -> bool {
        !self.state().has_streams.load(Ordering::Relaxed)
    }

    /// Makes the context current, for calls of the driver on this thread. An error that was met where
    /// it could not be returned, in a `drop`, is returned here, under its own name.
    fn bind(&self) -> Result<()> {
        self.library_error()?;
        self.bind_for_launch()
    }

    /// As [`ContextCalls::bind`], without the library's own error: what waits for the launch asks for that.
    fn bind_for_launch(&self) -> Result<()> {
        self.late_error()?;
        self.make_current()
    }

    /// An error that was met where it could not be returned: in a `drop`, or by the thread of a stream.
    fn late_error(&self) -> Result<()> {
        self.state().late.report()
    }

    /// Waits for a stream, with the context made current.
    fn wait_for(&self, stream: &Self::Stream) -> Result<()> {
        self.make_current()?;
        self.wait(stream, || "a stream".to_owned())
    }

    /// Gives something back to the driver in a `drop`, with the context current. That cannot be done later, so a
    /// context that cannot be made current is tried once more.
    fn release(&self, give_back: impl FnOnce() -> Result<()>) {
        let current = self.make_current().or_else(|_| self.make_current());
        self.keep(current.and_then(|()| give_back()));
    }

    /// Keeps the error of what is done in a `drop`, for the next call that can return one.
    fn keep(&self, result: Result<()>) {
        if let Err(error) = result {
            self.state().late.keep(&AsyncError::new(error));
        }
    }
}

/// How an event is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum EventUse {
    /// For the order between streams, without a time.
    Order,
    /// With a time; the host waits for it without using the processor.
    Timed,
}

impl EventUse {
    /// What the driver's functions are called for.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "hip", feature = "opencl", feature = "wgpu")),
        allow(dead_code, reason = "for drivers, and a build may have none")
    )]
    pub(in crate::backend) fn subject(self) -> String {
        match self {
            Self::Order => "the order between streams".to_owned(),
            Self::Timed => "an event".to_owned(),
        }
    }
}

/// Calls about events.
///
/// # Safety
///
/// The functions that take an event need one that was made and not destroyed, of the same context as the
/// stream or the other event.
pub(in crate::backend) trait EventCalls: ContextCalls {
    /// The driver's handle.
    type Event: Copy;

    /// Whether events can have times.
    fn has_times(&self) -> bool {
        true
    }

    fn create_event(&self, how: EventUse) -> Result<Self::Event>;

    unsafe fn record_event(event: Self::Event, stream: &Self::Stream, how: EventUse) -> Result<()>;

    /// Lets a stream wait for what was recorded.
    unsafe fn wait_event(event: Self::Event, stream: &Self::Stream, how: EventUse) -> Result<()>;

    /// Whether what was recorded is done.
    unsafe fn query_event(event: Self::Event, how: EventUse) -> Result<bool>;

    unsafe fn synchronize_event(event: Self::Event, how: EventUse) -> Result<()>;

    /// Milliseconds between two events; `None` where one of the two is not done.
    unsafe fn elapsed(earlier: Self::Event, later: Self::Event) -> Result<Option<f32>>;

    unsafe fn destroy_event(event: Self::Event, how: EventUse) -> Result<()>;
}

/// Calls about memory.
///
/// # Safety
///
/// The functions that take addresses need memory that is there, with as many bytes, and that nothing else
/// uses before the stream has come to it.
pub(in crate::backend) trait MemoryCalls: ContextCalls {
    /// Memory of the device of `bytes` bytes, more than 0, for the default stream at first.
    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Frees memory, once the default stream comes to it.
    unsafe fn free(&self, address: u64, bytes: usize) -> Result<()>;

    /// Queues a copy of zeros.
    unsafe fn zero(address: u64, bytes: usize, stream: &Self::Stream) -> Result<()>;

    /// Queues a copy to the host.
    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &Self::Stream,
    ) -> Result<()>;

    /// Queues a copy from the host.
    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &Self::Stream,
    ) -> Result<()>;

    /// Queues a copy on the device.
    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &Self::Stream) -> Result<()>;

    /// Queues a copy to `target`, of another context, on a stream of the source's own context. Gives `false` where the
    /// driver does not support that between the two.
    unsafe fn copy_peer(
        _target: (u64, &Self),
        _source: (u64, &Self),
        _bytes: usize,
        _stream: &Self::Stream,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Queues a copy of rows on the device. Where it fails, some of them may have been queued; so for the two below.
    unsafe fn copy_rows(
        target: u64,
        source: u64,
        rows: RowCopy,
        stream: &Self::Stream,
    ) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row).map(|offset| offset as u64);
            // SAFETY: promised.
            unsafe { Self::copy(target + to, source + from, rows.width, stream) }
        })
    }

    /// Queues a copy of rows to the host.
    unsafe fn download_rows(
        target: *mut u8,
        source: u64,
        rows: RowCopy,
        stream: &Self::Stream,
    ) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row);
            // SAFETY: promised.
            unsafe { Self::download(target.add(to), source + from as u64, rows.width, stream) }
        })
    }

    /// Queues a copy of rows from the host.
    unsafe fn upload_rows(
        target: u64,
        source: *const u8,
        rows: RowCopy,
        stream: &Self::Stream,
    ) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row);
            // SAFETY: promised.
            unsafe { Self::upload(target + to as u64, source.add(from), rows.width, stream) }
        })
    }

    /// Pinned memory of the host of `bytes` bytes, more than 0. Kernels can use it too where it is `mapped`.
    fn allocate_host(
        bytes: usize,
        mapped: bool,
        subject: impl FnOnce() -> String,
    ) -> Result<NonNull<c_void>>;

    /// The address by which kernels use pinned memory that is mapped.
    unsafe fn device_address(
        memory: NonNull<c_void>,
        subject: impl FnOnce() -> String,
    ) -> Result<u64>;

    unsafe fn free_host(memory: NonNull<c_void>, subject: impl FnOnce() -> String) -> Result<()>;

    /// Zeroed memory of `bytes` bytes, more than 0, which the host reads while kernels write to it, for records of panics,
    /// and its address for kernels.
    fn allocate_shared(
        &self,
        bytes: usize,
        subject: impl Fn() -> String,
    ) -> Result<(NonNull<c_void>, u64)> {
        let memory = Self::allocate_host(bytes, true, &subject)?;
        // SAFETY: the memory was just allocated, with that many bytes, and nobody else knows it.
        let address = unsafe {
            memory.cast::<u8>().write_bytes(0, bytes);
            Self::device_address(memory, subject)
        };
        match address {
            Ok(address) => Ok((memory, address)),
            Err(error) => {
                // SAFETY: as above. The first error is returned.
                let _ =
                    unsafe { Self::free_host(memory, || "memory without an address".to_owned()) };
                Err(error)
            }
        }
    }

    /// Frees memory of [`MemoryCalls::allocate_shared`].
    unsafe fn free_shared(
        &self,
        memory: NonNull<c_void>,
        subject: impl FnOnce() -> String,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { Self::free_host(memory, subject) }
    }
}

/// Calls about modules.
pub(in crate::backend) trait ModuleCalls: ContextCalls {
    /// The driver's handle.
    type Module: Copy;

    /// Loads a binary of the artifact's kernels.
    ///
    /// # Safety
    ///
    /// It is whole.
    unsafe fn load_module(
        &self,
        artifact: &EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<Self::Module>;

    /// The address and size of a variable; `None` where the module has none of that name.
    ///
    /// # Safety
    ///
    /// The module is loaded.
    unsafe fn global(&self, module: Self::Module, name: &CStr) -> Result<Option<(u64, usize)>>;

    /// Whether kernels of a module append lines to a buffer that their panic records name.
    ///
    /// # Safety
    ///
    /// The module is loaded.
    unsafe fn prints(&self, _module: Self::Module) -> Result<bool> {
        Ok(false)
    }

    /// Unloads a module.
    ///
    /// # Safety
    ///
    /// It is loaded, and nothing of it runs.
    unsafe fn unload_module(module: Self::Module, subject: impl FnOnce() -> String) -> Result<()>;
}
