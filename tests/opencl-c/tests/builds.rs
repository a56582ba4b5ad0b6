//! Builds of small packages: what is refused, and what is built again.

use test_support::{Package, snapshot, tool};

/// A package for these targets with these files.
fn package(targets: &str, files: &[(&str, &str)]) -> Package {
    let settings = format!("targets = [{targets}]\n");
    Package::new(env!("CARGO_BIN_EXE_build_package"), &settings, files)
}

/// Builds a package that must fail, and compares what is said.
#[track_caller]
fn fails(name: &str, package: &Package) {
    package.fails(env!("CARGO_MANIFEST_DIR"), name);
}

const ALL: &str = "\"cpu\", \"compute_80\", \"gfx1100\"";

#[test]
fn clangs_errors_of_all_files_are_shown_with_their_lines() {
    let first = "kernel void a(global float *x) {\n  x[0] = naitve_sin(x[1]);\n  x[1] = 2\n}\n";
    let second = "#include \"types.clh\"\nkernel void b(global pair *x) { x[0].third = 1; }\n";
    let types = "typedef struct { int first, second; } pair;\n";
    let files = [("kernels/a.cl", first), ("kernels/b.cl", second), ("kernels/types.clh", types)];
    fails("syntax", &package(ALL, &files));
}

#[test]
fn built_in_functions_that_are_not_there_are_named_with_their_lines() {
    let text = "kernel void sampled(global float4 *x) {\n  x[0] = nothing_here(x[1]);\n}\n";
    let text = format!(
        "float4 nothing_here(float4 x);\n{text}\nvoid wait(global int *x) {{\n  \
         atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);\n  \
         x[0] = shuffle(vload4(0, x), (uint4)(3)).x;\n}}\n\
         kernel void deep(global int *x) {{\n  wait(x);\n}}\n"
    );
    fails("missing", &package(ALL, &[("kernels/missing.cl", &text)]));
}

#[test]
fn a_group_that_no_device_has_is_refused_with_the_line() {
    let text =
        "__attribute__((reqd_work_group_size(64, 64, 1)))\nkernel void k(global int *x) {}\n";
    fails("group", &package(ALL, &[("kernels/group.cl", text)]));
}

/// Older versions of clang, and the compilers of devices, warn of it: kernels read pairs as words.
#[test]
fn a_pointer_to_another_type_is_a_warning() {
    let text = "kernel void k(global uint2 *pairs) {\n  global uint *words = pairs;\n  \
                words[get_global_id(0)] += 1;\n}\n";
    let package = package("\"cpu\", \"compute_80\", \"spirv64\"", &[("kernels/a.cl", text)]);
    let lines = package.build().lines;
    assert!(
        lines.contains("kernels/a.cl:2") && lines.contains("incompatible pointer types"),
        "{lines}"
    );
    assert!(lines.contains("compiled 3 cached 0"), "{lines}");
}

#[test]
fn names_are_those_of_one_type() {
    let text = "kernel void scale(global float *x) { x[get_global_id(0)] *= 2; }\n";
    let files = [("kernels/a.cl", text), ("kernels/b.cl", text)];
    fails("names", &package("\"cpu\"", &files));
}

#[test]
fn a_target_that_cannot_be_is_refused_before_any_work() {
    let text = "kernel void k(global int *x) {}\n";
    fails("target", &package("\"cpu\", \"bitcode_75\"", &[("kernels/a.cl", text)]));
}

const DEVICES: &str = "\"spirv64\", \"opencl-c\"";

#[test]
fn programs_for_devices_are_built_again_where_their_files_change() {
    let text = "#include \"shift.clh\"\nkernel void add(global int *x) { x[0] += SHIFT; }\n";
    let files = [("kernels/a.cl", text), ("kernels/shift.clh", "#define SHIFT 1\n")];
    let mut package = package(DEVICES, &files);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
    package.write("kernels/shift.clh", "#define SHIFT 2\n");
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert!(package.build().lines.contains("kernels/shift.clh"));
    let text = |package: &Package| package.output("a.opencl-c.cl");
    assert!(text(&package).contains("#define SHIFT 2\n"), "{}", text(&package));
    // What the device's compiler is told.
    package.variables.push(("KERNELMILL_TARGETS", "opencl-c".to_owned()));
    let settings = "define = { SCALE = 3 }\n\
                    arguments = [\"opencl:-cl-std=CL1.2\", \"opencl:-cl-mad-enable\"]\n";
    package.write("kernelmill.toml", settings);
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
    let head =
        "// kernelmill: -cl-std=CL1.2 -cl-mad-enable\n#define __KERNELMILL__ 1\n#define SCALE 3\n";
    assert!(text(&package).starts_with(head), "{}", text(&package));
}

#[test]
fn errors_for_devices_have_lines_too() {
    let text = "kernel void a(global float *x) {\n  x[0] = naitve_sin(x[1]);\n}\n";
    fails("devices", &package(DEVICES, &[("kernels/a.cl", text)]));
}

#[test]
fn what_spirv_cannot_express_is_refused() {
    let text = "kernel void a(global int *x) {\n  __asm__(\"nop\");\n}\n";
    fails("inexpressible", &package(DEVICES, &[("kernels/a.cl", text)]));
}

/// A clang that has no back end for SPIR-V is told apart before any work.
#[test]
fn a_clang_without_spirv_is_named() {
    let Some(clang) = tool::clang() else { return };
    let mut package = package(DEVICES, &[("kernels/a.cl", "kernel void k(global int *x) {}\n")]);
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in\n  --print-targets) echo '    x86-64 - 64-bit X86' ;;\n  \
         *) exec {} \"$@\" ;;\nesac\n",
        clang.display()
    );
    package.write("clang", &script);
    let path = package.path("clang");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, executable).expect("a file of this test");
    package.variables.push(("KERNELMILL_CLANG", path.display().to_string()));
    let error = package.error();
    let folder = package.folder().display().to_string();
    let path = format!("{}/snapshots/spirv.txt", env!("CARGO_MANIFEST_DIR"));
    snapshot::check(path, &error.replace(&folder, "FOLDER"));
}

#[test]
fn images_samplers_and_pipes_are_refused_with_their_lines() {
    let text = "kernel void blur(read_only image2d_t from,\n                 sampler_t how, global float4 *to) {\n  \
                to[0] = read_imagef(from, how, (int2)(0, 0));\n}\n\
                kernel void piped(read_only pipe int from, global int *to) {\n  to[0] = 1;\n}\n";
    fails("images", &package("\"cpu\"", &[("kernels/images.cl", text)]));
}

#[test]
fn what_changes_code_is_built_again_and_nothing_else_is() {
    let text = "#include \"shift.clh\"\nkernel void add(global int *x) { x[0] += SHIFT; }\n";
    let files = [("kernels/a.cl", text), ("kernels/shift.clh", "#define SHIFT 1\n")];
    let mut package = package(ALL, &files);
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 3");
    package.write("kernels/shift.clh", "#define SHIFT 2\n");
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    package.write("kernels/a.cl", &format!("{text}// A remark.\n"));
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 3");
    let watched = package.build().lines;
    assert!(watched.contains("kernels/shift.clh"), "{watched}");
    package.variables.push(("KERNELMILL_TARGETS", "cpu,gfx90a".to_owned()));
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 1");
}

#[test]
fn a_machine_without_clang_is_told_what_to_install() {
    let mut package = package("\"cpu\"", &[("kernels/a.cl", "kernel void k(global int *x) {}")]);
    package.variables.push(("KERNELMILL_CLANG", "no-such-clang".to_owned()));
    fails("clang", &package);
}

/// The arguments are those of OpenCL's compilers; those for others are not passed on.
#[test]
fn arguments_are_for_opencl_alone_where_they_say_so() {
    let text = "#if __OPENCL_C_VERSION__ != 120\n#error\n#endif\n\
                kernel void k(global int *x) { x[0] = N; }\n";
    let package = package("\"cpu\"", &[("kernels/a.cl", text)]);
    let settings = "targets = [\"cpu\"]\n\
                    arguments = [\"opencl:-cl-std=CL1.1\", \"cuda:--no-such\", \"opencl:-DN=3\"]\n";
    package.write("kernelmill.toml", settings);
    assert_eq!(package.summary(), "kernelmill: compiled 1 cached 0");
}
