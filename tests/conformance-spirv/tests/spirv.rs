//! The kernels as SPIR-V are valid, and compute on pocl what plain Rust does. pocl of Debian reads no SPIR-V:
//! `opencl-layer` translates it. `examples/on_device.rs` runs them on any device.

use std::{env, process::Command};

use conformance_spirv::{Context, Scope};
use kernelmill::{ArtifactKind, Device, Error};
use test_support::{driver::opencl_layer, shared_folder, temporary_folder, tool, write_file};

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

/// Says that the test is in the process that the layer is loaded in.
const CHILD: &str = "CONFORMANCE_SPIRV_CHILD";

/// What a check's line begins with, by its outcome.
const RIGHT: &str = "right: ";
const WRONG: &str = "wrong: ";

/// Runs a test of this file again, on pocl behind the layer. What it prints; `None` in that process, and without pocl.
fn on_pocl(name: &str) -> Option<String> {
    if env::var_os(CHILD).is_some() {
        return None;
    }
    let (translator, _) = (tool::llvm_spirv()?, tool::pocl()?);
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, name);
    command.env("OPENCL_DYLIB_PATH", opencl_layer()).env("OPENCL_LAYER_SPIRV", translator);
    command.env("OCL_ICD_VENDORS", tool::POCL).env("POCL_CACHE_DIR", shared_folder("pocl-cache"));
    let output = command.output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(output.status.success(), "{stdout}\n{stderr}");
    Some(stdout)
}

#[test]
fn kernels_agree_with_plain_rust_on_pocl() {
    if env::var_os(CHILD).is_some() {
        let context = Context::new(Device::opencl(0).unwrap()).unwrap();
        for check in conformance_spirv::all() {
            match check.run(&context) {
                _ if check.scope != Scope::Everywhere => {}
                Ok(()) => println!("\n{RIGHT}{}", check.name),
                Err(error) if matches!(error.downcast_ref(), Some(Error::NoBinary { .. })) => {}
                Err(error) => println!("\n{WRONG}{}: {error}", check.name),
            }
        }
        return;
    }
    let Some(printed) = on_pocl("kernels_agree_with_plain_rust_on_pocl") else { return };
    let of_kind = |kind| printed.lines().filter_map(move |line| line.strip_prefix(kind));
    let wrong: Vec<_> = of_kind(WRONG).map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(wrong, WRONG_ON_POCL, "{printed}");
    let right: Vec<&str> = of_kind(RIGHT).collect();
    assert!(right.len() > 80 && right.contains(&"warp_shuffles"), "{right:?}");
}
