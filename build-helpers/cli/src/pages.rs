//! Shell completions and manual pages, generated from the commands' own descriptions by `clap_complete` and
//! `clap_mangen`.

use anyhow::{Context as _, Result};
use clap::Command;
use clap_complete::{Generator as _, Shell};
use serde_json::json;
use std::{fs, path::PathBuf};

/// What cargo runs for `cargo kernelmill`.
const PROGRAM: &str = "cargo-kernelmill";

/// For which shell.
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
    /// Print JSON: the shell, the name that the file has by custom, and the script.
    #[arg(long)]
    json: bool,
}

/// Where manual pages go.
#[derive(clap::Args)]
pub(crate) struct Man {
    /// The folder, which is created if it does not exist: `~/.local/share/man/man1`.
    folder: PathBuf,
    /// Print JSON: the folder and the pages in it.
    #[arg(long)]
    json: bool,
}

/// Prints the completions.
pub(crate) fn completions(options: &Completions, mut command: Command) {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, PROGRAM, &mut script);
    let script = String::from_utf8_lossy(&script);
    if options.json {
        let (shell, file) = (options.shell.to_string(), options.shell.file_name(PROGRAM));
        println!("{:#}", json!({ "shell": shell, "file": file, "script": script }));
    } else {
        print!("{script}");
    }
}

/// Writes a page for `cargo-kernelmill` and one for each command below it.
pub(crate) fn man(options: &Man, command: Command) -> Result<()> {
    let folder = &options.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), folder)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    let pages = fs::read_dir(folder)?.filter_map(Result::ok);
    let own = |name: &str| name.starts_with(PROGRAM) && name.ends_with(".1");
    let names = pages.map(|page| page.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| own(name)).collect();
    names.sort();
    if options.json {
        println!("{:#}", json!({ "folder": folder, "pages": names }));
    } else {
        println!("{} pages in {}", names.len(), folder.display());
    }
    Ok(())
}
