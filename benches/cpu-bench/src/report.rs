//! Tables.

use crate::{
    Setup, Who, Work,
    limits::{self, Limits},
    measure::{LaunchCost, Row},
    simd,
};
use std::fmt::Write as _;

/// Who takes part, and with what.
#[must_use]
pub(crate) fn contestants(setup: &Setup) -> String {
    let threads = rayon::current_num_threads();
    let opencl: Vec<_> = setup.opencl.iter().map(|opencl| &*opencl.name).collect();
    let opencl = if opencl.is_empty() { "none is installed".to_owned() } else { opencl.join("; ") };
    let native = if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "AVX2"
    } else {
        "no vectors beyond those of every CPU"
    };
    format!(
        "Everybody uses {threads} threads. Ours: the kernels in `benches/cpu-bench/kernels` on {}. OpenCL: \
         {opencl}. Plain loops: rayon, compiled with {native}. Vectors by hand: {} floats.\n\n\
         Times are medians of samples taken in turn, one of each contestant after the other; every output \
         was compared with a reference.\n",
        setup.device.name(),
        simd::width(),
    )
}

/// Times, and ours over those of the others.
#[must_use]
pub(crate) fn table(rows: &[Row]) -> String {
    let columns: Vec<_> = Who::OURS.into_iter().chain(Who::OTHERS).collect();
    let mut text = String::from("## Times in microseconds\n\n");
    head(&mut text, &["kernel", "size", "samples"], &columns);
    for row in rows {
        let _ = write!(text, "| {} | {} | {} |", row.name, row.size, row.samples);
        cells(&mut text, &columns, |who| row.of(who).map(|seconds| 1e6 * seconds));
    }
    for ours in Who::OURS {
        let _ = write!(text, "\n## {} over theirs (below 1: ours is faster)\n\n", ours.title());
        head(&mut text, &["kernel"], &Who::OTHERS);
        for row in rows {
            let _ = write!(text, "| {} |", row.name);
            cells(&mut text, &Who::OTHERS, |who| ratio(row, ours, who));
        }
    }
    text
}

/// How much of what the machine can do at most each kernel reaches.
#[must_use]
pub(crate) fn shares(rows: &[Row], limits: Limits) -> String {
    let Limits { bytes, operations } = limits;
    let columns: Vec<_> = Who::OURS.into_iter().chain(Who::OTHERS).collect();
    let mut text = format!(
        "## Shares of the machine's limit\n\n\
         The limit was measured in the same run, by as many threads: {:.1} GB/s for a sum of two arrays of {} MiB each (STREAM's \
         triad: two are read, one is written), {:.0} billion sums and products a second in registers. A kernel is held against the \
         one that it cannot do without. More than 1: its data stays in the caches, for which memory is no limit.\n\n",
        bytes / 1e9,
        limits::ARRAY_MIB,
        operations / 1e9,
    );
    head(&mut text, &["kernel", "at least"], &columns);
    for row in rows {
        let (least, seconds) = match row.work {
            Work::Bytes(count) => (format!("{:.2} MB", count as f64 / 1e6), count as f64 / bytes),
            Work::Operations(count) => {
                (format!("{:.1} million operations", count as f64 / 1e6), count as f64 / operations)
            }
        };
        let _ = write!(text, "| {} | {least} |", row.name);
        cells(&mut text, &columns, |who| row.of(who).map(|taken| seconds / taken));
    }
    text
}

/// The first lines of a table.
fn head(text: &mut String, first: &[&str], columns: &[Who]) {
    let titles = first.iter().copied().chain(columns.iter().map(|who| who.title()));
    let titles: Vec<_> = titles.collect();
    let _ = writeln!(text, "| {} |\n|{}", titles.join(" | "), " --- |".repeat(titles.len()));
}

/// The cells of a row of a table, and its end.
fn cells(text: &mut String, columns: &[Who], value: impl Fn(Who) -> Option<f64>) {
    for &who in columns {
        let _ = write!(text, " {} |", number(value(who)));
    }
    text.push('\n');
}

/// The goals, and whether they are met.
#[must_use]
pub(crate) fn goals(rows: &[Row], launch: &LaunchCost, scaling: f64) -> String {
    let mut text = String::from("## Goals\n\n| goal | found | met |\n| --- | --- | --- |\n");
    let mut line = |goal: &str, found: String, met: bool| {
        let _ = writeln!(text, "| {goal} | {found} | {} |", if met { "yes" } else { "no" });
    };
    for (goal, who, most) in [
        ("faster than pocl on every kernel", Who::Pocl, 1.0),
        ("at most 1.3 times the time of Intel's OpenCL on every kernel", Who::Intel, 1.3),
        ("at most 1.1 times rayon's time on every kernel", Who::Rayon, 1.1),
        ("at most 1.3 times that of SIMD by hand", Who::Simd, 1.3),
        ("at most 2.0 times that of the best sequential algorithm", Who::Sequential, 2.0),
    ] {
        for ours in Who::OURS {
            let goal = format!("{}: {goal}", ours.title());
            match worst(rows, ours, who) {
                Some((kernel, ratio)) => {
                    line(&goal, format!("at worst {ratio:.2} ({kernel})"), ratio <= most);
                }
                None => line(&goal, "not measured".to_owned(), false),
            }
        }
    }
    for ours in Who::OURS {
        for (name, who) in [("rayon", Who::Rayon), ("Intel's OpenCL", Who::Intel)] {
            let goal = format!("{}: faster than {name} in the geometric mean", ours.title());
            match mean(rows, ours, who) {
                Some(mean) => line(&goal, format!("{mean:.2}"), mean < 1.0),
                None => line(&goal, "not measured".to_owned(), false),
            }
        }
    }
    let LaunchCost { one_block, each_block } = launch;
    line("a launch of one empty block under 1 µs", format!("{one_block:.0} ns"), *one_block < 1e3);
    line("each further block under 50 ns", format!("{each_block:.1} ns"), *each_block < 50.0);
    let threads = rayon::current_num_threads();
    let goal =
        format!("n-body on {threads} threads at least {:.1} times as fast", 0.95 * threads as f64);
    line(&goal, format!("{scaling:.2}"), scaling >= 0.95 * threads as f64);
    text
}

/// The kernel on which we do worst, and ours over theirs there.
fn worst(rows: &[Row], ours: Who, theirs: Who) -> Option<(&'static str, f64)> {
    let found = rows.iter().filter_map(|row| Some((row.name, ratio(row, ours, theirs)?)));
    found.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The geometric mean of ours over theirs; `None` where they have none.
fn mean(rows: &[Row], ours: Who, theirs: Who) -> Option<f64> {
    let logs: Vec<_> = rows.iter().filter_map(|row| Some(ratio(row, ours, theirs)?.ln())).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// Ours over theirs.
fn ratio(row: &Row, ours: Who, theirs: Who) -> Option<f64> {
    Some(row.of(ours)? / row.of(theirs)?)
}

fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
    }
}
