//! A row of the table: a kernel with its launch and its inputs, and the plain loop that computes the same.

use std::{
    cell::RefCell,
    error::Error,
    rc::Rc,
    time::{Duration, Instant},
};

use kernelmill::{Buffer, Device, Stream};

use crate::{
    kernels::Kernels,
    numbers::{Number, difference},
};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How long a row is measured.
const BUDGET: Duration = Duration::from_secs(1);

/// How often each side runs before it is the other's turn.
const IN_A_ROW: usize = 4;

/// How long the machine is left alone before each turn: threads that have nothing to do wait for more in a loop at first,
/// both OpenMP's and ours, and would take a core from the other side.
const PAUSE: Duration = Duration::from_millis(10);

/// What a kernel does with a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    In,
    /// It is written, perhaps after it was read: it has its first contents before each run.
    Out,
}

/// A buffer of the kernel, and one of the plain loop.
pub(crate) struct Pair<T: Number> {
    first: Vec<T>,
    role: Role,
    pub(crate) ours: RefCell<Buffer<T>>,
    pub(crate) plain: RefCell<Vec<T>>,
    /// The first contents on the device, once they are asked for.
    #[cfg(feature = "cuda")]
    kept: RefCell<Option<Buffer<T>>>,
}

impl<T: Number> Pair<T> {
    pub(crate) fn new(device: &Device, role: Role, first: Vec<T>) -> Outcome<Self> {
        let ours = RefCell::new(device.upload(&first)?);
        Ok(Self {
            plain: RefCell::new(first.clone()),
            first,
            role,
            ours,
            #[cfg(feature = "cuda")]
            kept: RefCell::new(None),
        })
    }
}

/// Buffers of any type.
pub(crate) trait Compare {
    fn reset(&self) -> Outcome;

    /// Queues a copy of the first contents on the device, into the kernel's buffer alone.
    #[cfg(feature = "cuda")]
    fn queue_reset(&self, stream: &Stream) -> Outcome;

    /// How far the outputs are from each other, in tolerances (of the row, or of the type), and whether any is another
    /// than before.
    fn compare(&self, tolerance: Option<f64>) -> Outcome<(f64, bool)>;
}

impl<T: Number> Compare for Pair<T> {
    fn reset(&self) -> Outcome {
        if self.role == Role::Out {
            self.ours.borrow_mut().copy_from(&self.first)?;
            self.plain.borrow_mut().copy_from_slice(&self.first);
        }
        Ok(())
    }

    #[cfg(feature = "cuda")]
    fn queue_reset(&self, stream: &Stream) -> Outcome {
        if self.role == Role::In {
            return Ok(());
        }
        let mut kept = self.kept.borrow_mut();
        if kept.is_none() {
            *kept = Some(stream.device().upload(&self.first)?);
        }
        if let Some(kept) = &*kept {
            self.ours.borrow_mut().copy_from_buffer(stream, &kept.slice(..))?;
        }
        Ok(())
    }

    fn compare(&self, tolerance: Option<f64>) -> Outcome<(f64, bool)> {
        let plain = self.plain.borrow();
        let ours = self.ours.borrow().download()?;
        let difference = difference(&ours, &plain);
        let allowed = tolerance.unwrap_or(T::TOLERANCE);
        let by = if difference == 0.0 { 0.0 } else { difference / allowed };
        Ok((by, *plain != self.first))
    }
}

/// What is done with the rows.
pub(crate) trait Report {
    /// Runs a row.
    fn row(&mut self, row: Row<'_>) -> Outcome;

    /// Says what came out.
    ///
    /// # Errors
    ///
    /// Where an output was wrong.
    fn finish(self: Box<Self>) -> Outcome;
}

/// What both sides need, and what is done with each row.
pub(crate) struct Table {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) kernels: Rc<Kernels>,
    /// A part of the names of the rows that are wanted.
    part: String,
    /// How many of these rows are left out.
    skipped: usize,
    report: Box<dyn Report>,
}

/// A row that runs.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    pub(crate) launch: String,
    pub(crate) tolerance: Option<f64>,
    pub(crate) buffers: &'a [&'a dyn Compare],
    pub(crate) stream: Stream,
    /// Launches the kernel.
    pub(crate) ours: &'a mut dyn FnMut() -> kernelmill::Result<()>,
    pub(crate) plain: &'a mut dyn FnMut() -> Duration,
}

impl Row<'_> {
    fn reset(&self) -> Outcome {
        self.buffers.iter().try_for_each(|it| it.reset())
    }

    /// Runs the kernel to its end.
    fn run(&mut self) -> Outcome<Duration> {
        let start = Instant::now();
        (self.ours)()?;
        self.stream.synchronize()?;
        Ok(start.elapsed())
    }

    /// Runs both once, and compares what they have written.
    pub(crate) fn compare(&mut self) -> Outcome<Result<(), String>> {
        self.reset()?;
        self.run()?;
        (self.plain)();
        let mut has_changed = false;
        for (index, buffer) in self.buffers.iter().enumerate() {
            let (by, changed) = buffer.compare(self.tolerance)?;
            has_changed |= changed;
            if by > 1.0 {
                return Ok(Err(format!("buffer {index} is wrong by {by:.1} tolerances")));
            }
        }
        Ok(match has_changed {
            true => Ok(()),
            false => Err("nothing was written".to_owned()),
        })
    }

    /// Runs both in turns for a while: the seconds of the fastest run of each.
    pub(crate) fn measure(&mut self) -> Outcome<[f64; 2]> {
        let mut fastest = [Duration::MAX; 2];
        let begun = Instant::now();
        let mut turns = 0;
        while turns < 2 || begun.elapsed() < BUDGET {
            for (side, fastest) in fastest.iter_mut().enumerate() {
                std::thread::sleep(PAUSE);
                let turn = Instant::now();
                for _ in 0..IN_A_ROW {
                    self.reset()?;
                    let time = if side == 0 { self.run()? } else { (self.plain)() };
                    *fastest = time.min(*fastest);
                    if turn.elapsed() > BUDGET / 8 {
                        break;
                    }
                }
            }
            turns += 1;
        }
        Ok(fastest.map(|it| it.as_secs_f64()))
    }
}

impl Table {
    pub(crate) fn new(
        device: Device,
        part: &str,
        skipped: usize,
        report: Box<dyn Report>,
    ) -> Outcome<Self> {
        let kernels = Rc::new(Kernels::load(&device)?);
        Ok(Self {
            stream: device.stream(),
            device,
            kernels,
            part: part.to_owned(),
            skipped,
            report,
        })
    }

    pub(crate) fn wants(&mut self, name: &str, file: &str) -> bool {
        let is_wanted = name.contains(&self.part) || file.contains(&self.part);
        if is_wanted && self.skipped > 0 {
            self.skipped -= 1;
            return false;
        }
        is_wanted
    }

    pub(crate) fn add(&mut self, row: Row<'_>) -> Outcome {
        self.report.row(row)
    }

    /// Says what came out.
    ///
    /// # Errors
    ///
    /// Where an output was wrong.
    pub(crate) fn finish(self) -> Outcome {
        self.report.finish()
    }
}

/// Adds a row to a table: its file, its kernel, the launch, the buffers with their roles and first contents, the arguments
/// of the kernel, the plain loop with its arguments, in which buffers are pointers.
macro_rules! row {
    (
        $table:ident, $file:literal, $kernel:ident $(::<$($generic:tt),*>)?,
        $grid:expr, $block:expr, $(shared $shared:expr,)?
        { $($buffer:ident: $role:ident $first:expr),* $(,)? },
        ($($argument:expr),* $(,)?),
        $plain:ident($($given:expr),* $(,)?) $(, within $tolerance:expr)?
    ) => {
        if $table.wants(stringify!($kernel), $file) {
            $(let $buffer = $crate::row::Pair::new(&$table.device, $crate::row::Role::$role, $first)?;)*
            let launch = kernelmill::Launch::grid($grid, $block)$(.shared_bytes($shared))?;
            let tolerance: &[f64] = &[$($tolerance)?];
            let (kernels, stream) = ($table.kernels.clone(), $table.stream.clone());
            $table.add($crate::row::Row {
                name: concat!(stringify!($kernel) $(, "<", stringify!($($generic),*), ">")?),
                file: $file,
                launch: format!("{:?} x {:?}", $grid, $block),
                tolerance: tolerance.first().copied(),
                buffers: &[$(&$buffer),*],
                stream: stream.clone(),
                ours: &mut || {
                    $(let mut $buffer = $buffer.ours.borrow_mut();)*
                    $(let $buffer = &mut *$buffer;)*
                    // SAFETY: the buffers have what the kernel reads and writes with this launch.
                    unsafe { kernels.$kernel $(::<$($generic),*>)? (&stream, launch, $($argument),*) }
                },
                plain: &mut || {
                    $(let mut $buffer = $buffer.plain.borrow_mut();)*
                    $(
                        #[allow(unused_variables, reason = "kernels have parameters that they do not use")]
                        let $buffer = $buffer.as_mut_ptr();
                    )*
                    let start = std::time::Instant::now();
                    // SAFETY: as above.
                    unsafe { $crate::plain::$plain($($given),*) };
                    start.elapsed()
                },
            })?;
        }
    };
}

pub(crate) use row;
