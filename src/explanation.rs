//! Explanations of launches: which build of a kernel a launch gets, and why it does not get each other one.

use std::fmt;

use kernelmill_artifact::LaunchLimits;

/// Which build of a kernel a launch gets, and why it does not get each other one.
///
/// `Display` gives a line for each build, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its builds for the device, in the order in which they are tried, and then those for other devices.
    pub builds: Vec<Considered>,
}

/// A build that a launch could have had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Considered {
    /// The name of the variant; `None` for the kernel as its source and the settings have it.
    pub variant: Option<&'static str>,
    /// The target that it was compiled for; empty where none runs on the device.
    pub target: &'static str,
    /// The limits of its launches.
    pub limits: LaunchLimits,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// What becomes of a build where a launch chooses one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The launch gets it.
    Chosen,
    /// The launch could have it, and one before it fits too.
    Outranked,
    /// It was made for smaller blocks.
    LargerBlock {
        /// The threads of the launch's blocks.
        threads: u64,
        /// The most that it was made for.
        limit: u64,
    },
    /// It was made for blocks of another size.
    OtherBlock {
        /// The one size, x first.
        block: [u32; 3],
    },
    /// Its indices have 32 bits, and the launch has numbers of 2^31 or more.
    LargerSize {
        /// What is so large.
        what: &'static str,
        /// How large it is.
        size: u64,
    },
    /// The launch asks for fewer registers.
    MoreRegisters {
        /// The most registers that the launch asks for.
        limit: u32,
    },
    /// The launch asks for a variant by its name, and this is another build.
    OtherVariant {
        /// The name that the launch asks for.
        asked: &'static str,
    },
    /// It is compiled with macros of its own, and the launch does not ask for it by its name.
    NotAsked {
        /// The macros, `NAME=value` each.
        defines: &'static [&'static str],
    },
    /// No binary of it runs on the device.
    OtherDevice {
        /// Why not, for each target.
        reason: String,
    },
}

impl Explanation {
    /// The build that the launch gets; `None` where there is none for it.
    #[must_use]
    pub fn chosen(&self) -> Option<&Considered> {
        self.builds.iter().find(|build| build.outcome == Outcome::Chosen)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel `{}`", self.kernel)?;
        for Considered { variant, target, outcome, .. } in &self.builds {
            write!(formatter, "\n  {}", variant.unwrap_or("without variant"))?;
            if !target.is_empty() {
                write!(formatter, " for {target}")?;
            }
            write!(formatter, ": {outcome}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => formatter.write_str("chosen"),
            Self::Outranked => formatter.write_str("fits, but an earlier build is chosen"),
            Self::LargerBlock { threads, limit } => {
                write!(
                    formatter,
                    "compiled for at most {limit} threads per block, the launch has {threads}"
                )
            }
            Self::OtherBlock { block: [x, y, z] } => {
                write!(formatter, "compiled for blocks of [{x}, {y}, {z}] threads only")
            }
            Self::LargerSize { what, size } => {
                write!(formatter, "has 32-bit indices, the launch has {size} {what}")
            }
            Self::MoreRegisters { limit } => {
                write!(
                    formatter,
                    "compiled for more than the {limit} registers that the launch allows"
                )
            }
            Self::OtherVariant { asked } => {
                write!(formatter, "the launch asks for the variant `{asked}`")
            }
            Self::NotAsked { defines } => {
                let defines = defines.join(" ");
                write!(formatter, "compiled with {defines}, for launches that name this variant")
            }
            Self::OtherDevice { reason } => formatter.write_str(reason),
        }
    }
}
