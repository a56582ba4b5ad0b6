//! What tools are called on the command line: `cuda`, `cuda@13.4`, `clang`.

use std::{fmt, str::FromStr};

/// The oldest CUDA whose wheels hold nvcc itself.
const OLDEST: u32 = 13;

/// Tools, and which version of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Specification {
    /// NVIDIA's compiler and its tools, the newest or of a release (`13.4`).
    Cuda(Option<String>),
    Clang,
}

impl FromStr for Specification {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = match text.split_once('@').or_else(|| text.split_once("cuda-")) {
            Some(("", version)) => ("cuda", Some(version)),
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        match (name, version) {
            ("cuda", None) => Ok(Self::Cuda(None)),
            ("cuda", Some(version)) => release(version).map(|release| Self::Cuda(Some(release))),
            ("clang", None) => Ok(Self::Clang),
            ("clang", Some(_)) => {
                Err("the version of clang is that of the system's package manager: write `clang`"
                    .to_owned())
            }
            _ => Err("write `cuda`, `cuda@13.4` or `clang`".to_owned()),
        }
    }
}

/// `13.4`; of `13.4.1` the first two numbers, for a later patch replaces an earlier one.
fn release(version: &str) -> Result<String, String> {
    let numbers: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([major, ..]) if *major < OLDEST => Err(format!(
            "the Python packages of CUDA {version} contain no nvcc: choose {OLDEST}.0 or later, or install CUDA \
             {version} with NVIDIA's installer and set CUDA_HOME"
        )),
        Some([major, minor, ..]) => Ok(format!("{major}.{minor}")),
        _ => Err(format!("`{version}` is not a release: write two numbers, for example `13.4`")),
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(None) => formatter.write_str("cuda"),
            Self::Cuda(Some(version)) => write!(formatter, "cuda@{version}"),
            Self::Clang => formatter.write_str("clang"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Specification;

    #[test]
    fn tools_and_versions_are_read() {
        let cuda = |text: &str| Ok(Specification::Cuda(Some(text.to_owned())));
        assert_eq!("cuda".parse(), Ok(Specification::Cuda(None)));
        assert_eq!("cuda@13.4".parse(), cuda("13.4"));
        assert_eq!("cuda-13.10".parse(), cuda("13.10"), "as its folder is called");
        assert_eq!("cuda@13.4.1".parse(), cuda("13.4"));
        assert_eq!("clang".parse(), Ok(Specification::Clang));
        for wrong in ["cuda@12.9", "cuda@", "cuda@new", "cuda@13", "gcc", "clang@22", ""] {
            assert!(wrong.parse::<Specification>().is_err(), "{wrong}");
        }
    }
}
