use std::fmt::Write as _;

use kernelmill_artifact::{FORMAT_VERSION, Signature, Target};

use crate::Lowered;

/// One compilation: a source that the front end has lowered, for one target.
///
/// Plain data: nothing of it depends on the target's type.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The source, as the front end left it.
    pub lowered: &'a Lowered,
    /// The kernels to compile, all of the source's.
    pub signatures: &'a [Signature],
    /// A name for the source that is unique in the program; part of the symbols of CPU kernels.
    /// Letters, digits and underscores.
    pub unit: &'a str,
    /// The target and the options.
    pub config: &'a Config,
}

/// What a source is compiled for, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// The target.
    pub target: Target,
    /// The options.
    pub options: Options,
}

/// How kernels are compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether `a * b + c` may become one fused operation, as nvcc has it by default. It changes
    /// the last bit of results.
    pub contract: bool,
    /// LLVM's optimisation level, 0 to 3.
    pub optimization: u8,
    /// Whether threads become the lanes of vectors on the CPU, and kernels are cut at uniform
    /// barriers, where that is proven to be right.
    pub lanes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { contract: true, optimization: 3, lanes: true }
    }
}

impl Config {
    /// Everything in the configuration that can change an artifact's bytes, as text.
    #[must_use]
    pub fn key(&self) -> String {
        let mut key = String::new();
        let _ = write!(
            key,
            "format {FORMAT_VERSION}; target {}; contract {}; optimization {}; lanes {}",
            self.target, self.options.contract, self.options.optimization, self.options.lanes
        );
        key
    }
}
