//! The kernels on an NVIDIA GPU, timed by events.

use std::error::Error;

use kernelmill::Device;

use crate::{
    cases::{self, Scale},
    times::Timer,
};

/// Who compiled the kernels, as the build script was told.
const COMPILER: &str = env!("CUDA_COMPILER");

/// Compares and times the kernels with `part` in their names, and prints a line for each.
///
/// # Errors
///
/// Where outputs differ, or the driver reports something.
pub(crate) fn run(device: &Device, part: &str) -> Result<(), Box<dyn Error>> {
    let mut timer = Timer::new(&device.stream())?;
    let nothing = timer.of_nothing()?.as_nanos();
    println!(
        "Kernels that nobody tuned, compiled by {COMPILER}, on {} ({}).",
        device.name(),
        device.architecture()
    );
    println!("Two events with nothing in between are {nothing} ns apart.\n");
    println!("| kernel | us | result |\n| --- | --- | --- |");
    let (mut right, mut wrong) = (0, 0);
    cases::each(device, Scale::Full, &mut |mut case| {
        if !case.name.contains(part) {
            return Ok(());
        }
        if let Err(error) = case.compare() {
            wrong += 1;
            println!("| {} |  | {error} |", case.name);
            return Ok(());
        }
        let time = timer.median(&mut || Ok(()), &mut *case.launch)?;
        right += 1;
        println!("| {} | {:.2} | right |", case.name, 1e6 * time.as_secs_f64());
        Ok(())
    })?;
    println!("\n{} kernels: {right} right, {wrong} not", right + wrong);
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} kernels failed").into()) }
}
