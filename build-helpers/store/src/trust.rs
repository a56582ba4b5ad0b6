//! Ownership: whether anybody but the user and root can change a file or folder.
//!
//! The rule is that of OpenSSH's `StrictModes`: the owner is the user or root, and nobody else can write. A
//! group of the user's own, as Debian and Fedora give one to everybody, counts as the user. Where the system
//! has no such rights everything is trusted. A link has an owner of its own, who chooses where it leads.
//!
//! On Linux a POSIX access control list may give rights to further users and groups (acl(5)). The mode then shows in
//! the place of the group's rights the most that any of them has.

#[cfg(target_os = "linux")]
mod access_list;

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
    } else if mode & WRITABLE_BY_GROUP != 0 {
        writer_in_list(path, owner)
    } else {
        None
    })
}

/// Who else can write by an access control list, for messages.
#[cfg(target_os = "linux")]
fn writer_in_list(path: &Path, owner: u32) -> Option<String> {
    use access_list::{Writer, writers};
    let is_other = |writer: &Writer| match *writer {
        Writer::User(user) => !is_trusted(user),
        Writer::Group(group) => group != ROOT && group != owner,
        Writer::Unknown => true,
    };
    let name = |writer| match writer {
        Writer::User(user) => format!("the user {user}"),
        Writer::Group(group) => format!("the group {group}"),
        Writer::Unknown => "others".to_owned(),
    };
    let other = writers(path).into_iter().find(is_other)?;
    Some(format!("its access control list lets {} write to it", name(other)))
}

/// Who else can write by an access control list: nobody that is known.
#[cfg(all(unix, not(target_os = "linux")))]
fn writer_in_list(_: &Path, _: u32) -> Option<String> {
    None
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

/// Whether this process may execute a file, as a shell asks before it takes one from `PATH`.
#[cfg(unix)]
#[must_use]
pub fn can_execute(path: &Path) -> bool {
    use std::{
        ffi::{CString, c_char, c_int},
        os::unix::ffi::OsStrExt as _,
    };
    const X_OK: c_int = 1;
    // SAFETY: POSIX has this function, with these arguments and this result, in every C library.
    unsafe extern "C" {
        fn access(path: *const c_char, mode: c_int) -> c_int;
    }
    let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the text ends with a NUL and lives longer than the call, which only reads it.
    path.is_file() && unsafe { access(text.as_ptr(), X_OK) } == 0
}

/// Whether this process may execute a file: every file, where the system has no such right.
#[cfg(not(unix))]
#[must_use]
pub fn can_execute(path: &Path) -> bool {
    path.is_file()
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

    #[test]
    fn files_without_the_right_cannot_be_executed() {
        let folder = temporary_folder();
        let file = test_support::write_file(&folder, "tool", "");
        let with_mode = |mode| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            can_execute(&file)
        };
        assert!(!with_mode(0o644));
        assert!(with_mode(0o755));
        assert!(!can_execute(folder.path()), "a folder");
        assert!(!can_execute(&folder.path().join("none")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_list_lets_others_write_is_not_the_users_alone() {
        let folder = temporary_folder();
        let says = |list: &[(u16, u16, u32)]| {
            let set = access_list::set(folder.path(), list);
            set.map(|()| who_else_can_change(folder.path()).unwrap())
        };
        let list = |user: u32, rights, mask| {
            [
                (1, 7, u32::MAX),
                (2, rights, user),
                (4, 5, u32::MAX),
                (16, mask, u32::MAX),
                (32, 0, u32::MAX),
            ]
        };
        let Ok(found) = says(&list(54_321, 7, 7)) else {
            println!("skipped: no access control lists on this file system");
            return;
        };
        let expected = "its access control list lets the user 54321 write to it";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(says(&list(54_321, 5, 7)).unwrap(), None);
        assert_eq!(says(&list(54_321, 7, 5)).unwrap(), None);
        assert_eq!(says(&list(user(), 7, 7)).unwrap(), None);
        // What messages advise takes the right away.
        assert!(says(&list(54_321, 7, 7)).unwrap().is_some());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(who_else_can_change(folder.path()).unwrap(), None);
    }
}
