//! Rows on the CPU: their outputs compared, both sides measured in turns, and what is said of them.

use kernelmill::Device;

use crate::{
    arguments::Arguments,
    row::{Outcome, Report, Row, Table},
    suites,
};

/// Compares the outputs of each row, and measures both sides.
struct OnCpu {
    verify_only: bool,
    ratios: Vec<f64>,
    failures: Vec<String>,
}

impl OnCpu {
    fn new(verify_only: bool) -> Self {
        if !verify_only {
            println!("| kernel | file | grid x block | ours, ms | C, ms | ours / C |");
            println!("| --- | --- | --- | --- | --- | --- |");
        }
        Self { verify_only, ratios: Vec::new(), failures: Vec::new() }
    }
}

impl Report for OnCpu {
    fn row(&mut self, mut row: Row<'_>) -> Outcome {
        if let Err(failure) = row.compare()? {
            let failure = format!("{} ({}): {failure}", row.name, row.file);
            eprintln!("{failure}");
            self.failures.push(failure);
            return Ok(());
        }
        if self.verify_only {
            self.ratios.push(0.0);
            return Ok(());
        }
        let [ours, plain] = row.measure()?;
        let ratio = ours / plain;
        let Row { name, file, launch, .. } = row;
        let [ours, plain] = [ours, plain].map(|it| 1e3 * it);
        println!("| `{name}` | {file} | {launch} | {ours:.3} | {plain:.3} | {ratio:.2} |");
        self.ratios.push(ratio);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome {
        let count = self.ratios.len();
        if self.verify_only {
            println!("{count} kernels: their outputs are right");
        } else {
            let sum: f64 = self.ratios.iter().map(|it| it.ln()).sum();
            let mean = (sum / count.max(1) as f64).exp();
            let over = self.ratios.iter().filter(|it| **it > 2.0).count();
            let faster = self.ratios.iter().filter(|it| **it < 1.0).count();
            println!(
                "\n{count} kernels, whose outputs are right. The geometric mean of the ratios is {mean:.2};"
            );
            println!("{over} are over 2, {faster} below 1.");
        }
        match self.failures.is_empty() {
            true => Ok(()),
            false => Err(format!("wrong outputs:\n{}", self.failures.join("\n")).into()),
        }
    }
}

/// Runs the rows.
///
/// # Errors
///
/// Where an output is wrong, and where a launch fails.
pub(crate) fn run(asked: &Arguments) -> Outcome {
    let report = Box::new(OnCpu::new(asked.verify_only));
    suites::rows(Table::new(Device::cpu()?, &asked.part, 0, report)?)
}
