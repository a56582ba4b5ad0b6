//! The kernels of the examples with inputs: those of the suite for GPUs.

use kernelmill::{Device, Result};

use crate::{
    Kernels,
    cases::{CASES, Case, Scale, Side},
};

/// A kernel of an example with an input.
pub struct Example(&'static Case);

/// All of them.
pub fn examples() -> impl Iterator<Item = Example> {
    CASES.iter().map(Example)
}

impl Example {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// What it computes on a device.
    ///
    /// # Errors
    ///
    /// What the device reports.
    pub fn run(&self, device: &Device, kernels: &Kernels) -> Result<Vec<f64>> {
        (self.0.run)(Side { device, kernels }, Scale::Small).map(|output| output.values)
    }
}
