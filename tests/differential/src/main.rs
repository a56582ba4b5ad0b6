//! Runs every case on the best device; the stand-in driver makes that CUDA.

use differential::{CASES, Context, SEED};
use kernelmill::Device;
use std::process::ExitCode;

fn main() -> kernelmill::Result<ExitCode> {
    let context = Context::new(Device::best()?)?;
    let mut wrong = 0;
    for case in CASES {
        if let Err(error) = context.check(case) {
            println!("{error}\n");
            wrong += 1;
        }
    }
    println!(
        "differential: {} cases of seed {SEED} on {}, {wrong} wrong",
        CASES.len(),
        context.name()
    );
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
