//! Kernels on the CPU against pocl, plain loops with rayon, hand-written SIMD and the best
//! sequential algorithms: every output compared with a reference, times measured in turns.
//!
//! `cargo xtask bench cpu` builds this for the machine it is on and writes what it prints to
//! `benches/results/cpu.md`; `--verify` runs everything once on small inputs.

mod case;
mod kernels;
mod measure;
mod opencl;
mod report;
mod setup;
mod simd;
#[cfg(test)]
mod tests;

/// The kernels, with their wrappers.
mod generated {
    kernelmill::include_kernels!();
}

use case::{Case, Values, Who};
use setup::{Scale, Setup};
use std::{error::Error, time::Duration};

/// Nothing, or what was wrong.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What is measured of one kernel, its contestants together.
const BUDGET: Duration = Duration::from_secs(16);

fn main() -> Outcome {
    let verify = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--verify") => true,
        Some(other) => return Err(format!("unknown argument {other}; there is --verify").into()),
    };
    let setup = Setup::open(if verify { Scale::Small } else { Scale::Full })?;
    let mut rows = Vec::new();
    for new in kernels::ALL {
        let mut case = new(&setup)?;
        case.verify()?;
        eprintln!("{}: every output is right", case.name);
        if !verify {
            rows.push(measure::case(&mut case, BUDGET)?);
        }
    }
    if verify {
        println!("every output is right");
        return Ok(());
    }
    println!("{}", report::contestants(&setup));
    println!("{}", report::table(&rows));
    println!("{}", report::goals(&rows, &measure::launch(&setup)?, measure::scaling(&rows)?));
    Ok(())
}
