//! What all contestants share: devices, loaded kernels, inputs.

use crate::{Outcome, generated::Kernels, opencl::OpenCl};
use kernelmill::{Device, Stream};

/// How much to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As much as takes moments without optimisation.
    Small,
    /// As much as is measured.
    Full,
}

/// What all contestants share.
pub(crate) struct Setup {
    pub(crate) scale: Scale,
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) kernels: Kernels,
    /// The same on one thread.
    pub(crate) alone: (Device, Kernels),
    /// Those that are installed.
    pub(crate) opencl: Vec<OpenCl>,
}

impl Setup {
    /// Loads everything.
    ///
    /// # Errors
    ///
    /// When the kernels cannot be loaded, or an OpenCL that is there cannot be used.
    pub(crate) fn open(scale: Scale) -> Outcome<Self> {
        let (device, alone) = (Device::cpu()?, Device::cpu_sequential()?);
        Ok(Self {
            scale,
            stream: device.stream(),
            kernels: Kernels::load(&device)?,
            alone: (alone.clone(), Kernels::load(&alone)?),
            device,
            opencl: OpenCl::open_all()?,
        })
    }

    /// One of two sizes.
    pub(crate) fn pick<T>(&self, small: T, full: T) -> T {
        if self.scale == Scale::Small { small } else { full }
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) fn numbers(seed: u32, count: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.wrapping_mul(0x2c1b_3c6d) >> 1
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The same from -1 to 1.
pub(crate) fn floats(seed: u32, count: usize) -> Vec<f32> {
    numbers(seed, count).iter().map(|n| (n >> 7) as f32 / (1 << 23) as f32 - 1.0).collect()
}
