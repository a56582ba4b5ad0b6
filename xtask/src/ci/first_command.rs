//! `cargo run --release -p mandelbrot` where nothing but rustup and a C linker is installed.

use crate::workspace::{Workspace, find_program};
use anyhow::{Context as _, Result, bail, ensure};
use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// What a C linker and its driver need, and what scripts cannot do without.
const PROGRAMS: [&str; 11] =
    ["cc", "gcc", "ld", "ar", "as", "sh", "env", "uname", "ls", "mkdir", "rm"];

/// What must be out of reach.
const ABSENT: [&str; 9] =
    ["clang", "llvm-config", "lld", "nvcc", "ptxas", "python3", "cmake", "hipcc", "opt"];

/// Builds and runs the first command of the README in a folder of symbolic links as its `PATH`.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let place = workspace.temporary_folder()?;
    let place = place.path();
    let programs = place.join("bin");
    fs::create_dir_all(&programs)?;
    link_programs(workspace, &programs)?;
    for name in ABSENT {
        ensure!(!programs.join(name).exists(), "{name} is in reach");
    }
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
    ensure!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{} is no PNG", picture.display());
    ensure!(bytes.len() > 10_000, "{} is only {} bytes", picture.display(), bytes.len());
    Ok(())
}

/// Cargo and rustc from the toolchain itself, the rest from `PATH`.
fn link_programs(workspace: &Workspace, folder: &Path) -> Result<()> {
    let sysroot = workspace.shell.cmd("rustc").args(["--print", "sysroot"]).quiet().read()?;
    for name in ["cargo", "rustc"] {
        symlink(PathBuf::from(&sysroot).join("bin").join(name), folder.join(name))?;
    }
    for name in PROGRAMS {
        let Some(path) = find_program(name) else { bail!("{name} is not on PATH") };
        symlink(fs::canonicalize(&path)?, folder.join(name))
            .with_context(|| format!("cannot link {name}"))?;
    }
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
