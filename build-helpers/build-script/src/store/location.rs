//! The folder of a user that the store lies in, and how much it may hold.

use crate::base::{environment::BuildEnvironment, error::Error, quantities::bytes, trust};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What the store may hold, in bytes, unless `KERNELMILL_CACHE_SIZE` says otherwise.
const DEFAULT_LIMIT: u64 = 2 << 30;
const SIZE: &str = "KERNELMILL_CACHE_SIZE";

/// kernelmill's folder for what it can make or fetch again: `KERNELMILL_CACHE_DIR`, or that of the platform's
/// custom.
///
/// # Errors
///
/// [`Error::Store`] where the variables name no absolute folder: a relative one would be another one for
/// each package.
pub(crate) fn user_folder(environment: &BuildEnvironment) -> Result<PathBuf, Error> {
    const FOLDER: &str = "KERNELMILL_CACHE_DIR";
    if let Some(folder) = environment.path(FOLDER) {
        return absolute(FOLDER, Some(folder));
    }
    // The specification of these folders says to ignore a relative one.
    let xdg = environment.path("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let cache = match xdg {
        Some(folder) => folder,
        None if cfg!(windows) => absolute("LOCALAPPDATA", environment.path("LOCALAPPDATA"))?,
        None => {
            let custom = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
            absolute("HOME", environment.path("HOME"))?.join(custom)
        }
    };
    Ok(cache.join("kernelmill"))
}

fn absolute(name: &str, folder: Option<PathBuf>) -> Result<PathBuf, Error> {
    let state = match folder {
        Some(folder) if folder.is_absolute() => return Ok(folder),
        Some(folder) => format!("is `{}`, which is no absolute path", folder.display()),
        None => "is not set".to_owned(),
    };
    Err(Error::Store(format!(
        "error: there is no folder for the store of compiled kernels: {name} {state}\n  help: set \
         KERNELMILL_CACHE_DIR to an absolute path, or KERNELMILL_CACHE=off"
    )))
}

/// How much the store may hold, in bytes.
///
/// # Errors
///
/// [`Error::Store`] where `KERNELMILL_CACHE_SIZE` is no size.
pub(super) fn limit(environment: &BuildEnvironment) -> Result<u64, Error> {
    let Some(text) = environment.text(SIZE) else { return Ok(DEFAULT_LIMIT) };
    bytes(&text).ok_or_else(|| {
        Error::Store(format!(
            "error: the environment variable {SIZE} is `{text}`, which is no size\n  help: write bytes, \
             or a number with a unit: `500MB`, `2GB`, `2GiB`"
        ))
    })
}

/// Whether `KERNELMILL_CACHE` turns the store off.
///
/// # Errors
///
/// [`Error::Store`] where it is neither `on` nor `off`, nor empty.
pub(super) fn is_off(environment: &BuildEnvironment) -> Result<bool, Error> {
    const SWITCH: &str = "KERNELMILL_CACHE";
    match environment.text(SWITCH).as_deref() {
        None | Some("" | "on") => Ok(false),
        Some("off") => Ok(true),
        Some(text) => Err(Error::Store(format!(
            "error: the environment variable {SWITCH} is `{text}`\n  help: write `on` or `off`; \
             KERNELMILL_CACHE_DIR names a folder"
        ))),
    }
}

/// The folders of all versions of the store: `v3`. What else is in kernelmill's folder is not the store's.
pub(super) fn versions(folder: &Path) -> Vec<PathBuf> {
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
/// [`Error::Store`] with what to do.
pub(super) fn check_rights(folder: &Path) -> Result<(), Error> {
    // Nothing can be written below a file or a device, which the first write tells.
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        return Ok(());
    }
    // What is not there yet is made for the user alone.
    let Ok(Some(why)) = trust::who_else_can_change(folder) else { return Ok(()) };
    Err(Error::Store(format!(
        "error: the store of compiled kernels in {folder} is not the user's alone: {why}\n  help: remove \
         it if others may have written there, or else take their rights away with `chmod -R go-w \
         {folder}`; KERNELMILL_CACHE_DIR names another folder, and KERNELMILL_CACHE=off does without",
        folder = folder.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, Shared};

    #[test]
    fn what_is_no_size_is_refused() {
        let mut project = Project::new("", &[]);
        project.set("KERNELMILL_CACHE_SIZE", "much");
        let error = limit(&project.environment(&Shared::default())).unwrap_err().to_string();
        assert!(error.contains("KERNELMILL_CACHE_SIZE is `much`"), "{error}");
    }

    #[test]
    fn a_store_is_on_or_off_and_a_device_holds_none() {
        let mut project = Project::new("", &[("kernels/a.rs", "#[kernel] fn a() {}")]);
        for (text, counts) in [("off", (2, 0)), ("on", (2, 0)), ("", (0, 2))] {
            project.set("KERNELMILL_CACHE", text);
            assert_eq!(project.counts(), counts, "{text}");
        }
        project.set("KERNELMILL_CACHE", "no");
        let expected =
            "error: the environment variable KERNELMILL_CACHE is `no`\n  help: write `on` or `off`";
        assert!(project.error().starts_with(expected), "{}", project.error());

        // Of a device, whose rights are not the user's to change, the rights are not told.
        project.set("KERNELMILL_CACHE", "on");
        if cfg!(unix) {
            project.set("KERNELMILL_CACHE_DIR", "/dev/null");
            assert_eq!(project.counts(), (2, 0));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_home_that_is_relative_or_not_set_is_an_error_that_says_so() {
        let mut project = Project::new("", &[]);
        project.variables.remove("XDG_CACHE_HOME");
        let found = |project: &Project| user_folder(&project.environment(&Shared::default()));
        let error = |project: &Project| found(project).unwrap_err().to_string();
        assert!(error(&project).contains("HOME is not set"), "{}", error(&project));
        project.set("HOME", "home/ada");
        assert!(error(&project).contains("HOME is `home/ada`, which is no absolute path"));
        project.set("XDG_CACHE_HOME", "cache");
        assert!(error(&project).contains("HOME is `home/ada`"), "a relative one counts as not set");
        project.set("HOME", "/home/ada");
        let custom = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        let expected = Path::new("/home/ada").join(custom).join("kernelmill");
        assert_eq!(found(&project).unwrap(), expected);
        project.set("KERNELMILL_CACHE_DIR", "here");
        assert!(error(&project).contains("KERNELMILL_CACHE_DIR is `here`"));
    }
}
