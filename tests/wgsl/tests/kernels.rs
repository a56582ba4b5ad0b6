//! Kernels in WGSL, and the code that they become.

use kernelmill_build::manifest::Manifest;
use std::{fs, path::Path, process::Command};
use test_support::{
    checks::{self, Checked},
    has_path_of_the_machine, snapshot, tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wgsl");

/// Acceptance: S4.12.
#[test]
fn lavapipe_computes_what_plain_rust_does() {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "wgpu");
    assert_eq!((passed.len(), lacking), (38, Vec::new()), "{passed:?}");
}

/// SPIR-V that is translated when it is loaded, as it is for devices of Metal and D3D12, computes the same.
#[test]
fn lavapipe_computes_it_when_it_is_translated() {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "wgpu:translated");
    assert_eq!((passed.len(), lacking), (39, Vec::new()), "{passed:?}");
}

/// The code of the pages on WGSL and on Vulkan is that of this package, which the tests above run.
#[test]
fn the_pages_show_this_code() {
    let read = |path: &str| {
        let path = test_support::root().join(path);
        fs::read_to_string(path).expect("it is there")
    };
    let sources = ["kernels/maps.wgsl", "kernels/blend.rs", "src/checks/pages.rs"]
        .map(|path| read(&format!("tests/wgsl/{path}")));
    for page in ["docs/src/guide/wgsl.md", "docs/src/guide/vulkan.md"] {
        let text = read(page);
        let blocks = text.split("\n```").skip(1).step_by(2);
        let mut count = 0;
        for code in blocks.filter_map(|block| {
            block.strip_prefix("rust\n").or_else(|| block.strip_prefix("wgsl\n"))
        }) {
            let is_named = code.starts_with("// kernels/");
            let code =
                if is_named { code.split_once('\n').map_or("", |(_, rest)| rest) } else { code };
            assert!(sources.iter().any(|source| source.contains(code)), "{page}: {code}");
            count += 1;
        }
        assert_eq!(count, 2, "{page}");
    }
}

/// A machine without a driver has no such device, and the program says so.
#[test]
fn a_machine_without_a_driver_is_told() {
    let mut command = Command::new(PROGRAM);
    command.envs(tool::WITHOUT_VULKAN);
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = "no Vulkan loader is installed, or it finds no device: install the Vulkan driver of the device";
    assert!(!output.status.success() && errors.contains(expected), "{errors}");
}

/// The wrappers' parameters, as `cargo kernelmill list` shows them.
#[test]
fn signatures_say_what_crosses() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let lines =
        manifest.kernels.iter().map(|it| format!("{}:{} {}\n", it.file, it.line, it.signature));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/signatures.txt");
    snapshot::check(path, &lines.collect::<String>());
}

/// One module for each file, for devices of Vulkan 1.2, without paths.
#[test]
fn spirv_is_valid() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    assert_eq!(manifest.binaries.len(), 7);
    for binary in &manifest.binaries {
        assert!(binary.target == "vulkan" && binary.file.ends_with(".spv"), "{}", binary.file);
        let path = Path::new(env!("OUT_DIR")).join(&binary.file);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes[6], bytes[5]), (1, 4), "{}", binary.source);
        assert!(!has_path_of_the_machine(&bytes), "{}", binary.source);
        let Some(validator) = tool::spirv_val() else { return };
        let mut command = Command::new(validator);
        let output = command.args(["--target-env", "vulkan1.2"]).arg(&path).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", binary.source);
    }
}

/// What ran on the device has its time there.
#[test]
fn lavapipe_has_device_times() {
    if tool::lavapipe().is_none() {
        return;
    }
    let trace = checks::traced(PROGRAM, "wgpu", "saxpy");
    assert_eq!(trace.names("device launch"), trace.names("launch"));
    assert!(!trace.names("device launch").is_empty() && !trace.names("device copy").is_empty());
    trace.check_device_times();
}
