//! Names of entries: mangled ones, where the package asks for them, are launched as others are.

use std::fs;

use end_to_end::Project;
use test_support::driver::fake_driver;

const KERNEL: &str = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn triple(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = 3.0 * x[i.get()];
    }
}
";

const PROGRAM: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let x = device.upload(&[2.0f32; 100])?;
    let mut y = device.zeros::<f32>(100)?;
    kernels.triple(&device.stream(), Launch::linear(100), &x, &mut y)?;
    assert_eq!(y.download()?, [6.0; 100]);
    println!(\"{} {}\", device.backend(), kernels::Kernels::signatures()[0]);
    let manifest = include_str!(concat!(env!(\"OUT_DIR\"), \"/kernelmill.json\"));
    assert!(manifest.contains(\"\\\"_ZN4math6tripleE5SliceIKfE13DisjointSliceIfE\\\"\"));
    Ok(())
}
";

/// Acceptance: S0.5.
#[test]
fn kernels_with_mangled_names_are_launched() {
    let settings = "targets = [\"cpu\", \"compute_75\"]\noptions = { mangle = true }";
    let project = Project::new("mangled-names").manifest("2024", settings);
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("the manifest was written");
    let text = text.replacen("kernelmill = { ", "kernelmill = { features = [\"cuda\"], ", 1);
    let project = project.file("Cargo.toml", &text).file("src/main.rs", PROGRAM);
    let project = project.file("kernels/math.rs", KERNEL);
    let mut project = project.environment("LD_LIBRARY_PATH", &fake_driver().display().to_string());
    for backend in ["cuda", "cpu"] {
        project = project.environment("KERNELMILL_DEVICE", backend);
        let run = project.cargo(&["run"]).succeeds();
        let expected = format!("{backend} fn triple(x: &[f32], y: disjointslice<f32>)");
        assert!(run.stdout.to_lowercase().contains(&expected), "{}", run.stdout);
    }
}
