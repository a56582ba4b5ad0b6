//! A launch that the watchdog has given up.

use std::{fmt, time::Duration};

/// A launch on the processor that took longer than the environment variable `KERNELMILL_WATCHDOG` allows.
///
/// Its blocks go on running on threads of their own until they end, which may be never. So the buffers that
/// the launch was given are lost: they are never freed, and every use of them is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchTimeout {
    /// The kernel's name.
    pub kernel: String,
    /// The source that the kernel was compiled from, relative to its package.
    pub source: &'static str,
    /// The longest that a launch may take.
    pub limit: Duration,
    /// Indices of the blocks that ran at that time, x, y, z.
    pub blocks: Vec<[u32; 3]>,
}

impl fmt::Display for LaunchTimeout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, source, limit, blocks } = self;
        write!(
            formatter,
            "kernel `{kernel}` of {source} has run for more than {limit:?}, the limit that \
             KERNELMILL_WATCHDOG sets; blocks that still run:"
        )?;
        for (index, [x, y, z]) in blocks.iter().enumerate() {
            write!(formatter, "{} {x},{y},{z}", if index == 0 { "" } else { ";" })?;
        }
        Ok(())
    }
}
