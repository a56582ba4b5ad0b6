//! The kernels as SPIR-V: valid, and on a device that reads it right.

use std::process::Command;

use conformance_spirv::{Context, Scope};
use kernelmill::{ArtifactKind, Backend, Device, Error};
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

/// pocl of Debian's reads no SPIR-V, so that the device is one that `KERNELMILL_DEVICE` names, Intel's CPU run time for one.
#[test]
#[ignore = "needs an OpenCL device that reads SPIR-V"]
fn every_kernel_on_a_device_that_reads_spirv() {
    let device = Device::best().unwrap();
    assert_eq!(device.backend(), Backend::OpenCl);
    let context = Context::new(device).unwrap();
    let checks = conformance_spirv::all().into_iter().filter(|it| it.scope == Scope::Everywhere);
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    for check in checks {
        match check.run(&context) {
            Ok(()) => right += 1,
            Err(error) if matches!(error.downcast_ref(), Some(Error::NoBinary { .. })) => {
                refused += 1
            }
            Err(error) => wrong.push(format!("{}: {error}", check.name)),
        }
    }
    println!("{right} agree with plain Rust, {refused} have no SPIR-V");
    assert!(wrong.is_empty(), "{} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right > 60, "{right} checks");
}
