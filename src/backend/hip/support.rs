//! What the HIP back end can do.

use crate::capability::{Capability, Support};

/// How it has a capability.
pub(in crate::backend) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::QueuedLaunches
        | C::Streams
        | C::Events
        | C::Timing
        | C::Await
        | C::Graphs
        | C::PinnedMemory
        | C::StreamOrderedAllocation
        | C::CopiesBetweenBuffers
        | C::CopiesOfRows
        | C::PeerCopies
        | C::SeveralDevices
        | C::CooperativeLaunches
        | C::DynamicSharedMemory
        | C::LargeSharedMemory
        | C::DeviceVariables
        | C::Occupancy
        | C::Panics
        | C::Printing
        | C::Tracing
        | C::Interoperation => Support::Full,
        C::Clusters | C::TensorMaps => Support::Emulated,
        C::Watchdog => Support::None,
    }
}
