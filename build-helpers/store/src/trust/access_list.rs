//! POSIX access control lists of Linux, as the attribute `system.posix_acl_access` has them
//! (`linux/posix_acl_xattr.h`): a version, and for each entry a kind, rights and the number of a user or group.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

const NAME: &CStr = c"system.posix_acl_access";
const VERSION: u32 = 2;
/// Kinds of entries.
const USER: u16 = 0x02;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
/// The right to write.
const WRITE: u16 = 0x02;
/// The most bytes of a list that is read. Linux has no longer attributes.
const MOST: usize = 1 << 16;

/// Whom a list gives the right to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    User(u32),
    Group(u32),
    /// The list has a form that is not known.
    Unknown,
}

/// The users and groups that the list of a file or folder names and lets write; none without a list.
pub(super) fn writers(path: &Path) -> Vec<Writer> {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return Vec::new() };
    // SAFETY: glibc and musl have this function, with these types.
    unsafe extern "C" {
        fn getxattr(
            path: *const c_char,
            name: *const c_char,
            value: *mut c_void,
            size: usize,
        ) -> isize;
    }
    let mut list = vec![0; MOST];
    // SAFETY: both texts end with a zero, and `list` has `MOST` bytes to be written.
    let length = unsafe { getxattr(path.as_ptr(), NAME.as_ptr(), list.as_mut_ptr().cast(), MOST) };
    // Without a list, or on a file system that has none.
    let Ok(length) = usize::try_from(length) else { return Vec::new() };
    read(&list[..length]).unwrap_or_else(|| vec![Writer::Unknown])
}

/// The writers in a list; `None` where it cannot be read.
fn read(list: &[u8]) -> Option<Vec<Writer>> {
    let (version, entries) = list.split_first_chunk()?;
    let (entries, rest) = entries.as_chunks::<8>();
    if u32::from_le_bytes(*version) != VERSION || !rest.is_empty() {
        return None;
    }
    let entry = |bytes: &[u8; 8]| {
        let [a, b, c, d, number @ ..] = *bytes;
        (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u32::from_le_bytes(number))
    };
    let entries = || entries.iter().map(entry);
    // What the mask has not, no named user or group has.
    let mask = entries().find(|entry| entry.0 == MASK).map_or(WRITE, |entry| entry.1);
    let writers = entries().filter(|(_, rights, _)| rights & mask & WRITE != 0);
    let named = writers.filter_map(|(kind, _, number)| match kind {
        USER => Some(Writer::User(number)),
        GROUP => Some(Writer::Group(number)),
        _ => None,
    });
    Some(named.collect())
}

/// A list: of each entry its kind, rights and number.
#[cfg(test)]
fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let entry = |&(kind, rights, number): &(u16, u16, u32)| {
        [&kind.to_le_bytes()[..], &rights.to_le_bytes(), &number.to_le_bytes()].concat()
    };
    [VERSION.to_le_bytes().to_vec(), entries.iter().flat_map(entry).collect()].concat()
}

/// Gives a file or folder a list.
#[cfg(test)]
pub(super) fn set(path: &Path, entries: &[(u16, u16, u32)]) -> std::io::Result<()> {
    // SAFETY: glibc and musl have this function, with these types.
    unsafe extern "C" {
        fn setxattr(
            path: *const c_char,
            name: *const c_char,
            value: *const c_void,
            size: usize,
            flags: i32,
        ) -> i32;
    }
    let (path, list) = (CString::new(path.as_os_str().as_bytes())?, list(entries));
    let (value, size) = (list.as_ptr().cast(), list.len());
    // SAFETY: both texts end with a zero, and `value` has `size` bytes.
    match unsafe { setxattr(path.as_ptr(), NAME.as_ptr(), value, size, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_users_and_groups_can_write_where_their_rights_and_the_mask_say_so() {
        let named = |user, mask| {
            list(&[
                (1, 7, u32::MAX),
                (USER, user, 1001),
                (4, 7, u32::MAX),
                (GROUP, 6, 7),
                (MASK, mask, 0),
            ])
        };
        let (user, group) = (Writer::User(1001), Writer::Group(7));
        assert_eq!(read(&named(7, 7)), Some(vec![user, group]));
        assert_eq!(read(&named(5, 7)), Some(vec![group]));
        assert_eq!(read(&named(7, 5)), Some(vec![]));
        assert_eq!(read(&list(&[])), Some(vec![]));
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[3, 0, 0, 0]), None);
        assert_eq!(read(&named(7, 7)[..13]), None);
    }

    #[test]
    fn what_has_no_list_has_no_writers_in_it() {
        assert_eq!(writers(Path::new("/")), []);
        assert_eq!(writers(Path::new("/nowhere/at/all")), []);
    }
}
