//! kernelmill's headers: for CUDA C++ and HIP, which clang reads instead of those of the CUDA toolkit and of ROCm, and for
//! OpenCL C, with the built-in functions of the language.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, toolchain::TemporaryFolder};

macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../../", $folder, "/", $path)))),*]
    };
}

/// The headers of a language.
pub(crate) struct Headers {
    /// `(path, text)` of every header.
    files: &'static [(&'static str, &'static str)],
    /// What their folder is called in compiled code, so that no path of the machine is in it.
    pub(crate) name: &'static str,
}

/// A digest of all headers, made when this crate was built.
const DIGEST: &str = env!("KERNELMILL_HEADERS_DIGEST");

/// What every source starts with.
pub(crate) const PRELUDE: &str = "kernelmill/prelude.h";

/// What sources in HIP start with behind it.
pub(crate) const HIP_PRELUDE: &str = "kernelmill/hip.h";

/// Those of CUDA C++ and HIP.
pub(crate) const CUDA: Headers = Headers { name: "kernelmill-cuda/", files: CUDA_FILES };

/// Those of OpenCL C.
pub(crate) const OPENCL: Headers = Headers { name: "kernelmill-opencl/", files: OPENCL_FILES };

/// The header that is in both lists.
const SHARED: &str = "kernelmill/special.h";

const OPENCL_FILES: &[(&str, &str)] = &[
    ("kernelmill/atomics.h", include_str!("../../../../opencl/kernelmill/atomics.h")),
    ("kernelmill/common.h", include_str!("../../../../opencl/kernelmill/common.h")),
    ("kernelmill/conversions.h", include_str!("../../../../opencl/kernelmill/conversions.h")),
    ("kernelmill/integer.h", include_str!("../../../../opencl/kernelmill/integer.h")),
    ("kernelmill/lanes.h", include_str!("../../../../opencl/kernelmill/lanes.h")),
    ("kernelmill/math.h", include_str!("../../../../opencl/kernelmill/math.h")),
    ("kernelmill/memory.h", include_str!("../../../../opencl/kernelmill/memory.h")),
    ("kernelmill/operations.h", include_str!("../../../../opencl/kernelmill/operations.h")),
    ("kernelmill/prelude.h", include_str!("../../../../opencl/kernelmill/prelude.h")),
    ("kernelmill/relational.h", include_str!("../../../../opencl/kernelmill/relational.h")),
    (SHARED, include_str!("../../../../cuda/kernelmill/special.h")),
    ("kernelmill/subgroups.h", include_str!("../../../../opencl/kernelmill/subgroups.h")),
    ("kernelmill/workgroups.h", include_str!("../../../../opencl/kernelmill/workgroups.h")),
];

const CUDA_FILES: &[(&str, &str)] = files! { "cuda":
    "assert.h" "builtin_types.h" "cooperative_groups.h" "cooperative_groups/reduce.h" "cooperative_groups/scan.h" "cuda.h"
    "cuComplex.h" "cublasLt.h" "cublas_v2.h" "cufft.h" "curand.h" "cusolverDn.h" "cusparse.h" "cuda/std/array" "cuda/std/cmath" "cuda/std/cstddef" "cuda/std/cstdint" "cuda/std/limits"
    "cub/cub.cuh"
    "cub/block/block_exchange.cuh" "cub/block/block_load.cuh" "cub/block/block_reduce.cuh" "cub/block/block_scan.cuh"
    "cub/block/block_store.cuh" "cub/device/device_for.cuh" "cub/device/device_histogram.cuh" "cub/device/device_merge_sort.cuh"
    "cub/device/device_partition.cuh" "cub/device/device_radix_sort.cuh" "cub/device/device_reduce.cuh"
    "cub/device/device_run_length_encode.cuh" "cub/device/device_scan.cuh" "cub/device/device_segmented_radix_sort.cuh"
    "cub/device/device_segmented_reduce.cuh" "cub/device/device_segmented_sort.cuh" "cub/device/device_select.cuh"
    "cub/iterator/counting_input_iterator.cuh" "cub/iterator/transform_input_iterator.cuh" "cub/thread/thread_operators.cuh"
    "cub/util_allocator.cuh" "cub/util_debug.cuh" "cub/util_macro.cuh" "cub/util_type.cuh" "cub/warp/warp_exchange.cuh"
    "cub/warp/warp_reduce.cuh" "cub/warp/warp_scan.cuh"
    "cuda/std/tuple" "cuda/std/type_traits" "cuda/std/utility" "cuda_bf16.h"
    "cuda_device_runtime_api.h" "cuda_fp16.h" "cuda_fp8.h" "cuda_profiler_api.h" "cuda_runtime.h" "cuda_runtime_api.h"
    "device_atomic_functions.h" "device_functions.h" "device_launch_parameters.h" "driver_types.h"
    "hip/amd_detail/amd_hip_vector_types.h" "hip/channel_descriptor.h" "hip/device_functions.h" "hip/driver_types.h" "hip/hip_bf16.h" "hip/hip_bfloat16.h" "hip/hip_common.h" "hip/hip_complex.h" "hip/hip_cooperative_groups.h" "hip/hip_fp16.h" "hip/hip_fp8.h" "hip/hip_math_constants.h" "hip/hip_profile.h" "hip/hip_runtime.h" "hip/hip_runtime_api.h" "hip/hip_texture_types.h" "hip/hip_vector_types.h" "hip/hip_version.h" "hip/library_types.h" "hip/math_functions.h" "hip/surface_types.h" "hip/texture_types.h"
    "kernelmill/atomics.h" "kernelmill/bits.h" "kernelmill/conversions.h"
    "kernelmill/cub_block.h" "kernelmill/cub_device.h" "kernelmill/cub_functions.h" "kernelmill/cub_items.h" "kernelmill/cub_warp.h"
    "kernelmill/derivative.h"
    "kernelmill/driver.h" "kernelmill/function.h" "kernelmill/half_precision.h" "kernelmill/hip.h" "kernelmill/hip_amdgcn.h" "kernelmill/hip_host.h" "kernelmill/hip_vectors.h"
    "kernelmill/hip_wavefront.h" "kernelmill/host.h" "kernelmill/host_constants.h"
    "kernelmill/host_functions.h"
    "kernelmill/library.h"
    "kernelmill/math.h" "kernelmill/memory.h" "kernelmill/operations.h" "kernelmill/prelude.h"
    "kernelmill/print.h" "kernelmill/qualifiers.h" "kernelmill/rounding.h" "kernelmill/special.h"
    "kernelmill/vector_types.h" "kernelmill/warp.h" "library_types.h" "math_constants.h"
    "math_functions.h" "nvToolsExt.h" "nvtx3/nvToolsExt.h" "nvtx3/nvToolsExtCudaRt.h" "omp.h" "vector_functions.h" "vector_types.h"
};

/// Writes the headers into a folder of the scratch folder, once, and gives it.
pub(crate) fn install(headers: &Headers, scratch: &Path) -> Result<PathBuf, Error> {
    let folder = headers.name.replace('/', "-headers-") + &DIGEST[..24];
    let folder = scratch.join(folder);
    if folder.join(PRELUDE).exists() {
        return Ok(folder);
    }
    let temporary = TemporaryFolder::new(scratch, "cuda")?;
    for (name, text) in headers.files {
        let path = temporary.path.join(name);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(&temporary.path))?;
            fs::write(&path, text)
        };
        write().map_err(|source| Error::Io { action: "write", path: path.clone(), source })?;
    }
    // Where another process was faster, its folder stays.
    if let Err(source) = fs::rename(&temporary.path, &folder)
        && !folder.join(PRELUDE).exists()
    {
        return Err(Error::Io { action: "create", path: folder, source });
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_in(folder: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let (mut names, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        names.sort();
        names
    }

    #[test]
    fn every_header_in_the_folders_is_in_the_lists() {
        for (folder, files) in [("cuda", CUDA_FILES), ("opencl", OPENCL_FILES)] {
            let mut listed: Vec<_> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
            if folder == "opencl" {
                listed.retain(|name| name != SHARED);
            }
            listed.sort();
            assert_eq!(files_in(folder), listed);
        }
    }
}
