//! Runs every case on the best device; the stand-in driver makes that CUDA. With `--cuda` it is the
//! first NVIDIA device or none.

use differential::{CASES, Context, SEED, TILES};
use kernelmill::Device;
use std::process::ExitCode;

fn main() -> kernelmill::Result<ExitCode> {
    let cuda = std::env::args().nth(1).is_some_and(|argument| argument == "--cuda");
    let context = Context::new(if cuda { Device::cuda(0)? } else { Device::best()? })?;
    let mut wrong = 0;
    let cases = CASES.iter().map(|case| context.check(case));
    for result in cases.chain(TILES.iter().map(|tile| context.check_tile(tile))) {
        if let Err(error) = result {
            println!("{error}\n");
            wrong += 1;
        }
    }
    println!(
        "differential: {} cases of seed {SEED} on {}, {wrong} wrong",
        CASES.len() + TILES.len(),
        context.name()
    );
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
