//! What has to be made: every pair of a source and a target, refused before any work where there
//! is no way from the one to the other.

use crate::{error::Error, report::Report, settings::Settings, source::Source};
use kernelmill_artifact::Target;
use kernelmill_compiler::Config;

/// One binary to make.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) config: Config,
}

/// Every unit, by source and then by target.
///
/// # Errors
///
/// [`Error::Sources`] with every target that the sources cannot reach.
pub(crate) fn units(sources: &[Source], settings: &Settings) -> Result<Vec<Unit>, Error> {
    let mut report = Report::default();
    let names: Vec<_> = sources.iter().map(|source| format!("`{}`", source.display)).collect();
    for target in &settings.targets {
        if !is_reached_from_rust(target) {
            report.plain(
                format!(
                    "the target `{target}` is not available for kernels in Rust with this \
                     toolchain yet: {}",
                    names.join(", ")
                ),
                "leave the target out",
            );
        }
    }
    report.into_result(Error::Sources)?;
    let unit = |source, target: &Target| Unit {
        source,
        config: Config { target: target.clone(), options: settings.options.clone() },
    };
    let units = (0..sources.len())
        .flat_map(|source| settings.targets.iter().map(move |target| unit(source, target)));
    Ok(units.collect())
}

fn is_reached_from_rust(target: &Target) -> bool {
    matches!(target, Target::Cpu | Target::Ptx(_) | Target::Cubin(_) | Target::Amd(_))
}
