//! Runs the kernels on an OpenCL device that reads SPIR-V, and compares with plain Rust on the host. pocl of Debian reads none,
//! so `KERNELMILL_DEVICE` names the device, Intel's CPU run time for one: `KERNELMILL_DEVICE=opencl:intel`.

use std::{error::Error as StdError, process::ExitCode};

use conformance_spirv::{Context, Scope};
use kernelmill::{Backend, Device, Error};

fn main() -> Result<ExitCode, Box<dyn StdError + Send + Sync>> {
    let device = Device::best()?;
    if device.backend() != Backend::OpenCl {
        return Err(format!("{} is no OpenCL device: set KERNELMILL_DEVICE", device.name()).into());
    }
    let context = Context::new(device)?;
    let checks = conformance_spirv::all().into_iter().filter(|it| it.scope == Scope::Everywhere);
    let (mut right, mut refused, mut wrong) = (0, 0, 0);
    for check in checks {
        match check.run(&context) {
            Ok(()) => right += 1,
            Err(error) if matches!(error.downcast_ref(), Some(Error::NoBinary { .. })) => {
                refused += 1;
            }
            Err(error) => {
                wrong += 1;
                println!("{}: {error}", check.name);
            }
        }
    }
    println!("{right} agree with plain Rust, {wrong} do not, {refused} have no SPIR-V");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
