//! Kernels on the CPU, in Rust and in CUDA C++, against OpenCL by pocl and Intel, plain loops with rayon, hand-written SIMD
//! and the best sequential algorithms: every output compared with a reference, times measured in turns.
//!
//! `cargo xtask bench cpu` builds this for the machine it is on and writes what it prints to
//! `benches/results/cpu.md`; `--verify` runs everything once on small inputs, and `--only NAME`
//! measures the kernels whose names have that in them.

mod case;
mod generated;
mod kernels;
mod limits;
mod measure;
mod opencl;
mod report;
mod setup;
mod simd;
#[cfg(test)]
mod tests;

use case::{Case, Outcome, Values, Who, Work};
use setup::{Scale, Setup};
use std::time::Duration;

/// What is measured of one kernel, its contestants together.
const BUDGET: Duration = Duration::from_secs(16);

fn main() -> Outcome {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (verify, only) = match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        [] => (false, None),
        ["--verify"] => (true, None),
        ["--only", name] => (false, Some((*name).to_owned())),
        _ => return Err("the arguments are none, --verify, or --only and part of a name".into()),
    };
    let setup = Setup::open(if verify { Scale::Small } else { Scale::Full })?;
    let mut rows = Vec::new();
    let more = if verify || only.is_some() { kernels::MORE } else { &[] };
    for new in kernels::ALL.iter().chain(more) {
        let mut case = new(&setup)?;
        if only.as_ref().is_some_and(|name| !case.name.contains(&**name)) {
            continue;
        }
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
    let limits = limits::measure();
    println!("{}", report::contestants(&setup));
    println!("{}", report::table(&rows));
    println!("{}", report::shares(&rows, limits));
    if only.is_some() {
        return Ok(());
    }
    println!("{}", report::goals(&rows, &measure::launch(&setup)?, measure::scaling(&rows)?));
    Ok(())
}
