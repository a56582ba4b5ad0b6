//! Builds of small packages with kernels in LLVM IR: what is refused, what other compilers write, and what is built
//! again.

use std::process::Command;
use test_support::{Package, snapshot, tool};

/// A package with these settings and files.
fn package(settings: &str, files: &[(&str, &str)]) -> Package {
    Package::new(env!("CARGO_BIN_EXE_build_ir_package"), settings, files)
}

/// Builds a package that must fail, and compares what is said, whatever the version of LLVM.
#[track_caller]
fn fails(name: &str, package: &Package) {
    let said = package.error().replace(tool::rustc().llvm(), "[version]");
    snapshot::check(format!("{}/snapshots/{name}.txt", env!("CARGO_MANIFEST_DIR")), &said);
}

const ALL: &str = "targets = [\"cpu\", \"compute_80\", \"gfx1100\"]\n";

/// The settings that declare the parameters of a kernel.
fn declared(name: &str, parameters: &str) -> String {
    format!("{ALL}[kernels.{name}]\nparameters = [{parameters}]\n")
}

#[test]
fn a_text_that_llvm_does_not_parse_is_shown_with_line_and_column() {
    let text = "define ptx_kernel void @k(ptr %x) {\n  %v = load i32, ptr %x\n  store i64 %v, ptr %x\n  ret void\n}\n";
    fails("syntax", &package(&declared("k", "\"x: *mut u32\""), &[("kernels/a.ll", text)]));
}

/// Text that parses, and is no valid code.
#[test]
fn code_that_is_not_valid_is_refused() {
    let text = "define ptx_kernel void @k(ptr %x) {\n  br i1 true, label %a, label %b\na:\n  \
                %v = load i32, ptr %x\n  br label %b\nb:\n  store i32 %v, ptr %x\n  ret void\n}\n";
    fails("invalid", &package(&declared("k", "\"x: *mut u32\""), &[("kernels/a.ll", text)]));
}

/// Wherever bitcode ends, LLVM says so, and does not crash.
#[test]
fn bitcode_that_is_cut_off_is_refused() {
    let bitcode = include_bytes!("../kernels/scan.bc");
    let package = package(ALL, &[]);
    std::fs::create_dir_all(package.path("kernels")).expect("a folder");
    let path = package.path("kernels/a.bc");
    for parts in [1, 3, 9, 17, 31, 47, 63] {
        let length = (bitcode.len() * parts / 64).next_multiple_of(4) - 4 * (parts % 2);
        std::fs::write(&path, &bitcode[..length]).expect("a file of this test");
        let error = package.error();
        let is_said =
            error.contains("kernels/a.bc: error[KM0081]: LLVM") && error.contains("cannot read it");
        assert!(is_said, "cut off at {length}: {error}");
    }
    std::fs::write(&path, b"BC\xc0\xde").expect("a file of this test");
    fails("cut", &package);
}

#[test]
fn what_a_target_lacks_is_named_with_its_line() {
    let text = "target triple = \"nvptx64-nvidia-cuda\"\n\
                declare float @no_such(float)\n\
                declare i32 @llvm.nvvm.read.ptx.sreg.warpid()\n\
                define void @deep(ptr %x) {\n  %v = load float, ptr %x\n  \
                %r = call float @no_such(float %v)\n  store float %r, ptr %x\n  ret void\n}\n\
                define ptx_kernel void @undefined(ptr %x) {\n  call void @deep(ptr %x)\n  ret void\n}\n\
                define ptx_kernel void @assembly(ptr %x) {\n  call void asm sideeffect \"membar.gl;\", \"\"()\n  \
                %w = call i32 @llvm.nvvm.read.ptx.sreg.warpid()\n  store i32 %w, ptr %x\n  ret void\n}\n";
    let settings = declared("undefined", "\"x: *mut f32\"")
        + "[kernels.assembly]\nparameters = [\"x: *mut u32\"]\n";
    fails("lacking", &package(&settings, &[("kernels/a.ll", text)]));
}

#[test]
fn declarations_are_compared_with_the_module() {
    let text = "define ptx_kernel void @k(ptr %x, i64 %n, float %a, ptr byval([3 x i32]) align 4 %p, <2 x float> %v) \
                {\n  ret void\n}\n\ndefine ptx_kernel void @few(ptr %x) {\n  ret void\n}\n";
    let parameters = "\"x: f32\", \"n: u32\", \"a: *const f32\", \"p: [u64; 2]\", \"v: [f32; 3]\"";
    let settings = declared("k", parameters) + "[kernels.few]\nparameters = []\n";
    fails("types", &package(&settings, &[("kernels/a.ll", text)]));
}

#[test]
fn what_could_be_declared_is_said() {
    let text = "; A comment.\ndefine spir_kernel void @k(ptr %x, i64 %n, float %a, ptr byval([3 x i32]) align 4 %p, \
                <2 x float> %v, i1 %0) {\n  ret void\n}\n";
    fails("undeclared", &package(ALL, &[("kernels/a.ll", text)]));
}

#[test]
fn a_file_without_a_kernel_is_refused() {
    let text = "define void @helper(ptr %x) {\n  ret void\n}\n";
    fails("none", &package(ALL, &[("kernels/a.ll", text)]));
    // An underscore says that it is no source.
    let package = package(ALL, &[("kernels/_a.ll", text)]);
    let error = package.error();
    assert!(error.contains("no kernels found in the folder `kernels`"), "{error}");
}

#[test]
fn what_one_address_space_cannot_express_is_refused() {
    let text = "target datalayout = \"e-p:64:64-p3:32:32-p5:32:32-A5\"\ntarget triple = \"amdgcn-amd-amdhsa\"\n\
                module asm \".globl x\"\n\
                @tile = internal addrspace(3) global [4 x i32] undef\n\
                @other = alias i32, ptr addrspace(3) @tile\n\
                declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n\
                define amdgpu_kernel void @stores(ptr addrspace(1) %x) {\n  \
                store ptr addrspace(3) @tile, ptr addrspace(1) %x\n  ret void\n}\n\
                define amdgpu_kernel void @numbers(ptr addrspace(1) %x) {\n  \
                store i32 ptrtoint (ptr addrspace(3) @tile to i32), ptr addrspace(1) %x\n  ret void\n}\n";
    fails("spaces", &package(ALL, &[("kernels/a.ll", text)]));
}

#[test]
fn machines_without_64_bits_are_refused() {
    let text =
        "target triple = \"spir-unknown-unknown\"\ndefine spir_kernel void @k() {\n  ret void\n}\n";
    let big =
        "target datalayout = \"E-m:e-i64:64\"\ndefine spir_kernel void @big() {\n  ret void\n}\n";
    fails("machines", &package(ALL, &[("kernels/a.ll", text), ("kernels/b.ll", big)]));
}

#[test]
fn declarations_that_are_none_are_shown_where_they_stand() {
    let text = "#[kernel]\npub fn rust(x: &[f32]) {}\n";
    let text = format!("use kernelmill_device::prelude::*;\n\n{text}");
    let settings = declared("rust", "\"x: *const f32\"");
    fails("not-wanted", &package(&settings, &[("kernels/a.rs", &text)]));
    let settings = declared("k", "\"x: f33\", \"y\", \"z: &[f32]\", \"a: f32\", \"a: f32\"");
    let text = "define ptx_kernel void @k() {\n  ret void\n}\n";
    fails("declarations", &package(&settings, &[("kernels/a.ll", text)]));
}

#[test]
fn a_target_that_cannot_be_is_refused_before_any_work() {
    let text = "define ptx_kernel void @k() {\n  ret void\n}\n";
    let settings = "targets = [\"cpu\", \"opencl-c\"]\n";
    fails("target", &package(settings, &[("kernels/a.ll", text)]));
}

/// A comment changes no code, a declaration changes the wrapper.
#[test]
fn a_change_of_code_or_of_a_declaration_is_built_again() {
    let text = "define ptx_kernel void @k(ptr %x) {\n  store i32 1, ptr %x\n  ret void\n}\n";
    let settings = declared("k", "\"x: *mut u32\"");
    let package = package(&settings, &[("kernels/a.ll", text)]);
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 3");
    package.write("kernels/a.ll", &format!("{text}; A comment.\n"));
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 3");
    package.write("kernels/a.ll", &text.replace("i32 1", "i32 2"));
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    package.write("kernelmill.toml", &declared("k", "\"x: *mut i32\""));
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    let bindings = package.output("kernels.rs");
    assert!(bindings.contains("WriteSlice<i32>"), "{bindings}");
}

const CUDA: &str = "#define DEVICE __attribute__((device))\n\
    typedef struct { float by; int plus; } change;\n\
    extern \"C\" DEVICE float __nv_fmaf(float, float, float);\n\
    extern \"C\" __attribute__((global)) void k(const float *x, float *y, change c, unsigned n) {\n  \
    unsigned i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();\n  \
    if (i < n) y[i] = __nv_fmaf(x[i], c.by, c.plus);\n}\n";

const HIP: &str = "#define DEVICE __attribute__((device))\n\
    typedef struct { float by; int plus; } change;\n\
    extern \"C\" DEVICE float __ocml_fma_f32(float, float, float);\n\
    extern \"C\" __attribute__((global)) void k(const float *x, float *y, change c, unsigned n) {\n  \
    unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + \
    __builtin_amdgcn_workitem_id_x();\n  if (i < n) y[i] = __ocml_fma_f32(x[i], c.by, c.plus);\n}\n";

const OPENCL: &str = "typedef struct { float by; int plus; } change;\n\
    kernel void k(global const float *x, global float *y, change c, uint n) {\n  \
    size_t i = get_global_id(0);\n  if (i < n) y[i] = x[i] * c.by + c.plus;\n}\n";

/// What clang writes with debug information, optimised and not, as text and as bitcode: nothing is declared.
#[test]
fn modules_of_clang_need_no_declaration() {
    let Some(clang) = tool::clang() else { return };
    let producers: [(&str, &str, &[&str]); 3] = [
        (
            "k.cu",
            CUDA,
            &[
                "-xcuda",
                "--cuda-device-only",
                "-nocudainc",
                "-nocudalib",
                "--cuda-gpu-arch=sm_80",
                "-Xclang",
                "-target-feature",
                "-Xclang",
                "+ptx70",
                "-Xclang",
                "-debug-info-kind=standalone",
            ],
        ),
        (
            "k.hip",
            HIP,
            &["-xhip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx1100"],
        ),
        (
            "k.cl",
            OPENCL,
            &["-xcl", "--target=spir64-unknown-unknown", "-Xclang", "-finclude-default-header"],
        ),
    ];
    // One folder, whose store has what all builds share.
    let package = package(ALL, &[]);
    let at = |name: &str| package.path(name);
    std::fs::create_dir_all(at("kernels")).expect("a folder");
    for (name, text, arguments) in producers {
        for (level, kind) in [("-O0", "ll"), ("-O2", "bc")] {
            package.write(name, text);
            let module = at(&format!("kernels/k.{kind}"));
            let mut command = Command::new(&clang);
            command.args(arguments).args(["-g", "-emit-llvm", level]);
            command.arg(if kind == "ll" { "-S" } else { "-c" }).arg(at(name));
            let output = command.arg("-o").arg(&module).output().expect("clang starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} {level}: {errors}");
            assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0", "{name} {level}");
            let bindings = package.output("kernels.rs");
            for part in [
                "x: impl ::kernelmill::ReadSlice<f32>",
                "y: impl ::kernelmill::WriteSlice<f32>",
                "c: change",
                "n: u32",
            ] {
                assert!(bindings.contains(part), "{name} {level}: {part}\n{bindings}");
            }
            std::fs::remove_file(module).expect("a file of this test");
        }
    }
}
