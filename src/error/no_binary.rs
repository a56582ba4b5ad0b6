//! Embedded binaries of which none runs on a device, each with the reason.

use std::fmt;

/// Why no embedded binary of a source runs on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoBinary {
    /// The source, relative to its package.
    pub source: String,
    /// The device.
    pub device: String,
    /// Every embedded binary of that source, with the reason; empty where the program was built
    /// without binaries.
    pub rejected: Vec<Rejected>,
}

/// A binary that was not chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its target.
    pub target: String,
    /// Why, for people.
    pub reason: String,
}

impl Rejected {
    pub(crate) fn new(target: &str, reason: &dyn fmt::Display) -> Self {
        Self { target: target.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for NoBinary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, device, rejected } = self;
        write!(formatter, "{source}: no embedded binary runs on {device}")?;
        if rejected.is_empty() {
            return formatter.write_str(
                ": the program has none for this source; build it again without KERNELMILL_SKIP_BUILD, \
                 KERNELMILL_TARGETS and DOCS_RS",
            );
        }
        for Rejected { target, reason } in rejected {
            write!(formatter, "\n  {target}: {reason}")?;
        }
        Ok(())
    }
}
