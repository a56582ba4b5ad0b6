//! A program of the suite, and the devices that it runs on.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use kernelmill::{Device, Stream};

use crate::kernels::Kernels;

/// How long a program is measured on all devices together.
const BUDGET: Duration = Duration::from_secs(4);

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A device with the kernels.
pub(crate) struct Machine {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) kernels: Kernels,
}

impl Machine {
    pub(crate) fn new(device: Device) -> Outcome<Self> {
        let kernels = Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }

    pub(crate) fn name(&self) -> &str {
        self.device.name()
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
    pub(crate) time: Duration,
    /// The largest difference from plain Rust, relative to numbers above 1.
    pub(crate) difference: f64,
}

/// A program of the suite.
pub(crate) struct Program {
    pub(crate) name: &'static str,
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
    pub(crate) fn measure(&self, machines: &[Machine]) -> Outcome<Vec<f64>> {
        let mut fastest = vec![Duration::MAX; machines.len()];
        let begun = Instant::now();
        let mut runs = 0;
        while runs < 3 || begun.elapsed() < BUDGET {
            for (machine, fastest) in machines.iter().zip(&mut fastest) {
                let run = (self.run)(machine)?;
                if run.difference > 1e-3 {
                    let place = machine.name();
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
