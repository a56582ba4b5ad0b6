//! Builds of small packages with kernels in HIP: what is refused, and what is built again.

use test_support::Package;

/// A package for these targets with one file, `kernels/k.hip`.
fn package(targets: &str, text: &str) -> Package {
    let settings = format!("targets = [{targets}]\n");
    Package::new(env!("CARGO_BIN_EXE_build_hip_package"), &settings, &[("kernels/k.hip", text)])
}

/// Builds a package that must fail, and compares what is said.
#[track_caller]
fn fails(name: &str, package: &Package) {
    package.fails(env!("CARGO_MANIFEST_DIR"), name);
}

const ALL: &str = "\"cpu\", \"compute_80\", \"gfx90a\", \"gfx1100\"";

#[test]
fn clangs_errors_have_their_lines() {
    let text = "#include <hip/hip_runtime.h>\n__global__ void k(float *x) {\n  x[0] = __shfl_dwon(x[1], 1);\n}\n";
    fails("syntax", &package(ALL, text));
}

const BUILTIN: &str = "#include <hip/hip_runtime.h>\n\
    __device__ int next(int x) { return __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, true); }\n\
    __global__ void k(int *x) {\n  x[threadIdx.x] = next(x[threadIdx.x]);\n}\n";

#[test]
fn functions_of_amds_processors_are_refused_elsewhere_by_name() {
    fails("builtin", &package(ALL, BUILTIN));
}

#[test]
fn functions_of_amds_processors_are_compiled_for_those() {
    let package = package("\"gfx90a\", \"gfx1100\"", BUILTIN);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
}

/// What is for AMD alone is seen for no other target, whatever else it is.
#[test]
fn the_macros_are_those_of_each_target() {
    let text = "#include <hip/hip_runtime.h>\n\
        #if !defined(__HIP__) || !defined(__HIPCC__) || !defined(__HIP_DEVICE_COMPILE__)\n#error \"no HIP\"\n#endif\n\
        #if defined(__HIP_PLATFORM_AMD__)\n\
        #if defined(__CUDACC__) || defined(__CUDA_ARCH__) || !defined(__AMDGCN__)\n#error \"not AMD\"\n#endif\n\
        #if defined(__gfx90a__)\n\
        static_assert(warpSize == 64 && __AMDGCN_WAVEFRONT_SIZE == 64 && __GFX9__ == 1, \"\");\n\
        #elif defined(__gfx1100__)\n\
        static_assert(warpSize == 32 && __AMDGCN_WAVEFRONT_SIZE == 32 && __GFX11__ == 1, \"\");\n\
        #else\n#error \"another processor\"\n#endif\n\
        #elif !defined(__HIP_PLATFORM_NVIDIA__) || !defined(__CUDA_ARCH__) || defined(__gfx90a__)\n\
        #error \"not NVIDIA\"\n\
        #elif __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900\n#error \"another architecture\"\n#endif\n\
        __global__ void k(float *x) { x[0] = warpSize; }\n";
    let package = package("\"cpu\", \"compute_90\", \"gfx90a\", \"gfx1100\"", text);
    assert_eq!(package.summary(), "kernelmill: compiled 4 cached 0");
    assert!(package.output("k.compute_90.ptx").contains(".target sm_90"));
    // Wrappers have AMD's own warps of 64 lanes nowhere: the signature is the same for every target.
    assert!(package.output("kernels.rs").contains("pub unsafe fn k("));
}

/// Votes of wavefronts of 64 lanes are one instruction, and so are their shuffles.
#[test]
fn wide_wavefronts_shuffle_and_vote_at_once() {
    let text = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned long long *x) {\n  \
                x[threadIdx.x] = __ballot(x[threadIdx.x] > 7) + __shfl_xor((int)x[threadIdx.x], 32);\n}\n";
    let mut package = package("\"gfx90a\", \"gfx1100\"", text);
    package.variables.push(("KERNELMILL_DUMP", "asm".to_owned()));
    package.variables.push(("KERNELMILL_DUMP_DIR", "dump".to_owned()));
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let code = |target: &str| {
        std::fs::read_to_string(package.path(&format!("dump/app/k.{target}.s"))).unwrap()
    };
    let count = |target: &str, word: &str| code(target).matches(word).count();
    assert!(code("gfx1100").contains(".amdhsa_wavefront_size32 1"), "{}", code("gfx1100"));
    assert_eq!(count("gfx90a", "ds_bpermute_b32"), 1);
    // The number of a lane has a second half where there are 64 of them.
    let halves = ["gfx90a", "gfx1100"].map(|target| count(target, "v_mbcnt_hi_u32_b32") > 0);
    assert_eq!(halves, [true, false], "{}", code("gfx90a"));
}

#[test]
fn a_header_of_hip_in_a_file_of_another_name_says_what_to_do() {
    let text = "#include <hip/hip_runtime.h>\n__global__ void k(float *x) { x[0] = 1; }\n";
    let package = Package::new(
        env!("CARGO_BIN_EXE_build_hip_package"),
        "targets = [\"cpu\"]\n",
        &[("kernels/k.cu", text)],
    );
    fails("name", &package);
}

#[test]
fn a_header_is_watched_and_definitions_arrive() {
    let text = "#include <hip/hip_runtime.h>\n#include \"by.h\"\n__global__ void k(float *x) { x[0] *= BY * SCALE; }\n";
    let package = package("\"cpu\"", text);
    package.write("kernels/by.h", "#define BY 2\n");
    package.write("kernelmill.toml", "targets = [\"cpu\"]\ndefine = { SCALE = 3 }\n");
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    package.write("kernels/by.h", "#define BY 4\n");
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    assert!(package.build().lines.contains("kernels/by.h"));
}
