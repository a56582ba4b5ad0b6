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
mod matrices;
mod numbers;
mod records;

use std::{
    error::Error,
    time::{Duration, Instant},
};

use kernelmill::{Backend, Device, Stream};

mod kernels {
    #![allow(clippy::all, clippy::pedantic, missing_docs, reason = "they are generated")]
    kernelmill::include_kernels!();
}

/// How long a program is measured on all devices together.
const BUDGET: Duration = Duration::from_secs(4);

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A device with the kernels.
pub(crate) struct Machine {
    device: Device,
    stream: Stream,
    kernels: kernels::Kernels,
}

impl Machine {
    fn new(device: Device) -> Outcome<Self> {
        let kernels = kernels::Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }

    /// How long launches take until they are done.
    pub(crate) fn time(&self, launches: impl FnOnce() -> Outcome) -> Outcome<Duration> {
        self.device.synchronize()?;
        let start = Instant::now();
        launches()?;
        self.stream.synchronize()?;
        Ok(start.elapsed())
    }
}

/// A run of a program.
pub(crate) struct Run {
    /// How long its launches took.
    time: Duration,
    /// The largest difference from plain Rust, relative to numbers above 1.
    difference: f64,
}

/// A program of the suite.
pub(crate) struct Program {
    name: &'static str,
    /// Uploads the inputs, launches the kernels and compares what they have written.
    run: Box<Runner>,
}

type Runner = dyn Fn(&Machine) -> Outcome<Run>;

impl Program {
    pub(crate) fn new(
        name: &'static str,
        run: impl Fn(&Machine) -> Outcome<Run> + 'static,
    ) -> Self {
        Self { name, run: Box::new(run) }
    }

    /// The milliseconds of the fastest run on each machine.
    fn measure(&self, machines: &[Machine]) -> Outcome<Vec<f64>> {
        let mut fastest = vec![Duration::MAX; machines.len()];
        let begun = Instant::now();
        let mut runs = 0;
        while runs < 3 || begun.elapsed() < BUDGET {
            for (machine, fastest) in machines.iter().zip(&mut fastest) {
                let run = (self.run)(machine)?;
                if run.difference > 1e-3 {
                    let place = machine.device.name();
                    let said = format!("{} on {place}: off by {}", self.name, run.difference);
                    return Err(said.into());
                }
                *fastest = run.time.min(*fastest);
            }
            runs += 1;
        }
        Ok(fastest.iter().map(|it| 1e3 * it.as_secs_f64()).collect())
    }
}

fn main() -> Outcome {
    let part = std::env::args().nth(1).unwrap_or_default();
    let mut devices = vec![Device::cpu()?];
    devices.extend(Device::all().into_iter().filter(|it| it.backend() == Backend::OpenCl));
    let machines = devices.into_iter().map(Machine::new).collect::<Outcome<Vec<_>>>()?;
    let names: Vec<_> = machines.iter().map(|it| it.device.name().to_owned()).collect();
    println!("Milliseconds on {}\n", names.join(", "));
    println!("| program | cpu | {}", "OpenCL | cpu / OpenCL | ".repeat(names.len() - 1));
    println!("| --- | --- | {}", "--- | --- | ".repeat(names.len() - 1));
    let mut ratios = vec![Vec::new(); names.len() - 1];
    let programs = [grids::programs(), matrices::programs(), records::programs()];
    for program in programs.into_iter().flatten().filter(|it| it.name.contains(&*part)) {
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
