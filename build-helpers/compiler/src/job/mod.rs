//! Jobs: a compilation as plain data, that is what is compiled, for which target, and how. Nothing here
//! depends on a target's own type, so the pipeline is compiled once, whatever the targets and plugins.

mod choices;
mod config;
mod device_link;
mod functions;
mod lowered;
mod options;
mod overrides;
mod state;
mod symbols;

use kernelmill_artifact::Signature;

pub use choices::{EntryAbi, MathLibrary, PanicLevel};
pub use config::{Config, Params};
pub use device_link::{DeviceLibrary, DeviceLink};
pub use functions::{TableFunction, exported, exported_by};
pub use lowered::{Child, Lowered};
pub use options::{OptionError, Options};
pub use overrides::{Override, OverrideCode};
pub use state::State;
pub use symbols::Symbols;

/// One compilation: a source that the front end has lowered, for one target.
///
/// Plain data: nothing of it depends on the target's type.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is compiled.
    pub source: JobSource<'a>,
    /// The target, the parameters and the options.
    pub config: &'a Config,
}

/// What a [`Job`] compiles.
#[derive(Clone, Copy, Debug)]
pub struct JobSource<'a> {
    /// The source, as the front end left it.
    pub lowered: &'a Lowered,
    /// The kernels to compile, all of the source's.
    pub signatures: &'a [Signature],
    /// A name for the source that is unique in the program; part of the symbols of CPU kernels.
    /// Letters, digits and underscores.
    pub unit: &'a str,
}

impl<'a> Job<'a> {
    /// The file that the source is known by; the unit where it has no kernels.
    pub(crate) fn file(&self) -> &'a str {
        self.source.signatures.first().map_or(self.source.unit, |signature| &signature.file)
    }
}
