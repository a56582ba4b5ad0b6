//! A machine with nothing but rustup's toolchain and a C linker: a folder of symbolic links as `PATH`.

use crate::workspace::{Workspace, find_program};
use anyhow::{Context as _, Result, bail, ensure};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// What a C linker and its driver need, and what scripts cannot do without.
const PROGRAMS: [&str; 11] =
    ["cc", "gcc", "ld", "ar", "as", "sh", "env", "uname", "ls", "mkdir", "rm"];

/// What must be out of reach.
const ABSENT: [&str; 9] =
    ["clang", "llvm-config", "lld", "nvcc", "ptxas", "python3", "cmake", "hipcc", "opt"];

/// Makes the folder `bin` in a folder, and links cargo and rustc from the toolchain itself into it, the rest from `PATH`.
pub(crate) fn programs(workspace: &Workspace, place: &Path) -> Result<PathBuf> {
    let folder = place.join("bin");
    fs::create_dir_all(&folder)?;
    let sysroot = workspace.shell.cmd("rustc").args(["--print", "sysroot"]).quiet().read()?;
    for name in ["cargo", "rustc"] {
        symlink(PathBuf::from(&sysroot).join("bin").join(name), folder.join(name))?;
    }
    for name in PROGRAMS {
        let Some(path) = find_program(name) else { bail!("{name} is not on PATH") };
        symlink(fs::canonicalize(&path)?, folder.join(name))
            .with_context(|| format!("cannot link {name}"))?;
    }
    for name in ABSENT {
        ensure!(
            !folder.join(name).exists(),
            "{name} must not be in the bare environment, but was found"
        );
    }
    Ok(folder)
}
