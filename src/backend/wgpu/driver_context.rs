//! The context of a device, and its streams.

use std::sync::{Arc, Mutex, PoisonError};

use wgpu::{DeviceDescriptor, Features, SubmissionIndex};

use super::{
    devices::ListedDevice,
    driver::{Gpu, ready, unavailable},
};
use crate::{
    backend::gpu::{calls::DriverState, shared},
    error::Result,
};

/// What streams, memory and modules have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

/// The oldest version of Vulkan that reads SPIR-V 1.4, which binaries are.
const OLDEST: (u32, u32) = (1, 2);

pub(super) struct DriverContext {
    pub(super) ordinal: usize,
    pub(super) gpu: Arc<Gpu>,
    /// The default stream.
    pub(super) stream: Arc<WgpuStream>,
    pub(super) state: DriverState,
}

/// A stream: a view of the device's one queue.
pub(super) struct WgpuStream {
    pub(super) gpu: Arc<Gpu>,
    pub(super) is_default: bool,
    /// What it gave the queue last.
    last: Mutex<Option<SubmissionIndex>>,
}

impl DriverContext {
    /// Opens a device.
    pub(super) fn new(listed: &ListedDevice, ordinal: usize) -> Result<Self> {
        let has = listed.adapter.features();
        if !has.contains(Features::PASSTHROUGH_SHADERS) {
            let reason = format!("{} takes no SPIR-V as it is", listed.name);
            return Err(unavailable(reason));
        }
        if listed.version < OLDEST {
            let ((major, minor), name) = (listed.version, &listed.name);
            let reason =
                format!("{name} has Vulkan {major}.{minor}, and SPIR-V 1.4 needs Vulkan 1.2");
            return Err(unavailable(reason));
        }
        let timestamps = Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let has_timestamps = has.contains(timestamps);
        let wanted = if has_timestamps { timestamps } else { Features::empty() };
        let description = DeviceDescriptor {
            label: Some("kernelmill"),
            required_features: Features::PASSTHROUGH_SHADERS | wanted,
            required_limits: listed.adapter.limits(),
            ..DeviceDescriptor::default()
        };
        let opened = ready(listed.adapter.request_device(&description))
            .map_err(|error| unavailable(format!("{}: {error}", listed.name)))?;
        let gpu = Arc::new(Gpu::new(listed.name.clone(), opened, has_timestamps));
        let stream = Arc::new(WgpuStream::new(&gpu, true));
        Ok(Self { ordinal, gpu, stream, state: DriverState::default() })
    }

    /// Makes a stream.
    pub(super) fn new_stream(&self) -> Arc<WgpuStream> {
        Arc::new(WgpuStream::new(&self.gpu, false))
    }
}

impl WgpuStream {
    fn new(gpu: &Arc<Gpu>, is_default: bool) -> Self {
        Self { gpu: Arc::clone(gpu), is_default, last: Mutex::default() }
    }

    /// Notes what was given to the queue.
    pub(super) fn note(&self, submission: SubmissionIndex) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(submission);
    }

    /// What it gave the queue last.
    pub(super) fn last(&self) -> Option<SubmissionIndex> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
