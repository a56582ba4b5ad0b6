//! The tuner: the comparison of what all candidates compute, their times, and the report for `cargo kernelmill tune`.

use std::{
    env,
    io::{self, Write},
    time::{Duration, Instant},
};

use kernelmill_artifact::Dimension;

use super::{
    asked::{Asked, written},
    candidates::{Candidate, candidates},
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
        let asked = self.asked.as_ref().filter(|it| it.kernel == kernel.name());
        let Some(asked) = asked else { return Ok(()) };
        check_dimension::<D>(kernel)?;
        let (sizes, rounds) = (asked.sizes::<D>()?, asked.rounds);
        let stream = kernel.device().stream();
        for (done, &n) in sizes.iter().enumerate() {
            let candidates = candidates(kernel, n);
            let mut shared = compare((kernel, n), &candidates, |candidate| {
                let mut own = arguments(n)?;
                launch(&mut own, &stream, candidate.launch(n))?;
                stream.synchronize()?;
                let output = output(&mut own)?;
                Ok((own, output))
            })?;
            let mut launch =
                |candidate: &Candidate<D>| launch(&mut shared, &stream, candidate.launch(n));
            let progress = (done, sizes.len(), rounds);
            self.time((kernel, n, &stream), &candidates, progress, &mut launch)?;
        }
        Ok(self.report.flush()?)
    }

    /// Times the candidates for one size, and reports each.
    fn time<const D: usize>(
        &mut self,
        (kernel, n, stream): (&CompiledKernel, [usize; D], &Stream),
        candidates: &[Candidate<D>],
        (done, all, rounds): (usize, usize, usize),
        launch: &mut dyn FnMut(&Candidate<D>) -> Result<()>,
    ) -> Result<(), TuneError> {
        let Self { clock, report, .. } = self;
        let (device, n) = (field(kernel.device().name()), written(&n));
        let mut measure = |candidate: usize, launches: u32| -> Result<Duration, TuneError> {
            let start = clock();
            for _ in 0..launches {
                launch(&candidates[candidate])?;
            }
            stream.synchronize()?;
            Ok(clock().saturating_sub(start))
        };
        let launches = timing::launches(|count| measure(0, count))?;
        let measured = timing::rounds(
            (candidates.len(), rounds, launches),
            |candidate| measure(candidate, launches),
            |round| {
                let (done, all) = (done * rounds + round, all * rounds);
                writeln!(report, "{MARK}\tprogress\t{device}\t{n}\t{done}\t{all}")?;
                Ok(report.flush()?)
            },
        )?;
        let chosen = timing::choose(&measured);
        for (place, (candidate, measured)) in candidates.iter().zip(&measured).enumerate() {
            let (block, registers) = (written(&candidate.block), candidate.registers);
            let Measured { time, ratio } = measured;
            let (name, time, mark) = (kernel.name(), time.as_nanos(), u8::from(place == chosen));
            writeln!(
                report,
                "{MARK}\ttime\t{name}\t{device}\t{n}\t{block}\t{registers}\t{time}\t{ratio:.4}\t{mark}"
            )?;
        }
        Ok(())
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
fn compare<const D: usize, A>(
    (kernel, n): (&CompiledKernel, [usize; D]),
    candidates: &[Candidate<D>],
    mut compute: impl FnMut(Candidate<D>) -> Result<(A, Output)>,
) -> Result<A, TuneError> {
    let (name, device, elements) = (kernel.name(), kernel.device().to_string(), written(&n));
    let Some((first, others)) = candidates.split_first() else {
        return Err(TuneError::NothingFits { kernel: name, device, elements });
    };
    let (arguments, expected) = compute(*first)?;
    for candidate in others {
        let (_, found) = compute(*candidate)?;
        if let Some(what) = expected.difference(&found) {
            let subject = format!("kernel `{name}` with {elements} elements on {device}");
            let (differing, first) = (candidate.describe(), first.describe());
            return Err(TuneError::Differs { subject, differing, first, what });
        }
    }
    Ok(arguments)
}

/// A text as a part of a line.
fn field(text: &str) -> String {
    text.replace(char::is_control, " ")
}
