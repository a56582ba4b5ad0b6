//! The version of PTX, and the drivers that read it.

use std::fmt;

use crate::target::{NvidiaArch, NvidiaSuffix};

/// A version of NVIDIA's PTX: what `.version` says at the start of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// For 8.7: 8.
    pub major: u32,
    /// For 8.7: 7.
    pub minor: u32,
}

/// Every version of PTX from 6.0 on with the CUDA release that introduced it ([release history][history]).
///
/// [history]: https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes-ptx-release-history
const RELEASES: [((u32, u32), (u32, u32)); 30] = [
    ((6, 0), (9, 0)),
    ((6, 1), (9, 1)),
    ((6, 2), (9, 2)),
    ((6, 3), (10, 0)),
    ((6, 4), (10, 1)),
    ((6, 5), (10, 2)),
    ((7, 0), (11, 0)),
    ((7, 1), (11, 1)),
    ((7, 2), (11, 2)),
    ((7, 3), (11, 3)),
    ((7, 4), (11, 4)),
    ((7, 5), (11, 5)),
    ((7, 6), (11, 6)),
    ((7, 7), (11, 7)),
    ((7, 8), (11, 8)),
    ((8, 0), (12, 0)),
    ((8, 1), (12, 1)),
    ((8, 2), (12, 2)),
    ((8, 3), (12, 3)),
    ((8, 4), (12, 4)),
    ((8, 5), (12, 5)),
    ((8, 6), (12, 7)),
    ((8, 7), (12, 8)),
    ((8, 8), (12, 9)),
    ((9, 0), (13, 0)),
    ((9, 1), (13, 1)),
    ((9, 2), (13, 2)),
    ((9, 3), (13, 3)),
    ((9, 4), (13, 4)),
    ((9, 5), (13, 5)),
];

/// For each architecture (major, minor, suffix or `*`) the oldest version of PTX that has it.
const OF_ARCHITECTURES: &[(u8, u8, NvidiaSuffix, u32)] = &[
    (7, 5, NvidiaSuffix::None, 63),
    (8, 0, NvidiaSuffix::None, 70),
    (8, 6, NvidiaSuffix::None, 71),
    (8, 7, NvidiaSuffix::None, 74),
    (8, 8, NvidiaSuffix::None, 90),
    (8, 9, NvidiaSuffix::None, 78),
    (9, 0, NvidiaSuffix::None, 78),
    (9, 0, NvidiaSuffix::Exact, 80),
    (10, 0, NvidiaSuffix::None, 86),
    (10, 0, NvidiaSuffix::Exact, 86),
    (10, 0, NvidiaSuffix::Family, 88),
    (10, 3, NvidiaSuffix::None, 88),
    (10, 3, NvidiaSuffix::Exact, 88),
    (10, 3, NvidiaSuffix::Family, 88),
    (11, 0, NvidiaSuffix::None, 90),
    (11, 0, NvidiaSuffix::Exact, 90),
    (11, 0, NvidiaSuffix::Family, 90),
    (12, 0, NvidiaSuffix::None, 87),
    (12, 0, NvidiaSuffix::Exact, 87),
    (12, 0, NvidiaSuffix::Family, 88),
    (12, 1, NvidiaSuffix::None, 88),
    (12, 1, NvidiaSuffix::Exact, 88),
    (12, 1, NvidiaSuffix::Family, 88),
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
    /// a version that is not known here.
    #[must_use]
    pub fn cuda(self) -> Option<(u32, u32)> {
        let row = RELEASES.iter().find(|(ptx, _)| *ptx == (self.major, self.minor));
        row.map(|(_, cuda)| *cuda)
    }

    /// The oldest version that has an architecture; `None` for one that is not known.
    ///
    /// ```
    /// use kernelmill_artifact::{PtxVersion, Target};
    /// let Target::Ptx(arch) = "compute_103".parse()? else { unreachable!() };
    /// assert_eq!(PtxVersion::of_architecture(arch), Some(PtxVersion { major: 8, minor: 8 }));
    /// # Ok::<(), kernelmill_artifact::target::ParseTargetError>(())
    /// ```
    #[must_use]
    pub fn of_architecture(arch: NvidiaArch) -> Option<Self> {
        let is_it = |row: &&(u8, u8, NvidiaSuffix, u32)| {
            (row.0, row.1, row.2) == (arch.major, arch.minor, arch.suffix)
        };
        let version = OF_ARCHITECTURES.iter().find(is_it)?.3;
        Some(Self { major: version / 10, minor: version % 10 })
    }

    /// The known versions from 6.0 on, the oldest first.
    ///
    /// ```
    /// use kernelmill_artifact::PtxVersion;
    /// let mut after = PtxVersion::all().skip_while(|it| *it <= PtxVersion { major: 7, minor: 8 });
    /// assert_eq!(after.next(), Some(PtxVersion { major: 8, minor: 0 }));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        RELEASES.iter().map(|((major, minor), _)| Self { major: *major, minor: *minor })
    }

    /// The newest known version that the tools of a CUDA release read, which read every older one; `None` for a
    /// release before 9.0. Of a release newer than those known here it is the newest known version.
    ///
    /// ```
    /// use kernelmill_artifact::PtxVersion;
    /// assert_eq!(PtxVersion::newest_of((12, 6)), Some(PtxVersion { major: 8, minor: 5 }));
    /// ```
    #[must_use]
    pub fn newest_of(cuda: (u32, u32)) -> Option<Self> {
        Self::all().filter(|version| version.cuda().is_some_and(|first| first <= cuda)).last()
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
            ((9, 5), (13, 5)),
        ] {
            assert_eq!(PtxVersion { major: ptx.0, minor: ptx.1 }.cuda(), Some(cuda), "{ptx:?}");
        }
        for (major, minor) in [(5, 0), (7, 9), (9, 6), (10, 0)] {
            assert_eq!(PtxVersion { major, minor }.cuda(), None);
        }
    }

    #[test]
    fn tools_read_the_version_of_their_release_and_all_before() {
        let of = |major, minor| PtxVersion::newest_of((major, minor)).map(|it| it.to_string());
        let known =
            [(9, 0), (11, 8), (12, 0), (12, 5), (12, 6), (12, 7), (13, 5)].map(|(a, b)| of(a, b));
        let versions = ["6.0", "7.8", "8.0", "8.5", "8.5", "8.6", "9.5"];
        assert_eq!(known, versions.map(|version| Some(version.to_owned())));
        assert_eq!((of(8, 0), of(14, 2)), (None, Some("9.5".to_owned())));
        assert!(PtxVersion::all().is_sorted());
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
