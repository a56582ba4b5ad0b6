//! The head of a module of PTX.

use kernelmill_artifact::{NvidiaArch, PtxToken, Target, ptx_tokens};

use super::source::fault;
use crate::Error;

/// The head of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What `.target` says, or the oldest architecture that kernelmill knows where it says an older one.
    pub target: NvidiaArch,
}

/// The oldest architecture that devices of kernelmill have.
const OLDEST: u32 = 75;

impl Header {
    /// Reads the head of a module, of the file that people know as `display`.
    ///
    /// ```
    /// use kernelmill_compiler::frontend::ptx::Header;
    /// let text = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    /// assert_eq!(Header::read(text, "kernels/k.ptx")?.target.to_string(), "90a");
    /// # Ok::<(), kernelmill_compiler::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with every fault: `.version`, `.target` or `.address_size` is missing, the target is not known, or
    /// addresses have not 64 bits.
    pub fn read(text: &str, display: &str) -> Result<Self, Error> {
        Self::of(&ptx_tokens(text)).map_err(|faults| {
            let lines = faults.iter().map(|(line, why)| fault(display, *line, why) + "\n");
            Error::Ptx { text: lines.collect() }
        })
    }

    fn of(tokens: &[PtxToken<'_>]) -> Result<Self, Vec<(u32, String)>> {
        let mut faults = Vec::new();
        let after = |directive: &str| {
            let at = tokens.iter().position(|token| token.text == directive)?;
            tokens.get(at + 1)
        };
        let missing = |what: &str, example: &str| {
            (
                0,
                format!(
                    "it has no `{what}`: a module of PTX starts with lines such as `{example}`"
                ),
            )
        };
        if after(".version").is_none() {
            faults.push(missing(".version", ".version 8.0"));
        }
        let target = match after(".target") {
            None => Err(missing(".target", ".target sm_80")),
            Some(target) => architecture(target.text).ok_or_else(|| {
                let name = target.text;
                let why = format!("`.target {name}` is not an architecture that kernelmill knows");
                (target.line, why)
            }),
        };
        let target = target.map_err(|fault| faults.push(fault));
        match after(".address_size") {
            None => faults.push(missing(".address_size", ".address_size 64")),
            Some(width) if width.text != "64" => {
                let why = format!(
                    "its addresses have {} bits, and kernelmill supports 64 bits only: \
                     compile the file for addresses of 64 bits",
                    width.text
                );
                faults.push((width.line, why));
            }
            Some(_) => {}
        }
        match target {
            Ok(target) if faults.is_empty() => Ok(Self { target }),
            _ => Err(faults),
        }
    }

    /// Whether the module runs on the devices that a cubin of an architecture is for.
    #[must_use]
    pub fn can_be(&self, arch: NvidiaArch) -> bool {
        use kernelmill_artifact::NvidiaSuffix as Suffix;
        let Self { target } = *self;
        let is_later = (arch.major, arch.minor) >= (target.major, target.minor);
        match target.suffix {
            Suffix::None => is_later,
            Suffix::Family => arch.major == target.major && is_later && arch.suffix != Suffix::None,
            Suffix::Exact => arch == target,
        }
    }
}

/// An architecture by its name, `sm_90a`.
fn architecture(name: &str) -> Option<NvidiaArch> {
    if let Ok(Target::Cubin(arch)) = name.parse() {
        return Some(arch);
    }
    let number: u32 = name.strip_prefix("sm_")?.parse().ok()?;
    let oldest = || format!("sm_{OLDEST}").parse();
    match (number < OLDEST).then(oldest) {
        Some(Ok(Target::Cubin(arch))) => Some(arch),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(target: &str) -> Result<String, String> {
        let text = format!(".version 8.0\n.target {target}\n.address_size 64\n");
        let read = Header::read(&text, "k.ptx");
        read.map(|it| it.target.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn targets_are_architectures_and_older_ones_the_oldest() {
        assert_eq!(header("sm_90a, debug"), Ok("90a".to_owned()));
        assert_eq!(header("sm_52"), Ok("75".to_owned()));
        let error = header("sm_80a").unwrap_err();
        assert_eq!(
            error,
            "k.ptx:2: error: `.target sm_80a` is not an architecture that kernelmill knows"
        );
        for missing in [".version", ".target", ".address_size"] {
            let text = ".version 8.0\n.target sm_80\n.address_size 64\n".replace(missing, "//");
            let error = Header::read(&text, "k.ptx").unwrap_err().to_string();
            assert!(error.starts_with(&format!("k.ptx: error: it has no `{missing}`")), "{error}");
        }
        let narrow = ".version 8.0\n.target sm_80\n.address_size 32\n";
        let error = Header::read(narrow, "k.ptx").unwrap_err().to_string();
        assert_eq!(
            error,
            "k.ptx:3: error: its addresses have 32 bits, and kernelmill supports 64 bits only: \
             compile the file for addresses of 64 bits"
        );
    }

    #[test]
    fn every_fault_of_a_head_is_told_in_a_line_of_its_own() {
        let error = Header::read(".target sm_80a\n.address_size 32\n", "k.ptx").unwrap_err();
        let text = error.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("k.ptx: error: it has no `.version`"), "{text}");
        assert!(lines[1].starts_with("k.ptx:1: error: `.target sm_80a` is not an"), "{text}");
        assert!(lines[2].starts_with("k.ptx:2: error: its addresses have 32 bits"), "{text}");
        assert_eq!(lines.len(), 3, "{text}");
    }

    #[test]
    fn cubins_are_those_that_the_target_allows() {
        let can = |target: &str, arch: &str| {
            let text = format!(".version 8.8\n.target {target}\n.address_size 64\n");
            let header = Header::read(&text, "k.ptx").unwrap();
            header.can_be(architecture(arch).unwrap())
        };
        for (target, arch, expected) in [
            ("sm_80", "sm_80", true),
            ("sm_80", "sm_90a", true),
            ("sm_80", "sm_75", false),
            ("sm_90a", "sm_90a", true),
            ("sm_90a", "sm_90", false),
            ("sm_90a", "sm_100a", false),
            ("sm_100f", "sm_103f", true),
            ("sm_100f", "sm_103a", true),
            ("sm_100f", "sm_103", false),
            ("sm_100f", "sm_120f", false),
        ] {
            assert_eq!(can(target, arch), expected, "{target} as {arch}");
        }
    }
}
