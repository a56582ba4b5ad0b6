//! A package whose build script has run: where it left its kernels.

use crate::tools;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;
use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Which package.
#[derive(Args)]
pub(crate) struct Selection {
    /// The package of the workspace; by default that of the current folder.
    #[arg(long, short)]
    package: Option<String>,
    /// The manifest of the package or workspace.
    #[arg(long)]
    manifest_path: Option<PathBuf>,
    /// A target folder in place of the package's own.
    #[arg(skip)]
    target_dir: Option<PathBuf>,
}

/// What the build script of a package left.
pub(crate) struct Built {
    /// The package's name.
    pub(crate) name: String,
    /// Its `OUT_DIR`.
    pub(crate) folder: PathBuf,
}

impl Selection {
    /// The package with this manifest, built in a target folder of its own.
    pub(crate) fn of_manifest(manifest: PathBuf, target_dir: PathBuf) -> Self {
        Self { package: None, manifest_path: Some(manifest), target_dir: Some(target_dir) }
    }

    /// Runs `cargo check`, which runs build scripts, for these targets or those of the
    /// configuration.
    pub(crate) fn build(&self, targets: Option<&str>) -> Result<Built> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        command.args(["check", "--quiet", "--message-format=json-render-diagnostics"]);
        command.stderr(Stdio::inherit());
        if let Some(package) = &self.package {
            command.args(["--package", package]);
        }
        if let Some(path) = &self.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        if let Some(folder) = &self.target_dir {
            command.env("CARGO_TARGET_DIR", folder);
        }
        if let Some(targets) = targets {
            command.env("KERNELMILL_TARGETS", targets);
        }
        let output = command.output().context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("the package does not build");
        }
        let name = self.name(&cargo)?;
        let messages = String::from_utf8_lossy(&output.stdout);
        let folder = messages.lines().find_map(|line| out_dir(line, &name));
        let folder = folder.with_context(|| format!("`{name}` has no build script"))?;
        if !folder.join("kernels.rs").is_file() {
            bail!("the build script of `{name}` does not call kernelmill_build::compile()");
        }
        Ok(Built { name, folder })
    }

    /// The folder of the one package selected; `None` where none is named and none is here.
    pub(crate) fn folder(&self) -> Result<Option<PathBuf>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        if self.package.is_some() {
            let id = self.id(&cargo).context("there is no such package")?;
            return Ok(folder_of(&id));
        }
        let manifest = match &self.manifest_path {
            Some(path) => Some(path.clone()),
            None => tools::output(cargo.as_ref(), &["locate-project", "--message-format", "plain"])
                .map(|printed| PathBuf::from(printed.trim())),
        };
        let Some(manifest) = manifest else { return Ok(None) };
        let text = fs::read_to_string(&manifest);
        let text = text.with_context(|| manifest.display().to_string())?;
        // A workspace without a package of its own is none.
        let is_package = text.lines().any(|line| line.trim() == "[package]");
        Ok(manifest.parent().filter(|_| is_package).map(Path::to_path_buf))
    }

    /// The name of the one package selected.
    fn name(&self, cargo: &OsStr) -> Result<String> {
        if let Some(package) = &self.package {
            return Ok(package.clone());
        }
        let id = self.id(cargo).context("say which package with --package")?;
        Ok(name_of(&id).to_owned())
    }

    /// What cargo calls the one package selected.
    fn id(&self, cargo: &OsStr) -> Option<String> {
        let mut arguments = vec!["pkgid"];
        let manifest = self.manifest_path.as_ref().map(|path| path.display().to_string());
        if let Some(manifest) = &manifest {
            arguments.extend(["--manifest-path", manifest]);
        }
        if let Some(package) = &self.package {
            arguments.extend(["--package", package]);
        }
        Some(tools::output(cargo.as_ref(), &arguments)?.trim().to_owned())
    }
}

/// The folder in a package id: `path+file:///a/b#0.1.0`. Where `file://` is followed by a drive,
/// `/C:/a`, the slash before it is no part of the path.
fn folder_of(id: &str) -> Option<PathBuf> {
    let (url, _) = id.split_once('#')?;
    let path = url.split_once("file://")?.1;
    let has_drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if has_drive { &path[1..] } else { path }))
}

/// The name in a package id: `path+file:///a/b#0.1.0` or `path+file:///a/b#name@0.1.0`.
fn name_of(id: &str) -> &str {
    let (path, version) = id.split_once('#').unwrap_or((id, ""));
    match version.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit('/').next().unwrap_or(path),
    }
}

/// The `OUT_DIR` in a message of cargo about the build script of this package.
fn out_dir(line: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours = message["reason"] == "build-script-executed"
        && name_of(message["package_id"].as_str()?) == name;
    is_ours.then(|| message["out_dir"].as_str().map(PathBuf::from))?
}

#[cfg(test)]
mod tests {
    use super::{folder_of, name_of, out_dir};
    use std::path::PathBuf;

    #[test]
    fn both_forms_of_package_ids() {
        assert_eq!(name_of("path+file:///home/a/saxpy#0.1.0"), "saxpy");
        assert_eq!(name_of("path+file:///home/a/b#saxpy@0.1.0"), "saxpy");
        let folder = folder_of("path+file:///home/a/b#saxpy@0.1.0");
        assert_eq!(folder, Some(PathBuf::from("/home/a/b")));
        assert_eq!(folder_of("path+file:///C:/a#0.1.0"), Some(PathBuf::from("C:/a")));
    }

    #[test]
    fn the_folder_of_the_right_package() {
        let line = r#"{"reason":"build-script-executed","package_id":"path+file:///a/saxpy#0.1.0","out_dir":"/o"}"#;
        assert_eq!(out_dir(line, "saxpy"), Some(PathBuf::from("/o")));
        assert_eq!(out_dir(line, "other"), None);
        assert_eq!(out_dir("no json", "saxpy"), None);
    }
}
