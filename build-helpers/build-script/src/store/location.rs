//! The store of the user, as the environment of a build names it.

use crate::base::{environment::BuildEnvironment, error::Error};
use kernelmill_compiler::limit_behind;
use kernelmill_store::{Store, StoreError};
use std::path::PathBuf;

/// The store of the user. `KERNELMILL_CACHE=off` gives one that holds nothing.
///
/// # Errors
///
/// [`Error::Store`], see [`Store::of_user`].
pub(crate) fn store_of_user(environment: &BuildEnvironment) -> Result<Store, Error> {
    Store::of_user(&|name| environment.variable(name)).map_err(Error::from)
}

/// The store of the user; where it cannot be used, one that holds nothing.
pub(crate) fn store_of_user_if_any(environment: &BuildEnvironment) -> Store {
    store_of_user(environment).unwrap_or_else(|_| Store::new(None, 0))
}

/// Ends the use of the store in this build: removes what was not used for longest where there is too much, and gives what
/// there is to warn about.
pub(crate) fn finish(store: &Store) -> Option<String> {
    store.shrink();
    let failure = store.failure()?;
    Some(format!(
        "kernelmill's store cannot be written ({failure}{}); everything is compiled again in other checkouts and after \
         `cargo clean`",
        limit_behind(&failure.error)
    ))
}

/// kernelmill's folder for what it can make or fetch again.
///
/// # Errors
///
/// [`Error::Store`] where the variables name no absolute folder.
pub(crate) fn user_folder(environment: &BuildEnvironment) -> Result<PathBuf, Error> {
    kernelmill_store::user_folder(&|name| environment.variable(name)).map_err(Error::from)
}

/// How much the store may hold, in bytes.
///
/// # Errors
///
/// [`Error::Store`] where `KERNELMILL_CACHE_SIZE` is no size.
pub(crate) fn limit(environment: &BuildEnvironment) -> Result<u64, Error> {
    kernelmill_store::limit(&|name| environment.variable(name)).map_err(Error::from)
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, SAXPY, Shared};
    use std::{fs, path::Path};

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
        let expected = "error: the environment variable KERNELMILL_CACHE is `no`, which is neither `on` nor `off`\n";
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
        assert!(error(&project).contains("HOME is `home/ada`, which is not an absolute path"));
        project.set("XDG_CACHE_HOME", "cache");
        assert!(error(&project).contains("HOME is `home/ada`"), "a relative one counts as not set");
        project.set("HOME", "/home/ada");
        let custom = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        let expected = Path::new("/home/ada").join(custom).join("kernelmill");
        assert_eq!(found(&project).unwrap(), expected);
        project.set("KERNELMILL_CACHE_DIR", "here");
        assert!(error(&project).contains("KERNELMILL_CACHE_DIR is `here`"));
    }

    #[cfg(unix)]
    #[test]
    fn a_store_that_others_can_write_is_refused_with_what_to_do() {
        use std::os::unix::fs::PermissionsExt as _;
        let mut project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
        assert_eq!(project.counts(), (2, 0));
        let base = project.folder.path().join("cache/kernelmill");
        let version = base.join(format!("v{}", kernelmill_store::FORMAT_VERSION));
        for folder in [&base, &version] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
            let error = project.error();
            let expected = format!(
                "error: other users can change the store of compiled kernels in {}: every user can write",
                folder.display()
            );
            assert!(error.starts_with(&expected), "{error}");
            assert!(error.contains(&format!("`chmod -R go-w {}`", folder.display())), "{error}");
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(project.counts(), (0, 2), "as the error says");
        }
        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
        project.set("KERNELMILL_CACHE", "off");
        assert_eq!(project.counts(), (2, 0));
    }
}
