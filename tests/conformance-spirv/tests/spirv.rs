//! The kernels as SPIR-V are valid. `examples/on_device.rs` runs them.

use std::process::Command;

use kernelmill::ArtifactKind;
use test_support::{temporary_folder, tool, write_file};

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
