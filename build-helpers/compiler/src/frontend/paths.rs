//! Paths as they are written.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, as it is written: links are not followed.
pub fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            // Above the root there is the root.
            Component::ParentDir if result.has_root() => {}
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out_and_nothing_is_above_the_root() {
        assert_eq!(normal(Path::new("/a/../..")), Path::new("/"));
        assert_eq!(normal(Path::new("/../../a")), Path::new("/a"));
        assert_eq!(normal(Path::new("../a/../../b")), Path::new("../../b"));
    }
}
