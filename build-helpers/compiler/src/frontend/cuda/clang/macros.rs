//! Macros that say what a source is compiled for.

use kernelmill_artifact::{NvidiaArch, NvidiaSuffix};

use crate::frontend::{Architecture, cuda::source::CudaSource, generation};

/// The arguments of clang that say in which language a source is, and what it is compiled for.
pub(super) fn of(source: &CudaSource, told: Option<&Architecture>) -> Vec<String> {
    let mut macros = Vec::new();
    let wavefront = told.map_or(32, Architecture::wavefront);
    if source.is_hip() {
        let platform = match told {
            Some(Architecture::Amd(_)) => "-D__HIP_PLATFORM_AMD__=1",
            _ => "-D__HIP_PLATFORM_NVIDIA__=1",
        };
        macros.extend(
            ["-D__HIP__=1", "-D__HIPCC__=1", "-D__HIP_DEVICE_COMPILE__=1", platform]
                .map(str::to_owned),
        );
        macros.push(format!("-D__KM_WAVEFRONT={wavefront}"));
    }
    match told {
        Some(Architecture::Nvidia(arch)) => macros.extend(of_nvidia(*arch)),
        Some(Architecture::Amd(processor)) => macros.extend(of_amd(processor, wavefront)),
        None => {}
    }
    macros
}

/// What nvcc defines for an architecture, in place of what clang does.
fn of_nvidia(arch: NvidiaArch) -> Vec<String> {
    let number = 100 * u32::from(arch.major) + 10 * u32::from(arch.minor);
    let mut macros = vec!["-U__CUDA_ARCH__".to_owned(), format!("-D__CUDA_ARCH__={number}")];
    if arch.suffix != NvidiaSuffix::None {
        macros.push(format!("-D__CUDA_ARCH_FAMILY_SPECIFIC__={number}"));
    }
    if arch.suffix == NvidiaSuffix::Exact {
        macros.push(format!("-D__CUDA_ARCH_SPECIFIC__={number}"));
        macros.push(format!("-D__CUDA_ARCH_FEAT_SM{}{}_ALL", arch.major, arch.minor));
    }
    macros
}

/// What clang defines for a processor of AMD's where it compiles HIP.
fn of_amd(processor: &str, wavefront: u32) -> Vec<String> {
    let generation = generation(processor);
    vec![
        "-D__AMDGCN__=1".to_owned(),
        "-D__AMDGPU__=1".to_owned(),
        format!("-D__{processor}__=1"),
        format!("-D__GFX{generation}__=1"),
        format!("-D__amdgcn_processor__=\"{processor}\""),
        format!("-D__AMDGCN_WAVEFRONT_SIZE={wavefront}"),
        format!("-D__AMDGCN_WAVEFRONT_SIZE__={wavefront}"),
    ]
}
