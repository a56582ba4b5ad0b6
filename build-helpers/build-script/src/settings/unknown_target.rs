//! What to write in place of a target that does not exist: for a vendor or an interface a target of it, for a
//! GPU that is too new PTX, else the nearest name.

use kernelmill_artifact::{Target, target::ParseTargetError};

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
        text => match newest_before(text) {
            Some(newest) => format!(
                "the newest that this version knows is `sm_{newest}`; newer GPUs run PTX, `compute_{newest}`, too"
            ),
            None => format!("the nearest is `{}`", error.nearest),
        },
    }
}

/// The newest architecture, where a text names one of NVIDIA's that is newer.
fn newest_before(text: &str) -> Option<u32> {
    let number = |text: &str| {
        let digits = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"))?;
        digits.trim_end_matches(['a', 'f']).parse::<u32>().ok()
    };
    let known = Target::all().into_iter().filter_map(|target| number(&target.to_string()));
    known.max().filter(|newest| number(text).is_some_and(|written| written > *newest))
}
