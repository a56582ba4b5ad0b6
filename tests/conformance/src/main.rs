//! Runs every kernel of this package on the CPU: for processors that tests run on by emulation, where
//! the tests' own tools are not.

use conformance::{Context, all};
use kernelmill::Device;
use std::process::ExitCode;

fn main() -> kernelmill::Result<ExitCode> {
    let context = Context::new(Device::cpu()?)?;
    let checks = all();
    let failures = checks.iter().filter_map(|check| Some((check.name, check.run(&context).err()?)));
    let failures: Vec<_> = failures.collect();
    for (name, error) in &failures {
        println!("{name}: {error}");
    }
    println!("{} kernels on {}, {} wrong", checks.len(), std::env::consts::ARCH, failures.len());
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
