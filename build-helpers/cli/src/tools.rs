//! Programs on this machine.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The folders of CUDA installations that variables name.
const CUDA_VARIABLES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];

/// A program on `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A program of CUDA's: on `PATH`, where CUDA's variables point, in the wheels below
/// `target/toolchains` of this folder or one above, or in the usual place.
pub(crate) fn of_cuda(name: &str) -> Option<PathBuf> {
    let installed = CUDA_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
    let here = env::current_dir().unwrap_or_default();
    let wheels: Vec<PathBuf> =
        here.ancestors().map(|folder| folder.join("target/toolchains/nvidia/cu13")).collect();
    let usual = PathBuf::from("/usr/local/cuda");
    let mut folders = installed.chain(wheels).chain([usual]);
    on_path(name).or_else(|| {
        folders.find_map(|folder| {
            let file = folder.join("bin").join(name);
            file.is_file().then_some(file)
        })
    })
}

/// The Rust compiler that cargo uses.
pub(crate) fn rustc() -> PathBuf {
    env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// What a program prints; `None` where it cannot be run or fails.
pub(crate) fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
