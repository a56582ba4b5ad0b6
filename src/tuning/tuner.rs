//! The tuner: candidates of a kernel, the comparison of their outputs, and the report for `cargo kernelmill tune`.

use std::{
    collections::BTreeSet,
    env,
    io::{self, Write},
    time::{Duration, Instant},
};

use kernelmill_artifact::Dimension;

use super::{
    error::TuneError,
    output::Output,
    timing::{self, Measured},
};
use crate::{
    compiled::CompiledKernel, device::Device, error::Result, explanation::Outcome, launch::Launch,
    size_class, stream::Stream,
};

/// The variables by which `cargo kernelmill tune` says what to tune.
const KERNEL: &str = "KERNELMILL_TUNE";
const SIZES: &str = "KERNELMILL_TUNE_SIZES";
const ROUNDS: &str = "KERNELMILL_TUNE_ROUNDS";

/// How lines for `cargo kernelmill tune` begin. Their parts are parted by tabs.
const MARK: &str = "kernelmill-tune";

/// The block size that others are compared with: that of [`Launch::linear`].
const USUAL_BLOCK: u32 = 256;

/// Times the launches of kernels: see the [module](super).
pub struct Tuner {
    asked: Option<Asked>,
    /// The time since some moment.
    clock: Box<dyn FnMut() -> Duration>,
    report: Box<dyn Write>,
}

/// What is to be tuned.
pub(super) struct Asked {
    pub(super) kernel: String,
    pub(super) sizes: Vec<usize>,
    pub(super) rounds: usize,
}

/// A launch that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    block: u32,
    /// 0 where any build will do.
    registers: u8,
}

impl Candidate {
    fn launch(self, n: usize) -> Launch<1> {
        Launch::linear_in_blocks(n, self.block).max_registers(self.registers)
    }

    fn describe(self) -> String {
        let Self { block, registers } = self;
        match registers {
            0 => format!("blocks of {block} threads"),
            _ => format!("blocks of {block} threads and at most {registers} registers"),
        }
    }
}

impl Tuner {
    /// A tuner for what `cargo kernelmill tune` asks for. Where the program is not run by that, it tunes nothing.
    ///
    /// # Errors
    ///
    /// [`TuneError::Variable`] where a variable cannot be read.
    pub fn from_environment() -> Result<Self, TuneError> {
        let text = |name| env::var(name).ok().filter(|text| !text.is_empty());
        let asked = text(KERNEL).map(|kernel| {
            let (sizes, rounds) = (text(SIZES).unwrap_or_default(), text(ROUNDS));
            Asked::read(kernel, sizes, rounds)
        });
        let start = Instant::now();
        let clock = Box::new(move || start.elapsed());
        Ok(Self::new(asked.transpose()?, clock, Box::new(io::stdout())))
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

    /// Times the launches of a kernel on its device, where it is the one that is to be tuned, for each of the sizes.
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
    /// dimensions, [`TuneError::NothingFits`] where no such block fits, and what the functions return.
    pub fn tune<A>(
        &mut self,
        kernel: &CompiledKernel,
        mut arguments: impl FnMut(usize) -> Result<A>,
        mut launch: impl FnMut(&mut A, &Stream, Launch<1>) -> Result<()>,
        mut output: impl FnMut(&mut A) -> Result<Output>,
    ) -> Result<(), TuneError> {
        let Self { asked, clock, report } = self;
        let asked = asked.as_ref().filter(|it| it.kernel == kernel.name());
        let Some(Asked { sizes, rounds, .. }) = asked else { return Ok(()) };
        let name = kernel.name();
        if matches!(kernel.signature().dimension, Dimension::Two | Dimension::Three) {
            return Err(TuneError::Dimension { kernel: name });
        }
        let (device, stream) = (kernel.device(), kernel.device().stream());
        for (done, &n) in sizes.iter().enumerate() {
            let candidates = candidates(kernel, n);
            let Some(first) = candidates.first() else {
                let device = device.to_string();
                return Err(TuneError::NothingFits { kernel: name, device, elements: n });
            };
            let mut compute = |candidate: Candidate| -> Result<(A, Output)> {
                let mut own = arguments(n)?;
                launch(&mut own, &stream, candidate.launch(n))?;
                stream.synchronize()?;
                let output = output(&mut own)?;
                Ok((own, output))
            };
            let (mut shared, expected) = compute(*first)?;
            for candidate in &candidates[1..] {
                let (_, found) = compute(*candidate)?;
                if let Some(what) = expected.difference(&found) {
                    return Err(TuneError::Differs {
                        kernel: name,
                        device: device.to_string(),
                        elements: n,
                        differing: candidate.describe(),
                        first: first.describe(),
                        what,
                    });
                }
            }
            let mut measure = |candidate: usize, launches: u32| -> Result<Duration, TuneError> {
                let shape = candidates[candidate].launch(n);
                let start = clock();
                for _ in 0..launches {
                    launch(&mut shared, &stream, shape)?;
                }
                stream.synchronize()?;
                Ok(clock().saturating_sub(start))
            };
            let launches = timing::launches(|count| measure(0, count))?;
            let measured = timing::rounds(
                (candidates.len(), *rounds, launches),
                |candidate| measure(candidate, launches),
                |round| {
                    let (done, all) = (done * rounds + round, sizes.len() * rounds);
                    let device = field(device.name());
                    writeln!(report, "{MARK}\tprogress\t{device}\t{n}\t{done}\t{all}")?;
                    Ok(report.flush()?)
                },
            )?;
            let chosen = timing::choose(&measured);
            for (place, (candidate, measured)) in candidates.iter().zip(&measured).enumerate() {
                let Candidate { block, registers } = candidate;
                let Measured { time, ratio } = measured;
                let (device, time) = (field(device.name()), time.as_nanos());
                let mark = u8::from(place == chosen);
                writeln!(
                    report,
                    "{MARK}\ttime\t{name}\t{device}\t{n}\t{block}\t{registers}\t{time}\t{ratio:.4}\t{mark}"
                )?;
            }
        }
        Ok(report.flush()?)
    }
}

impl Asked {
    /// What variables say.
    pub(super) fn read(
        kernel: String,
        sizes: String,
        rounds: Option<String>,
    ) -> Result<Self, TuneError> {
        let numbers = sizes.split(',').map(|it| it.trim().parse::<usize>().ok());
        let numbers: Option<Vec<_>> = numbers.map(|it| it.filter(|n| *n > 0)).collect();
        let Some(numbers) = numbers else {
            let what = "write numbers of elements with commas between them, as `1024,1048576`";
            return Err(TuneError::Variable { name: SIZES, text: sizes, what });
        };
        let classes: BTreeSet<_> = numbers.iter().map(|n| size_class::of(*n)).collect();
        if classes.len() < numbers.len() {
            let what = "two of the sizes are between the same powers of two; leave one out";
            return Err(TuneError::Variable { name: SIZES, text: sizes, what });
        }
        let text = rounds.unwrap_or_else(|| "15".to_owned());
        let Some(rounds) = text.parse().ok().filter(|rounds| (3..=1000).contains(rounds)) else {
            let what = "write a number from 3 to 1000";
            return Err(TuneError::Variable { name: ROUNDS, text, what });
        };
        Ok(Self { kernel, sizes: numbers, rounds })
    }
}

/// The launches to try: the usual block first, and no two that run the same build in the same blocks.
fn candidates(kernel: &CompiledKernel, n: usize) -> Vec<Candidate> {
    let builds = kernel.builds();
    let most = kernel.device().limits().threads_per_block;
    let mut blocks = vec![USUAL_BLOCK, 32, 64, 128, 512, 1024];
    blocks.extend(builds.iter().filter_map(|build| build.limits().most_threads()));
    let registers = builds.iter().filter_map(|build| build.limits().registers());
    let registers: BTreeSet<u8> = registers.filter_map(|it| u8::try_from(it).ok()).collect();
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    for block in blocks.into_iter().filter(|block| *block <= most) {
        for registers in std::iter::once(0).chain(registers.iter().copied()) {
            let candidate = Candidate { block, registers };
            let explanation = kernel.explain(&candidate.launch(n).into(), n as u64);
            let chosen = explanation.builds.iter().position(|it| it.outcome == Outcome::Chosen);
            let Some(build) = chosen.and_then(|place| builds.get(place)) else { continue };
            if known.insert((block, build.fingerprint(), build.entry())) {
                found.push(candidate);
            }
        }
    }
    found
}

/// A text as a part of a line.
fn field(text: &str) -> String {
    text.replace(char::is_control, " ")
}
