//! Times, taken in turns so that what else the machine does hits everybody alike.

use crate::{Case, Outcome, Setup, Who, Work};
use kernelmill::Launch;
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The times of a kernel.
pub(crate) struct Row {
    /// The kernel.
    pub(crate) name: &'static str,
    /// How much is computed.
    pub(crate) size: String,
    /// What that takes at least.
    pub(crate) work: Work,
    /// Median seconds of each contestant.
    pub(crate) seconds: Vec<(Who, f64)>,
    /// How often each was measured.
    pub(crate) samples: usize,
}

impl Row {
    /// The median seconds of a contestant.
    #[must_use]
    pub(crate) fn of(&self, who: Who) -> Option<f64> {
        self.seconds.iter().find(|(other, _)| *other == who).map(|(_, seconds)| *seconds)
    }
}

/// Rounds in which each contestant is measured once.
const SAMPLES: std::ops::RangeInclusive<usize> = 5..=201;
/// What one measurement takes at least: as many runs as that needs are measured together.
const SAMPLE: Duration = Duration::from_millis(2);
/// Rounds that do not count.
const WARM_UP: usize = 2;

/// Measures everybody in turns, for about as long as the budget allows.
///
/// # Errors
///
/// What a contestant reports.
pub(crate) fn case(case: &mut Case<'_>, budget: Duration) -> Outcome<Row> {
    let mut runs = Vec::new();
    let mut sample = Duration::ZERO;
    for (_, contestant) in &mut case.contestants {
        contestant.run()?;
        let begun = Instant::now();
        contestant.run()?;
        let once = begun.elapsed().max(Duration::from_nanos(1));
        let count = SAMPLE.as_nanos().div_ceil(once.as_nanos()).clamp(1, 10_000) as u32;
        runs.push(count);
        sample += once * count;
    }
    let affordable = (budget.as_secs_f64() / sample.as_secs_f64()) as usize;
    let samples = affordable.clamp(*SAMPLES.start(), *SAMPLES.end());
    let mut times = vec![Vec::new(); runs.len()];
    for number in 0..WARM_UP + samples {
        for (index, (_, contestant)) in case.contestants.iter_mut().enumerate() {
            let begun = Instant::now();
            for _ in 0..runs[index] {
                contestant.run()?;
            }
            if number >= WARM_UP {
                times[index].push(begun.elapsed().as_secs_f64() / f64::from(runs[index]));
            }
        }
    }
    let whos = case.contestants.iter().map(|(who, _)| *who);
    let seconds = whos.zip(times.into_iter().map(median)).collect();
    Ok(Row { name: case.name, size: case.size.clone(), work: case.work, seconds, samples })
}

/// The middle one.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// What a launch of an empty kernel costs, in nanoseconds.
pub(crate) struct LaunchCost {
    /// With one block.
    pub(crate) one_block: f64,
    /// For each further block.
    pub(crate) each_block: f64,
}

/// Launches an empty kernel with one block and with many, in turns.
///
/// # Errors
///
/// What the device reports.
pub(crate) fn launch(setup: &Setup) -> Outcome<LaunchCost> {
    const LAUNCHES: u32 = 2000;
    const BLOCKS: u32 = 10_001;
    let time = |blocks: u32, launches: u32| -> Outcome<f64> {
        let begun = Instant::now();
        for _ in 0..launches {
            let launch = Launch::grid([blocks], [64]);
            setup.kernels.empty(&setup.stream, launch, black_box(1))?;
        }
        setup.stream.synchronize()?;
        Ok(1e9 * begun.elapsed().as_secs_f64() / f64::from(launches))
    };
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for _ in 0..101 {
        one.push(time(1, LAUNCHES)?);
        many.push(time(BLOCKS, 4)?);
    }
    let (one_block, many) = (median(one), median(many));
    Ok(LaunchCost { one_block, each_block: (many - one_block) / f64::from(BLOCKS - 1) })
}

/// How much faster n-body is on all threads than on one.
///
/// # Errors
///
/// When it was not measured.
pub(crate) fn scaling(rows: &[Row]) -> Outcome<f64> {
    let row = rows.iter().find(|row| row.of(Who::OursOnOneThread).is_some());
    let times = row.and_then(|row| Some((row.of(Who::OursOnOneThread)?, row.of(Who::OursInRust)?)));
    let (alone, together) = times.ok_or("n-body was not measured on one thread")?;
    Ok(alone / together)
}
