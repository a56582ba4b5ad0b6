//! Progress bars: one for all units, with the time left, and a line for each that is being made.

use super::events::{Events, Step, Thread};
use anyhow::Result;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The bars on the terminal of the standard error stream.
pub(super) struct Bars {
    all: MultiProgress,
    units: ProgressBar,
    /// A line for each step that runs, by its thread and subject.
    running: BTreeMap<(Thread, String), ProgressBar>,
    style: ProgressStyle,
}

/// Prints lines above the bars.
pub(super) struct Lines(MultiProgress);

impl Lines {
    /// Prints a line.
    pub(super) fn print(&self, line: &str) {
        // A terminal that is gone is told nothing.
        let _ = self.0.println(line);
    }
}

impl Bars {
    pub(super) fn new() -> Result<Self> {
        Self::on(ProgressDrawTarget::stderr())
    }

    fn on(target: ProgressDrawTarget) -> Result<Self> {
        let all = MultiProgress::with_draw_target(target);
        let units = all.add(ProgressBar::new(0));
        // Messages end where the terminal does: a line that it wraps is two.
        let template = "{bar:12} {pos}/{len} binaries, {elapsed}, {wide_msg}";
        units.set_style(ProgressStyle::with_template(template)?);
        units.set_message("cargo runs");
        units.enable_steady_tick(Duration::from_millis(500));
        let style = ProgressStyle::with_template("  {spinner} {elapsed:>3} {wide_msg}")?;
        Ok(Self { all, units, running: BTreeMap::new(), style })
    }

    /// What prints above the bars, from any thread.
    pub(super) fn lines(&self) -> Lines {
        Lines(self.all.clone())
    }

    /// Shows what is known by now.
    pub(super) fn show(&mut self, events: &Events) {
        self.units.set_length(events.all());
        self.units.set_position(events.done);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(left) = events.seconds_left(now.as_secs_f64() * 1e6) {
            self.units.set_message(format!("about {left:.0} s left"));
        } else if !events.packages.is_empty() {
            self.units.set_message("kernels");
        }
        let key = |step: &Step| (step.thread, step.subject());
        let now: BTreeMap<_, _> =
            events.running.iter().filter(|it| it.is_unit()).map(|it| (key(it), it)).collect();
        self.running.retain(|key, bar| {
            let is_running = now.contains_key(key);
            if !is_running {
                bar.finish_and_clear();
            }
            is_running
        });
        for key in now.into_keys() {
            let (all, style) = (&self.all, &self.style);
            self.running.entry(key).or_insert_with_key(|(_, subject)| {
                let bar = all.add(ProgressBar::new_spinner().with_style(style.clone()));
                bar.set_message(subject.clone());
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            });
        }
    }

    /// Removes the bars.
    pub(super) fn finish(self) {
        self.running.values().for_each(ProgressBar::finish_and_clear);
        self.units.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::events::tests::example;

    #[test]
    fn a_bar_counts_units_and_each_that_runs_has_a_line() {
        let mut bars = Bars::on(ProgressDrawTarget::hidden()).unwrap();
        bars.show(&example());
        assert_eq!((bars.units.position(), bars.units.length()), (2, Some(3)));
        assert!(bars.units.message().ends_with(" s left"), "{}", bars.units.message());
        let lines: Vec<_> = bars.running.values().map(ProgressBar::message).collect();
        assert_eq!(lines, ["k/<b>.rs for sm_90"]);
        bars.show(&Events::default());
        assert!(bars.running.is_empty());
    }
}
