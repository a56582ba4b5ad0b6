//! What code can mean, as choices that settings name.

/// Whose mathematical functions kernels call: sine, logarithm, power and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MathLibrary {
    /// kernelmill's own: the same bits on every target and machine.
    #[default]
    Own,
    /// NVIDIA's `libdevice` for its processors, of a CUDA toolkit, and AMD's `ocml` for theirs, of
    /// ROCm's device libraries; elsewhere kernelmill's own.
    Vendor,
}

impl MathLibrary {
    /// The libraries, by the names that settings have for them.
    pub const ALL: [(&'static str, Self); 2] = [("own", Self::Own), ("vendor", Self::Vendor)];

    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Vendor => "vendor",
        }
    }
}

/// What the host learns of a kernel's panic, besides that there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PanicLevel {
    /// Nothing: the code is smallest.
    None,
    /// The message, the place in the source, the block and the thread.
    #[default]
    Message,
    /// That, and the calls on the way there.
    Backtrace,
}

impl PanicLevel {
    /// The levels, by the names that settings have for them.
    pub const ALL: [(&'static str, Self); 3] =
        [("none", Self::None), ("message", Self::Message), ("backtrace", Self::Backtrace)];

    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Message => "message",
            Self::Backtrace => "backtrace",
        }
    }
}

/// How functions are called that are compiled for code of another language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EntryAbi {
    /// By the C calling convention of the target, with the parameters of their source.
    #[default]
    C,
    /// With the address of an array of the addresses of the arguments, and the address of the result, which is not used
    /// where there is none: `void f(void *const *arguments, void *result)`.
    Packed,
}

impl EntryAbi {
    /// The calling conventions, by the names that options have for them.
    pub const ALL: [(&'static str, Self); 2] = [("c", Self::C), ("packed", Self::Packed)];

    /// Its name in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Packed => "packed",
        }
    }
}
