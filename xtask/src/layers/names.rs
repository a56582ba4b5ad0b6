//! Check of the names of packages: a package is called as its folder is.
//!
//! - Below `tests`, `benches` and `examples` the names are equal.
//! - Below `build-helpers` a package has the prefix `kernelmill-` before its folder's name: users depend
//!   on it by that name.
//! - Below `test-driver` the folder's name may be the end of the package's: those packages are published
//!   too.
//!
//! [`OTHERS`] are known to users by other names.

use crate::workspace::Workspace;

/// Folders of packages that have other names.
const OTHERS: [(&str, &str); 2] =
    [("build-helpers/build-script", "kernelmill-build"), ("build-helpers/cli", "cargo-kernelmill")];

/// What is wrong with the names in a workspace.
pub(super) fn check(workspace: &Workspace) -> Vec<String> {
    let packages = workspace.packages().into_iter();
    let faults = packages.filter_map(|package| {
        let folder = package.manifest_path.strip_prefix(&workspace.root).ok()?.parent()?;
        fault(folder.as_str(), &package.name)
    });
    faults.collect()
}

/// What is wrong with the name of the package in a folder, as the root of the workspace sees it.
fn fault(folder: &str, package: &str) -> Option<String> {
    if let Some((_, name)) = OTHERS.iter().find(|(other, _)| *other == folder) {
        return (package != *name).then(|| format!("{folder}: the package is not `{name}`"));
    }
    let (parent, name) = folder.rsplit_once('/')?;
    let is_right = match parent {
        "build-helpers" => package.strip_prefix("kernelmill-") == Some(name),
        "test-driver" => package == name || package.ends_with(&format!("-{name}")),
        _ => package == name,
    };
    (!is_right).then(|| format!("{folder}: the package is called `{package}`, not as its folder"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn a_package_is_called_as_its_folder() {
        for (folder, package) in [
            ("", "kernelmill"),
            ("xtask", "xtask"),
            ("tests/math-table", "math-table"),
            ("build-helpers/device", "kernelmill-device"),
            ("build-helpers/build-script", "kernelmill-build"),
            ("test-driver/emulator", "ptx-emulator"),
        ] {
            assert_eq!(fault(folder, package), None);
        }
        for (folder, package) in [
            ("tests/math", "math-table"),
            ("benches/cpu", "cpu-bench"),
            ("build-helpers/device", "device"),
            ("build-helpers/cli", "kernelmill-cli"),
            ("test-driver/emulator", "emulated"),
        ] {
            assert!(fault(folder, package).is_some(), "{folder}: {package}");
        }
    }
}
