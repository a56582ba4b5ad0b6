//! What to write in place of a target that does not exist: for a vendor or an interface a target of it, else the nearest name.

use kernelmill_artifact::target::ParseTargetError;

/// The help for a target that does not exist.
pub(super) fn help(error: &ParseTargetError) -> String {
    match error.text.to_ascii_lowercase().as_str() {
        "cuda" | "nvidia" | "ptx" | "nvptx" | "cubin" => {
            "write the architecture: `compute_75` makes PTX for every NVIDIA GPU from Turing on, `sm_90` a cubin for one"
                .to_owned()
        }
        "hip" | "amd" | "rocm" | "amdgpu" => {
            "write the processor, for example `gfx1100`; `rocminfo` prints that of a GPU".to_owned()
        }
        "opencl" | "spirv" => {
            "write `spirv64`, or for kernels in OpenCL C `opencl-c`, which compiles them on the device".to_owned()
        }
        "metal" | "d3d12" | "dx12" | "wgpu" | "wgsl" => {
            "write `vulkan`, which the feature `wgpu` translates for Metal and D3D12".to_owned()
        }
        _ => format!("the nearest is `{}`", error.nearest),
    }
}
