//! Capabilities: what a back end can do, and in what way. Each back end states its own; the book's table of them is
//! made of these statements.

use std::fmt;

/// Something that some back ends can do.
///
/// ```
/// use kernelmill::{Capability, Device, Support};
/// let device = Device::cpu()?;
/// assert_eq!(device.support(Capability::Events), Support::Full);
/// assert_eq!(device.support(Capability::SeveralDevices), Support::None);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Launches return when they are queued, before they run.
    QueuedLaunches,
    /// Streams beside the default one: [`Device::new_stream`](crate::Device::new_stream).
    Streams,
    /// Events: [`Stream::record`](crate::Stream::record).
    Events,
    /// Times between events, and [`Stream::time`](crate::Stream::time).
    Timing,
    /// Waiting with `.await` for streams, events and downloads.
    Await,
    /// Launches that the driver has as one object: [`Device::graph`](crate::Device::graph).
    Graphs,
    /// Memory of the host that the driver has pinned: [`PinnedBuffer`](crate::PinnedBuffer).
    PinnedMemory,
    /// Allocation and release of memory in the order of a stream, without waiting for the device.
    StreamOrderedAllocation,
    /// Queued copies between buffers of one device.
    CopiesBetweenBuffers,
    /// Copies of rows, with the host and between buffers of one device: [`Rows`](crate::Rows); emulated: the driver is given
    /// one row after the other.
    CopiesOfRows,
    /// Copies between buffers of two devices by their driver, which are waited for; emulated: the copy goes through the
    /// host.
    PeerCopies,
    /// More than one device at a time.
    SeveralDevices,
    /// Launches whose blocks can all wait for each other.
    CooperativeLaunches,
    /// Blocks that are launched as clusters, and use each other's shared memory.
    Clusters,
    /// Shared memory whose size is the launch's.
    DynamicSharedMemory,
    /// More than 48 KiB of it, where the device has more.
    LargeSharedMemory,
    /// Variables of CUDA C++ and HIP that the program reads and writes: [`DeviceVariable`](crate::DeviceVariable).
    DeviceVariables,
    /// Tiles of tensors that are copied by a descriptor of the driver: [`TensorMap`](crate::TensorMap).
    TensorMaps,
    /// The number of blocks that a multiprocessor holds, from the driver:
    /// [`CompiledKernel::occupancy`](crate::CompiledKernel::occupancy).
    Occupancy,
    /// Panics of kernels with file, line, block and thread.
    Panics,
    /// What kernels print.
    Printing,
    /// A time after which a launch is an error: `KERNELMILL_WATCHDOG`.
    Watchdog,
    /// Traces of loads, launches and copies: `KERNELMILL_TRACE`.
    Tracing,
    /// Contexts, streams and memory of another library in the program.
    Interoperation,
}

/// How a back end has a [`Capability`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Support {
    /// As it is described.
    Full,
    /// With the same results, and without what it is for: the back end does the same in another way.
    Emulated,
    /// Not at all: an error where a program asks for it, or without effect where the environment does.
    None,
}

impl Capability {
    /// Every capability, in the order of the book's table.
    pub const ALL: [Self; 24] = [
        Self::QueuedLaunches,
        Self::Streams,
        Self::Events,
        Self::Timing,
        Self::Await,
        Self::Graphs,
        Self::PinnedMemory,
        Self::StreamOrderedAllocation,
        Self::CopiesBetweenBuffers,
        Self::CopiesOfRows,
        Self::PeerCopies,
        Self::SeveralDevices,
        Self::CooperativeLaunches,
        Self::Clusters,
        Self::DynamicSharedMemory,
        Self::LargeSharedMemory,
        Self::DeviceVariables,
        Self::TensorMaps,
        Self::Occupancy,
        Self::Panics,
        Self::Printing,
        Self::Watchdog,
        Self::Tracing,
        Self::Interoperation,
    ];
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::QueuedLaunches => "queued launches",
            Self::Streams => "streams",
            Self::Events => "events",
            Self::Timing => "times of events and streams",
            Self::Await => "`.await`",
            Self::Graphs => "graphs",
            Self::PinnedMemory => "pinned memory",
            Self::StreamOrderedAllocation => "stream-ordered allocation",
            Self::CopiesBetweenBuffers => "copies between buffers of a device",
            Self::CopiesOfRows => "copies of rows",
            Self::PeerCopies => "copies between devices",
            Self::SeveralDevices => "several devices",
            Self::CooperativeLaunches => "cooperative launches",
            Self::Clusters => "clusters",
            Self::DynamicSharedMemory => "dynamic shared memory",
            Self::LargeSharedMemory => "more than 48 KiB of it",
            Self::DeviceVariables => "device variables",
            Self::TensorMaps => "tensor maps",
            Self::Occupancy => "occupancy from the driver",
            Self::Panics => "panics of kernels",
            Self::Printing => "printing",
            Self::Watchdog => "watchdog",
            Self::Tracing => "traces",
            Self::Interoperation => "streams and memory of another library",
        })
    }
}

impl fmt::Display for Support {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Full => "yes",
            Self::Emulated => "emulated",
            Self::None => "no",
        })
    }
}

/// What a back end says of itself.
#[derive(Clone, Copy, Debug)]
pub struct BackEndCapabilities {
    pub(crate) name: &'static str,
    pub(crate) support: fn(Capability) -> Support,
}

impl BackEndCapabilities {
    /// The name of its devices in `KERNELMILL_DEVICE`: `cuda`, `cpu-async`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How it has a capability.
    #[must_use]
    pub fn support(&self, capability: Capability) -> Support {
        (self.support)(capability)
    }
}
