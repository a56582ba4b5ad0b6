//! Files that stand for kernels which other compilers than kernelmill's make: nvcc, ptxas, and those for OpenCL devices
//! and for Vulkan. What LLVM makes is in the tests of the compiler.

use std::fs;

use test_support::{Package, tool};

const FILL: &str = "KERNELMILL_OVERRIDE_fill";

/// A package with these settings and one file.
fn package(settings: &str, file: (&str, &str)) -> Package {
    Package::new(env!("CARGO_BIN_EXE_build_mixed_package"), settings, &[file])
}

/// Sets the file that stands for the kernel `fill`, and takes that of before.
fn set(package: &mut Package, file: &str) {
    package.variables.retain(|(name, _)| *name != FILL);
    package.variables.push((FILL, file.to_owned()));
}

/// The warnings of a build that succeeds.
#[track_caller]
fn warnings(package: &Package) -> Vec<String> {
    let built = package.build();
    assert_eq!(built.error, None, "{}", built.lines);
    let lines = built.lines.lines();
    lines.filter_map(|line| line.strip_prefix("cargo::warning=")).map(str::to_owned).collect()
}

/// Whether a file in `OUT_DIR` has a constant as four bytes.
fn has(package: &Package, name: &str, constant: u32) -> bool {
    let bytes = fs::read(package.path("target/out").join(name)).expect("a binary of the build");
    bytes.windows(4).any(|bytes| bytes == constant.to_le_bytes())
}

/// How an error ends that names a file which cannot stand for `fill`.
#[track_caller]
fn refused(package: &Package, file: &str, why: &str) {
    let error = package.error();
    let expected = format!("{file} cannot replace the kernel `fill`: {why}");
    assert!(error.contains(&expected), "{error}");
}

const CUDA: &str = "\
__device__ unsigned shared_by_both = 3;
__device__ unsigned helper(unsigned x) { return x * shared_by_both; }
extern \"C\" __global__ void fill(unsigned *x) { x[threadIdx.x] = helper(4711); shared_by_both += 1; }
extern \"C\" __global__ void keep(unsigned *x) { x[threadIdx.x] = helper(4712); }
";
const NVIDIA: &str = "targets = [\"compute_80\", \"sm_80\"]\ncuda-compiler = \"nvcc\"\n";

/// A package whose kernels nvcc compiles.
fn by_nvcc(settings: &str) -> Option<Package> {
    let nvcc = tool::nvidia("nvcc")?;
    let mut package = package(settings, ("kernels/a.cu", CUDA));
    package.variables.push(("KERNELMILL_NVCC", nvcc.display().to_string()));
    Some(package)
}

/// Acceptance: S3.10.
#[test]
fn ptx_stands_for_a_kernel_that_nvcc_compiles() {
    let Some(mut package) = by_nvcc(NVIDIA) else { return };
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let plain = package.output("a.compute_80.ptx");
    assert_eq!(plain.matches("4711").count(), 1, "{plain}");
    package.write("edited.ptx", &plain.replace("4711", "305419896"));
    set(&mut package, "edited.ptx");
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let text = package.output("a.compute_80.ptx");
    assert!(
        text.contains("305419896") && text.contains("4712") && !text.contains("4711"),
        "{text}"
    );
    // What both texts have is there once: the kernels share it.
    assert_eq!(text.matches(".global .align 4 .u32 shared_by_both").count(), 1, "{text}");
    assert!(has(&package, "a.sm_80.cubin", 305_419_896) && has(&package, "a.sm_80.cubin", 4712));
    assert!(!has(&package, "a.sm_80.cubin", 4711));
    let said = "this build has overridden code: `edited.ptx` replaces the PTX of the kernel `fill` of kernels/a.cu, \
                because KERNELMILL_OVERRIDE_fill is set";
    assert_eq!(warnings(&package), [said]);
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
    package.write("edited.ptx", &plain.replace("4711", "305419897"));
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert!(has(&package, "a.sm_80.cubin", 305_419_897));
    package.write(
        "edited.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry g() { ret; }\n",
    );
    refused(&package, "edited.ptx", "it has no entry `fill`, only: `g`");
    set(&mut package, "gone.ptx");
    let said = "KERNELMILL_OVERRIDE_fill is `gone.ptx`, which cannot be read: the kernel `fill` is compiled from \
                kernels/a.cu";
    assert_eq!(warnings(&package), [said]);
    assert_eq!(package.output("a.compute_80.ptx"), plain);
    assert!(has(&package, "a.sm_80.cubin", 4711));
}

/// Acceptance: S3.10.
#[test]
fn a_source_stands_for_a_kernel_that_nvcc_compiles() {
    // nvcc stays the compiler, as it has what the file stands for.
    let Some(mut package) = by_nvcc("targets = [\"compute_80\", \"sm_80\"]\n") else { return };
    let nvccs =
        |package: &Package| package.output("a.compute_80.ptx").contains("NVIDIA NVVM Compiler");
    package.write("other.cuh", "#define VALUE 305419896u\n");
    let other = "#include \"other.cuh\"\n\
                 __global__ void mine(unsigned *x) { x[threadIdx.x] = VALUE; }\n";
    package.write("other.cu", other);
    set(&mut package, "other.cu");
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let text = package.output("a.compute_80.ptx");
    assert!(nvccs(&package), "{text}");
    assert!(
        text.contains("305419896") && text.contains("4712") && !text.contains("4711"),
        "{text}"
    );
    assert!(text.contains(".entry fill(") && !text.contains("mine("), "{text}");
    assert!(has(&package, "a.sm_80.cubin", 305_419_896) && !has(&package, "a.sm_80.cubin", 4711));
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
    package.write("other.cuh", "#define VALUE 305419897u\n");
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert!(package.build().lines.contains("other.cuh"), "what it includes is watched");
    assert!(has(&package, "a.sm_80.cubin", 305_419_897));
    package.write("other.cu", "__global__ void a(int *x) {}\n__global__ void b(int *x) {}\n");
    refused(&package, "other.cu", "it has no kernel `fill`");
    package.write("other.cu", "__global__ void fill(unsigned *x, int n) {}\n");
    refused(&package, "other.cu", "its parameters have (8, 4) bytes, and those of the kernel (8)");
}

/// Acceptance: S3.10.
#[test]
fn ptx_stands_for_a_kernel_in_ptx() {
    let body = |constant: u32| {
        format!(
            ".visible .entry fill(.param .u64 x)\n{{ .reg .b64 %a; ld.param.u64 %a, [x]; \
                                        st.u32 [%a], {constant}; ret; }}\n"
        )
    };
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let text = format!("{head}{}.visible .entry keep() {{ ret; }}\n", body(4711));
    let settings = "targets = [\"compute_80\"]\n[kernels.fill]\nparameters = [\"x: *mut u32\"]\n";
    let mut package = package(settings, ("kernels/a.ptx", &text));
    package.write("edited.ptx", &format!("{head}{}", body(4712)));
    set(&mut package, "edited.ptx");
    let _ = warnings(&package);
    let text = package.output("a.ptx.compute_80.ptx");
    assert!(text.contains("4712") && text.contains("keep") && !text.contains("4711"), "{text}");
    package.write("edited.ptx", &format!("{head}{}", body(4713)));
    let _ = warnings(&package);
    assert!(package.output("a.ptx.compute_80.ptx").contains("4713"), "its content is in the key");
}

const OPENCL: &str = "\
kernel void fill(global uint *x) { x[get_global_id(0)] = 4711; }
kernel void keep(global uint *x) { x[get_global_id(0)] = 4712; }
";

/// Acceptance: S3.10.
#[test]
fn files_stand_for_kernels_of_opencl_devices() {
    if tool::clang().is_none() {
        return;
    }
    let settings = "targets = [\"cpu\", \"spirv64\", \"opencl-c\"]\n";
    let mut package = package(settings, ("kernels/a.cl", OPENCL));
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    let (text, module) =
        (package.output("a.opencl-c.cl"), package.path("target/out/a.spirv64.spv"));
    let whole = fs::read(&module).expect("a module");
    let other = "kernel void mine(global uint *x) { x[get_global_id(0)] = 305419896; }\n";
    package.write("other.cl", other);
    set(&mut package, "other.cl");
    // The other kernels stay in a module without it.
    assert_eq!(package.summary(), "kernelmill: compiled 5 cached 0");
    assert!(package.output("a.opencl-c.fill.cl").contains("305419896"));
    assert!(has(&package, "a.spirv64.fill.spv", 305_419_896));
    assert!(has(&package, "a.cpu.o", 305_419_896) && has(&package, "a.cpu.o", 4712));
    assert!(!has(&package, "a.cpu.o", 4711));
    // A launch is of the kernel in the files' modules, and of no other.
    let bindings: String = package.output("kernels.rs").split_whitespace().collect();
    let count = |entry: &str| bindings.matches(&format!("EmbeddedKernel::loaded({entry},")).count();
    let counts = ["0,\"mine\"", "0,\"fill\"", "1,\"keep\""].map(count);
    assert_eq!(counts, [2, 0, 2], "{bindings}");
    let said = "this build has overridden code: `other.cl` replaces the source of the kernel `fill` of kernels/a.cl, \
                because KERNELMILL_OVERRIDE_fill is set";
    assert_eq!(warnings(&package), [said]);
    package.write("other.cl", "kernel void fill(global uint *x, uint n) { x[0] = n; }\n");
    let error = package.error();
    assert!(error.contains("other.cl cannot replace the kernel `fill`: "), "{error}");

    // A module of SPIR-V is taken as it is, for its own target alone.
    fs::write(package.path("edited.spv"), &whole).expect("a folder of the test");
    set(&mut package, "edited.spv");
    let _ = warnings(&package);
    assert_eq!(fs::read(package.path("target/out/a.spirv64.fill.spv")).expect("a module"), whole);
    assert_eq!(package.output("a.opencl-c.cl"), text, "and other targets are as they were");
    assert!(!package.path("target/out/a.opencl-c.fill.cl").exists());
    assert!(has(&package, "a.cpu.o", 4711));
    fs::write(package.path("edited.spv"), b"no module").expect("a folder of the test");
    refused(&package, "edited.spv", "it is not a SPIR-V module in little-endian words");

    set(&mut package, "gone.spv");
    assert_eq!(
        warnings(&package),
        [
            "KERNELMILL_OVERRIDE_fill is `gone.spv`, which cannot be read: the kernel `fill` is compiled from kernels/a.cl"
        ]
    );
    assert_eq!(fs::read(&module).expect("a module"), whole);
    assert!(!package.path("target/out/a.spirv64.fill.spv").exists());
}

/// Kernels that go through the LLVM pipeline on their way to SPIR-V.
///
/// Acceptance: S3.10.
#[test]
fn files_stand_for_kernels_that_become_spirv() {
    if tool::clang().is_none() {
        return;
    }
    let mut package = package("targets = [\"cpu\", \"spirv64\"]\n", ("kernels/a.cu", CUDA));
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    let module = "a.spirv64.spv";
    assert!(has(&package, module, 4711) && has(&package, module, 4712));
    let with = |package: &mut Package, file: &str, text: &str, constant: u32| {
        package.write(file, text);
        set(package, file);
        assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
        let has = |constant| has(package, module, constant);
        assert!(has(constant) && has(4712) && !has(4711), "{file}");
    };
    let other = "__global__ void mine(unsigned *x) { x[threadIdx.x] = 305419896u; }\n";
    with(&mut package, "other.cu", other, 305_419_896);
    let ir = "define void @__kernelmill_entry_fill(ptr %x) {\n  store i32 305419897, ptr %x\n  ret void\n}\n";
    with(&mut package, "edited.ll", ir, 305_419_897);
    package.write("edited.ll", "define void @other() {\n  ret void\n}\n");
    let error = package.error();
    assert!(error.contains("edited.ll cannot replace the kernel `fill`: "), "{error}");
}

/// Acceptance: S3.10.
#[test]
fn files_stand_for_kernels_of_vulkan() {
    let text = |body: &str| {
        format!("@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n{body}")
    };
    let kernel = |name: &str, constant: u32| {
        format!("@compute @workgroup_size(1) fn {name}() {{ x[0] = {constant}u; }}\n")
    };
    let both = text(&(kernel("fill", 4711) + &kernel("keep", 4712)));
    let mut package = package("targets = [\"vulkan\"]\n", ("kernels/a.wgsl", &both));
    package.write("other.wgsl", &text(&kernel("mine", 305_419_896)));
    set(&mut package, "other.wgsl");
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert!(has(&package, "a.wgsl.vulkan.fill.spv", 305_419_896));
    assert!(has(&package, "a.wgsl.vulkan.spv", 4712));
    package.write("other.wgsl", &text("@compute @workgroup_size(2) fn fill() { x[0] = 1u; }\n"));
    refused(
        &package,
        "other.wgsl",
        "its workgroup has [2, 1, 1] threads, and that of the kernel [1, 1, 1]",
    );
    package.write("other.wgsl", "@compute @workgroup_size(1) fn fill() {}\n");
    let error = package.error();
    assert!(
        error.contains("other.wgsl cannot replace the kernel `fill`: its signature is `"),
        "{error}"
    );
    set(&mut package, "gone.wgsl");
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    assert!(has(&package, "a.wgsl.vulkan.spv", 4711));
}
