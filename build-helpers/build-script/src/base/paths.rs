//! Paths for keys and messages: relative to the package, with `/`, so that they do not depend on where a
//! checkout lies.

use std::path::{Component, Path, PathBuf};

pub(crate) use kernelmill_compiler::frontend::paths::normal;

/// `path` as seen from `root`, with `..` where it lies outside; `path` itself where the two have
/// no root in common. Both are absolute.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    let (root, path) = (normal(root), normal(path));
    let ours: Vec<_> = root.components().collect();
    let theirs: Vec<_> = path.components().collect();
    let common = ours.iter().zip(&theirs).take_while(|(left, right)| left == right).count();
    if common == 0 {
        return slashes(&path);
    }
    let up = std::iter::repeat_n(Component::ParentDir, ours.len() - common);
    let relative: PathBuf = up.chain(theirs[common..].iter().copied()).collect();
    if relative.as_os_str().is_empty() { ".".to_owned() } else { slashes(&relative) }
}

fn slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_package() {
        let seen = |path: &str| relative(Path::new("/w/app"), Path::new(path));
        assert_eq!(seen("/w/app/kernels/a.rs"), "kernels/a.rs");
        assert_eq!(seen("/w/app/./kernels/../b.rs"), "b.rs");
        assert_eq!(seen("/w/shared/a.rs"), "../shared/a.rs");
        assert_eq!(seen("/w/app"), ".");
        assert_eq!(seen("/w/app/../../../x/a.rs"), "../../x/a.rs");
    }
}
