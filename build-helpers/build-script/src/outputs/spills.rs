//! Excess spills: kernels whose spilled registers take more than the settings allow. Registers are spilled to memory
//! where a kernel needs more of them than it has.

use super::{bindings::model::Interface, built};
use crate::{
    base::{error::Error, report::Report},
    compile::binary::Binary,
    discovery::source::Source,
};
use kernelmill_compiler::diagnostic::Code;
use std::fmt;

/// A kernel in a binary that spills too much.
pub(crate) struct Excess<'a> {
    pub(crate) kernel: built::BuiltKernel<'a>,
    limit: u32,
}

/// The kernels whose spills are over a limit in bytes, in the order of the binaries.
pub(crate) fn find<'a>(
    sources: &'a [Source],
    interface: &'a Interface,
    binaries: &'a [Binary],
    limit: Option<u32>,
) -> Vec<Excess<'a>> {
    let Some(limit) = limit else { return Vec::new() };
    let all = built::all(sources, interface, binaries);
    let excess = all.filter(|it| it.resources.spills().is_some_and(|bytes| bytes > limit));
    excess.map(|kernel| Excess { kernel, limit }).collect()
}

/// The error of a build that allows no more.
pub(crate) fn refuse(found: &[Excess<'_>]) -> Result<(), Error> {
    let mut report = Report::default();
    for excess in found {
        report.plain(Code::Threshold, excess.to_string(), HELP);
    }
    report.into_result(Error::Kernels)
}

const HELP: &str = "let it have more registers (`max-registers`, smaller blocks in `launch-bounds`), keep fewer values \
     live at the same time, or raise `max-spills`";

impl fmt::Display for Excess<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, limit } = self;
        let resources = &kernel.resources;
        write!(formatter, "{kernel} spills registers: each thread ")?;
        match (resources.spill_stores, resources.spill_loads) {
            (Some(stores), Some(loads)) => {
                write!(formatter, "stores {stores} bytes and loads {loads} bytes")?;
            }
            _ => {
                let count = resources.spilled_registers.unwrap_or(0);
                write!(formatter, "spills {count} of them")?;
            }
        }
        write!(formatter, ", and `max-spills = {limit}` allows {limit} bytes in all")
    }
}
