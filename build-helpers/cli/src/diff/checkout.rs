//! Checkouts of revisions: a worktree of git in a temporary folder, with the packages outside the repository that it
//! names by relative paths.

use crate::tools;
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::MetadataCommand;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// A revision of the repository in a folder of its own, until it is dropped.
pub(super) struct Checkout {
    repository: PathBuf,
    folder: PathBuf,
    /// The package in it.
    pub(super) package: PathBuf,
    /// What the folder lies in, which is removed after it.
    _temporary: TempDir,
}

impl Checkout {
    /// Checks out the repository that a package lies in.
    pub(super) fn new(package: &Path, revision: &str) -> Result<Self> {
        let package = package.canonicalize()?;
        let path = package.display().to_string();
        let root = tools::output(Path::new("git"), &["-C", &path, "rev-parse", "--show-toplevel"]);
        let root = root.context(
            "the package is not in a Git repository: name the folder of another build's outputs to compare with",
        )?;
        let repository = PathBuf::from(root.trim()).canonicalize()?;
        let inside = package
            .strip_prefix(&repository)
            .context("the package is outside of its Git repository")?;
        let temporary = tempfile::tempdir().context("cannot create a temporary folder")?;
        let base = temporary.path().canonicalize()?;
        let folder = moved(&base, &repository);
        fs::create_dir_all(folder.parent().unwrap_or(&base))?;
        let status = Command::new("git")
            .arg("-C")
            .arg(&repository)
            .args(["worktree", "add", "--quiet", "--force", "--detach"])
            .args([folder.as_os_str(), revision.as_ref()])
            .status()
            .context("git cannot be started")?;
        ensure!(
            status.success(),
            "`{revision}` is neither a revision that git can check out nor a folder with the outputs of a build"
        );
        let package = folder.join(inside);
        let checkout = Self { repository, folder, package, _temporary: temporary };
        let manifest = checkout.package.join("Cargo.toml");
        ensure!(manifest.is_file(), "the revision `{revision}` does not have the package");
        link_outside(&checkout.repository, &checkout.repository.join(inside), &base)?;
        Ok(checkout)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.repository).args(["worktree", "remove", "--force"]);
        // What is left goes with the temporary folder, and `git worktree prune` forgets it.
        let _ = command.arg(&self.folder).status();
    }
}

/// A path in a folder that stands for the root of the file system, so that relative paths out of the repository lead
/// to the same places.
fn moved(base: &Path, path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, std::path::Component::Normal(_))).fold(
        base.to_owned(),
        |mut moved, part| {
            moved.push(part);
            moved
        },
    )
}

/// Links the folders outside the repository that packages of the build lie in, each by its workspace.
fn link_outside(repository: &Path, package: &Path, base: &Path) -> Result<()> {
    let manifest = package.join("Cargo.toml");
    // A working tree that does not load is reported where it is built.
    let Ok(known) = metadata(&manifest, false) else { return Ok(()) };
    let packages = known.packages.iter().filter(|package| package.source.is_none());
    let folders = packages.filter_map(|package| package.manifest_path.parent());
    let mut outside: Vec<PathBuf> = folders
        .map(|folder| folder.as_std_path())
        .filter(|folder| !folder.starts_with(repository))
        .map(|folder| {
            let workspace = metadata(&folder.join("Cargo.toml"), true);
            workspace.map_or_else(|_| folder.to_owned(), |it| it.workspace_root.into_std_path_buf())
        })
        .collect();
    outside.sort();
    outside.dedup();
    for folder in outside {
        let link = moved(base, &folder);
        // A folder below one that is linked, or one that the repository lies in, is there already.
        if link.exists() {
            continue;
        }
        fs::create_dir_all(link.parent().unwrap_or(base))?;
        symlink(&folder, &link)
            .with_context(|| format!("cannot link {} for the checkout", folder.display()))?;
    }
    Ok(())
}

fn metadata(
    manifest: &Path,
    only_workspace: bool,
) -> Result<cargo_metadata::Metadata, cargo_metadata::Error> {
    let mut command = MetadataCommand::new();
    if let Some(cargo) = env::var_os("CARGO") {
        command.cargo_path(cargo);
    }
    command.manifest_path(manifest);
    if only_workspace {
        command.no_deps();
    }
    command.exec()
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(target, link)
}

#[cfg(test)]
mod tests {
    use super::moved;
    use std::path::Path;

    #[test]
    fn relative_paths_lead_out_of_a_checkout_as_out_of_the_repository() {
        let [repository, outside] = ["/home/ada/grind", "/home/ada/shared/types"]
            .map(|path| moved(Path::new("/tmp/x"), Path::new(path)));
        assert_eq!(repository, Path::new("/tmp/x/home/ada/grind"));
        assert_eq!(outside, Path::new("/tmp/x/home/ada/shared/types"));
    }
}
