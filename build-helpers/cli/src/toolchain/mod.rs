//! `cargo kernelmill toolchain`: NVIDIA's compiler and its tools in a folder of the user's, where
//! builds find them.

mod clang;
mod cuda;
mod installed;
mod specification;

use crate::tools;
use anyhow::{Context as _, Result, bail};
use clap::Subcommand;
use installed::{installed, unused};
use kernelmill_build::toolchain::Machine;
use serde_json::{Map, json};
use specification::Specification;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// What to do with installed tools.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Installs `cuda`, `cuda@13.4`, or says how to install `clang`.
    Install {
        /// The tools, and which version of them.
        what: Specification,
        /// Installs a version again that is installed already.
        #[arg(long)]
        force: bool,
        /// Prints JSON: the folder of the tools, or for clang its program or the command that installs it.
        #[arg(long)]
        json: bool,
    },
    /// Lists what is installed, and what builds in this folder use.
    List {
        /// Prints JSON: the folder, what is installed in it with its bytes, and the tools that are used.
        #[arg(long)]
        json: bool,
    },
    /// Removes an installed version: `cuda@13.4`.
    Remove {
        /// The tools, and which version of them.
        what: Specification,
        /// Prints JSON: the folder that was removed.
        #[arg(long)]
        json: bool,
    },
}

/// Runs an action.
pub(crate) fn run(action: &Action) -> Result<()> {
    let machine = Machine::at(env::current_dir()?);
    let folder = machine.toolchains();
    let folder = folder.context(
        "neither XDG_CACHE_HOME nor HOME is set: set one of them, tools are installed below it",
    )?;
    match action {
        Action::Install { what: Specification::Clang, json, .. } => clang::explain(&machine, *json),
        Action::Install { what: Specification::Cuda(version), force, json } => {
            cuda::install(&folder, version.as_deref(), *force, *json)
        }
        Action::List { json } => list(&machine, &folder, *json),
        Action::Remove { what, json } => remove(&folder, what, *json),
    }
}

fn list(machine: &Machine, folder: &Path, is_json: bool) -> Result<()> {
    let found = installed(folder);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rustc_version = tools::output(&tools::rustc(), &["-vV"]).unwrap_or_default();
    let used = [
        ("nvcc", machine.nvcc()?.map(|nvcc| nvcc.program)),
        ("ptxas", machine.ptxas()),
        ("clang", machine.clang(&rustc_version)?.map(|clang| clang.program)),
    ];
    if is_json {
        let installed: Vec<_> = found
            .iter()
            .map(|path| json!({ "name": name(path), "bytes": size(path), "path": path }))
            .collect();
        let used: Map<_, _> =
            used.into_iter().map(|(name, place)| (name.to_owned(), json!(place))).collect();
        println!("{:#}", json!({ "folder": folder, "installed": installed, "used": used }));
        return Ok(());
    }
    if found.is_empty() {
        println!("nothing is installed in {}", folder.display());
    }
    for path in &found {
        println!("{:12} {:>5} MB  {}", name(path), size(path) >> 20, path.display());
    }
    println!("\nbuilds in this folder use:");
    for (name, place) in used {
        let place = place.map_or_else(|| "none".to_owned(), |place| place.display().to_string());
        println!("{name:12} {place}");
    }
    Ok(())
}

/// The bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn remove(folder: &Path, what: &Specification, is_json: bool) -> Result<()> {
    let Specification::Cuda(version) = what else {
        bail!("clang is not installed by kernelmill: remove it with the system's package manager")
    };
    let all = installed(folder);
    let name = version.as_ref().map(|version| format!("cuda-{version}"));
    let wanted = |path: &&PathBuf| match &name {
        Some(name) => path.ends_with(name),
        None => path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("cuda-")),
    };
    let found: Vec<_> = all.iter().filter(wanted).collect();
    match found[..] {
        [path] => {
            // Builds that run now see all of it or nothing.
            let going = unused(path);
            fs::rename(path, &going).with_context(|| path.display().to_string())?;
            fs::remove_dir_all(&going).with_context(|| going.display().to_string())?;
            if is_json {
                println!("{:#}", json!({ "removed": path }));
            } else {
                println!("removed {}", path.display());
            }
            Ok(())
        }
        [] => bail!("{what} is not installed; the installed versions are: {}", names(&all)),
        _ => bail!(
            "several versions are installed: {}; name one, for example `cuda@13.4`",
            names(&all)
        ),
    }
}

fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
    let names: Vec<_> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
