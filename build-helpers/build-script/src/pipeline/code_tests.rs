//! Codes of errors that no other test of a build expects.

use crate::{
    base::{error::Error, report::Report},
    compile::diagnostics::report_error,
    test_support::Project,
};
use kernelmill_artifact::Target;
use kernelmill_compiler::{
    DeferredFault, Error as CompileError, ParameterSpace, TypeMismatch, diagnostic::PluginFault,
};
use std::{io, str::FromStr as _};

/// The first line of what a build of this kernel file says.
fn first_line(text: &str) -> String {
    let error = Project::new("", &[("kernels/k.rs", text)]).error();
    error.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn errors_of_a_source_have_their_codes() {
    assert_eq!(
        first_line(
            "static BIG: [u8; 2_000_000_000] = [1; 2_000_000_000];\n#[kernel]\npub fn k() {}"
        ),
        "error[KM0047]: the static `BIG` has 2000000000 bytes: the most that a variable may have is 1073741824"
    );
    assert_eq!(
        first_line("#[device_fn]\npub fn f(x: f32) -> f32 { x }"),
        "error[KM0031]: no kernel was found in `kernels/k.rs`, and packages that depend on this one cannot call the functions there"
    );
    assert_eq!(
        first_line("#[device_fn]\npub async fn f(x: f32) -> f32 { x }\n#[kernel]\npub fn k() {}"),
        "error[KM0045]: device function `f` is `async`"
    );
}

#[test]
fn a_kernel_with_too_many_arguments_is_shown() {
    let parameters: Vec<_> = (0..65).map(|number| format!("\n    p{number}: u32")).collect();
    let text = format!("#[kernel]\npub fn k({}) {{}}", parameters.join(","));
    assert_eq!(
        Project::new("", &[("kernels/k.rs", &text)]).error(),
        "error[KM0048]: the kernel `k` has 65 arguments (a slice counts as two), more than 64\n \
         --> kernels/k.rs:2:8\n  |\n2 | pub fn k(\n  |        ^\n  |\n  \
         = help: put values into a `#[repr(C)]` struct"
    );
}

#[test]
fn a_device_library_that_is_not_there_is_shown_in_the_settings() {
    let settings = "targets = [\"sm_90\"]\ndevice-libraries = [\"lib/none.a\"]";
    let error = Project::new(settings, &[("kernels/k.rs", "#[kernel]\npub fn k() {}")]).error();
    let expected = "error[KM0063]: the device library `lib/none.a` was not found
 --> Cargo.toml:8:21
  |
8 | device-libraries = [\"lib/none.a\"]
  |                     ^^^^^^^^^^^^";
    assert!(error.contains(expected), "{error}");
}

/// What errors of the compiler look like in a report. They are made here: their causes need other machines.
#[test]
fn errors_of_the_compiler_have_their_codes() {
    let file = || "kernels/k.rs".to_owned();
    let target = || Target::from_str("sm_90").unwrap();
    let mismatch = TypeMismatch {
        file: file(),
        line: 4,
        what: "kernel `k`".to_owned(),
        part: "parameter `x`".to_owned(),
        compiled: "`f64`".to_owned(),
        read: "`f32`".to_owned(),
    };
    let space = ParameterSpace {
        file: file(),
        line: 4,
        kernel: "k".to_owned(),
        bytes: 8192,
        parameters: vec![("x".to_owned(), "[f32; 2048]".to_owned(), 8192)],
    };
    let fault = PluginFault {
        plugin: "autodiff".to_owned(),
        function: "k".to_owned(),
        place: Some((file(), 5)),
        message: "it calls through a pointer".to_owned(),
    };
    let deferred = DeferredFault {
        text: "kernels/k.rs:3: no source has `noise`".to_owned(),
        is_missing: true,
    };
    let errors = [
        (
            CompileError::Types(vec![mismatch]),
            "error[KM0049]: kernels/k.rs:4: parameter `x` of kernel `k` is read as",
        ),
        (
            CompileError::ParameterSpace { target: target(), limit: 4096, faults: vec![space] },
            "error[KM0050]: kernels/k.rs:4: the parameters of kernel `k` take 8192 bytes",
        ),
        (
            CompileError::NotBitcode { rustc: "rustc".into(), display: file() },
            "error[KM0068]: rustc wrote no LLVM bitcode for kernels/k.rs",
        ),
        (
            CompileError::NoLibdevice { target: target() },
            "error[KM0070]: kernels/k.rs: sm_90: `math = \"vendor\"` needs libdevice.10.bc",
        ),
        (
            CompileError::Generation {
                file: file(),
                target: target(),
                errors: vec!["no".to_owned()],
            },
            "error[KM0085]: kernels/k.rs: LLVM cannot generate code for sm_90: no",
        ),
        (
            CompileError::Deferred(vec![deferred]),
            "error[KM0086]: kernels/k.rs:3: no source has `noise`",
        ),
        (
            CompileError::Plugin(vec![fault]),
            "error[KM0087]: kernels/k.rs:5: it calls through a pointer",
        ),
        (
            CompileError::NoClang { file: file() },
            "error[KM0061]: kernels/k.rs: clang compiles this source, and none was found: install clang",
        ),
        (
            CompileError::Internal("a rule".to_owned()),
            "error[KM0123]: kernels/k.rs: internal error of kernelmill: a rule; please report it",
        ),
    ];
    for (error, expected) in errors {
        let mut report = Report::default();
        report_error(&error, "kernels/k.rs", &mut report);
        let text = report.to_string();
        assert!(text.starts_with(expected), "{text}\nis not\n{expected}");
    }
    let mut report = Report::default();
    report_error(
        &CompileError::Rustc { stderr: "error[E0308]: mismatched\n".to_owned() },
        "k",
        &mut report,
    );
    assert_eq!(report.to_string(), "error[E0308]: mismatched");
}

#[test]
fn errors_that_end_a_build_have_their_codes() {
    let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
    let errors = [
        (Error::Toolchain("rustc is missing".to_owned()), "error[KM0069]: rustc is missing"),
        (Error::Tool("nvcc is none".to_owned()), "error[KM0067]: nvcc is none"),
        (
            Error::io("write", "k.ptx")(denied()),
            "error[KM0120]: cannot write k.ptx: permission denied",
        ),
        (
            Error::Store("error: not yours\n  help: remove it".to_owned()),
            "error[KM0121]: not yours\n  help: remove it",
        ),
        (
            Error::NotInBuildScript { variable: "OUT_DIR" },
            "error[KM0122]: the environment variable OUT_DIR, which Cargo sets for build scripts, is not set: ",
        ),
        (
            Error::Internal("a rule".to_owned()),
            "error[KM0123]: internal error of kernelmill: a rule",
        ),
    ];
    for (error, expected) in errors {
        assert!(error.rendered().starts_with(expected), "{}", error.rendered());
    }
    // A report has a code for each finding.
    let error = Project::new("targets = []", &[]).build().result.unwrap_err();
    assert_eq!(error.rendered(), error.to_string());
    assert!(error.rendered().starts_with("error[KM"), "{}", error.rendered());
}
