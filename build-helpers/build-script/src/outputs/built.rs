//! Kernels in binaries, as messages name them: file, line, kernel, variant and target.

use super::bindings::model::Interface;
use crate::{compile::binary::Binary, discovery::source::Source};
use kernelmill_artifact::{Resources, Signature, Target};
use std::fmt;

/// A kernel in a binary. Its text is `FILE:LINE: kernel `NAME`, variant `VARIANT`, for TARGET`.
#[derive(Clone)]
pub(crate) struct BuiltKernel<'a> {
    /// The source, as messages name it.
    pub(crate) source: &'a str,
    pub(crate) target: &'a Target,
    pub(crate) resources: Resources,
    /// Its signature; `None` where it has no wrapper.
    pub(crate) signature: Option<&'a Signature>,
    variant: Option<String>,
    symbol: &'a str,
}

/// All kernels, in the order of the binaries.
pub(crate) fn all<'a>(
    sources: &'a [Source],
    interface: &'a Interface,
    binaries: &'a [Binary],
) -> impl Iterator<Item = BuiltKernel<'a>> {
    binaries.iter().flat_map(move |binary| {
        binary.artifact.kernels.iter().map(move |kernel| {
            let known = interface.index_of(binary.source, &kernel.name);
            BuiltKernel {
                source: &sources[binary.source].display,
                target: &binary.artifact.target,
                resources: kernel.resources,
                signature: known.map(|index| &interface.kernels[index].signature),
                variant: binary.variant_name(),
                symbol: &kernel.name,
            }
        })
    })
}

impl fmt::Display for BuiltKernel<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, target, variant, symbol, signature, .. } = self;
        let (kernel, line) = signature.map_or((*symbol, 0), |it| (&*it.name, it.line));
        formatter.write_str(source)?;
        if line > 0 {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": kernel `{kernel}`")?;
        if let Some(variant) = variant {
            write!(formatter, ", variant `{variant}`,")?;
        }
        write!(formatter, " for {target}")
    }
}
