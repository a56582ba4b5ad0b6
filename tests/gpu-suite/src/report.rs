//! What came out, as JSON and as a Markdown table.

use crate::cases::Output;
use serde::Serialize;
use std::fmt::Write as _;

/// Everything that came out on one device.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The device.
    pub device: String,
    /// Which embedded binary was chosen for each source, and why the others lost.
    pub chosen: Vec<String>,
    /// A row for each kernel.
    pub rows: Vec<Row>,
}

/// What came out for one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// `example` or `conformance`.
    pub kind: &'static str,
    /// What was wrong; `None`: nothing.
    pub failure: Option<String>,
    /// The norm of the difference to the CPU's result over the norm of that.
    pub relative_error: Option<f64>,
    /// Microseconds of a launch on large inputs: the median of several.
    pub microseconds: Option<f64>,
    /// The spread of those launches: the longest over the shortest.
    pub spread: Option<f64>,
    /// The bytes that a launch has to move, in GB a second.
    pub gigabytes_per_second: Option<f64>,
    /// The floating-point operations that a launch has to do, in 10^9 a second.
    pub gigaflops: Option<f64>,
    /// Milliseconds of a conformance check, with its copies and its reference.
    pub check_milliseconds: Option<f64>,
}

impl Row {
    pub(crate) fn new(kernel: &str, kind: &'static str) -> Self {
        Self {
            kernel: kernel.to_owned(),
            kind,
            failure: None,
            relative_error: None,
            microseconds: None,
            spread: None,
            gigabytes_per_second: None,
            gigaflops: None,
            check_milliseconds: None,
        }
    }

    pub(crate) fn set_times(&mut self, output: &Output) {
        let mut seconds = output.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let (Some(first), Some(last)) = (seconds.first(), seconds.last()) else { return };
        let median = seconds[seconds.len() / 2];
        self.microseconds = Some(1e6 * median);
        self.spread = Some(last / first);
        let rate = |amount: f64| (amount > 0.0).then(|| 1e-9 * amount / median);
        self.gigabytes_per_second = rate(output.bytes);
        self.gigaflops = rate(output.operations);
    }
}

impl Report {
    /// Whether nothing was wrong.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|row| row.failure.is_none())
    }

    /// The report as indented JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts are JSON") + "\n"
    }

    /// The report as a table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Kernels on {}\n\n", self.device);
        for choice in &self.chosen {
            let _ = writeln!(text, "- {}", choice.replace('\n', "\n  "));
        }
        text += "\n| kernel | kind | result | relative error | µs a launch | GB/s | GFLOP/s |\n\
                 | --- | --- | --- | --- | --- | --- | --- |\n";
        for row in &self.rows {
            let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                row.kernel,
                row.kind,
                row.failure.as_ref().map_or("right".to_owned(), |why| why.replace('|', "/")),
                row.relative_error.map_or(String::new(), |error| format!("{error:.1e}")),
                number(row.microseconds),
                number(row.gigabytes_per_second),
                number(row.gigaflops),
            );
        }
        text
    }
}
