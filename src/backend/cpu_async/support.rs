//! What the asynchronous CPU back end can do.

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
        | C::CopiesBetweenBuffers
        | C::CooperativeLaunches
        | C::DynamicSharedMemory
        | C::LargeSharedMemory
        | C::DeviceVariables
        | C::Panics
        | C::Printing
        | C::Watchdog
        | C::Tracing => Support::Full,
        C::Graphs
        | C::PinnedMemory
        | C::CopiesOfRows
        | C::Clusters
        | C::TensorMaps
        | C::PeerCopies => Support::Emulated,
        C::StreamOrderedAllocation | C::SeveralDevices | C::Occupancy | C::Interoperation => {
            Support::None
        }
    }
}
