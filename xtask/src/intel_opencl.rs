//! Intel's run time of OpenCL for processors, on which the tests of kernels as SPIR-V, the examples and the benchmark of
//! the CPU run too where it is installed. Its licence is Intel's own, so it is installed only for those who ask for it.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{fs, path::PathBuf};
use xshell::cmd;

/// The run time, and the libraries that it loads.
const WHEELS: [&str; 2] = ["intel-opencl-rt==2026.*", "intel-cmplr-lib-rt==2026.*"];

/// Where pip puts libraries below a prefix, and where pip of Debian does.
const FOLDERS: [&str; 2] = ["lib", "local/lib"];

/// What names pocl to the loader of OpenCL.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// Where it is installed; not below `toolchains`, which another list of NVIDIA's wheels replaces.
pub(crate) struct IntelOpenCl {
    folder: PathBuf,
}

impl IntelOpenCl {
    /// It, where it is installed.
    pub(crate) fn find(workspace: &Workspace) -> Option<Self> {
        let found = Self::of(workspace);
        found.registration().is_file().then_some(found)
    }

    fn of(workspace: &Workspace) -> Self {
        Self { folder: workspace.root.join("target/intel-opencl") }
    }

    /// The file by which a loader of OpenCL finds it alone. `tests/test-support` looks for it.
    fn registration(&self) -> PathBuf {
        self.folder.join("intel.icd")
    }

    /// The variables by which a program finds it alone, and as its own device.
    pub(crate) fn alone(&self) -> [(&'static str, PathBuf); 2] {
        [("OCL_ICD_VENDORS", self.registration()), ("KERNELMILL_DEVICE", "opencl:intel".into())]
    }

    /// The variable by which a program finds it and pocl.
    pub(crate) fn beside_pocl(&self) -> Result<(&'static str, PathBuf)> {
        let vendors = self.folder.join("vendors");
        fs::create_dir_all(&vendors)?;
        fs::copy(self.registration(), vendors.join("intel.icd"))?;
        fs::copy(POCL, vendors.join("pocl.icd"))?;
        Ok(("OCL_ICD_VENDORS", vendors))
    }
}

/// Installs it below the target folder and registers it in a file of its own; a second call does nothing.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let found = IntelOpenCl::of(workspace);
    let (folder, registration) = (&found.folder, found.registration());
    if registration.is_file() {
        println!("Intel's OpenCL: installed already in {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
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
