//! Builds of small packages with kernels in PTX: what is refused, and what is built again.

use test_support::{Package, tool};

/// A package with these settings and one file in PTX, and ptxas where the machine has it.
fn package(settings: &str, text: &str) -> Package {
    let files = [("kernels/a.ptx", text)];
    let mut package = Package::new(env!("CARGO_BIN_EXE_build_mixed_package"), settings, &files);
    let ptxas = tool::nvidia("ptxas").map(|path| path.display().to_string());
    package.variables.extend(ptxas.map(|path| ("KERNELMILL_PTXAS", path)));
    package
}

/// Builds a package that must fail, and compares what is said.
#[track_caller]
fn fails(name: &str, settings: &str, text: &str) {
    package(settings, text).fails(env!("CARGO_MANIFEST_DIR"), name);
}

const TARGETS: &str = "targets = [\"compute_80\", \"sm_80\"]\n";

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// The head, and a kernel with these parameters and this body.
fn kernel(parameters: &str, body: &str) -> String {
    format!("{HEAD}.visible .entry k({parameters})\n{{\n{body}\n  ret;\n}}\n")
}

/// Said once for all targets, with the lines of the file.
#[test]
fn what_ptxas_refuses_is_shown_with_its_lines() {
    if tool::nvidia("ptxas").is_none() {
        return;
    }
    let body = "  .reg .b32 %r<3>;\n  add.s32 %r1, %r2;\n  mov.u32 %r2, %nowhere;";
    fails("ptxas", TARGETS, &kernel("", body));
    let text =
        kernel("", "  call nothing;").replace(".visible", ".extern .func nothing;\n.visible");
    fails("unresolved", "targets = [\"compute_80\"]\n", &text);
}

#[test]
fn a_file_without_a_head_or_a_kernel_is_refused() {
    fails("no-head", TARGETS, ".target sm_80\n.entry k() { ret; }\n");
    fails("no-entry", TARGETS, &format!("{HEAD}.extern .entry k();\n"));
}

#[test]
fn declarations_are_compared_with_the_file() {
    let parameters =
        ".param .u64 .ptr .global x, .param .f32 a, .param .align 4 .b8 p[12], .param .u32 n";
    let settings = |declared: &str| format!("{TARGETS}[kernels.k]\nparameters = [{declared}]\n");
    let declared = "\"x: f64\", \"a: u32\", \"p: [u64; 2]\", \"n: *const u32\"";
    fails("ptx-types", &settings(declared), &kernel(parameters, ""));
    fails("ptx-number", &settings("\"x: *mut f32\""), &kernel(parameters, ""));
}

/// What `.param`s do not say is asked for, and what cannot be given is refused.
#[test]
fn parameters_that_are_not_known_are_asked_for() {
    let parameters = ".param .u64 x, .param .b32 a, .param .f32 b, .param .align 8 .b8 p[24]";
    fails("ptx-unknown", TARGETS, &kernel(parameters, ""));
    fails("ptx-shared", TARGETS, &kernel(".param .u64 .ptr .shared .align 4 x", ""));
}

/// What launches are for is written in the file: nothing else reaches ptxas.
#[test]
fn limits_of_the_settings_do_not_reach_ptxas() {
    let settings = format!("{TARGETS}[kernels.k]\nlaunch-bounds = 128\n");
    fails("ptx-limits", &settings, &kernel(".param .u32 n", ""));
}

/// A cubin is made for the architectures that the file is for, and its text is embedded once.
#[test]
fn targets_are_those_that_the_file_is_for() {
    if tool::nvidia("ptxas").is_none() {
        return;
    }
    let targets = "targets = [\"compute_75\", \"compute_80\", \"sm_75\", \"sm_80\", \"sm_86\"]\n";
    let package = package(targets, &kernel(".param .u32 n", ""));
    let error = package.error();
    assert!(error.contains("no source can be compiled for the target `sm_75`"), "{error}");
    package.write("kernelmill.toml", &targets.replace("\"sm_75\", ", ""));
    assert_eq!(package.summary(), "kernelmill: compiled 3 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 3");
    let bindings = package.output("kernels.rs");
    for target in ["compute_80", "sm_80", "sm_86"] {
        assert!(bindings.contains(&format!("\"{target}\"")), "{target}: {bindings}");
    }
    assert!(!bindings.contains("compute_75"), "{bindings}");
}

#[test]
fn a_change_of_code_or_of_a_declaration_is_built_again() {
    let settings = |ty: &str| format!("{TARGETS}[kernels.k]\nparameters = [\"x: *mut {ty}\"]\n");
    let text = kernel(".param .u64 x", "  .reg .b32 %r<2>;\n  mov.u32 %r1, 1;");
    let package = package(&settings("u32"), &text);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
    package.write("kernels/a.ptx", &text.replace("%r1, 1", "%r1, 2"));
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    // The text is the same, and its wrapper another.
    package.write("kernelmill.toml", &settings("f32"));
    assert_eq!(package.summary(), "kernelmill: compiled 0 cached 2");
    assert!(package.output("kernels.rs").contains("WriteSlice<f32>"));
}
