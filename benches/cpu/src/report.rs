//! Tables.

use crate::{
    Setup, Who,
    measure::{LaunchCost, Row},
    simd,
};
use std::fmt::Write as _;

/// Who takes part, and with what.
#[must_use]
pub(crate) fn contestants(setup: &Setup) -> String {
    let threads = rayon::current_num_threads();
    let pocl = setup.opencl.as_ref().map_or("none is installed", |opencl| &opencl.name);
    let native = if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "AVX2"
    } else {
        "no vectors beyond those of every CPU"
    };
    format!(
        "Everybody uses {threads} threads. Ours: the kernels in `benches/cpu/kernels` on {}. OpenCL: \
         {pocl}. Plain loops: rayon, compiled with {native}. Vectors by hand: {} floats.\n\n\
         Times are medians of rounds in which everybody has a turn; every output was compared with a \
         reference.\n",
        setup.device.name(),
        simd::width(),
    )
}

/// Times, and ours over those of the others.
#[must_use]
pub(crate) fn table(rows: &[Row]) -> String {
    let others = [Who::Pocl, Who::Rayon, Who::Simd, Who::Sequential];
    let mut text = String::from(
        "## Times in microseconds\n\n\
         | kernel | size | rounds | ours | pocl | rayon | SIMD by hand | best sequential |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let _ = write!(text, "| {} | {} | {} |", row.name, row.size, row.rounds);
        for who in [Who::Ours].iter().chain(&others) {
            let _ = write!(text, " {} |", number(row.of(*who).map(|seconds| 1e6 * seconds)));
        }
        text.push('\n');
    }
    text += "\n## Ours over theirs (below 1: ours is faster)\n\n\
             | kernel | pocl | rayon | SIMD by hand | best sequential |\n\
             | --- | --- | --- | --- | --- |\n";
    for row in rows {
        let _ = write!(text, "| {} |", row.name);
        for who in others {
            let _ = write!(text, " {} |", number(ratio(row, who)));
        }
        text.push('\n');
    }
    text
}

/// The goals, and whether they are met.
#[must_use]
pub(crate) fn goals(rows: &[Row], launch: &LaunchCost, scaling: f64) -> String {
    let worst = |who| {
        let found = rows.iter().filter_map(|row| Some((row.name, ratio(row, who)?)));
        found.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let logs: Vec<f64> =
        rows.iter().filter_map(|row| ratio(row, Who::Rayon)).map(f64::ln).collect();
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let mut text = String::from("## Goals\n\n| goal | found | met |\n| --- | --- | --- |\n");
    let mut line = |goal: &str, found: String, met: bool| {
        let _ = writeln!(text, "| {goal} | {found} | {} |", if met { "yes" } else { "no" });
    };
    for (goal, who, most) in [
        ("faster than pocl on every kernel", Who::Pocl, 1.0),
        ("at most 1.1 times rayon's time on every kernel", Who::Rayon, 1.1),
        ("at most 1.3 times that of SIMD by hand", Who::Simd, 1.3),
        ("at most 2.0 times that of the best sequential algorithm", Who::Sequential, 2.0),
    ] {
        match worst(who) {
            Some((kernel, ratio)) => {
                line(goal, format!("at worst {ratio:.2} ({kernel})"), ratio <= most);
            }
            None => line(goal, "not measured".to_owned(), false),
        }
    }
    line("faster than rayon in the geometric mean", format!("{mean:.2}"), mean < 1.0);
    let LaunchCost { one_block, each_block } = launch;
    line("a launch of one empty block under 1 µs", format!("{one_block:.0} ns"), *one_block < 1e3);
    line("each further block under 50 ns", format!("{each_block:.1} ns"), *each_block < 50.0);
    let threads = rayon::current_num_threads();
    let goal =
        format!("n-body on {threads} threads at least {:.1} times as fast", 0.95 * threads as f64);
    line(&goal, format!("{scaling:.2}"), scaling >= 0.95 * threads as f64);
    text
}

/// Ours over theirs.
fn ratio(row: &Row, who: Who) -> Option<f64> {
    Some(row.of(Who::Ours)? / row.of(who)?)
}

fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
    }
}
