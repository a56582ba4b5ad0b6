//! Files of an `OUT_DIR`: written whole, only where they change, and cleared of what killed builds have left.

use super::error::Error;
use std::{fs, path::Path};

pub(crate) use kernelmill_store::files::{Access, TEMPORARY, write};

/// Removes what builds that were killed have left in an `OUT_DIR`: temporary files, and the folders of the
/// compilers that they ran. Cargo never runs two builds with one `OUT_DIR` at once.
pub(crate) fn remove_leftovers(out_dir: &Path) {
    let remove = |folder: &Path, is_leftover: fn(&str) -> bool| {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.filter(|entry| is_leftover(&entry.file_name().to_string_lossy())) {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let remove = if is_folder { fs::remove_dir_all } else { fs::remove_file };
            // What cannot be removed only takes space.
            let _ = remove(&entry.path());
        }
    };
    remove(out_dir, |name| name.starts_with('.') && name.ends_with(TEMPORARY));
    remove(&out_dir.join("kernelmill"), |name| name.ends_with(TEMPORARY));
}

/// Writes a file, unless it has this content already. What is there may be a pipe, whose reader waits without end, or
/// much larger.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let may_be_same = fs::metadata(path)
        .is_ok_and(|data| data.is_file() && usize::try_from(data.len()) == Ok(bytes.len()));
    if may_be_same && fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    write(path, bytes, Access::AsUsual).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::{temporary_folder, write_file};

    /// Whoever reads it would wait without end, since nobody writes.
    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_file_is_replaced() {
        let folder = temporary_folder();
        let path = folder.path().join("kernels.rs");
        let status = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(status.unwrap().success());
        write_if_changed(&path, b"text").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[test]
    fn leftovers_of_killed_builds_are_removed_and_nothing_else() {
        let folder = temporary_folder();
        let kept = ["kernels.rs", "my.tmp", "kernelmill/host.txt", "kernelmill/host/.a.o.tmp"];
        let left = [".kernels.rs.7.0.tmp", "kernelmill/kernelsakcu.7.0.tmp/tmpxft_1/a.ii"];
        kept.iter().chain(&left).for_each(|name| drop(write_file(&folder, name, "text")));
        remove_leftovers(folder.path());
        assert!(kept.iter().all(|name| folder.path().join(name).is_file()));
        assert!(!left.iter().any(|name| folder.path().join(name).exists()));
        assert!(!folder.path().join("kernelmill/kernelsakcu.7.0.tmp").exists());
    }
}
