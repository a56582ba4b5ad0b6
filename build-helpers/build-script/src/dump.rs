//! Dumps: the code of each kernel at the stages of its compilation, as files.
//!
//! `KERNELMILL_DUMP=ir,ptx` (or `all`) writes them into the folder [`FOLDER`] of `OUT_DIR`, or into a folder of the
//! package's name in the one that `KERNELMILL_DUMP_DIR` names. All files of one kernel and target have one stem, the
//! same in every build: see [`file_name`].

use std::{fmt, str::FromStr};

use kernelmill_artifact::Target;

/// Where dumps lie in `OUT_DIR`.
pub const FOLDER: &str = "kernelmill/dump";

/// What can be dumped, in the order in which code goes through it.
///
/// ```
/// use kernelmill_build::dump::Stage;
///
/// assert_eq!("opt".parse(), Ok(Stage::Opt));
/// let error = "optimised".parse::<Stage>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "there is no stage `optimised`; the stages are `ir`, `linked`, `opt`, `ptx`, `asm`, `sass`, `wgsl`, `msl`, `hlsl`"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// LLVM's IR as the front end leaves it.
    Ir,
    /// LLVM's IR with libraries and entries, before it is optimised.
    Linked,
    /// LLVM's IR that code is generated from.
    Opt,
    /// PTX, for NVIDIA's targets.
    Ptx,
    /// Assembly text, for the CPU and for AMD's targets.
    Asm,
    /// NVIDIA's machine code in cubins, as nvdisasm prints it.
    Sass,
    /// WGSL, as the compiler writes it for Vulkan.
    Wgsl,
    /// MSL, as naga translates a kernel in WGSL for Metal.
    Msl,
    /// HLSL, as naga translates a kernel in WGSL for D3D12.
    Hlsl,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Self; 9] = [
        Self::Ir,
        Self::Linked,
        Self::Opt,
        Self::Ptx,
        Self::Asm,
        Self::Sass,
        Self::Wgsl,
        Self::Msl,
        Self::Hlsl,
    ];

    /// Its name in `KERNELMILL_DUMP`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ir => "ir",
            Self::Linked => "linked",
            Self::Opt => "opt",
            Self::Ptx => "ptx",
            Self::Asm => "asm",
            Self::Sass => "sass",
            Self::Wgsl => "wgsl",
            Self::Msl => "msl",
            Self::Hlsl => "hlsl",
        }
    }

    /// The stages that kernels have for a target, in their order: all that are compiled by kernelmill's own compiler.
    /// nvcc shows PTX alone, and nothing on the way to a cubin, clang nothing of OpenCL C as SPIR-V. Kernels in WGSL have that and its translations, others for Vulkan all
    /// but the translations.
    ///
    /// ```
    /// use kernelmill_build::dump::Stage;
    ///
    /// let stages = Stage::of_target(&"sm_90".parse()?);
    /// assert_eq!(stages, [Stage::Ir, Stage::Linked, Stage::Opt, Stage::Ptx, Stage::Sass]);
    /// # Ok::<(), kernelmill_artifact::target::ParseTargetError>(())
    /// ```
    #[must_use]
    pub fn of_target(target: &Target) -> Vec<Self> {
        let code: &[Self] = match target {
            Target::Ptx(_) => &[Self::Ptx],
            Target::Cubin(_) => &[Self::Ptx, Self::Sass],
            Target::Cpu | Target::Amd(_) => &[Self::Asm],
            Target::Vulkan => &[Self::Wgsl, Self::Msl, Self::Hlsl],
            Target::Spirv64 => &[],
            _ => return Vec::new(),
        };
        [&[Self::Ir, Self::Linked, Self::Opt], code].concat()
    }

    /// How the names of its files end.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Ir => "ir.ll",
            Self::Linked => "linked.ll",
            Self::Opt => "opt.ll",
            Self::Ptx => "ptx",
            Self::Asm => "s",
            Self::Sass => "sass",
            Self::Wgsl => "wgsl",
            Self::Msl => "metal",
            Self::Hlsl => "hlsl",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A stage that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no stage `{name}`; the stages are {}", names())]
pub struct UnknownStage {
    /// What was written.
    pub name: String,
}

/// The names of all stages, for messages.
fn names() -> String {
    Stage::ALL.map(|stage| format!("`{stage}`")).join(", ")
}

impl FromStr for Stage {
    type Err = UnknownStage;

    fn from_str(text: &str) -> Result<Self, UnknownStage> {
        let known = Self::ALL.into_iter().find(|stage| stage.name() == text);
        known.ok_or_else(|| UnknownStage { name: text.to_owned() })
    }
}

/// The name of the file with the code of a kernel, by the name of its wrapper, for a target at a stage.
///
/// ```
/// use kernelmill_build::dump::{Stage, file_name};
///
/// assert_eq!(file_name("saxpy", "sm_90", Stage::Opt), "saxpy.sm_90.opt.ll");
/// assert_eq!(file_name("saxpy", "gfx90a:xnack+", Stage::Asm), "saxpy.gfx90a-xnack+.s");
/// ```
#[must_use]
pub fn file_name(kernel: &str, target: &str, stage: Stage) -> String {
    format!("{kernel}.{}.{}", crate::base::naming::target(target), stage.extension())
}

/// The part of an assembly text with one kernel, which is known by its entry point in the binary: from where it begins
/// to where the next one, another section, or what is said of source files does, or to the end. It takes PTX, and SASS
/// as nvdisasm prints it.
///
/// ```
/// let ptx = ".version 8.0\n.visible .entry first()\n{ ret; }\n.visible .entry second()\n{ ret; }\n";
/// let first = kernelmill_build::dump::kernel_of(ptx, "first");
/// assert_eq!(first, Some(".visible .entry first()\n{ ret; }"));
/// assert_eq!(kernelmill_build::dump::kernel_of(ptx, "fir"), None);
/// ```
#[must_use]
pub fn kernel_of<'a>(text: &'a str, entry: &str) -> Option<&'a str> {
    let mut following = entries(text).skip_while(|(_, name)| *name != entry);
    let (start, _) = following.next()?;
    let end = following.next().map_or(text.len(), |(end, _)| end);
    let text = &text[start..end];
    let is_of_kernel = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with(".section") && !line.starts_with(".file")
    };
    let length: usize = text.split_inclusive('\n').take_while(is_of_kernel).map(str::len).sum();
    Some(text[..length].trim_end())
}

/// Where functions begin, with their names: `.visible .entry saxpy(` in PTX, `.text.saxpy:` in SASS.
fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let place = start;
        start += line.len();
        let name = match line.split_once(".entry ") {
            Some((_, rest)) => rest.split('(').next(),
            None => line.trim().strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')),
        };
        name.map(|name| (place, name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::kernel_of;

    const PTX: &str =
        ".version 8.0\n.visible .entry first(\n a\n)\n{\n}\n.visible .entry second(\n)\n{ ret; }\n";

    #[test]
    fn kernels_of_ptx() {
        assert_eq!(kernel_of(PTX, "first"), Some(".visible .entry first(\n a\n)\n{\n}"));
        assert_eq!(kernel_of(PTX, "second"), Some(".visible .entry second(\n)\n{ ret; }"));
        assert_eq!(kernel_of(PTX, "fir"), None);
        let with_tail = format!("{PTX}\t.section\t.debug_macinfo\t{{}}\n\t.file\t1 \"a.rs\"\n");
        assert_eq!(kernel_of(&with_tail, "second"), kernel_of(PTX, "second"));
    }

    #[test]
    fn kernels_of_sass() {
        let sass = "x\n.text.first:\n  EXIT ;\n.text.second:\n  NOP;\n";
        assert_eq!(kernel_of(sass, "first"), Some(".text.first:\n  EXIT ;"));
    }
}
