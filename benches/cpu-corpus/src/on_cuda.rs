//! Rows on an NVIDIA GPU: their outputs compared, the kernels alone timed by events.
//!
//! A process of its own runs the rows, and says on its standard output what it does. After an error it ends: most errors of
//! CUDA leave a context in which nothing runs any more. [`supervise`](crate::supervise) goes on with the next row in another one.

use kernelmill::{Device, Stream};

use crate::{
    arguments::Arguments,
    row::{Outcome, Report, Row, Table},
    suites,
    times::Timer,
};

/// Says of each row when it begins, then that it is right, with the nanoseconds of a launch where they are measured, or what is
/// wrong: lines whose parts are separated by tabs.
struct OnCuda {
    timer: Option<Timer>,
}

impl OnCuda {
    fn new(stream: &Stream, verify_only: bool) -> Outcome<Self> {
        let mut timer = if verify_only { None } else { Some(Timer::new(stream)?) };
        let nothing = match &mut timer {
            Some(timer) => timer.of_nothing()?.as_nanos().to_string(),
            None => String::new(),
        };
        let device = stream.device();
        say(&["device", device.name(), &device.architecture().to_string(), &nothing]);
        Ok(Self { timer })
    }
}

impl Report for OnCuda {
    fn row(&mut self, mut row: Row<'_>) -> Outcome {
        say(&["row", row.name, row.file, &row.launch]);
        match (row.compare()?, &mut self.timer) {
            (Err(what), _) => say(&["wrong", &what]),
            (Ok(()), None) => say(&["right"]),
            (Ok(()), Some(timer)) => {
                let (stream, buffers) = (row.stream.clone(), row.buffers);
                let mut reset = || buffers.iter().try_for_each(|it| it.queue_reset(&stream));
                let time = timer.median(&mut reset, &mut || Ok((row.ours)()?))?;
                say(&["right", &time.as_nanos().to_string()]);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome {
        Ok(())
    }
}

/// Runs the rows after some that are skipped.
///
/// # Errors
///
/// Of the row that began last. An output that is wrong is none.
pub(crate) fn run(asked: &Arguments, skipped: usize) -> Outcome {
    let device = Device::cuda(0)?;
    let report = OnCuda::new(&device.stream(), asked.verify_only)?;
    suites::rows(Table::new(device, &asked.part, skipped, Box::new(report))?)
}

/// Prints a line. Parts are separated by tabs, which they do not have.
pub(crate) fn say(parts: &[&str]) {
    let parts: Vec<_> = parts.iter().map(|it| it.replace(['\t', '\n'], " ")).collect();
    println!("{}", parts.join("\t"));
}
