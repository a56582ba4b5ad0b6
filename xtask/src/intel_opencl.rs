//! Intel's OpenCL run time for processors: a second implementation beside pocl, which reads SPIR-V as it is.
//!
//! It comes from PyPI under [Intel's licence](https://pypi.org/project/intel-opencl-rt/), so it is installed only where the
//! variable `KERNELMILL_INTEL_OPENCL=1` asks for it, and used wherever it is installed.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{env, fs, path::PathBuf};
use xshell::cmd;

/// The packages: the run time, and the libraries of Intel's compiler that it loads.
const WHEELS: [&str; 2] = ["intel-opencl-rt==2026.*", "intel-cmplr-lib-rt==2026.*"];

/// What asks for it to be installed.
pub(crate) const VARIABLE: &str = "KERNELMILL_INTEL_OPENCL";

/// How a program is told to run there.
pub(crate) const DEVICE: (&str, &str) = ("KERNELMILL_DEVICE", "opencl:intel");

/// What names pocl to the loader of OpenCL.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// The loader of OpenCL; Intel's packages have another one.
const LOADER: &str = "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1";

/// Where it is installed.
pub(crate) struct IntelOpenCl {
    folder: PathBuf,
}

impl IntelOpenCl {
    /// Installs it where that is asked for; `None` where it is not there.
    pub(crate) fn find(workspace: &Workspace) -> Result<Option<Self>> {
        // Not below the folder of NVIDIA's wheels, which is made anew when their list changes.
        let found = Self { folder: workspace.target.join("intel-opencl") };
        if found.library().is_file() {
            return Ok(Some(found));
        }
        if env::var_os(VARIABLE).is_none_or(|value| value != "1") {
            return Ok(None);
        }
        found.install(workspace)?;
        Ok(Some(found))
    }

    fn library(&self) -> PathBuf {
        self.folder.join("lib/libintelocl.so")
    }

    fn install(&self, workspace: &Workspace) -> Result<()> {
        let (shell, unfinished) = (&workspace.shell, self.folder.with_extension("part"));
        for path in [&self.folder, &unfinished] {
            if path.exists() {
                fs::remove_dir_all(path)?;
            }
        }
        let quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
        cmd!(
            shell,
            "python3 -m pip install {quiet...} --ignore-installed --prefix {unfinished} {WHEELS...}"
        )
        .run()
        .context("Intel's OpenCL run time could not be installed")?;
        fs::rename(&unfinished, &self.folder)?;
        // The loader takes one folder, so pocl is named there too.
        let vendors = self.vendors();
        fs::create_dir_all(&vendors)?;
        fs::write(vendors.join("intel.icd"), format!("{}\n", self.library().display()))?;
        if let Ok(pocl) = fs::read_to_string(POCL) {
            fs::write(vendors.join("pocl.icd"), pocl)?;
        }
        Ok(())
    }

    fn vendors(&self) -> PathBuf {
        self.folder.join("vendors")
    }

    /// What a program needs in its environment to find it, and pocl.
    pub(crate) fn variables(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("OCL_ICD_VENDORS", self.vendors()),
            ("OPENCL_DYLIB_PATH", PathBuf::from(LOADER)),
            ("LD_LIBRARY_PATH", self.folder.join("lib")),
        ]
    }
}
