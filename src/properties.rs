//! Device properties: the back end that drives a device, its architecture, and its limits.
//!
//! Plain data. Nothing of this crate is needed here; errors, the choice of a binary and the check of
//! a launch are made from it.

use std::fmt;

/// How devices are driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// The processor.
    Cpu,
    /// NVIDIA's driver.
    Cuda,
    /// AMD's HIP run time.
    Hip,
    /// An implementation of OpenCL.
    OpenCl,
    /// A driver of Vulkan, Metal or D3D12, through wgpu.
    Wgpu,
}

impl Backend {
    /// Every back end, the best first, whether this build has it or not.
    pub(crate) const ALL: [Self; 5] = [Self::Cuda, Self::Hip, Self::OpenCl, Self::Wgpu, Self::Cpu];

    /// The word for it in `KERNELMILL_DEVICE`; that of a GPU is the name of its cargo feature too.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
            Self::OpenCl => "opencl",
            Self::Wgpu => "wgpu",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cpu => "CPU",
            Self::Cuda => "CUDA",
            Self::Hip => "HIP",
            Self::OpenCl => "OpenCL",
            Self::Wgpu => "wgpu",
        })
    }
}

/// What decides which binaries a device can run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// The processor that the program runs on.
    Cpu,
    /// An NVIDIA GPU of this compute capability.
    Nvidia {
        /// For 8.6: 8.
        major: u32,
        /// For 8.6: 6.
        minor: u32,
    },
    /// An AMD GPU, in the modes it runs in.
    Amd {
        /// For example `gfx90a`.
        processor: String,
        /// Whether retry on page faults is on; `None`: the processor has no such mode.
        xnack: Option<bool>,
        /// Whether memory is protected by error correction; `None`: it has no such mode.
        sramecc: Option<bool>,
    },
    /// A device of OpenCL, which compiles OpenCL C.
    OpenCl {
        /// The newest version of SPIR-V that it reads, for 1.2 `(1, 2)`; `None`: it reads none.
        spirv: Option<(u32, u32)>,
    },
    /// A device of Vulkan.
    Vulkan,
    /// A device of Metal, which runs what is compiled for Vulkan.
    Metal,
    /// A device of Direct3D 12, which runs what is compiled for Vulkan.
    D3d12,
}

/// What a device can launch at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Blocks in a grid, x, y, z.
    pub grid: [u32; 3],
    /// Threads in a block, x, y, z.
    pub block: [u32; 3],
    /// Threads in a block altogether.
    pub threads_per_block: u32,
    /// Bytes of shared memory in a block, static and dynamic together.
    pub shared_bytes: u32,
    /// Threads in a warp; 1 where the device does not say, as those of OpenCL and wgpu.
    pub warp_size: u32,
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => formatter.write_str("the CPU"),
            Self::Nvidia { major, minor } => {
                write!(formatter, "an NVIDIA GPU of compute capability {major}.{minor}")
            }
            Self::Amd { processor, .. } => write!(formatter, "the AMD GPU {processor}"),
            Self::OpenCl { .. } => formatter.write_str("an OpenCL device"),
            Self::Vulkan => formatter.write_str("a Vulkan device"),
            Self::Metal => formatter.write_str("a Metal device"),
            Self::D3d12 => formatter.write_str("a D3D12 device"),
        }
    }
}
