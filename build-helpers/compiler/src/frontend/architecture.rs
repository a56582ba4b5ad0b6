//! The architecture that a source in CUDA C++ or HIP is told it is compiled for.

use std::fmt;

use kernelmill_artifact::{NvidiaArch, Target};

/// What the macros of a source say of its target: `__CUDA_ARCH__` for NVIDIA's, `__gfx942__` and the size of a wavefront
/// for AMD's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    /// One of NVIDIA's.
    Nvidia(NvidiaArch),
    /// A processor of AMD's, `gfx942`, with whatever features.
    Amd(String),
}

impl Architecture {
    /// The architecture of a target; `None` for the CPU and for OpenCL devices.
    ///
    /// ```
    /// use kernelmill_compiler::frontend::Architecture;
    /// let of = |target: &str| Architecture::of(&target.parse().unwrap());
    /// assert_eq!(of("sm_90"), of("compute_90"));
    /// assert_eq!(of("gfx90a:xnack+"), Some(Architecture::Amd("gfx90a".to_owned())));
    /// assert_eq!(of("cpu"), None);
    /// ```
    #[must_use]
    pub fn of(target: &Target) -> Option<Self> {
        match target {
            Target::Ptx(arch) | Target::Bitcode(arch) | Target::Cubin(arch) => {
                Some(Self::Nvidia(*arch))
            }
            Target::Amd(amd) => Some(Self::Amd(amd.processor.clone())),
            _ => None,
        }
    }

    /// Lanes of a wavefront as HIP has it, 32 or 64; those of NVIDIA's processors have 32.
    #[must_use]
    pub fn wavefront(&self) -> u32 {
        match self {
            Self::Amd(processor) if generation(processor) == "9" => 64,
            _ => 32,
        }
    }
}

/// The generation of a processor of AMD's: 9 of `gfx942` and `gfx90a`, 11 of `gfx1100`.
pub(crate) fn generation(processor: &str) -> &str {
    let digits = processor.strip_prefix("gfx").unwrap_or(processor);
    let length = if digits.starts_with('1') { 2 } else { 1 };
    digits.get(..length).unwrap_or(digits)
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nvidia(arch) => write!(formatter, "{}", Target::Cubin(*arch)),
            Self::Amd(processor) => formatter.write_str(processor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefronts_are_those_of_the_generation() {
        for target in Target::all() {
            let Some(architecture) = Architecture::of(&target) else { continue };
            let name = architecture.to_string();
            assert_eq!(
                name.parse::<Target>().ok().as_ref().and_then(Architecture::of),
                Some(architecture.clone())
            );
            assert_eq!(
                architecture.wavefront(),
                if name.starts_with("gfx9") { 64 } else { 32 },
                "{name}"
            );
        }
        for (processor, expected) in
            [("gfx90a", "9"), ("gfx942", "9"), ("gfx1100", "11"), ("gfx1201", "12")]
        {
            assert_eq!(generation(processor), expected, "{processor}");
        }
    }
}
