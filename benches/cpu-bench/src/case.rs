//! A kernel with everybody who computes the same.

use std::error::Error;

/// Nothing, or what was wrong.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The kernel in Rust, by kernelmill.
    OursInRust,
    /// The kernel in CUDA C++, by kernelmill.
    OursInCpp,
    /// The kernel in OpenCL C, by pocl.
    Pocl,
    /// The same, by Intel's run time for processors.
    Intel,
    /// A plain loop in Rust, spread over the threads by rayon.
    Rayon,
    /// Vector instructions by hand, spread over the threads by rayon.
    Simd,
    /// The best algorithm for one thread, run by each thread on its part.
    Sequential,
    /// The kernel in Rust, by kernelmill on one thread.
    OursOnOneThread,
}

impl Who {
    /// Those whose times are compared with everybody else's.
    pub(crate) const OURS: [Self; 2] = [Self::OursInRust, Self::OursInCpp];
    /// Everybody else.
    pub(crate) const OTHERS: [Self; 5] =
        [Self::Pocl, Self::Intel, Self::Rayon, Self::Simd, Self::Sequential];

    /// What its column is called.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::OursInRust => "ours, Rust",
            Self::OursInCpp => "ours, CUDA C++",
            Self::Pocl => "pocl",
            Self::Intel => "Intel OpenCL",
            Self::Rayon => "rayon",
            Self::Simd => "SIMD by hand",
            Self::Sequential => "best sequential",
            Self::OursOnOneThread => "ours, Rust, one thread",
        }
    }
}

/// What a computation cannot do without, by which its time is compared with what the machine can do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Bytes that are read from memory or written to it.
    Bytes(usize),
    /// Sums and products of floats.
    Operations(usize),
}

/// A result.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Compared with a tolerance.
    Floats(Vec<f32>),
    /// Compared exactly.
    Numbers(Vec<u32>),
}

/// Somebody who computes.
pub(crate) trait Contestant {
    /// Computes once, to the end.
    ///
    /// # Errors
    ///
    /// What the device reports.
    fn run(&mut self) -> Outcome;

    /// What was computed last.
    ///
    /// # Errors
    ///
    /// What the device reports.
    fn output(&mut self) -> Outcome<Values>;
}

/// A contestant made of a state and two functions.
struct Entry<S, R, O> {
    state: S,
    run: R,
    output: O,
}

impl<S, R, O> Contestant for Entry<S, R, O>
where
    R: FnMut(&mut S) -> Outcome,
    O: FnMut(&mut S) -> Outcome<Values>,
{
    fn run(&mut self) -> Outcome {
        (self.run)(&mut self.state)
    }

    fn output(&mut self) -> Outcome<Values> {
        (self.output)(&mut self.state)
    }
}

/// A kernel with its contestants.
pub(crate) struct Case<'a> {
    /// The kernel.
    pub(crate) name: &'static str,
    /// How much is computed.
    pub(crate) size: String,
    /// What that takes at least.
    pub(crate) work: Work,
    expected: Values,
    /// What a float may differ, relative to the larger of it and 1.
    tolerance: f32,
    /// Elements of which one may differ at all: where a rounding decides, as it does for pixels at
    /// the edge of a fractal.
    pub(crate) one_may_differ_of: usize,
    /// Who computes it.
    pub(crate) contestants: Vec<(Who, Box<dyn Contestant + 'a>)>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(name: &'static str, size: String, expected: Values, tolerance: f32) -> Self {
        let (work, one_may_differ_of) = (Work::Bytes(0), usize::MAX);
        Self { name, size, work, expected, tolerance, one_may_differ_of, contestants: Vec::new() }
    }

    /// Adds a contestant: what it works on, how it computes, how its result is read.
    pub(crate) fn add<S: 'a>(
        &mut self,
        who: Who,
        state: S,
        run: impl FnMut(&mut S) -> Outcome + 'a,
        output: impl FnMut(&mut S) -> Outcome<Values> + 'a,
    ) {
        self.contestants.push((who, Box::new(Entry { state, run, output })));
    }

    /// Adds our kernel in both languages: what each works on, how it is launched in Rust and in CUDA
    /// C++, how its result is read.
    ///
    /// # Errors
    ///
    /// What the device reports of its memory.
    pub(crate) fn add_ours<S: 'a, T: Number + 'a>(
        &mut self,
        state: impl Fn() -> kernelmill::Result<S>,
        mut in_rust: impl FnMut(&mut S) -> kernelmill::Result<()> + 'a,
        mut in_cpp: impl FnMut(&mut S) -> kernelmill::Result<()> + 'a,
        output: fn(&S) -> kernelmill::Result<Vec<T>>,
    ) -> Outcome {
        let read = move |state: &mut S| Ok(T::values(output(state)?));
        self.add(Who::OursInRust, state()?, move |state| Ok(in_rust(state)?), read);
        self.add(Who::OursInCpp, state()?, move |state| Ok(in_cpp(state)?), read);
        Ok(())
    }

    /// Adds one that computes on the host and cannot fail; `out` is where its result is.
    pub(crate) fn add_host<T: Number + 'a>(
        &mut self,
        who: Who,
        out: Vec<T>,
        mut run: impl FnMut(&mut [T]) + 'a,
    ) {
        self.add(
            who,
            out,
            move |out| {
                run(out);
                Ok(())
            },
            |out| Ok(T::values(out.clone())),
        );
    }

    /// Lets everybody compute once, and compares.
    ///
    /// # Errors
    ///
    /// Who was wrong, and where.
    pub(crate) fn verify(&mut self) -> Outcome {
        for (who, contestant) in &mut self.contestants {
            contestant.run()?;
            let found = contestant.output()?;
            let wrong = differences(&found, &self.expected, self.tolerance);
            let all = self.expected.len();
            if wrong.len() > all / self.one_may_differ_of || found.len() != all {
                let (name, first) = (self.name, wrong.first());
                let wrong = wrong.len();
                return Err(format!("{name}, {who:?}: {wrong} of {all} wrong, {first:?}").into());
            }
        }
        Ok(())
    }
}

/// An element of a result.
pub(crate) trait Number: Copy {
    fn values(all: Vec<Self>) -> Values;
}

impl Number for f32 {
    fn values(all: Vec<Self>) -> Values {
        Values::Floats(all)
    }
}

impl Number for u32 {
    fn values(all: Vec<Self>) -> Values {
        Values::Numbers(all)
    }
}

impl Number for [f32; 3] {
    fn values(all: Vec<Self>) -> Values {
        Values::Floats(all.into_flattened())
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Floats(all) => all.len(),
            Self::Numbers(all) => all.len(),
        }
    }
}

/// Place, found and expected value of every element that differs.
fn differences(found: &Values, expected: &Values, tolerance: f32) -> Vec<(usize, f64, f64)> {
    let mut wrong = Vec::new();
    match (found, expected) {
        (Values::Floats(found), Values::Floats(expected)) => {
            for (place, (&a, &b)) in found.iter().zip(expected).enumerate() {
                // A NaN is near nothing.
                let near = (a - b).abs() <= tolerance * b.abs().max(1.0);
                if !near {
                    wrong.push((place, f64::from(a), f64::from(b)));
                }
            }
        }
        (Values::Numbers(found), Values::Numbers(expected)) => {
            for (place, (&a, &b)) in found.iter().zip(expected).enumerate() {
                if a != b {
                    wrong.push((place, f64::from(a), f64::from(b)));
                }
            }
        }
        _ => wrong.push((0, f64::NAN, f64::NAN)),
    }
    wrong
}
