//! Tuning of kernels on the processor, by clocks that the tests give.

use std::{
    cell::Cell,
    io::{self, Write},
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Output, TuneError, Tuner, tuner::Asked};
use crate::{Buffer, CompiledKernel, Device, Launch, Result, Stream, tests::generated::Kernels};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// The lines of one kind, each without the parts that all have.
    fn of(&self, kind: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let start = format!("kernelmill-tune\t{kind}\t");
        text.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
    }
}

fn asked(kernel: &str, sizes: &str) -> Result<Asked, TuneError> {
    Asked::read(kernel.to_owned(), sizes.to_owned(), Some("5".to_owned()))
}

/// Tunes `saxpy` by launches that take the time that `cost` says; `spoil` changes what one of them computes.
fn tune(
    (kernel, sizes): (&str, &str),
    cost: impl Fn(u64, usize) -> u64,
    spoil: impl Fn(u64) -> bool,
) -> (Result<(), TuneError>, Lines) {
    let (time, lines) = (Rc::new(Cell::new(Duration::ZERO)), Lines::default());
    let clock = Rc::clone(&time);
    let asked = asked(kernel, sizes).unwrap();
    let mut tuner = Tuner::new(Some(asked), Box::new(move || clock.get()), Box::new(lines.clone()));
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    type Arguments = (Buffer<f32>, Buffer<f32>, usize);
    let saxpy: CompiledKernel = kernels.compiled().saxpy().unwrap();
    let result = tuner.tune(
        &saxpy,
        |n| Ok((device.upload(&vec![1.0; n])?, device.upload(&vec![2.0; n])?, n)),
        |(x, y, n): &mut Arguments, stream: &Stream, launch: Launch<1>| {
            let [block] = launch.block_size();
            let factor = if spoil(block) { 4.0 } else { 3.0 };
            time.set(time.get() + Duration::from_nanos(cost(block, *n)));
            kernels.saxpy(stream, launch, factor, &*x, &mut *y)
        },
        |(_, y, _)| Ok(Output::exact(&y.download()?)),
    );
    (result, lines)
}

#[test]
fn the_fastest_block_of_each_size_is_marked() {
    // Small blocks are fast for few elements, and large ones for many.
    let cost = |block: u64, n: usize| if n < 1000 { 1000 + block } else { 100_000 - block };
    let (result, lines) = tune(("saxpy", "100,2000"), cost, |_| false);
    result.unwrap();
    let device = Device::cpu_sequential().unwrap();
    let line = |n: usize, block: u64, time: u64, ratio: &str, mark: u8| {
        format!("saxpy\t{}\t{n}\t{block}\t0\t{time}\t{ratio}\t{mark}", device.name())
    };
    let expected = [
        line(100, 256, 1256, "1.0000", 0),
        line(100, 32, 1032, "0.8217", 1),
        line(100, 64, 1064, "0.8471", 0),
        line(100, 128, 1128, "0.8981", 0),
        line(100, 512, 1512, "1.2038", 0),
        line(100, 1024, 2024, "1.6115", 0),
        // 1 percent is not enough.
        line(2000, 256, 99_744, "1.0000", 1),
        line(2000, 32, 99_968, "1.0022", 0),
        line(2000, 64, 99_936, "1.0019", 0),
        line(2000, 128, 99_872, "1.0013", 0),
        line(2000, 512, 99_488, "0.9974", 0),
        line(2000, 1024, 98_976, "0.9923", 0),
    ];
    assert_eq!(lines.of("time"), expected);
    let progress = lines.of("progress");
    assert_eq!(progress.len(), 10);
    assert!(progress[9].ends_with("\t2000\t10\t10"), "{progress:?}");
}

#[test]
fn another_output_is_an_error_and_nothing_is_chosen() {
    let (result, lines) = tune(("saxpy", "100"), |_, _| 1_000_000, |block| block == 128);
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("kernel `saxpy` with 100 elements on "), "{text}");
    let what = "blocks of 128 threads has another output than blocks of 256 threads: element 0 has the bytes";
    assert!(text.contains(what), "{text}");
    assert_eq!(lines.of("time"), [""; 0]);
}

#[test]
fn a_kernel_that_is_not_asked_for_is_not_launched() {
    let (result, lines) = tune(("other", "100"), |_, _| unreachable!(), |_| unreachable!());
    result.unwrap();
    assert!(lines.0.lock().unwrap().is_empty());
}

#[test]
fn kernels_of_two_dimensions_are_refused() {
    let mut tuner = Tuner::new(
        Some(asked("fill", "100").unwrap()),
        Box::new(|| Duration::ZERO),
        Box::new(io::sink()),
    );
    let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
    let fill = kernels.compiled().fill().unwrap();
    let result = tuner.tune(&fill, |_| Ok(()), |(), _, _| Ok(()), |()| unreachable!());
    assert!(matches!(result, Err(TuneError::Dimension { kernel: "fill" })), "{result:?}");
}

#[test]
fn sizes_and_rounds_that_cannot_be_meant_are_errors() {
    assert_eq!(asked("a", "1024, 2048").unwrap().sizes, [1024, 2048]);
    for sizes in ["", "0", "1,,2", "x", "1024,2047"] {
        let Err(error) = asked("a", sizes) else { panic!("{sizes}") };
        let start = format!("the environment variable KERNELMILL_TUNE_SIZES is `{sizes}`: ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    let rounds = Asked::read("a".to_owned(), "1".to_owned(), Some("2".to_owned()));
    assert!(matches!(rounds, Err(TuneError::Variable { name: "KERNELMILL_TUNE_ROUNDS", .. })));
}
