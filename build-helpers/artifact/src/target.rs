//! Compilation targets, as users write them: parsing, printing, and the architectures known.

use std::{fmt, str::FromStr};

/// A compilation target.
///
/// ```
/// use kernelmill_artifact::Target;
/// let target: Target = "sm_90a".parse()?;
/// assert_eq!(target.to_string(), "sm_90a");
/// assert!("sm_9O".parse::<Target>().unwrap_err().to_string().contains("sm_90"));
/// # Ok::<(), kernelmill_artifact::target::ParseTargetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The host's processor.
    Cpu,
    /// NVIDIA PTX (`compute_75`): runs on this and every later architecture, save for those with
    /// a suffix.
    Ptx(NvidiaArch),
    /// LLVM bitcode for NVIDIA (`bitcode_75`), which the program compiles when it runs, for this and every later
    /// architecture, save for those with a suffix.
    Bitcode(NvidiaArch),
    /// LLVM bitcode for the host's processor (`bitcode_cpu`), which the program compiles when it runs.
    CpuBitcode,
    /// An NVIDIA cubin (`sm_90a`).
    Cubin(NvidiaArch),
    /// An AMD code object (`gfx942`, `gfx90a:xnack+`).
    Amd(AmdTarget),
    /// SPIR-V for OpenCL (`spirv64`).
    Spirv64,
    /// OpenCL C that an OpenCL device's own compiler compiles when it is loaded (`opencl-c`).
    OpenClC,
    /// SPIR-V for Vulkan (`vulkan`).
    Vulkan,
}

/// An NVIDIA compute capability, with the suffix that restricts where its code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NvidiaArch {
    /// For `sm_90a`: 9.
    pub major: u8,
    /// For `sm_90a`: 0.
    pub minor: u8,
    /// What follows the digits.
    pub suffix: NvidiaSuffix,
}

/// On which architectures the code for an NVIDIA architecture runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NvidiaSuffix {
    /// None: cubins run on the same major and the same or a higher minor version.
    None,
    /// `f`: within the family.
    Family,
    /// `a`: on exactly this architecture.
    Exact,
}

/// An AMD processor with its target features.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AmdTarget {
    /// The processor, for example `gfx90a`.
    pub processor: String,
    /// `xnack+` or `xnack-`; `None`: runs in either mode.
    pub xnack: Option<bool>,
    /// `sramecc+` or `sramecc-`; `None`: runs in either mode.
    pub sramecc: Option<bool>,
}

/// A text that names no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseTargetError {
    /// What was written.
    pub text: String,
    /// The valid target nearest to it.
    pub nearest: String,
}

/// NVIDIA architectures that kernelmill knows, oldest first, as `major * 10 + minor`.
pub const NVIDIA_ARCHS: &[u8] = &[75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];

/// AMD processors that kernelmill knows.
pub const AMD_PROCESSORS: &[&str] = &[
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012",
    "gfx1030", "gfx1031", "gfx1032", "gfx1034", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
    "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201",
];

impl Target {
    /// Reads a list of targets as users write them: entries separated by commas, semicolons or
    /// white space, each in one of the forms of [`Target::parse_entry`].
    ///
    /// # Errors
    ///
    /// Every entry that names no target, in the order written.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Vec<ParseTargetError>> {
        let (mut targets, mut errors) = (Vec::new(), Vec::new());
        let entries = text.split([',', ';', ' ', '\t', '\n']).filter(|entry| !entry.is_empty());
        for entry in entries {
            match Self::parse_entry(entry) {
                Ok(found) => targets.extend(found),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(targets) } else { Err(errors) }
    }

    /// Reads one entry: `cpu`, `compute_75`, `bitcode_75`, `bitcode_cpu`, `sm_90a`, `gfx90a:xnack+`, `spirv64`,
    /// `opencl-c`, `vulkan`, and the forms other tools use: `80` and `80-real` (a cubin), `90-virtual` (PTX), `9.0` (a
    /// cubin), `9.0+PTX` (a cubin and PTX).
    ///
    /// A suffix is never added: `90` is `sm_90`, not `sm_90a`.
    ///
    /// # Errors
    ///
    /// [`ParseTargetError`], which names the nearest target, when the entry is none of these.
    pub fn parse_entry(entry: &str) -> Result<Vec<Self>, ParseTargetError> {
        let text = entry.trim();
        let one = |target| Ok(Vec::from([target]));
        match text {
            "cpu" => return one(Self::Cpu),
            "bitcode_cpu" => return one(Self::CpuBitcode),
            "spirv64" => return one(Self::Spirv64),
            "opencl-c" => return one(Self::OpenClC),
            "vulkan" => return one(Self::Vulkan),
            _ => {}
        }
        if let Some(arch) = text.strip_prefix("compute_").and_then(NvidiaArch::from_digits) {
            return one(Self::Ptx(arch));
        }
        if let Some(arch) = text.strip_prefix("bitcode_").and_then(NvidiaArch::from_digits) {
            return one(Self::Bitcode(arch));
        }
        if let Some(arch) = text.strip_prefix("sm_").and_then(NvidiaArch::from_digits) {
            return one(Self::Cubin(arch));
        }
        if let Some(amd) = AmdTarget::parse(text) {
            return one(Self::Amd(amd));
        }
        if let Some(arch) = text.strip_suffix("-virtual").and_then(NvidiaArch::from_any) {
            return one(Self::Ptx(arch));
        }
        if let Some(arch) = text.strip_suffix("+PTX").and_then(NvidiaArch::from_any) {
            return Ok(Vec::from([Self::Cubin(arch), Self::Ptx(arch)]));
        }
        if let Some(arch) = NvidiaArch::from_any(text.strip_suffix("-real").unwrap_or(text)) {
            return one(Self::Cubin(arch));
        }
        Err(ParseTargetError { text: text.to_owned(), nearest: nearest_target(text) })
    }

    /// Whether it is for the host's processor, compiled by the build or when the program runs.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        matches!(self, Self::Cpu | Self::CpuBitcode)
    }

    /// Every target that kernelmill knows, without the features of AMD processors.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all =
            Vec::from([Self::Cpu, Self::CpuBitcode, Self::Spirv64, Self::OpenClC, Self::Vulkan]);
        for &number in NVIDIA_ARCHS {
            for suffix in [NvidiaSuffix::None, NvidiaSuffix::Family, NvidiaSuffix::Exact] {
                let arch = NvidiaArch { major: number / 10, minor: number % 10, suffix };
                if arch.is_known() {
                    all.extend([Self::Ptx(arch), Self::Bitcode(arch), Self::Cubin(arch)]);
                }
            }
        }
        all.extend(AMD_PROCESSORS.iter().map(|processor| {
            Self::Amd(AmdTarget { processor: (*processor).to_owned(), xnack: None, sramecc: None })
        }));
        all
    }
}

impl NvidiaArch {
    /// The bytes of static shared memory that a block may have, on every architecture; more is dynamic.
    pub const STATIC_SHARED_BYTES: u64 = 48 * 1024;

    /// For 9.0: 90; for 10.3: 103.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.major as u32 * 10 + self.minor as u32
    }

    /// Whether NVIDIA has such an architecture.
    #[must_use]
    pub fn is_known(self) -> bool {
        let known = NVIDIA_ARCHS.iter().any(|&number| u32::from(number) == self.number());
        known
            && match self.suffix {
                NvidiaSuffix::None => true,
                NvidiaSuffix::Family => self.major >= 10,
                NvidiaSuffix::Exact => self.major >= 9,
            }
    }

    /// Reads `90`, `90a` or `100f`.
    fn from_digits(text: &str) -> Option<Self> {
        let (digits, suffix) = if let Some(digits) = text.strip_suffix('a') {
            (digits, NvidiaSuffix::Exact)
        } else if let Some(digits) = text.strip_suffix('f') {
            (digits, NvidiaSuffix::Family)
        } else {
            (text, NvidiaSuffix::None)
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: u8 = digits.parse().ok()?;
        let arch = Self { major: number / 10, minor: number % 10, suffix };
        arch.is_known().then_some(arch)
    }

    /// Reads `90`, `90a` or `9.0`.
    fn from_any(text: &str) -> Option<Self> {
        match text.split_once('.') {
            Some((major, minor)) => Self::from_digits(&format!("{major}{minor}")),
            None => Self::from_digits(text),
        }
    }
}

impl AmdTarget {
    /// Reads `gfx90a`, `gfx90a:xnack+` or `gfx90a:sramecc+:xnack-`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let processor = parts.next().filter(|name| AMD_PROCESSORS.contains(name))?;
        let mut target = Self { processor: processor.to_owned(), xnack: None, sramecc: None };
        for feature in parts {
            let on = match feature.as_bytes().last() {
                Some(b'+') => true,
                Some(b'-') => false,
                _ => return None,
            };
            let slot = match &feature[..feature.len() - 1] {
                "xnack" => &mut target.xnack,
                "sramecc" => &mut target.sramecc,
                _ => return None,
            };
            if slot.replace(on).is_some() {
                return None;
            }
        }
        Some(target)
    }
}

/// The valid target with the smallest edit distance to `text`.
fn nearest_target(text: &str) -> String {
    let names = Target::all().into_iter().map(|target| target.to_string());
    nearest(text, names).unwrap_or_else(|| "cpu".to_owned())
}

/// The candidate with the smallest edit distance to `text`, the first of equals; `None` where
/// there is no candidate.
pub fn nearest(text: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    nearest_within(text, candidates, usize::MAX)
}

/// As [`nearest`], with an edit distance of at most `distance`.
///
/// ```
/// use kernelmill_artifact::target::nearest_within;
/// let names = || ["sqrtf", "sinf"].map(str::to_owned);
/// assert_eq!(nearest_within("sqrf", names(), 1).as_deref(), Some("sqrtf"));
/// assert_eq!(nearest_within("saxpy", names(), 1), None);
/// ```
#[must_use]
pub fn nearest_within(
    text: &str,
    candidates: impl IntoIterator<Item = String>,
    distance: usize,
) -> Option<String> {
    let near = |candidate: String| Some((edit_distance(text, &candidate, distance)?, candidate));
    let near = candidates.into_iter().filter_map(near);
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The Levenshtein distance in bytes; `None` where it is more than `most`, which is mostly known at once: a build asks
/// for each variable of its environment, without optimisation.
fn edit_distance(a: &str, b: &str, most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.bytes().enumerate() {
            let substitution = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
        // No later row has a smaller number.
        if row.iter().all(|distance| *distance > most) {
            return None;
        }
    }
    Some(row[b.len()]).filter(|distance| *distance <= most)
}

impl FromStr for Target {
    type Err = ParseTargetError;

    /// Reads an entry that names exactly one target.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut found = Self::parse_entry(text)?;
        if found.len() == 1 {
            return Ok(found.remove(0));
        }
        Err(ParseTargetError { text: text.to_owned(), nearest: found[0].to_string() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => formatter.write_str("cpu"),
            Self::Ptx(arch) => write!(formatter, "compute_{arch}"),
            Self::Bitcode(arch) => write!(formatter, "bitcode_{arch}"),
            Self::CpuBitcode => formatter.write_str("bitcode_cpu"),
            Self::Cubin(arch) => write!(formatter, "sm_{arch}"),
            Self::Amd(amd) => write!(formatter, "{amd}"),
            Self::Spirv64 => formatter.write_str("spirv64"),
            Self::OpenClC => formatter.write_str("opencl-c"),
            Self::Vulkan => formatter.write_str("vulkan"),
        }
    }
}

impl fmt::Display for NvidiaArch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            NvidiaSuffix::None => "",
            NvidiaSuffix::Family => "f",
            NvidiaSuffix::Exact => "a",
        };
        write!(formatter, "{}{}{suffix}", self.major, self.minor)
    }
}

impl fmt::Display for AmdTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.processor)?;
        for (name, value) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if let Some(on) = value {
                write!(formatter, ":{name}{}", if on { '+' } else { '-' })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for ParseTargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown target `{}`; the nearest is `{}`", self.text, self.nearest)
    }
}

impl std::error::Error for ParseTargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> String {
        text.parse::<Target>().unwrap().to_string()
    }

    #[test]
    fn every_known_target_reads_back_as_written() {
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }

    /// Acceptance: S3.11.
    #[test]
    fn other_tools_forms_are_read_and_no_suffix_is_added() {
        let texts = [("80", "sm_80"), ("90a", "sm_90a"), ("90", "sm_90"), ("80-real", "sm_80")];
        for (text, target) in texts {
            assert_eq!(one(text), target);
        }
        assert_eq!(one("90-virtual"), "compute_90");
        assert_eq!(one("10.0f-virtual"), "compute_100f");
        let both = Target::parse_entry("9.0+PTX").unwrap();
        assert_eq!(
            both.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["sm_90", "compute_90"]
        );
        let list = Target::parse_list("80-real;90-virtual, gfx90a:xnack+").unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(list[2].to_string(), "gfx90a:xnack+");
    }

    #[test]
    fn the_nearest_is_the_first_of_those_that_are_near_enough() {
        fn distance(a: &[u8], b: &[u8]) -> usize {
            match (a, b) {
                ([], rest) | (rest, []) => rest.len(),
                ([x, a @ ..], [y, b @ ..]) if x == y => distance(a, b),
                ([_, c @ ..], [_, d @ ..]) => {
                    1 + distance(c, b).min(distance(a, d)).min(distance(c, d))
                }
            }
        }
        let words = ["", "saxpy", "axpy", "sapxy", "saxpys", "gemm", "gemv", "xpyas", "saxgy"];
        for (text, most) in words.iter().flat_map(|text| (0..7).map(move |most| (*text, most))) {
            let away = |word: &&str| distance(text.as_bytes(), word.as_bytes());
            let near = words.iter().copied().filter(|word| *word != text && away(word) <= most);
            let others = words.iter().filter(|word| **word != text).map(|it| (*it).to_owned());
            let found = nearest_within(text, others, most);
            assert_eq!(found.as_deref(), near.min_by_key(away), "{text} {most}");
        }
    }

    #[test]
    fn all_unknown_entries_are_reported_with_the_nearest() {
        let errors = Target::parse_list("sm_9O,cpu,gfx1l00").unwrap_err();
        let nearest: Vec<_> = errors.iter().map(|error| error.nearest.as_str()).collect();
        assert_eq!(nearest, vec!["sm_90", "gfx1100"]);
        for bad in ["sm_90f", "sm_80a", "gfx90a:xnack", "gfx90a:xnack+:xnack-", "", "sm_+9"] {
            assert!(Target::parse_entry(bad).is_err(), "{bad}");
        }
    }
}
