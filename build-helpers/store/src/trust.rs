//! Ownership: whether anybody but the user and root can change a file or folder.
//!
//! The rule is that of OpenSSH's `StrictModes`: the owner is the user or root, and nobody else can write. A
//! group of the user's own, as Debian and Fedora give one to everybody, counts as the user. Where the system
//! has no such rights everything is trusted. A link has an owner of its own, who chooses where it leads.

use std::{io, path::Path};

/// Who else can change a file or folder, for messages; `None` where nobody can.
///
/// # Errors
///
/// Where nothing can be learned of it.
#[cfg(unix)]
pub fn who_else_can_change(path: &Path) -> io::Result<Option<String>> {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_ALL: u32 = 0o002;
    const WRITABLE_BY_GROUP: u32 = 0o020;
    let link = std::fs::symlink_metadata(path)?;
    if link.is_symlink() && !is_trusted(link.uid()) {
        return Ok(Some(format!("it is a link of the user {}", link.uid())));
    }
    let data = std::fs::metadata(path)?;
    let (owner, group, mode) = (data.uid(), data.gid(), data.mode());
    Ok(if !is_trusted(owner) {
        Some(format!("it belongs to the user {owner}"))
    } else if mode & WRITABLE_BY_ALL != 0 {
        Some("every user can write to it".to_owned())
    } else if mode & WRITABLE_BY_GROUP != 0 && group != ROOT && group != owner {
        Some(format!("the group {group} can write to it"))
    } else {
        None
    })
}

/// Who else can change a file or folder: nobody that is known.
///
/// # Errors
///
/// Where nothing can be learned of it.
#[cfg(not(unix))]
pub fn who_else_can_change(path: &Path) -> io::Result<Option<String>> {
    std::fs::metadata(path).map(|_| None)
}

/// The user and group 0.
#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(unix)]
fn is_trusted(owner: u32) -> bool {
    owner == ROOT || owner == user()
}

/// The user that this process acts for.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: POSIX has this function in every C library: without arguments, with this result (`uid_t` is a
    // `u32` on every Unix that Rust knows), and without a way to fail.
    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }
    geteuid()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt as _};
    use test_support::temporary_folder;

    #[test]
    fn what_others_can_write_is_not_the_users_alone() {
        let folder = temporary_folder();
        let with_mode = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            who_else_can_change(folder.path()).unwrap()
        };
        assert_eq!(with_mode(0o755), None);
        assert_eq!(with_mode(0o700), None);
        assert_eq!(with_mode(0o777).unwrap(), "every user can write to it");
        assert_eq!(with_mode(0o1777).unwrap(), "every user can write to it");
        assert!(who_else_can_change(&folder.path().join("none")).is_err());
    }
}
