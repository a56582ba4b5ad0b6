//! The context of a device, and its streams.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, PoisonError},
};

use wgpu::{DeviceDescriptor, Features, SubmissionIndex};

use super::{
    devices::{Api, ListedDevice},
    driver::{self, Gpu, ready},
    fences::Fences,
    fused::Fused,
    records::Records,
    translation,
};
use crate::{
    backend::gpu::{calls::DriverState, shared, stream},
    error::{Error, Result},
    properties::Backend,
};

/// What streams, memory and modules have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

/// A stream of a context.
pub(super) type Stream = stream::Stream<DriverContext>;

/// The oldest version of Vulkan that reads SPIR-V 1.4, which binaries are.
const OLDEST: (u32, u32) = (1, 2);

pub(super) struct DriverContext {
    pub(super) ordinal: usize,
    pub(super) gpu: Arc<Gpu>,
    /// Panic records of launches.
    pub(super) records: Records,
    pub(super) fused: Fused,
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

/// Why a device does not take SPIR-V as it is; `None`: it does.
fn obstacle(api: Api, has: Features, (major, minor): (u32, u32)) -> Option<String> {
    match api {
        Api::Metal | Api::D3d12 => {
            Some(format!("is a device of {api}, which does not accept SPIR-V"))
        }
        Api::Vulkan if (major, minor) < OLDEST => {
            Some(format!("supports Vulkan {major}.{minor}, but SPIR-V 1.4 needs Vulkan 1.2"))
        }
        Api::Vulkan if !has.contains(Features::PASSTHROUGH_SHADERS) => {
            Some("does not accept SPIR-V as it is (wgpu's `PASSTHROUGH_SHADERS`)".to_owned())
        }
        Api::Vulkan => None,
    }
}

impl DriverContext {
    /// Opens a device.
    pub(super) fn new(listed: &ListedDevice, ordinal: usize) -> Result<Self> {
        let has = listed.adapter.features();
        let obstacle = obstacle(listed.api, has, listed.version);
        let translates = obstacle.is_some() || translation::is_asked();
        if let Some(why) = obstacle.filter(|_| !translation::IS_BUILT) {
            let reason = format!(
                "{why}; enable the feature `wgpu-translation` of kernelmill, which translates SPIR-V"
            );
            let device = listed.name.clone();
            return Err(Error::UnsupportedDevice { backend: Backend::Wgpu, device, reason });
        }
        let timestamps = Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let has_timestamps = has.contains(timestamps);
        let wanted = |is_wanted, features| if is_wanted { features } else { Features::empty() };
        let passthrough = wanted(!translates, Features::PASSTHROUGH_SHADERS);
        let description = DeviceDescriptor {
            label: Some("kernelmill"),
            required_features: passthrough
                | wanted(has_timestamps, timestamps)
                | has & driver::optional_features(),
            required_limits: listed.adapter.limits(),
            ..DeviceDescriptor::default()
        };
        // wgpu panics where there is no memory for a part of what it makes with a device.
        let open = || ready(listed.adapter.request_device(&description));
        let opened = panic::catch_unwind(AssertUnwindSafe(open));
        let opened = opened.map_err(|panic| driver::said(&*panic));
        let opened =
            opened.and_then(|opened| opened.map_err(|error| error.to_string())).map_err(|why| {
                let reason = format!("{}: {why}", listed.name);
                Error::Unavailable { backend: Backend::Wgpu, reason }
            })?;
        let gpu = Arc::new(Gpu::new(
            listed.name.clone(),
            opened,
            (translates, has_timestamps),
            (listed.subgroup, Fences::of(listed.api == Api::Metal, &listed.driver)),
        ));
        let stream = Arc::new(WgpuStream::new(&gpu, true));
        let (records, fused) = (Records::default(), Fused::default());
        Ok(Self { ordinal, gpu, records, fused, stream, state: DriverState::default() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spirv_is_given_to_devices_of_vulkan_that_read_it() {
        let (has, lacks) = (Features::PASSTHROUGH_SHADERS, Features::TIMESTAMP_QUERY);
        let reason = |api, has, version| obstacle(api, has, version).unwrap_or_default();
        assert_eq!(reason(Api::Vulkan, has, (1, 2)), "");
        assert_eq!(reason(Api::Vulkan, has, (1, 3)), "");
        let old = "supports Vulkan 1.1, but SPIR-V 1.4 needs Vulkan 1.2";
        assert_eq!(reason(Api::Vulkan, has, (1, 1)), old);
        assert_eq!(
            reason(Api::Vulkan, lacks, (1, 3)),
            "does not accept SPIR-V as it is (wgpu's `PASSTHROUGH_SHADERS`)"
        );
        let d3d12 = "is a device of D3D12, which does not accept SPIR-V";
        assert_eq!(reason(Api::D3d12, has, (0, 0)), d3d12);
        assert_eq!(reason(Api::Metal, has, (0, 0)), d3d12.replace("D3D12", "Metal"));
    }
}
