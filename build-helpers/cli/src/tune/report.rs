//! What a benchmark reports, line by line, and a chart of it.

use kernelmill_build::tuning::Choice;
use serde_json::{Value, json};
use std::{fmt::Write as _, str::FromStr};

/// The width of the longest bar.
const WIDTH: f64 = 40.0;

/// A line for `cargo kernelmill tune`.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Progress { done: u64, all: u64, what: String },
    Time(Timing),
}

/// What was measured of one launch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timing {
    /// What was asked for, where it is several kernels.
    group: Option<String>,
    kernel: String,
    device: String,
    /// Elements along each axis, x first.
    sizes: Vec<u64>,
    /// Threads in a block along each axis; none in a group.
    block: Vec<u32>,
    /// 0 where any build will do.
    registers: u8,
    nanoseconds: u64,
    /// The time in parts of that of the first launch.
    ratio: f64,
    pub(super) is_chosen: bool,
}

impl Line {
    /// Reads a line; `None` for what the benchmark prints for people.
    pub(super) fn read(line: &str) -> Option<Self> {
        let parts: Vec<_> = line.strip_prefix("kernelmill-tune\t")?.split('\t').collect();
        match *parts {
            ["progress", device, sizes, done, all] => Some(Self::Progress {
                done: done.parse().ok()?,
                all: all.parse().ok()?,
                what: format!("{sizes} elements on {device}"),
            }),
            ["time", kernel, device, sizes, block, registers, nanoseconds, ratio, chosen] => {
                Some(Self::Time(Timing {
                    group: None,
                    kernel: kernel.to_owned(),
                    device: device.to_owned(),
                    sizes: numbers(sizes)?,
                    block: numbers(block)?,
                    registers: registers.parse().ok()?,
                    nanoseconds: nanoseconds.parse().ok()?,
                    ratio: ratio.parse().ok()?,
                    is_chosen: chosen == "1",
                }))
            }
            ["group", group, kernel, device, sizes, nanoseconds, ratio, chosen] => {
                Some(Self::Time(Timing {
                    group: Some(group.to_owned()),
                    kernel: kernel.to_owned(),
                    device: device.to_owned(),
                    sizes: numbers(sizes)?,
                    block: Vec::new(),
                    registers: 0,
                    nanoseconds: nanoseconds.parse().ok()?,
                    ratio: ratio.parse().ok()?,
                    is_chosen: chosen == "1",
                }))
            }
            _ => None,
        }
    }
}

impl Timing {
    /// What was tuned: the group, or the kernel.
    pub(super) fn subject(&self) -> &str {
        self.group.as_ref().unwrap_or(&self.kernel)
    }

    /// What was tried: in a group a kernel, else a block.
    fn label(&self) -> String {
        if self.group.is_some() { self.kernel.clone() } else { written(&self.block) }
    }

    /// It as `--json` prints it.
    pub(super) fn as_json(&self) -> Value {
        let threads = self.block.iter().product::<u32>();
        json!({
            "group": self.group,
            "kernel": self.kernel,
            "device": self.device,
            "elements": self.sizes.iter().product::<u64>(),
            "sizes": self.sizes,
            "block": self.group.is_none().then_some(threads),
            "shape": self.block,
            "max_registers": Some(self.registers).filter(|registers| *registers > 0),
            "nanoseconds": self.nanoseconds,
            "ratio": self.ratio,
            "chosen": self.is_chosen,
        })
    }

    /// The choice that the file has for it.
    pub(super) fn choice(&self) -> Choice {
        Choice {
            group: self.group.clone(),
            kernel: self.kernel.clone(),
            device: self.device.clone(),
            size_class: self.sizes.iter().map(|size| size.max(&1).ilog2()).collect(),
            block: self.block.clone(),
            max_registers: Some(self.registers).filter(|registers| *registers > 0),
            line: 0,
        }
    }
}

/// Numbers with `x` between them, as `1920x1080`.
fn numbers<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split('x').map(|it| it.parse().ok()).collect()
}

/// Numbers as they were read.
fn written<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A bar for each launch, those of one device and size together.
pub(super) fn chart(measured: &[Timing]) -> String {
    let mut text = String::new();
    for group in measured.chunk_by(|one, next| {
        (one.subject(), &one.device, &one.sizes) == (next.subject(), &next.device, &next.sizes)
    }) {
        let Timing { device, sizes, .. } = &group[0];
        let subject = group[0].subject();
        let _ = writeln!(text, "{subject}, {} elements, {device}", written(sizes));
        let longest = group.iter().map(|it| it.nanoseconds).max().unwrap_or(1).max(1);
        let mut sorted: Vec<_> = group.iter().collect();
        sorted.sort_by_key(|it| (it.block.iter().product::<u32>(), &it.block, it.registers));
        let width = group.iter().map(|it| it.label().len()).max().unwrap_or(0).max(4);
        for it in sorted {
            let length = it.nanoseconds as f64 / longest as f64 * WIDTH;
            let bar = "#".repeat((length.round() as usize).max(1));
            let registers = match it.registers {
                0 => String::new(),
                most => format!("r{most}"),
            };
            let (time, mark) = (time(it.nanoseconds), if it.is_chosen { "  chosen" } else { "" });
            let _ = writeln!(
                text,
                "  {:>width$} {registers:4} {time:>10} {:>6.2}  {bar}{mark}",
                it.label(),
                it.ratio
            );
        }
    }
    text
}

/// A time in a unit that suits it.
fn time(nanoseconds: u64) -> String {
    let number = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.2} us", number / 1e3),
        _ => format!("{:.2} ms", number / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(line: &str) -> Timing {
        match Line::read(line) {
            Some(Line::Time(timing)) => timing,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_of_the_tuner_are_read_and_others_are_not() {
        let progress = Line::read("kernelmill-tune\tprogress\ta b\t1024\t3\t30").unwrap();
        let what = "1024 elements on a b".to_owned();
        assert_eq!(progress, Line::Progress { done: 3, all: 30, what });
        let line = "kernelmill-tune\ttime\tk\td\t1025\t64\t32\t1500\t0.8217\t1";
        let Choice { kernel, device, size_class, block, max_registers, .. } = timing(line).choice();
        assert_eq!((&*kernel, &*device), ("k", "d"));
        assert_eq!((size_class, block, max_registers), (vec![10], vec![64], Some(32)));
        let line = "kernelmill-tune\ttime\tk\td\t1920x1080\t32x8\t0\t1500\t0.8217\t1";
        let Choice { size_class, block, .. } = timing(line).choice();
        assert_eq!((size_class, block), (vec![10, 10], vec![32, 8]));
        let broken = "kernelmill-tune\ttime\tk\td\t1920x\t32x8\t0\t1500\t0.8217\t1";
        for other in
            [broken, "", "progress", "kernelmill-tune\ttime\tk", "x\tprogress\ta\t1\t3\t30"]
        {
            assert_eq!(Line::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_chart_has_a_group_for_each_size_and_marks_what_is_chosen() {
        let lines = [
            "kernelmill-tune\ttime\tk\td\t1024\t256\t0\t2000\t1.0000\t0",
            "kernelmill-tune\ttime\tk\td\t1024\t64\t0\t500\t0.2500\t1",
            "kernelmill-tune\ttime\tk\td\t1024\t64\t32\t1000\t0.5000\t0",
            "kernelmill-tune\ttime\tk\td\t2048\t256\t0\t3000000\t1.0000\t1",
        ];
        let text = chart(&lines.map(timing));
        let bar = |length| "#".repeat(length);
        let expected = format!(
            "k, 1024 elements, d\n    64          500 ns   0.25  {}  chosen\n    64 r32     1.00 us   0.50  {}\n   256         2.00 us   1.00  {}\n\
             k, 2048 elements, d\n   256         3.00 ms   1.00  {}  chosen\n",
            bar(10),
            bar(20),
            bar(40),
            bar(40)
        );
        assert_eq!(text, expected);
    }
    #[test]
    fn a_chart_has_shapes_by_their_threads() {
        let lines = [
            "kernelmill-tune\ttime\tk\td\t64x32\t32x8\t0\t2000\t1.0000\t0",
            "kernelmill-tune\ttime\tk\td\t64x32\t16x16\t0\t1000\t0.5000\t1",
            "kernelmill-tune\ttime\tk\td\t64x32\t64x2\t0\t4000\t2.0000\t0",
            "kernelmill-tune\ttime\tk\td\t32x64\t256x1\t0\t1000\t1.0000\t1",
        ];
        let timings = lines.map(timing);
        let bar = |length| "#".repeat(length);
        let expected = format!(
            "k, 64x32 elements, d\n   64x2         4.00 us   2.00  {}\n  16x16         1.00 us   0.50  {}  chosen\n   32x8         2.00 us   1.00  {}\n\
             k, 32x64 elements, d\n  256x1         1.00 us   1.00  {}  chosen\n",
            bar(40),
            bar(10),
            bar(20),
            bar(40)
        );
        assert_eq!(chart(&timings), expected);
        let told = timings[1].as_json();
        assert_eq!((&told["elements"], &told["block"]), (&2048.into(), &256.into()));
        assert_eq!((&told["sizes"], &told["shape"]), (&json!([64, 32]), &json!([16, 16])));
    }

    #[test]
    fn a_chart_of_a_group_has_its_kernels_in_their_order() {
        let lines = [
            "kernelmill-tune\tgroup\tg\tgemm_8\td\t64x64x8\t2000\t1.0000\t0",
            "kernelmill-tune\tgroup\tg\tgemm_16\td\t64x64x8\t1000\t0.5000\t1",
        ];
        let timings = lines.map(timing);
        let (long, short) = ("#".repeat(40), "#".repeat(20));
        let expected = format!(
            "g, 64x64x8 elements, d\n   gemm_8         2.00 us   1.00  {long}\n  gemm_16         1.00 us   0.50  {short}  chosen\n"
        );
        assert_eq!(chart(&timings), expected);
        let Choice { group, kernel, size_class, block, .. } = timings[1].choice();
        assert_eq!((group.as_deref(), &*kernel), (Some("g"), "gemm_16"));
        assert_eq!((size_class, block), (vec![6, 6, 3], vec![]));
        assert_eq!(timings[1].as_json()["block"], serde_json::Value::Null);
    }
}
