//! Tuning of kernels on the processor, by clocks that the tests give.

use std::{
    cell::Cell,
    io::{self, Write},
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Output, TuneError, Tuner, asked::Asked};
use crate::{
    Buffer, CompiledKernel, Device, Launch, Result, Stream,
    tests::generated::{Kernels, Params},
};

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
    Asked::read(kernel, Some(sizes.to_owned()), Some("5".to_owned()))
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
        format!("saxpy\t{}\t{n}\t{block}\t0\t{time}\t{ratio}\t{mark}", device.tuning_name())
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
    assert!(text.starts_with("`saxpy` with 100 elements on "), "{text}");
    let what = "the output with blocks of 128 threads differs from that with blocks of 256 threads: element 0 has the \
                bytes";
    assert!(text.contains(what), "{text}");
    assert_eq!(lines.of("time"), [""; 0]);
}

#[test]
fn a_kernel_that_is_not_asked_for_is_not_launched() {
    let (result, lines) = tune(("other", "100"), |_, _| unreachable!(), |_| unreachable!());
    result.unwrap();
    assert!(lines.0.lock().unwrap().is_empty());
}

/// Tunes `fill`, whose launches have two dimensions, with this text of sizes.
fn tune_fill(
    sizes: &str,
    cost: impl Fn([u64; 2], [usize; 2]) -> u64,
) -> (Result<(), TuneError>, Lines) {
    let (time, lines) = (Rc::new(Cell::new(Duration::ZERO)), Lines::default());
    let clock = Rc::clone(&time);
    let clock = Box::new(move || clock.get());
    let mut tuner = Tuner::new(Some(asked("fill", sizes).unwrap()), clock, Box::new(lines.clone()));
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let result = tuner.tune_shapes(
        &kernels.compiled().fill().unwrap(),
        |[width, height]| Ok((device.zeros::<u64>(width * height)?, [width, height])),
        |(out, sizes), stream, launch| {
            let params = Params { width: sizes[0] as u32, step: 3 };
            time.set(time.get() + Duration::from_nanos(cost(launch.block_size(), *sizes)));
            let grid = launch.grid_size();
            assert!(
                (0..2).all(|axis| grid[axis] * launch.block_size()[axis] >= sizes[axis] as u64)
            );
            kernels.fill(stream, launch, params, &mut *out)
        },
        |(out, _)| Ok(Output::exact(&out.download()?)),
    );
    (result, lines)
}

#[test]
fn the_fastest_shape_of_each_size_is_marked() {
    // Wide blocks are fast for wide problems, and squares for high ones.
    let cost = |[x, y]: [u64; 2], [width, height]: [usize; 2]| {
        if width > height { 1_000_000_000 / x } else { 30_000 * (100 + x.abs_diff(y)) }
    };
    let (result, lines) = tune_fill("256x8,8x256", cost);
    result.unwrap();
    let times = lines.of("time");
    assert!(times.iter().all(|line| line.starts_with("fill\t")), "{times:?}");
    let fields = |line: &String| {
        let parts: Vec<_> = line.split('\t').map(str::to_owned).collect();
        (parts[2].clone(), parts[3].clone(), parts[7] == "1")
    };
    let lines: Vec<_> = times.iter().map(fields).collect();
    let of = |size: &str| -> Vec<&str> {
        let own = lines.iter().filter(|(own, ..)| own == size);
        own.map(|(_, block, _)| &**block).collect()
    };
    let shapes = of("256x8");
    assert_eq!((shapes[0], shapes.len()), ("32x8", 14));
    assert!(["16x16", "64x4", "128x2", "32x32"].iter().all(|it| shapes.contains(it)), "{shapes:?}");
    assert_eq!(of("8x256"), shapes);
    let chosen = lines.iter().filter(|it| it.2).map(|(size, block, _)| (&**size, &**block));
    let chosen: Vec<_> = chosen.collect();
    assert_eq!(chosen, [("256x8", "256x1"), ("8x256", "16x16")]);
}

#[test]
fn sizes_of_other_dimensions_than_the_kernel_has_are_refused() {
    let (result, _) = tune_fill("8,16x16,4x4x4", |_, _| unreachable!());
    let text = result.unwrap_err().to_string();
    let expected = "the environment variable KERNELMILL_TUNE_SIZES has `8`: the sizes of `fill` have 2 dimensions, but this one has 1
the environment variable KERNELMILL_TUNE_SIZES has `4x4x4`: the sizes of `fill` have 2 dimensions, but this one has 3";
    assert_eq!(text, expected);
}

#[test]
fn launches_of_another_dimension_are_refused() {
    let asked = asked("fill", "100").unwrap();
    let mut tuner = Tuner::new(Some(asked), Box::new(|| Duration::ZERO), Box::new(io::sink()));
    let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
    let fill = kernels.compiled().fill().unwrap();
    let result = tuner.tune(&fill, |_| Ok(()), |(), _, _| Ok(()), |()| unreachable!());
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("kernel `fill` is launched in 2D, but tuned in 1D"));
}

/// Tunes the group `two` of `saxpy` in blocks of 32 and of 64, of which the second is fast for long rows, on this text of
/// sizes; the factor of the second is given.
fn tune_group(asked: Asked, factor: f32) -> (Result<(), TuneError>, Lines) {
    let (time, lines) = (Rc::new(Cell::new(Duration::ZERO)), Lines::default());
    let clock = Rc::clone(&time);
    let clock = Box::new(move || clock.get());
    let mut tuner = Tuner::new(Some(asked), clock, Box::new(lines.clone()));
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let compiled = [kernels.compiled().saxpy().unwrap(), kernels.compiled().saxpy().unwrap()];
    let result = tuner.tune_group(
        "two",
        &compiled,
        |[rows, columns]| {
            let n = rows * columns;
            Ok((device.upload(&vec![1.0; n])?, device.upload(&vec![2.0; n])?, columns))
        },
        |(x, y, columns), stream, place| {
            let is_fast = (place == 1) == (*columns > 100);
            time.set(time.get() + Duration::from_micros(if is_fast { 500 } else { 1000 }));
            let launch = Launch::linear_in_blocks(y.len(), [32, 64][place]);
            kernels.saxpy(stream, launch, [3.0, factor][place], &*x, &mut *y)
        },
        |(_, y, _)| Ok(Output::exact(&y.download()?)),
    );
    (result, lines)
}

#[test]
fn the_fastest_kernel_of_a_group_is_marked_for_each_size() {
    let (result, lines) = tune_group(asked("two", "4x8,4x128").unwrap(), 3.0);
    result.unwrap();
    let device = Device::cpu_sequential().unwrap();
    let line = |size: &str, time: u64, ratio: &str, mark: u8| {
        format!("two\tsaxpy\t{}\t{size}\t{time}\t{ratio}\t{mark}", device.tuning_name())
    };
    let expected = [
        line("4x8", 500_000, "1.0000", 1),
        line("4x8", 1_000_000, "2.0000", 0),
        line("4x128", 1_000_000, "1.0000", 0),
        line("4x128", 500_000, "0.5000", 1),
    ];
    assert_eq!(lines.of("group"), expected);
    assert_eq!(lines.of("progress").len(), 10);
    // `saxpy` alone is not asked for, and neither is the group where a kernel is.
    assert_eq!(lines.of("time"), [""; 0]);
    let (result, lines) = tune_group(asked("saxpy", "4x8").unwrap(), 3.0);
    result.unwrap();
    assert!(lines.0.lock().unwrap().is_empty());
}

#[test]
fn kernels_of_a_group_that_compute_something_else_are_an_error() {
    let (result, lines) = tune_group(asked("two", "4x8").unwrap(), 4.0);
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("`two` with 4x8 elements on "), "{text}");
    assert!(
        text.contains("the output with `saxpy` differs from that with `saxpy`: element 0"),
        "{text}"
    );
    assert_eq!(lines.of("group"), [""; 0]);
}
