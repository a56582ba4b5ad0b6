//! The kernels as SPIR-V are valid, and compute what plain Rust does: on pocl, and on Intel's run time where that is
//! installed. pocl of Debian reads no SPIR-V: `opencl-layer` translates it. `examples/on_device.rs` runs them on any device.

use std::process::Command;

use conformance_spirv::{Context, Scope};
use kernelmill::{ArtifactKind, Device, Error};
use test_support::{
    driver::opencl_layer,
    outcomes::{self, Outcomes},
    shared_folder, snapshot, temporary_folder, tool, write_file,
};

/// What spirv-val says of modules for devices of OpenCL 2.2, but that an extension has atomic operations of 64 bits.
const UNIVERSAL: &str = "spv1.2";

#[test]
fn every_module_is_valid() {
    let Some(validator) = tool::spirv_val() else { return };
    let folder = temporary_folder();
    let modules = conformance_spirv::embedded().iter().filter(|it| it.kind == ArtifactKind::Spirv);
    let mut count = 0;
    for artifact in modules {
        let path = write_file(&folder, "kernels.spv", artifact.bytes);
        let wide = artifact.source.contains("atomics");
        let environment = if wide { UNIVERSAL } else { "opencl2.2" };
        let said = Command::new(&validator).args(["--target-env", environment]).arg(path).output();
        let said = said.unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{}: {text}", artifact.source);
        count += 1;
    }
    assert!(count > 15, "{count} modules");
}

/// What pocl computes otherwise from bitcode: a barrier in a function that stays out of line.
const WRONG_ON_POCL: [&str; 1] = ["barrier_in_function"];

/// Compares the checks whose kernels the target cannot have with their list.
fn assert_lacking(lacking: &[String]) {
    let lines: String = lacking.iter().map(|name| format!("{name}\n")).collect();
    snapshot::check(concat!(env!("CARGO_MANIFEST_DIR"), "/lacking.txt"), &lines);
}

/// Runs the checks and prints their outcomes, in the process for that. Whether this is it.
fn is_child() -> bool {
    if !outcomes::is_child() {
        return false;
    }
    let context = Context::new(Device::opencl(0).unwrap()).unwrap();
    for check in conformance_spirv::all() {
        match check.run(&context) {
            _ if check.scope != Scope::Everywhere => {}
            Err(error) if matches!(error.downcast_ref(), Some(Error::NoBinary { .. })) => {
                outcomes::report_lacking(check.name);
            }
            result => outcomes::report(check.name, result),
        }
    }
    true
}

#[test]
fn kernels_agree_with_plain_rust_on_pocl() {
    if is_child() {
        return;
    }
    let (Some(translator), Some(pocl)) = (tool::llvm_spirv(), tool::pocl()) else { return };
    let variables = [
        ("OPENCL_DYLIB_PATH", opencl_layer()),
        ("OPENCL_LAYER_SPIRV", translator),
        ("OCL_ICD_VENDORS", pocl),
        ("POCL_CACHE_DIR", shared_folder("pocl-cache")),
    ];
    let Outcomes { right, wrong, lacking, printed } =
        Outcomes::of("kernels_agree_with_plain_rust_on_pocl", &variables);
    assert_eq!(wrong, WRONG_ON_POCL, "{printed}");
    assert_lacking(&lacking);
    assert!(right.len() > 80 && right.iter().any(|it| it == "warp_shuffles"), "{right:?}");
}

#[test]
fn kernels_agree_with_plain_rust_on_intels_run_time() {
    if is_child() {
        return;
    }
    let Some(intel) = tool::intel_opencl() else { return };
    let name = "kernels_agree_with_plain_rust_on_intels_run_time";
    let Outcomes { right, wrong, lacking, printed } =
        Outcomes::of(name, &[("OCL_ICD_VENDORS", intel)]);
    assert!(wrong.is_empty(), "{printed}");
    assert_lacking(&lacking);
    assert!(right.len() > 80 && right.iter().any(|it| it == "barrier_in_function"), "{right:?}");
}
