//! Intel's run time of OpenCL for processors, on which the tests of kernels in OpenCL C and as SPIR-V run too where it is
//! installed. Its licence is Intel's own, so it is installed only for those who ask for it.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::fs;
use xshell::cmd;

/// The run time, and the libraries that it loads.
const WHEELS: [&str; 2] = ["intel-opencl-rt==2026.*", "intel-cmplr-lib-rt==2026.*"];

/// Where pip puts libraries below a prefix, and where pip of Debian does.
const FOLDERS: [&str; 2] = ["lib", "local/lib"];

/// Installs it below the target folder and registers it in a file of its own, which `tests/test-support` looks for; a second
/// call does nothing.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    // Not below `toolchains`, which another list of NVIDIA's wheels replaces.
    let folder = workspace.root.join("target/intel-opencl");
    let registration = folder.join("intel.icd");
    if registration.is_file() {
        println!("Intel's OpenCL: installed already in {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let options = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    // Below a prefix, as `--target` leaves out what wheels put into `lib`.
    let place = ["--ignore-installed", "--prefix"];
    let shell = &workspace.shell;
    cmd!(shell, "python3 -m pip install {options...} {place...} {folder} {WHEELS...}").run()?;
    let mut libraries = FOLDERS.iter().map(|it| folder.join(it).join("libintelocl.so"));
    let library = libraries.find(|path| path.is_file());
    let library = library.with_context(|| format!("no libintelocl.so in {}", folder.display()))?;
    // Last, so that a set-up that is killed starts over.
    fs::write(registration, format!("{}\n", library.display()))?;
    println!("Intel's OpenCL: {}", library.display());
    Ok(())
}
