//! What the wgpu back end can do.

use crate::capability::{Capability, Support};

/// How it has a capability.
pub(in crate::backend) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::QueuedLaunches
        | C::Events
        | C::Timing
        | C::Await
        | C::CopiesBetweenBuffers
        | C::SeveralDevices
        | C::DynamicSharedMemory
        | C::DeviceVariables
        | C::Panics
        | C::Tracing => Support::Full,
        // A device has one queue, and copies to the host are waited for.
        C::Streams
        | C::Graphs
        | C::PinnedMemory
        | C::CopiesOfRows
        | C::PeerCopies
        | C::Clusters => Support::Emulated,
        C::StreamOrderedAllocation
        | C::CooperativeLaunches
        | C::LargeSharedMemory
        | C::TensorMaps
        | C::Occupancy
        | C::Printing
        | C::Watchdog
        | C::Interoperation => Support::None,
    }
}
