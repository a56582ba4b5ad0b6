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
        #if defined(__CUDACC__) || defined(__NVCC__) || defined(__CUDA_ARCH__) || !defined(__AMDGCN__)\n#error \"not AMD\"\n#endif\n\
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

/// A package for these targets with a function of each kind, whose masks are of a type.
fn with_masks(targets: &str, mask: &str) -> Package {
    let text = format!(
        "#include <hip/hip_runtime.h>\n#include <hip/hip_cooperative_groups.h>\n\
         __global__ void k(int *x, {mask} mask) {{\n  int all, own = x[threadIdx.x];\n  \
         __syncwarp(mask);\n  \
         x[0] = __shfl_sync(mask, own, 3) + __shfl_xor_sync(mask, own, 1, 8);\n  \
         x[1] = __shfl_up_sync(mask, own, 1) + __shfl_down_sync(mask, own, 1);\n  \
         x[2] = __popcll(__ballot_sync(mask, own)) + __any_sync(mask, own) + __all_sync(mask, own);\n  \
         x[3] = __match_any_sync(mask, own) + __match_all_sync(mask, own, &all);\n  \
         x[4] = __reduce_add_sync(mask, own) + __reduce_xor_sync(mask, (unsigned int)own);\n  \
         __syncwarp();\n  \
         x[5] = cooperative_groups::coalesced_threads().any(own);\n}}\n"
    );
    package(targets, &text)
}

/// They would mean half of a wavefront of 64 lanes, and AMD's headers refuse them for every processor.
#[test]
fn masks_of_32_bits_are_refused_for_amd() {
    fails("masks", &with_masks("\"gfx1100\"", "unsigned int"));
    let text = "#include <hip/hip_runtime.h>\n\
                __global__ void k(int *x) {\n  x[0] = __shfl_down_sync(0xffffffff, x[1], 1);\n}\n";
    fails("literal_mask", &package(ALL, text));
}

#[test]
fn masks_of_64_bits_are_for_all_and_those_of_32_for_warps_of_32() {
    let summary = with_masks(ALL, "unsigned long long").summary();
    assert_eq!(summary, "kernelmill: compiled 4 cached 0");
    let summary = with_masks("\"cpu\", \"compute_80\"", "unsigned int").summary();
    assert_eq!(summary, "kernelmill: compiled 2 cached 0");
}

/// The optimised code of a kernel without what only debuggers read.
fn optimised(package: &Package, kernel: &str, target: &str) -> String {
    let path = package.path(&format!("dump/app/{kernel}.{target}.opt.ll"));
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::trim).filter(|it| !it.starts_with(['#', '!', ';']));
    lines.map(|it| format!("{}\n", it.split(", !dbg").next().unwrap_or(it))).collect()
}

/// What is voted goes nowhere through 32 bits, and loops over the lanes and widths have 64 of them.
#[test]
fn wide_wavefronts_have_masks_of_64_bits_in_their_code() {
    let text = "#include <hip/hip_runtime.h>\ntypedef unsigned long long Lanes;\n\
        __global__ void votes(Lanes *x) { x[threadIdx.x] = __ballot_sync(~0ull, x[threadIdx.x] > 7); }\n\
        __global__ void active(Lanes *x) { if (x[threadIdx.x] > 7) x[threadIdx.x] = __activemask(); }\n\
        __global__ void same(int *x, Lanes *y, Lanes mask) { y[threadIdx.x] = __match_any_sync(mask, x[threadIdx.x]); }\n\
        __global__ void all(int *x, Lanes *y, Lanes mask) { int p; y[threadIdx.x] = __match_all_sync(mask, x[threadIdx.x], &p); }\n\
        __global__ void sums(int *x, Lanes mask) { x[threadIdx.x] = __reduce_add_sync(mask, x[threadIdx.x]); }\n\
        __global__ void turned(int *x, int lane) { x[threadIdx.x] = __shfl(x[threadIdx.x], lane); }\n";
    let mut package = package("\"gfx90a\", \"gfx1100\"", text);
    package.variables.push(("KERNELMILL_DUMP", "opt".to_owned()));
    package.variables.push(("KERNELMILL_DUMP_DIR", "dump".to_owned()));
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    for kernel in ["votes", "active", "same", "all"] {
        let [wide, narrow] = ["gfx90a", "gfx1100"].map(|it| optimised(&package, kernel, it));
        assert!(wide.contains("call noundef i64 @llvm.amdgcn.ballot.i64("), "{kernel}: {wide}");
        for cut in ["ballot.i32", "to i32\n", "i64 4294967295"] {
            assert!(!wide.contains(cut), "{kernel}: {cut} in {wide}");
        }
        assert!(narrow.contains("@llvm.amdgcn.ballot.i32("), "{kernel}: {narrow}");
    }
    for kernel in ["same", "all", "sums"] {
        let wide = optimised(&package, kernel, "gfx90a");
        let ends = wide.lines().any(|it| it.contains("icmp eq i32") && it.ends_with(", 64"));
        assert!(ends && wide.contains("shl nuw i64 1, "), "{kernel}: {wide}");
    }
    let width = |target: &str, mask: u32| {
        optimised(&package, "turned", target).contains(&format!("and i32 %1, {mask}\n"))
    };
    assert!(width("gfx90a", 63) && width("gfx1100", 31));
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
