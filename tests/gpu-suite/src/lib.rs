//! Every kernel of examples and tests on a GPU, compared with the CPU or with plain Rust, and timed.

mod cases;
mod kernels;
mod report;

pub use report::{Report, Row};

use cases::{CASES, Case, Scale, Side};
use conformance::{Context, Scope};
use kernelmill::{Backend, Device};
use kernels::Kernels;
use std::{error::Error, time::Instant};

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Small inputs, compared; nothing timed.
    Compare,
    /// Then large inputs, timed.
    Time,
}

/// Runs every kernel on a GPU, or `only` the one with this name. The result of a kernel of the examples
/// is compared with that of the CPU, the result of one of `tests/conformance` with plain Rust.
///
/// # Errors
///
/// When the device is the CPU, whose results would be compared with themselves, and when the kernels
/// cannot be loaded. What a kernel does wrong is in the report.
pub fn run(
    device: &Device,
    effort: Effort,
    only: Option<&str>,
) -> Result<Report, Box<dyn Error + Send + Sync>> {
    if device.backend() == Backend::Cpu {
        return Err("the suite compares a GPU with the CPU, and this device is the CPU".into());
    }
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let reference = Device::cpu()?;
    let (kernels, reference_kernels) = (Kernels::load(device)?, Kernels::load(&reference)?);
    let chosen = kernels.chosen().iter().map(ToString::to_string).collect();
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        let on = Side { device, kernels: &kernels };
        let beside = Side { device: &reference, kernels: &reference_kernels };
        rows.push(example(case, on, beside, effort));
    }
    let context = Context::new(device.clone())?;
    for check in conformance::all().into_iter().filter(|check| wanted(check.name)) {
        if check.scope == Scope::Everywhere {
            rows.push(conformance_check(&check, &context));
        }
    }
    Ok(Report { device: device.to_string(), chosen, rows })
}

fn example(case: &Case, on: Side<'_>, reference: Side<'_>, effort: Effort) -> Row {
    let mut row = Row::new(case.name, "example");
    match compare(case, on, reference) {
        Ok(error) => {
            row.relative_error = Some(error);
            if error.is_nan() || error > case.tolerance {
                row.failure = Some(format!("the relative error may be {:e}", case.tolerance));
            }
        }
        Err(error) => row.failure = Some(error.to_string()),
    }
    if effort == Effort::Time && row.failure.is_none() {
        match (case.run)(on, Scale::Large) {
            Ok(output) => row.set_times(&output),
            Err(error) => row.failure = Some(error.to_string()),
        }
    }
    row
}

/// The norm of the difference to the CPU's result over the norm of that.
fn compare(case: &Case, on: Side<'_>, reference: Side<'_>) -> kernelmill::Result<f64> {
    let actual = (case.run)(on, Scale::Small)?.values;
    let expected = (case.run)(reference, Scale::Small)?.values;
    if actual.len() != expected.len() {
        return Ok(f64::NAN);
    }
    let square = |value: f64| value * value;
    let difference: f64 = actual.iter().zip(&expected).map(|(a, b)| square(a - b)).sum();
    let norm: f64 = expected.iter().copied().map(square).sum();
    Ok((difference / norm).sqrt())
}

fn conformance_check(check: &conformance::Check, context: &Context) -> Row {
    let mut row = Row::new(check.name, "conformance");
    let start = Instant::now();
    if let Err(error) = check.run(context) {
        row.failure = Some(error.to_string());
    }
    row.check_milliseconds = Some(1e3 * start.elapsed().as_secs_f64());
    row
}
