//! `cargo kernelmill diff`: what changed of each kernel between two builds, each of the working tree, of a revision, or
//! in a folder.

mod bare;
mod checkout;
mod code;
mod folders;
mod page;
mod source;
mod table;

use crate::package::{Built, Selection};
use anyhow::{Context as _, Result, bail, ensure};
use checkout::Checkout;
use code::{Kernels, build, kernels};
use folders::BuildFolder;
use kernelmill_artifact::Target;
use kernelmill_build::manifest;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use table::Table;

/// The folder in the target folder with what revisions are built in.
const FOLDER: &str = "kernelmill-diff";

/// Which builds.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The build before: a revision of git, or a folder with the outputs of a build (its `OUT_DIR`, or a copy of it).
    #[arg(default_value = "HEAD")]
    before: String,
    /// The build now, in the same way; by default the working tree.
    now: Option<String>,
    /// Compares the code for this target, `compute_75` or `sm_90`, instead of the targets of the
    /// configuration.
    #[arg(long)]
    target: Option<String>,
    /// Prints the lines that differ.
    #[arg(long)]
    text: bool,
    /// Prints JSON: a member for each target, with one for each kernel.
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Writes a page of HTML, with the lines that differ, to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Ends with status 1 if a kernel changed, is new or is gone, or its binary is another whose code cannot be
    /// compared.
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    selection: Selection,
}

/// One of the two builds.
enum Side {
    /// The package as it is.
    WorkingTree,
    /// The package in a revision of git.
    Revision(String),
    /// What a build left.
    Folder(PathBuf),
}

impl Side {
    /// A folder where there is one with the outputs of a build, otherwise a revision.
    fn new(text: &str) -> Result<Self> {
        let folder = Path::new(text);
        if folder.join(manifest::FILE).is_file() {
            return Ok(Self::Folder(folder.to_owned()));
        }
        // `examples/saxpy` is a folder, and `main` may be one and a branch: a path has a separator.
        ensure!(
            !folder.is_dir() || !text.contains(['/', std::path::MAIN_SEPARATOR]),
            "{text} has no `{}`: name the folder of a build's outputs, which `cargo kernelmill list --json` prints as \
             `out_dir`, or a revision of git",
            manifest::FILE
        );
        Ok(Self::Revision(text.to_owned()))
    }

    /// What it is, for people.
    fn name(&self) -> String {
        match self {
            Self::WorkingTree => "the working tree".to_owned(),
            Self::Revision(revision) => format!("`{revision}`"),
            Self::Folder(folder) => folder.display().to_string(),
        }
    }

    /// Builds it if need be, and reads its kernels.
    fn kernels(&self, options: &Options) -> Result<Kernels> {
        let (selection, target) = (&options.selection, options.target.as_deref());
        let read = || match self {
            Self::WorkingTree => kernels(&build(selection, target)?, target),
            Self::Folder(folder) => kernels(&Built::read(folder)?, target),
            Self::Revision(revision) => {
                let folder = selection
                    .folder()?
                    .context("no package is selected: name one with `--package`")?;
                let checkout = Checkout::new(&folder, revision)?;
                // Beside the package's own builds, so that what it depends on is compiled once.
                let folder = BuildFolder::in_folder(&selection.target_directory()?.join(FOLDER))?;
                let manifest = checkout.package.join("Cargo.toml");
                let checked_out = Selection::of_manifest(manifest, folder.path.clone());
                kernels(&build(&checked_out, target)?, target)
            }
        };
        if !matches!(self, Self::Folder(_)) {
            eprintln!("building {}", self.name());
        }
        read().with_context(|| format!("{} cannot be compared", self.name()))
    }
}

/// Builds what is to be built, and says what changed.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(text) = &options.target {
        text.parse::<Target>()?;
    }
    let before = Side::new(&options.before)?;
    let now = options.now.as_deref().map_or(Ok(Side::WorkingTree), Side::new)?;
    let kernels = [now.kernels(options)?, before.kernels(options)?];
    let [now_kernels, before_kernels] = &kernels;
    if now_kernels.is_empty() && before_kernels.is_empty() {
        match &options.target {
            Some(target) => bail!("neither build has a binary for `{target}`"),
            None => bail!("neither build has a binary"),
        }
    }
    let table = Table::new(before_kernels, now_kernels);
    if let Some(path) = &options.html {
        let page = page::render(&table, &before.name(), &now.name())?;
        fs::write(path, page).with_context(|| path.display().to_string())?;
    }
    match options.json {
        true => println!("{:#}", table.as_json()),
        false => table.print(options.text)?,
    }
    let has_changed = options.exit_code && table.has_changes();
    Ok(if has_changed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
