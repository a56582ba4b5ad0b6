//! `cargo run --release -p mandelbrot` where nothing but rustup and a C linker is installed.

use crate::{bare, workspace::Workspace};
use anyhow::{Context as _, Result, ensure};
use std::{env, fs, path::Path, process::Command};

/// Builds and runs the first command of the README in a folder of symbolic links as its `PATH`.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let place = workspace.temporary_folder()?;
    let place = place.path();
    let programs = bare::programs(workspace, place)?;
    let picture = place.join("mandelbrot.png");
    let output = stripped_cargo(workspace, place, &programs)?
        .args(["run", "--release", "--offline", "-p", "mandelbrot", "--", "--size", "640x400"])
        .arg("--out")
        .arg(&picture)
        .output()?;
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}\n{printed}\n{errors}", output.status);
    println!("{printed}");
    check_picture(&picture)
}

fn check_picture(picture: &Path) -> Result<()> {
    let bytes = fs::read(picture)?;
    ensure!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{} is not a PNG file", picture.display());
    ensure!(bytes.len() > 10_000, "{} is only {} bytes", picture.display(), bytes.len());
    Ok(())
}

/// Cargo with an environment of its own: an empty store and an empty target folder, and of the
/// caller's variables only those that say where Cargo keeps what it has downloaded.
fn stripped_cargo(workspace: &Workspace, place: &Path, programs: &Path) -> Result<Command> {
    let home = env::var_os("HOME").context("HOME is not set")?;
    let mut command = Command::new(programs.join("cargo"));
    command.current_dir(&workspace.root).env_clear();
    command.env("PATH", programs).env("HOME", &home);
    for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("CARGO_TARGET_DIR", place.join("target"));
    command.env("XDG_CACHE_HOME", place.join("cache"));
    Ok(command)
}
