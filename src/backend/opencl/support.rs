//! What the OpenCL back end can do.

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
        | C::SeveralDevices
        | C::DynamicSharedMemory
        | C::LargeSharedMemory
        | C::DeviceVariables
        | C::Panics
        | C::Printing
        | C::Tracing => Support::Full,
        C::Graphs | C::PinnedMemory | C::CopiesOfRows | C::PeerCopies | C::Clusters => {
            Support::Emulated
        }
        C::StreamOrderedAllocation
        | C::CooperativeLaunches
        | C::TensorMaps
        | C::Occupancy
        | C::Watchdog
        | C::Interoperation => Support::None,
    }
}
