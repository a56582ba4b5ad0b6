//! The folder of a user that the store lies in, and how much it may hold.

use crate::{size::bytes, trust};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// The variables of the environment that users may set, as whoever asks for a store reads them; `None` for one that is
/// not set.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Why a store cannot be used: its folder is not known, or not the user's alone, or a variable has no meaning. The text
/// says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// What the store may hold, in bytes, unless `KERNELMILL_CACHE_SIZE` says otherwise.
const DEFAULT_LIMIT: u64 = 2 << 30;
const SIZE: &str = "KERNELMILL_CACHE_SIZE";

/// kernelmill's folder for what it can make or fetch again: `KERNELMILL_CACHE_DIR`, or that of the platform's
/// custom.
///
/// # Errors
///
/// [`StoreError`] where the variables name no absolute folder: a relative one would be another one for
/// each package.
pub fn user_folder(variables: Variables<'_>) -> Result<PathBuf, StoreError> {
    const FOLDER: &str = "KERNELMILL_CACHE_DIR";
    if let Some(folder) = path(variables, FOLDER) {
        return absolute(FOLDER, Some(folder));
    }
    // The specification of these folders says to ignore a relative one.
    let xdg = path(variables, "XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let cache = match xdg {
        Some(folder) => folder,
        None if cfg!(windows) => absolute("LOCALAPPDATA", path(variables, "LOCALAPPDATA"))?,
        None => {
            let custom = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
            absolute("HOME", path(variables, "HOME"))?.join(custom)
        }
    };
    Ok(cache.join("kernelmill"))
}

fn path(variables: Variables<'_>, name: &str) -> Option<PathBuf> {
    variables(name).map(PathBuf::from)
}

fn text(variables: Variables<'_>, name: &str) -> Option<String> {
    variables(name).map(|value| value.to_string_lossy().into_owned())
}

fn absolute(name: &str, folder: Option<PathBuf>) -> Result<PathBuf, StoreError> {
    let state = match folder {
        Some(folder) if folder.is_absolute() => return Ok(folder),
        Some(folder) => format!("is `{}`, which is not an absolute path", folder.display()),
        None => "is not set".to_owned(),
    };
    Err(StoreError(format!(
        "error: there is no folder for the store of compiled kernels: {name} {state}\n  help: set \
         KERNELMILL_CACHE_DIR to an absolute path, or KERNELMILL_CACHE=off"
    )))
}

/// How much the store may hold, in bytes.
///
/// # Errors
///
/// [`StoreError`] where `KERNELMILL_CACHE_SIZE` is no size.
pub fn limit(variables: Variables<'_>) -> Result<u64, StoreError> {
    let Some(text) = text(variables, SIZE) else { return Ok(DEFAULT_LIMIT) };
    bytes(&text).ok_or_else(|| {
        StoreError(format!(
            "error: the environment variable {SIZE} is `{text}`, which is not a size\n  help: write bytes, \
             or a number with a unit: `500MB`, `2GB`, `2GiB`"
        ))
    })
}

/// Whether `KERNELMILL_CACHE` turns the store off.
///
/// # Errors
///
/// [`StoreError`] where it is neither `on` nor `off`, nor empty.
pub(crate) fn is_off(variables: Variables<'_>) -> Result<bool, StoreError> {
    const SWITCH: &str = "KERNELMILL_CACHE";
    match text(variables, SWITCH).as_deref() {
        None | Some("" | "on") => Ok(false),
        Some("off") => Ok(true),
        Some(text) => Err(StoreError(format!(
            "error: the environment variable {SWITCH} is `{text}`, which is neither `on` nor `off`\n  help: to choose a \
             folder, set KERNELMILL_CACHE_DIR"
        ))),
    }
}

/// The folders of all versions of the store: `v3`. What else is in kernelmill's folder is not the store's.
#[must_use]
pub fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_version =
        |name: &str| name.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    let wanted = entries.filter(|entry| is_version(&entry.file_name().to_string_lossy()));
    wanted.map(|entry| entry.path()).collect()
}

/// Refuses a folder that anybody but the user and root can change, where it is there.
///
/// # Errors
///
/// [`StoreError`] with what to do.
pub(crate) fn check_rights(folder: &Path) -> Result<(), StoreError> {
    // Nothing can be written below a file or a device, which the first write tells.
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        return Ok(());
    }
    // What is not there yet is made for the user alone.
    let Ok(Some(why)) = trust::who_else_can_change(folder) else { return Ok(()) };
    Err(StoreError(format!(
        "error: other users can change the store of compiled kernels in {folder}: {why}\n  help: remove the \
         folder if others may have written there, or else remove their permission to write with `chmod -R go-w \
         {folder}`; KERNELMILL_CACHE_DIR names another folder, and KERNELMILL_CACHE=off builds without a store",
        folder = folder.display()
    )))
}
