//! The version of PTX, and the drivers that read it.

use std::fmt;

/// A version of NVIDIA's PTX: what `.version` says at the start of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// For 8.7: 8.
    pub major: u32,
    /// For 8.7: 7.
    pub minor: u32,
}

/// Versions of PTX with the CUDA release that introduced each, from 6.0 on ([release history][history]). Between two
/// rows both numbers count up together.
///
/// [history]: https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes-ptx-release-history
const RELEASES: [((u32, u32), (u32, u32)); 10] = [
    ((6, 0), (9, 0)),
    ((6, 3), (10, 0)),
    ((7, 0), (11, 0)),
    ((8, 0), (12, 0)),
    ((8, 5), (12, 5)),
    ((8, 6), (12, 7)),
    ((8, 7), (12, 8)),
    ((8, 8), (12, 9)),
    ((9, 0), (13, 0)),
    ((9, 2), (13, 2)),
];

impl PtxVersion {
    /// The version of a module; `None` where its text does not say.
    ///
    /// ```
    /// use kernelmill_artifact::PtxVersion;
    /// let version = PtxVersion::of(b"// made by ..\n.version 8.7\n.target sm_90\n").unwrap();
    /// assert_eq!(version.to_string(), "8.7");
    /// assert_eq!(version.cuda(), Some((12, 8)));
    /// ```
    #[must_use]
    pub fn of(module: &[u8]) -> Option<Self> {
        let mut lines = module.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let version = lines.find_map(|line| line.strip_prefix(b".version"))?;
        let text = std::str::from_utf8(version).ok()?;
        let (major, minor) = text.split_ascii_whitespace().next()?.split_once('.')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The CUDA release, major and minor, whose driver reads this version, as every later one does; `None` for
    /// a version that is older or newer than those known here.
    #[must_use]
    pub fn cuda(self) -> Option<(u32, u32)> {
        let newest = RELEASES[RELEASES.len() - 1].0;
        if (self.major, self.minor) > newest {
            return None;
        }
        let row = RELEASES.iter().rev().find(|(ptx, _)| ptx.0 == self.major && ptx.1 <= self.minor);
        row.map(|(ptx, cuda)| (cuda.0, cuda.1 + self.minor - ptx.1))
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_those_of_nvidias_table() {
        for (ptx, cuda) in [
            ((6, 0), (9, 0)),
            ((6, 3), (10, 0)),
            ((6, 4), (10, 1)),
            ((6, 5), (10, 2)),
            ((7, 4), (11, 4)),
            ((7, 8), (11, 8)),
            ((8, 4), (12, 4)),
            ((8, 5), (12, 5)),
            ((8, 6), (12, 7)),
            ((8, 8), (12, 9)),
            ((9, 1), (13, 1)),
        ] {
            assert_eq!(PtxVersion { major: ptx.0, minor: ptx.1 }.cuda(), Some(cuda), "{ptx:?}");
        }
        for (major, minor) in [(5, 0), (9, 3), (10, 0)] {
            assert_eq!(PtxVersion { major, minor }.cuda(), None);
        }
    }

    #[test]
    fn a_module_without_a_version_has_none() {
        for text in ["", ".version", ".version 8", ".version x.y", "version 8.7", "\u{ff}"] {
            assert_eq!(PtxVersion::of(text.as_bytes()), None, "{text}");
        }
        let version = PtxVersion { major: 6, minor: 3 };
        assert_eq!(PtxVersion::of(b"\r\n  .version 6.3 // oldest\r\n"), Some(version));
    }
}
