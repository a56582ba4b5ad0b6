//! Atomic writes: a file is written whole or not at all.

use crate::trust::who_else_can_change;
use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, ErrorKind, Write as _},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

/// Who may read a file, and who may look into the folders that are made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever the user lets read new files.
    AsUsual,
    /// The user alone: files have the mode 0600, folders 0700.
    UserAlone,
}

/// How often a write begins again that something else has disturbed.
const ATTEMPTS: usize = 20;

/// Writes a file so that others see all of it or nothing. Where somebody clears the folder meanwhile, and takes the
/// temporary file for one of a dead process, it is written again.
///
/// # Errors
///
/// What the file system reports.
pub fn write(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    write_beside(path, bytes, access, |_| {})
}

/// As [`write()`]. `meanwhile` is what others do to the temporary file before it is renamed.
fn write_beside(
    path: &Path,
    bytes: &[u8],
    access: Access,
    mut meanwhile: impl FnMut(&Path),
) -> io::Result<()> {
    let mut attempts = 0..ATTEMPTS;
    loop {
        match write_once(path, bytes, access, &mut meanwhile) {
            Err(error) if is_disturbance(path, &error) && attempts.next().is_some() => {}
            result => return result,
        }
    }
}

/// Whether a file could not be written because its folder or its temporary file was removed meanwhile. A later write
/// may succeed.
pub fn is_disturbance(path: &Path, error: &io::Error) -> bool {
    // A folder that goes while it is made is told as one that is there.
    let is_of_removal = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists);
    is_of_removal && !path.parent().is_some_and(is_blocked)
}

/// Whether a file, or a link that leads to no folder, lies in a folder's place.
fn is_blocked(folder: &Path) -> bool {
    // A folder that goes between the two questions is none of these.
    folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) && !folder.is_dir()
}

fn write_once(
    path: &Path,
    bytes: &[u8],
    access: Access,
    meanwhile: &mut impl FnMut(&Path),
) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder, access)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.{count}{TEMPORARY}", std::process::id()));
    let result = write_new(&temporary, bytes, access).and_then(|()| {
        meanwhile(&temporary);
        fs::rename(&temporary, path)
    });
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Makes a folder and those above it, where they are not there.
///
/// # Errors
///
/// What the file system reports.
pub fn make_folder(folder: &Path, access: Access) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(not(unix))]
    let _ = access;
    #[cfg(unix)]
    if access == Access::UserAlone {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Takes from others the right to write to a folder, where it is there.
///
/// # Errors
///
/// Where it is another user's.
pub fn close_to_others(folder: &Path) -> io::Result<()> {
    if !matches!(who_else_can_change(folder), Ok(Some(_))) {
        return Ok(());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    match who_else_can_change(folder)? {
        Some(why) => Err(io::Error::other(why)),
        None => Ok(()),
    }
}

fn write_new(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(not(unix))]
    let _ = access;
    #[cfg(unix)]
    if access == Access::UserAlone {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(bytes)
}

/// How the names of temporary files and folders end.
pub const TEMPORARY: &str = ".tmp";

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{atomic::AtomicUsize, mpsc::RecvTimeoutError};
    use test_support::temporary_folder;

    #[test]
    fn a_write_begins_again_as_often_as_it_is_disturbed_up_to_a_limit() {
        let folder = temporary_folder();
        let path = folder.path().join("v1/ab/cd");
        let disturbed = |times: usize| {
            let (mut left, mut begun) = (times, 0);
            let result = write_beside(&path, b"content", Access::UserAlone, |temporary| {
                begun += 1;
                if left > 0 {
                    left -= 1;
                    fs::remove_file(temporary).unwrap();
                    fs::remove_dir(temporary.parent().unwrap()).unwrap();
                }
            });
            (result, begun)
        };
        for times in [0, 1, ATTEMPTS] {
            let (result, begun) = disturbed(times);
            result.unwrap();
            assert_eq!(begun, times + 1);
            assert_eq!(fs::read(&path).unwrap(), b"content");
            fs::remove_file(&path).unwrap();
        }
        let (result, begun) = disturbed(usize::MAX);
        assert!(is_disturbance(&path, &result.unwrap_err()));
        assert_eq!(begun, ATTEMPTS + 1);
    }

    #[test]
    fn what_lies_in_the_folders_place_is_no_disturbance() {
        let folder = temporary_folder();
        let place = folder.path().join("ab");
        let path = place.join("cd");
        let is_lasting = || {
            let error = write(&path, b"", Access::UserAlone).unwrap_err();
            !is_disturbance(&path, &error)
        };
        fs::write(&place, "").unwrap();
        assert!(is_lasting());
        #[cfg(unix)]
        {
            fs::remove_file(&place).unwrap();
            std::os::unix::fs::symlink(folder.path().join("none"), &place).unwrap();
            assert!(is_lasting());
        }
    }

    #[test]
    fn what_is_removed_while_it_is_written_is_written_again() {
        let folder = temporary_folder();
        let place = folder.path().join("v1/ab");
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        // How often a write may still be disturbed. A pass of the cleaner can disturb it twice, by the file and by the
        // folder, and one may have begun before.
        let left = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let pause = std::time::Duration::from_millis(1);
            let (place, left) = (&place, &left);
            let may_disturb = || {
                let one_less = |it: usize| it.checked_sub(1);
                left.try_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
            };
            let cleaner = scope.spawn(move || {
                while stopped.recv_timeout(pause).is_err_and(|it| it == RecvTimeoutError::Timeout) {
                    if !may_disturb() {
                        continue;
                    }
                    let files = fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
                    for file in
                        files.filter(|it| it.file_name().to_string_lossy().ends_with(".tmp"))
                    {
                        let _ = fs::remove_file(file.path());
                    }
                    let _ = fs::remove_dir(place);
                }
            });
            let bytes = vec![7; 1 << 14];
            let mut written = (0..2_000).map(|number| {
                let path = place.join(number.to_string());
                left.store(ATTEMPTS / 2 - 1, Ordering::Relaxed);
                write(&path, &bytes, Access::UserAlone)?;
                assert!(fs::read(&path)? == bytes);
                fs::remove_file(path)
            });
            let failed = written.find_map(Result::err);
            drop(stop);
            cleaner.join().unwrap();
            assert!(failed.is_none(), "{failed:?}");
        });
        // What nobody disturbs is not tried for ever.
        let path = folder.path().join("x".repeat(300));
        assert!(write(&path, b"", Access::AsUsual).is_err());
    }
}
