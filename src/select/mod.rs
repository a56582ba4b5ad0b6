//! Which of several embedded binaries a device gets, and why each other one lost.
//!
//! The rules are those of the vendors:
//!
//! - A cubin runs on its own major version and the same or a higher minor one; `sm_90a` only on
//!   9.0; `sm_100f` within its family: the same major version, the same or a higher minor one.
//!   ([CUDA C++ Programming Guide, "Binary compatibility" and "Family-specific features"][guide])
//! - LLVM bitcode for NVIDIA runs nowhere by itself: a program has it compiled.
//! - PTX runs on the same or any later architecture, under the same rules for suffixes.
//! - SPIR-V runs on OpenCL devices that read its version. OpenCL C runs on all of them: their drivers compile it.
//! - SPIR-V of kernels in WGSL runs on devices of Vulkan, and, translated, on those of Metal and D3D12.
//! - An AMD code object runs on its processor, in the modes of `xnack` and `sramecc` it asks for.
//!   ([LLVM, "Target ID"][amd])
//!
//! Of those that run, the nearest is taken: the cubin of the highest architecture, else the PTX
//! of the highest architecture; SPIR-V before OpenCL C; of equals the one whose suffix or features say more.
//!
//! ```
//! use kernelmill::select::{Architecture, Verdict, select};
//! let targets = ["compute_75", "sm_80", "sm_90a"].map(|target| target.parse().unwrap());
//! let selection = select(&Architecture::Nvidia { major: 8, minor: 6 }, &targets);
//! assert_eq!(selection.chosen, Some(1));
//! assert_eq!(
//!     selection.verdicts[2].to_string(),
//!     "runs on compute capability 9.0 only, the device has 8.6"
//! );
//! assert!(matches!(selection.verdicts[0], Verdict::Outranked { .. }));
//! ```
//!
//! [guide]: https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#binary-compatibility
//! [amd]: https://llvm.org/docs/AMDGPUUsage.html#target-id

use std::fmt;

use kernelmill_artifact::NvidiaSuffix;
pub use kernelmill_artifact::{AmdTarget, NvidiaArch, Target};

pub use crate::properties::Architecture;

/// What [`select`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The index of the best candidate; `None`: none runs on the device.
    pub chosen: Option<usize>,
    /// What became of each candidate, in their order.
    pub verdicts: Vec<Verdict>,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is the best.
    Chosen,
    /// It runs on the device, but another is nearer to it.
    Outranked {
        /// The one that was chosen.
        by: Target,
    },
    /// It does not run on the device.
    Incompatible {
        /// Why not, for people.
        reason: String,
    },
}

/// How near a candidate that runs is to the device; the greatest is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    native: bool,
    number: u32,
    specific: u8,
}

/// The oldest version of SPIR-V that binaries have.
const SPIRV: (u32, u32) = (1, 2);

/// Why SPIR-V of one version does not run on a device that reads another.
pub(crate) fn spirv_reason(needed: (u32, u32), read: (u32, u32)) -> String {
    let ((major, minor), (has_major, has_minor)) = (needed, read);
    format!("is SPIR-V {major}.{minor}, the device supports {has_major}.{has_minor} at most")
}

/// Finds the best of `candidates` for a device, and what becomes of each other one.
///
/// A pure function: equal inputs give equal results. Of two equal candidates the first wins.
#[must_use]
pub fn select(device: &Architecture, candidates: &[Target]) -> Selection {
    let ranks: Vec<_> = candidates.iter().map(|candidate| rank(device, candidate)).collect();
    let mut best: Option<(usize, Rank)> = None;
    for (index, rank) in ranks.iter().enumerate() {
        if let Ok(rank) = rank
            && best.is_none_or(|(_, leader)| *rank > leader)
        {
            best = Some((index, *rank));
        }
    }
    let chosen = best.map(|(index, _)| index);
    let verdict = |(index, rank): (usize, Result<Rank, String>)| match (rank, chosen) {
        (Err(reason), _) => Verdict::Incompatible { reason },
        (Ok(_), Some(winner)) if winner != index => {
            Verdict::Outranked { by: candidates[winner].clone() }
        }
        (Ok(_), _) => Verdict::Chosen,
    };
    Selection { chosen, verdicts: ranks.into_iter().enumerate().map(verdict).collect() }
}

/// Why bitcode is loaded on no device.
const BITCODE: &str = "is LLVM bitcode, which `Kernels::compile` compiles for the device when the program asks for it";

/// The rank of a candidate that runs on the device, else why it does not.
fn rank(device: &Architecture, candidate: &Target) -> Result<Rank, String> {
    let exact = Rank { native: true, number: 0, specific: 0 };
    match (device, candidate) {
        (Architecture::Cpu, Target::Cpu)
        | (Architecture::Vulkan | Architecture::Metal | Architecture::D3d12, Target::Vulkan) => {
            Ok(exact)
        }
        (Architecture::OpenCl { .. }, Target::OpenClC) => Ok(Rank { native: false, ..exact }),
        (Architecture::OpenCl { spirv }, Target::Spirv64) => match *spirv {
            Some(newest) if newest >= SPIRV => Ok(exact),
            Some((major, minor)) => Err(spirv_reason(SPIRV, (major, minor))),
            None => Err("is SPIR-V, which the device does not support".to_owned()),
        },
        (Architecture::Nvidia { major, minor }, Target::Cubin(arch)) => {
            let runs = *major == u32::from(arch.major) && *minor >= u32::from(arch.minor);
            let range = format!("and later ones of generation {} only", arch.major);
            nvidia((*major, *minor), *arch, (runs, range))?;
            Ok(Rank { native: true, number: arch.number(), specific: arch.suffix as u8 })
        }
        (Architecture::Nvidia { .. }, Target::Bitcode(arch)) => {
            compiles(device, *arch)?;
            Err(BITCODE.to_owned())
        }
        (Architecture::Cpu, Target::CpuBitcode) => Err(BITCODE.to_owned()),
        (Architecture::Nvidia { major, minor }, Target::Ptx(arch)) => {
            let runs = (*major, *minor) >= (arch.major.into(), arch.minor.into());
            nvidia((*major, *minor), *arch, (runs, "and later".to_owned()))?;
            Ok(Rank { native: false, number: arch.number(), specific: arch.suffix as u8 })
        }
        (Architecture::Amd { processor, xnack, sramecc }, Target::Amd(target)) => {
            amd(target, processor, [*xnack, *sramecc])
        }
        _ => Err(format!(
            "is for {}, the device is {device}{}",
            vendor(candidate),
            absent_feature(candidate).map(enabled_by).unwrap_or_default()
        )),
    }
}

/// Checks that bitcode for an NVIDIA architecture can be compiled for a device: that its PTX would run there.
pub(crate) fn compiles(device: &Architecture, arch: NvidiaArch) -> Result<(), String> {
    rank(device, &Target::Ptx(arch)).map(|_| ())
}

/// Checks an NVIDIA architecture; `unrestricted` says whether one without a suffix runs, and where.
fn nvidia(
    device: (u32, u32),
    arch: NvidiaArch,
    unrestricted: (bool, String),
) -> Result<(), String> {
    let (major, minor) = (u32::from(arch.major), u32::from(arch.minor));
    let (runs, range) = match arch.suffix {
        NvidiaSuffix::Exact => (device == (major, minor), "only".to_owned()),
        NvidiaSuffix::Family => (
            device.0 == major && device.1 >= minor,
            format!("and later ones of its family {major}.x only"),
        ),
        NvidiaSuffix::None => unrestricted,
    };
    if runs {
        return Ok(());
    }
    let (has_major, has_minor) = device;
    Err(format!(
        "runs on compute capability {major}.{minor} {range}, the device has {has_major}.{has_minor}"
    ))
}

/// Checks an AMD processor and its features; `modes` are those of the device: xnack, sramecc.
fn amd(target: &AmdTarget, processor: &str, modes: [Option<bool>; 2]) -> Result<Rank, String> {
    if target.processor != processor {
        return Err(format!("runs on {} only, the device is {processor}", target.processor));
    }
    let mut specific = 0;
    for ((name, wanted), mode) in
        [("xnack", target.xnack), ("sramecc", target.sramecc)].into_iter().zip(modes)
    {
        let Some(wanted) = wanted else { continue };
        if mode != Some(wanted) {
            let needs = if wanted { "on" } else { "off" };
            let has = match mode {
                Some(true) => "on",
                Some(false) => "off",
                None => "no such mode",
            };
            return Err(format!("needs {name} {needs}, the device has {has}"));
        }
        specific += 1;
    }
    Ok(Rank { native: true, number: 0, specific })
}

/// Whose devices a target is for.
fn vendor(target: &Target) -> &'static str {
    match target {
        Target::Cpu | Target::CpuBitcode => "the CPU",
        Target::Ptx(_) | Target::Bitcode(_) | Target::Cubin(_) => "NVIDIA GPUs",
        Target::Amd(_) => "AMD GPUs",
        Target::Spirv64 | Target::OpenClC => "OpenCL",
        Target::Vulkan => "Vulkan",
        _ => "another kind of device",
    }
}

/// The feature of the back end that runs a target, where the program was built without it.
fn absent_feature(target: &Target) -> Option<&'static str> {
    let (feature, is_enabled) = match target {
        Target::Ptx(_) | Target::Bitcode(_) | Target::Cubin(_) => ("cuda", cfg!(feature = "cuda")),
        Target::Amd(_) => ("hip", cfg!(feature = "hip")),
        Target::Spirv64 | Target::OpenClC => ("opencl", cfg!(feature = "opencl")),
        Target::Vulkan => ("wgpu", cfg!(feature = "wgpu")),
        _ => return None,
    };
    (!is_enabled).then_some(feature)
}

/// What is said of a binary whose device cannot be used.
fn enabled_by(feature: &str) -> String {
    format!(
        "; kernelmill was built without its feature `{feature}`, by which such devices are used: `features = [\"{feature}\"]` \
         in Cargo.toml"
    )
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => formatter.write_str("chosen"),
            Self::Outranked { by } => write!(formatter, "{by} is a better match for the device"),
            Self::Incompatible { reason } => formatter.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests;
