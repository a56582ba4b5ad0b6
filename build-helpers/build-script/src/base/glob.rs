//! Patterns of paths: `*`, `?` and `[abc]` within a name, `**` for any folders, as the crate `glob` reads
//! them.

use super::paths;
use glob::{MatchOptions, Pattern, PatternError};
use std::{fmt, path::Path};

/// What stands for more than itself.
const WILDCARDS: [char; 3] = ['*', '?', '['];

/// Names are compared letter by letter, and no wildcard but `**` crosses a folder.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A pattern such as `kernels/**/*.rs`, relative to the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    parts: Vec<String>,
    pattern: Pattern,
    is_absolute: bool,
}

impl Glob {
    /// Reads a pattern, with `/` or `\` between its parts.
    ///
    /// # Errors
    ///
    /// Where a bracket is not closed, or `**` stands beside letters.
    pub(crate) fn new(text: &str) -> Result<Self, PatternError> {
        let parts = text.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        let parts: Vec<_> = parts.map(str::to_owned).collect();
        let pattern = Pattern::new(&parts.join("/"))?;
        Ok(Self { parts, pattern, is_absolute: Path::new(text).is_absolute() })
    }

    /// The same pattern, relative to the package in `root`.
    pub(crate) fn relative_to(&self, root: &Path) -> Self {
        if !self.is_absolute {
            return self.clone();
        }
        let absolute = Path::new("/").join(self.parts.join("/"));
        Self::new(&paths::relative(root, &absolute)).unwrap_or_else(|_| self.clone())
    }

    /// The leading folders without wildcards: where to look for files that match.
    pub(crate) fn folder(&self) -> String {
        let folders = self.parts.len().saturating_sub(1);
        let plain = self.parts[..folders].iter().take_while(|part| !part.contains(WILDCARDS));
        let folder = plain.map(String::as_str).collect::<Vec<_>>().join("/");
        if folder.is_empty() { ".".to_owned() } else { folder }
    }

    /// Whether it can match more than one path.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| part.contains(WILDCARDS))
    }

    /// Whether a path with `/` between its parts matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.pattern.matches_with(path, OPTIONS)
    }

    /// Whether a path, a folder it is in, or (for a pattern of one part) any of its parts matches.
    pub(crate) fn excludes(&self, path: &str) -> bool {
        if self.parts.len() == 1 && path.split('/').any(|part| self.matches(part)) {
            return true;
        }
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.into_iter().any(|end| self.matches(&path[..end]))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = if self.is_absolute { "/" } else { "" };
        write!(formatter, "{start}{}", self.parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::new(text).unwrap()
    }

    #[test]
    fn wildcards_stay_within_names_and_two_stars_cross_folders() {
        let pattern = glob("kernels/**/*_gpu.rs");
        assert_eq!(pattern.folder(), "kernels");
        assert!(pattern.matches("kernels/a_gpu.rs") && pattern.matches("kernels/x/y/b_gpu.rs"));
        assert!(!pattern.matches("kernels/a.rs") && !pattern.matches("other/a_gpu.rs"));
        assert!(!glob("kernels/*.rs").matches("kernels/x/a.rs"));
        assert!(glob("./k?.rs").matches("k1.rs"));
        assert_eq!(glob("*.rs").folder(), ".");
    }

    #[test]
    fn an_absolute_pattern_is_one_relative_to_the_package() {
        let pattern = glob("/home/out/random_*.rs");
        assert_eq!(pattern.to_string(), "/home/out/random_*.rs");
        let relative = pattern.relative_to(Path::new("/home/package"));
        assert_eq!(relative.to_string(), "../out/random_*.rs");
        assert_eq!(relative.folder(), "../out");
        assert!(relative.matches("../out/random_1.rs"));
    }

    #[test]
    fn an_exclusion_covers_folders_and_plain_names() {
        assert!(glob("kernels/old").excludes("kernels/old/a.rs"));
        assert!(glob("old").excludes("kernels/old/a.rs"));
        assert!(glob("*_test.rs").excludes("kernels/a_test.rs"));
        assert!(!glob("kernels/old").excludes("kernels/older/a.rs"));
    }

    #[test]
    fn what_is_no_pattern_is_an_error() {
        assert!(glob("k[12].rs").matches("k1.rs") && !glob("k[12].rs").matches("k3.rs"));
        for text in ["k[1.rs", "kernels/a**/b.rs"] {
            assert!(Glob::new(text).is_err(), "{text}");
        }
    }
}
