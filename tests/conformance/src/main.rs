//! Runs every kernel of this package on a device, `cpu`, which it is without an argument, or `cuda` (with the feature of
//! that name): for processors that tests run on by emulation and for machines with a GPU, where the tests' own tools are
//! not.

use conformance::{Context, Scope, all};
use kernelmill::Device;
use std::{env, error::Error, process::ExitCode};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let device = match env::args().nth(1).as_deref() {
        None | Some("cpu") => Device::cpu()?,
        #[cfg(feature = "cuda")]
        Some("cuda") => Device::cuda(0)?,
        Some(other) => return Err(format!("there is no device `{other}` in this build").into()),
    };
    let (name, is_cpu) = (device.to_string(), device == Device::cpu()?);
    let context = Context::new(device)?;
    let is_asked = |scope| is_cpu || scope == Scope::Everywhere;
    let checks: Vec<_> = all().into_iter().filter(|check| is_asked(check.scope)).collect();
    let failures = checks.iter().filter_map(|check| Some((check.name, check.run(&context).err()?)));
    let failures: Vec<_> = failures.collect();
    for (name, error) in &failures {
        println!("{name}: {error}");
    }
    let (count, wrong) = (checks.len(), failures.len());
    println!("{count} kernels on {name} ({}), {wrong} wrong", env::consts::ARCH);
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
