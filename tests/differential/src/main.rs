//! Runs every case on the best device; the fake driver makes that CUDA. With `--cuda` it is the
//! first NVIDIA device or none.

use differential::{CASES, CHECKED, Context, SEED, STRIDES, TILES};
use kernelmill::Device;
use std::process::ExitCode;

fn main() -> kernelmill::Result<ExitCode> {
    let cuda = std::env::args().nth(1).is_some_and(|argument| argument == "--cuda");
    let context = Context::new(if cuda { Device::cuda(0)? } else { Device::best()? })?;
    let mut wrong = 0;
    let cases = CASES.iter().map(|case| context.check(case));
    let tiles = TILES.iter().map(|tile| context.check_tile(tile));
    let strides = STRIDES.iter().map(|stride| context.check_stride(stride));
    let checked = CHECKED.iter().map(|checked| context.check_checked(checked));
    for result in cases.chain(tiles).chain(strides).chain(checked) {
        if let Err(error) = result {
            println!("{error}\n");
            wrong += 1;
        }
    }
    println!(
        "differential: {} cases of seed {SEED} on {}, {wrong} wrong",
        CASES.len() + TILES.len() + STRIDES.len() + CHECKED.len(),
        context.name()
    );
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
