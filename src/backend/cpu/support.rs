//! What the CPU back end can do.

use crate::capability::{Capability, Support};

/// How it has a capability.
pub(in crate::backend) fn support(capability: Capability) -> Support {
    use Capability as C;
    match capability {
        C::Streams
        | C::Events
        | C::Timing
        | C::Await
        | C::CopiesBetweenBuffers
        | C::CopiesOfRows
        | C::CooperativeLaunches
        | C::DynamicSharedMemory
        | C::LargeSharedMemory
        | C::DeviceVariables
        | C::Panics
        | C::Printing
        | C::Watchdog
        | C::Tracing => Support::Full,
        C::Graphs | C::PinnedMemory | C::Clusters | C::TensorMaps | C::PeerCopies => {
            Support::Emulated
        }
        C::QueuedLaunches
        | C::StreamOrderedAllocation
        | C::SeveralDevices
        | C::Occupancy
        | C::Interoperation => Support::None,
    }
}
