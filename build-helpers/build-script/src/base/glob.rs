//! Patterns of paths: `*` and `?` within a name, `**` for any folders.

use super::paths;
use std::{fmt, path::Path};

/// A pattern such as `kernels/**/*.rs`, relative to the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    parts: Vec<String>,
    is_absolute: bool,
}

impl Glob {
    pub(crate) fn new(pattern: &str) -> Self {
        let parts = pattern.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        let parts = parts.map(str::to_owned).collect();
        Self { parts, is_absolute: Path::new(pattern).is_absolute() }
    }

    /// The same pattern, relative to the package in `root`.
    pub(crate) fn relative_to(&self, root: &Path) -> Self {
        if !self.is_absolute {
            return self.clone();
        }
        let absolute = Path::new("/").join(self.parts.join("/"));
        Self::new(&paths::relative(root, &absolute))
    }

    /// The leading folders without wildcards: where to look for files that match.
    pub(crate) fn folder(&self) -> String {
        let folders = self.parts.len().saturating_sub(1);
        let plain = self.parts[..folders].iter().take_while(|part| !part.contains(['*', '?']));
        let folder = plain.map(String::as_str).collect::<Vec<_>>().join("/");
        if folder.is_empty() { ".".to_owned() } else { folder }
    }

    /// Whether it can match more than one path.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| part.contains(['*', '?']))
    }

    /// Whether a path with `/` between its parts matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        matches_parts(&self.parts, &path.split('/').collect::<Vec<_>>())
    }

    /// Whether a path, a folder it is in, or (for a pattern of one part) any of its parts matches.
    pub(crate) fn excludes(&self, path: &str) -> bool {
        let parts: Vec<_> = path.split('/').collect();
        if let [only] = self.parts.as_slice()
            && parts.iter().any(|part| matches_name(only.as_bytes(), part.as_bytes()))
        {
            return true;
        }
        (1..=parts.len()).any(|length| matches_parts(&self.parts, &parts[..length]))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = if self.is_absolute { "/" } else { "" };
        write!(formatter, "{start}{}", self.parts.join("/"))
    }
}

fn matches_parts(pattern: &[String], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            matches_parts(rest, path)
                || path.split_first().is_some_and(|(_, path)| matches_parts(pattern, path))
        }
        (Some((first, rest)), Some((name, path))) => {
            matches_name(first.as_bytes(), name.as_bytes()) && matches_parts(rest, path)
        }
        _ => false,
    }
}

fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches_name(rest, name)
                || name.split_first().is_some_and(|(_, name)| matches_name(pattern, name))
        }
        (Some((b'?', rest)), Some((_, name))) => matches_name(rest, name),
        (Some((first, rest)), Some((letter, name))) => first == letter && matches_name(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stay_within_names_and_two_stars_cross_folders() {
        let glob = Glob::new("kernels/**/*_gpu.rs");
        assert_eq!(glob.folder(), "kernels");
        assert!(glob.matches("kernels/a_gpu.rs") && glob.matches("kernels/x/y/b_gpu.rs"));
        assert!(!glob.matches("kernels/a.rs") && !glob.matches("other/a_gpu.rs"));
        assert!(!Glob::new("kernels/*.rs").matches("kernels/x/a.rs"));
        assert!(Glob::new("./k?.rs").matches("k1.rs"));
        assert_eq!(Glob::new("*.rs").folder(), ".");
    }

    #[test]
    fn an_absolute_pattern_is_one_relative_to_the_package() {
        let glob = Glob::new("/home/out/random_*.rs");
        assert_eq!(glob.to_string(), "/home/out/random_*.rs");
        let relative = glob.relative_to(Path::new("/home/package"));
        assert_eq!(relative.to_string(), "../out/random_*.rs");
        assert_eq!(relative.folder(), "../out");
        assert!(relative.matches("../out/random_1.rs"));
    }

    #[test]
    fn an_exclusion_covers_folders_and_plain_names() {
        assert!(Glob::new("kernels/old").excludes("kernels/old/a.rs"));
        assert!(Glob::new("old").excludes("kernels/old/a.rs"));
        assert!(Glob::new("*_test.rs").excludes("kernels/a_test.rs"));
        assert!(!Glob::new("kernels/old").excludes("kernels/older/a.rs"));
    }
}
