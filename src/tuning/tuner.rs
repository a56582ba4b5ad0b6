//! The tuner: the comparison of what all candidates compute, their times, and the report for `cargo kernelmill tune`.

use std::{
    env,
    io::{self, Write},
    time::{Duration, Instant},
};

use kernelmill_artifact::Dimension;

use super::{
    asked::{Asked, written},
    candidates::candidates,
    error::TuneError,
    output::Output,
    timing::{self, Measured},
};
use crate::{
    compiled::CompiledKernel, device::Device, error::Result, launch::Launch, stream::Stream,
};

/// How lines for `cargo kernelmill tune` begin. Their parts are parted by tabs.
const MARK: &str = "kernelmill-tune";

/// Times the launches of kernels: see the [module](super).
pub struct Tuner {
    asked: Option<Asked>,
    /// The time since some moment.
    clock: Box<dyn FnMut() -> Duration>,
    report: Box<dyn Write>,
}

impl Tuner {
    /// A tuner for what `cargo kernelmill tune` asks for. Where the program is not run by that, it tunes nothing.
    ///
    /// # Errors
    ///
    /// [`TuneError::Variables`] where variables cannot be read.
    pub fn from_environment() -> Result<Self, TuneError> {
        let start = Instant::now();
        let clock = Box::new(move || start.elapsed());
        Ok(Self::new(Asked::from_environment()?, clock, Box::new(io::stdout())))
    }

    pub(super) fn new(
        asked: Option<Asked>,
        clock: Box<dyn FnMut() -> Duration>,
        report: Box<dyn Write>,
    ) -> Self {
        Self { asked, clock, report }
    }

    /// The devices to tune on: all that there are, or the one that `KERNELMILL_DEVICE` names; none where nothing is to be
    /// tuned.
    ///
    /// # Errors
    ///
    /// What [`Device::best`] reports of the variable.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let is_named = env::var_os("KERNELMILL_DEVICE").is_some_and(|name| !name.is_empty());
        match self.asked {
            None => Ok(Vec::new()),
            Some(_) if is_named => Device::best().map(|device| vec![device]),
            Some(_) => Ok(Device::all()),
        }
    }

    /// Times the launches of a kernel in one dimension on its device, where it is the one that is to be tuned, for each
    /// of the sizes. [`tune_shapes`](Self::tune_shapes) is the same in two and three dimensions.
    ///
    /// `arguments` makes the arguments for a number of elements, `launch` launches the kernel with them, and `output`
    /// gives what one launch has computed. Each block size and each build of the kernel has arguments of its own for that
    /// output, which have to be equal; after that all are timed on the same arguments, many times, so that
    /// their values may overflow.
    ///
    /// Block sizes are powers of two from 32 to 1024 and the largest that each build is made for. They are compared
    /// with 256, which is kept where nothing is 3 percent faster.
    ///
    /// # Errors
    ///
    /// [`TuneError::Differs`] where two outputs are not the same, [`TuneError::Dimension`] for kernels of two and three
    /// dimensions, [`TuneError::Variables`] where sizes have more than one dimension, [`TuneError::NothingFits`] where no
    /// such block fits, and what the functions return.
    pub fn tune<A>(
        &mut self,
        kernel: &CompiledKernel,
        mut arguments: impl FnMut(usize) -> Result<A>,
        launch: impl FnMut(&mut A, &Stream, Launch<1>) -> Result<()>,
        output: impl FnMut(&mut A) -> Result<Output>,
    ) -> Result<(), TuneError> {
        self.tune_shapes(kernel, |[n]| arguments(n), launch, output)
    }

    /// Times the launches of a kernel in any number of dimensions, as [`tune`](Self::tune) does in one.
    ///
    /// `arguments` makes the arguments for a number of elements along each axis, x first. Each launch has at least so many
    /// threads, in blocks of 8 by 8 to 32 by 32 threads or 256 by 1, in three dimensions of 4 by 4 by 4 to 32 by 8 by 4, and of
    /// the shapes that builds are made for. They are compared with 32 by 8, and 32 by 4 by 2.
    ///
    /// ```
    /// use kernelmill::{Buffer, CompiledKernel, Device, Launch, Result, Stream};
    /// use kernelmill::tuning::{Output, TuneError, Tuner};
    ///
    /// fn tune_blur(
    ///     (tuner, device, blur): (&mut Tuner, &Device, &CompiledKernel),
    ///     kernel: impl Fn(&Stream, Launch<2>, u32, &Buffer<f32>, &mut Buffer<f32>) -> Result<()>,
    /// ) -> Result<(), TuneError> {
    ///     tuner.tune_shapes(
    ///         blur,
    ///         |[width, height]| {
    ///             let picture = device.upload(&vec![1.0_f32; width * height])?;
    ///             Ok((width as u32, picture, device.zeros(width * height)?))
    ///         },
    ///         |(width, picture, out), stream, launch| kernel(stream, launch, *width, picture, out),
    ///         |(_, _, out)| Ok(Output::exact(&out.download()?)),
    ///     )
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`tune`](Self::tune); [`TuneError::Dimension`] where launches of the kernel have another number of dimensions.
    pub fn tune_shapes<const D: usize, A>(
        &mut self,
        kernel: &CompiledKernel,
        mut arguments: impl FnMut([usize; D]) -> Result<A>,
        mut launch: impl FnMut(&mut A, &Stream, Launch<D>) -> Result<()>,
        mut output: impl FnMut(&mut A) -> Result<Output>,
    ) -> Result<(), TuneError>
    where
        Launch<D>: Into<Launch<3>>,
    {
        let asked = self.asked.as_ref().filter(|it| it.has(kernel.name()));
        let Some(asked) = asked else { return Ok(()) };
        check_dimension::<D>(kernel)?;
        let (sizes, rounds) = (asked.sizes::<D>(kernel.name())?, asked.rounds);
        let (device, stream) = (kernel.device(), kernel.device().stream());
        for (done, &n) in sizes.iter().enumerate() {
            let candidates = candidates(kernel, n);
            let labels: Vec<_> = candidates.iter().map(|it| it.describe()).collect();
            let mut shared = compare((kernel.name(), device, &n), &labels, |candidate| {
                let mut own = arguments(n)?;
                launch(&mut own, &stream, candidates[candidate].launch(n))?;
                stream.synchronize()?;
                let output = output(&mut own)?;
                Ok((own, output))
            })?;
            let progress = (done, sizes.len(), rounds);
            let measured =
                self.time((device, &n), candidates.len(), progress, &mut |candidate| {
                    launch(&mut shared, &stream, candidates[candidate].launch(n))
                })?;
            let lines = candidates.iter().map(|it| {
                let (block, registers) = (written(&it.block), it.registers);
                let (name, device) = (kernel.name(), field(device.tuning_name()));
                format!("time\t{name}\t{device}\t{}\t{block}\t{registers}", written(&n))
            });
            self.report(lines, &measured)?;
        }
        Ok(())
    }

    /// Times several kernels against each other, where `group` is what is to be tuned, for each of the sizes: kernels that
    /// compute the same, each with launches of its own, as instances of a generic kernel do for several sizes of their tiles.
    /// [`CompiledKernel::fastest`] takes the choice.
    ///
    /// `arguments` makes the arguments for a number of elements along each axis, as many axes as the problem has. `launch`
    /// launches the kernel of a place among `kernels` with them. The first kernel is kept where none is 3 percent faster.
    ///
    /// ```
    /// use kernelmill::{Buffer, CompiledKernel, Device, Result, Stream};
    /// use kernelmill::tuning::{Output, TuneError, Tuner};
    ///
    /// fn tune_sum(
    ///     (tuner, device): (&mut Tuner, &Device),
    ///     sums: &[CompiledKernel; 2],
    ///     launch: impl Fn(&Stream, usize, &Buffer<f32>, &mut Buffer<f32>) -> Result<()>,
    /// ) -> Result<(), TuneError> {
    ///     tuner.tune_group(
    ///         "sum",
    ///         sums,
    ///         |[n]| Ok((device.upload(&vec![1.0_f32; n])?, device.zeros(1)?)),
    ///         |(x, out), stream, place| launch(stream, place, &*x, &mut *out),
    ///         |(_, out)| Ok(Output::within(1e-5, out.download()?)),
    ///     )
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`tune`](Self::tune), but for [`TuneError::Dimension`].
    pub fn tune_group<const D: usize, A>(
        &mut self,
        group: &str,
        kernels: &[CompiledKernel],
        mut arguments: impl FnMut([usize; D]) -> Result<A>,
        mut launch: impl FnMut(&mut A, &Stream, usize) -> Result<()>,
        mut output: impl FnMut(&mut A) -> Result<Output>,
    ) -> Result<(), TuneError> {
        let asked = self.asked.as_ref().filter(|it| it.has(group));
        let (Some(asked), Some(first)) = (asked, kernels.first()) else { return Ok(()) };
        let (sizes, rounds) = (asked.sizes::<D>(group)?, asked.rounds);
        let (device, stream) = (first.device(), first.device().stream());
        let labels: Vec<_> = kernels.iter().map(|it| format!("`{}`", it.name())).collect();
        for (done, &n) in sizes.iter().enumerate() {
            let mut shared = compare((group, device, &n), &labels, |place| {
                let mut own = arguments(n)?;
                launch(&mut own, &stream, place)?;
                stream.synchronize()?;
                let output = output(&mut own)?;
                Ok((own, output))
            })?;
            let progress = (done, sizes.len(), rounds);
            let measured = self.time((device, &n), kernels.len(), progress, &mut |place| {
                launch(&mut shared, &stream, place)
            })?;
            let lines = kernels.iter().map(|it| {
                let (name, device) = (it.name(), field(device.tuning_name()));
                format!("group\t{}\t{name}\t{device}\t{}", field(group), written(&n))
            });
            self.report(lines, &measured)?;
        }
        Ok(())
    }

    /// Times so many candidates for one size.
    fn time(
        &mut self,
        (device, n): (&Device, &[usize]),
        candidates: usize,
        (done, all, rounds): (usize, usize, usize),
        launch: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Measured>, TuneError> {
        let Self { clock, report, .. } = self;
        let (stream, device, n) = (device.stream(), field(device.tuning_name()), written(n));
        let mut measure = |candidate: usize, launches: u32| -> Result<Duration, TuneError> {
            let start = clock();
            for _ in 0..launches {
                launch(candidate)?;
            }
            stream.synchronize()?;
            Ok(clock().saturating_sub(start))
        };
        let launches = timing::launches(|count| measure(0, count))?;
        timing::rounds(
            (candidates, rounds, launches),
            |candidate| measure(candidate, launches),
            |round| {
                let (done, all) = (done * rounds + round, all * rounds);
                writeln!(report, "{MARK}\tprogress\t{device}\t{n}\t{done}\t{all}")?;
                Ok(report.flush()?)
            },
        )
    }

    /// Reports the candidates, each of which a line begins with, with their times and which one is chosen.
    fn report(
        &mut self,
        lines: impl Iterator<Item = String>,
        measured: &[Measured],
    ) -> Result<(), TuneError> {
        let chosen = timing::choose(measured);
        for (place, (line, Measured { time, ratio })) in lines.zip(measured).enumerate() {
            let (time, mark) = (time.as_nanos(), u8::from(place == chosen));
            writeln!(self.report, "{MARK}\t{line}\t{time}\t{ratio:.4}\t{mark}")?;
        }
        Ok(self.report.flush()?)
    }
}

/// Refuses a kernel whose launches have another number of dimensions.
fn check_dimension<const D: usize>(kernel: &CompiledKernel) -> Result<(), TuneError> {
    let dimensions = match kernel.signature().dimension {
        Dimension::Any => return Ok(()),
        Dimension::One => 1,
        Dimension::Two => 2,
        Dimension::Three => 3,
    };
    if dimensions == D {
        return Ok(());
    }
    Err(TuneError::Dimension { kernel: kernel.name(), dimensions, tuned: D })
}

/// Compares the output of every candidate with that of the first one, whose arguments it gives.
fn compare<A>(
    (name, device, n): (&str, &Device, &[usize]),
    labels: &[String],
    mut compute: impl FnMut(usize) -> Result<(A, Output)>,
) -> Result<A, TuneError> {
    let (kernel, device, elements) = (name.to_owned(), device.to_string(), written(n));
    let Some((first, others)) = labels.split_first() else {
        return Err(TuneError::NothingFits { kernel, device, elements });
    };
    let (arguments, expected) = compute(0)?;
    for (place, differing) in others.iter().enumerate() {
        let (_, found) = compute(place + 1)?;
        if let Some(what) = expected.difference(&found) {
            let subject = format!("`{kernel}` with {elements} elements on {device}");
            let (differing, first) = (differing.clone(), first.clone());
            return Err(TuneError::Differs { subject, differing, first, what });
        }
    }
    Ok(arguments)
}

/// A text as a part of a line.
fn field(text: &str) -> String {
    text.replace(char::is_control, " ")
}
