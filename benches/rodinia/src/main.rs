//! Kernels in OpenCL C of Rodinia ("Rodinia: A Benchmark Suite for Heterogeneous Computing", Che et al., IISWC 2009), as
//! they are, through kernelmill's CPU target and on the devices of OpenCL. Host code and inputs are ours; each run is
//! compared with plain Rust, and the devices take turns.
//!
//! ```text
//! git clone https://github.com/yuhc/gpu-rodinia
//! git -C gpu-rodinia checkout 9c10d3ea
//! RODINIA=$PWD/gpu-rodinia cargo run --release -p rodinia --features kernels
//! RODINIA=$PWD/gpu-rodinia cargo run --release -p rodinia --features kernels -- lud    programs whose names have that in them
//! ```

mod grids;
mod kernels;
mod matrices;
mod numbers;
mod program;
mod records;

use kernelmill::{Backend, Device};
use program::{Machine, Outcome};

fn main() -> Outcome {
    let part = std::env::args().nth(1).unwrap_or_default();
    let mut devices = vec![Device::cpu()?];
    devices.extend(Device::all().into_iter().filter(|it| it.backend() == Backend::OpenCl));
    let machines = devices.into_iter().map(Machine::new).collect::<Outcome<Vec<_>>>()?;
    let names: Vec<_> = machines.iter().map(|it| it.name().to_owned()).collect();
    println!("Milliseconds on {}\n", names.join(", "));
    println!("| program | cpu | {}", "OpenCL | cpu / OpenCL | ".repeat(names.len() - 1));
    println!("| --- | --- | {}", "--- | --- | ".repeat(names.len() - 1));
    let mut ratios = vec![Vec::new(); names.len() - 1];
    let programs = grids::programs().into_iter().chain(matrices::programs());
    for program in programs.chain(records::programs()).filter(|it| it.name.contains(&*part)) {
        let times = program.measure(&machines)?;
        print!("| {} | {:.3} |", program.name, times[0]);
        for (time, ratios) in times[1..].iter().zip(&mut ratios) {
            print!(" {time:.3} | {:.2} |", times[0] / time);
            ratios.push((times[0] / time).ln());
        }
        println!();
    }
    for (ratios, name) in ratios.iter().zip(&names[1..]) {
        let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
        println!("\nThe geometric mean of {} ratios to {name}: {mean:.2}.", ratios.len());
    }
    Ok(())
}
