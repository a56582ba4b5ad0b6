//! The tools of a machine, for programs that are no build scripts.

use super::{
    Clang, Nvcc, Search, ask::llvm_of_rustc, check, clang, cuda, nvcc, search::target_folder,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, report::Report},
    discovery::{language::Language, sources},
    settings::{layer::Layer, package::Package, resolve, resolved::Settings},
};
use kernelmill_artifact::Target;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The tools of this machine, as the build of a package finds them.
pub struct Machine {
    environment: BuildEnvironment,
    folder: PathBuf,
    /// Cargo's target folder.
    target: PathBuf,
    /// The package in the folder, where there is one.
    package: Option<(Package, Settings)>,
}

impl Machine {
    /// The machine as seen from a folder: tools may be installed in `toolchains` in the target folder of the
    /// workspace that it is in. Settings of packages are not read.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let environment = BuildEnvironment::outside(BTreeMap::new());
        let target = target_folder(&environment, &folder);
        Self { environment, folder, target, package: None }
    }

    /// The machine as the build of a package sees it, with the settings in its TOML files and in
    /// the environment. What its `build.rs` sets is not known without running it.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] with everything that is wrong with the settings, and [`Error::Io`] where
    /// the folder holds no `Cargo.toml`.
    pub fn of_package(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = std::path::absolute(&folder).map_err(Error::io("find", folder.as_ref()))?;
        let target = target_folder(&BuildEnvironment::outside(BTreeMap::new()), &folder);
        let environment = BuildEnvironment::outside(given(&folder, &target));
        let package = Package::read(&environment)?;
        let settings = resolve::read(&environment, &package, Layer::default())?;
        Ok(Self { environment, folder, target, package: Some((package, settings)) })
    }

    /// The targets that the package is built for; none where there is no package.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        self.package.as_ref().map_or(&[], |(_, settings)| &settings.targets)
    }

    /// nvcc, from the setting `nvcc` (`KERNELMILL_NVCC`), `NVCC`, `CUDA_HOME`, `CUDA_PATH`,
    /// `CUDA_ROOT`, `CUDA_TOOLKIT_ROOT_DIR`, `PATH`, the toolchains installed for kernelmill, or
    /// `/usr/local/cuda`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] where the nvcc that is named does not exist or cannot be asked.
    pub fn nvcc(&self) -> Result<Option<Nvcc>, Error> {
        nvcc::find_nvcc(&self.search())
    }

    /// clang, from the setting `clang` (`KERNELMILL_CLANG`), `CLANG`, or `PATH`: the newest that is
    /// not newer than rustc's LLVM, given what `rustc -vV` prints.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] where the clang that is named does not exist or is none.
    pub fn clang(&self, rustc_version: &str) -> Result<Option<Clang>, Error> {
        clang::find_clang(&self.search(), llvm_of_rustc(rustc_version))
    }

    /// ptxas, from `KERNELMILL_PTXAS`, beside nvcc, or where nvcc would be.
    #[must_use]
    pub fn ptxas(&self) -> Option<PathBuf> {
        cuda::find_ptxas(&self.search())
    }

    /// Another program of CUDA's, for example `nvdisasm`: beside nvcc, or where nvcc would be.
    #[must_use]
    pub fn cuda_tool(&self, name: &str) -> Option<PathBuf> {
        cuda::find_tool(&self.search(), name)
    }

    /// Where a program that was found here is from: a setting or a variable by its name, `PATH`, what
    /// `cargo kernelmill toolchain` has installed, `target/toolchains`, or its usual place.
    #[must_use]
    pub fn origin(&self, program: &Path) -> String {
        self.search().origin(program)
    }

    /// The folder for tools that are installed for kernelmill; `None` where the user has no cache
    /// folder.
    #[must_use]
    pub fn toolchains(&self) -> Option<PathBuf> {
        self.search().user_folder()
    }

    /// The command that installs a clang which suits rustc, given what `rustc -vV` prints.
    #[must_use]
    pub fn clang_command(&self, rustc_version: &str) -> String {
        clang::install_command(&self.search(), llvm_of_rustc(rustc_version))
    }

    /// The command that installs NVIDIA's tools for the user.
    #[must_use]
    pub fn cuda_command() -> &'static str {
        check::INSTALL_CUDA
    }

    /// What the build of the package needs, for its targets and the languages of its kernels, and
    /// this machine has not, given what `rustc -vV` prints. Empty where there is no package.
    ///
    /// # Errors
    ///
    /// As [`Machine::nvcc`] and [`Machine::clang`].
    pub fn missing(&self, rustc_version: &str) -> Result<Report, Error> {
        let mut report = Report::default();
        let Some((package, settings)) = &self.package else { return Ok(report) };
        let (search, llvm) = (self.search(), llvm_of_rustc(rustc_version));
        if cuda::find_ptxas(&search).is_none() {
            check::no_ptxas(&search, &settings.targets, &mut report);
        }
        let languages = sources::languages(package, settings);
        let has_kernels = languages.contains(&Language::Cuda);
        for language in [Language::Hip, Language::OpenCl] {
            if languages.contains(&language) && self.clang(rustc_version)?.is_none() {
                let subject = format!("the kernels in {}", language.name());
                check::no_clang(&search, llvm, &subject, &mut report);
            }
        }
        if !has_kernels && settings.host_files.is_empty() {
            return Ok(report);
        }
        let (nvcc, clang) = (self.nvcc()?, self.clang(rustc_version)?);
        if nvcc.is_none() && !settings.host_files.is_empty() {
            check::no_nvcc(&search, "the host code in CUDA C++", &mut report);
        }
        if !has_kernels {
            return Ok(report);
        }
        let subject = "the kernels in CUDA C++";
        match &nvcc {
            Some(nvcc) => check::nvcc_targets(nvcc, &settings.targets, &mut report),
            None if clang.is_none() => {
                check::no_cuda_compiler(&search, llvm, subject, &mut report);
                return Ok(report);
            }
            None => {}
        }
        let by_clang =
            settings.targets.iter().filter(|it| matches!(it, Target::Cpu | Target::Amd(_)));
        let by_clang: Vec<_> = by_clang.map(|target| format!("`{target}`")).collect();
        if clang.is_none() && !by_clang.is_empty() {
            let subject = format!("{subject} for {}", by_clang.join(", "));
            check::no_clang(&search, llvm, &subject, &mut report);
        }
        Ok(report)
    }

    fn search(&self) -> Search<'_> {
        match &self.package {
            Some((package, settings)) => Search::of_build(&self.environment, package, settings),
            None => Search::of_folder(&self.environment, &self.folder, &self.target),
        }
    }
}

/// What Cargo would set for the build script of the package in a folder.
fn given(folder: &Path, target: &Path) -> BTreeMap<&'static str, OsString> {
    let outside = BuildEnvironment::outside(BTreeMap::new());
    let program = |variable, name: &str| outside.variable(variable).unwrap_or_else(|| name.into());
    BTreeMap::from([
        ("CARGO_MANIFEST_DIR", folder.as_os_str().to_owned()),
        ("CARGO_PKG_NAME", "package".into()),
        ("CARGO_PKG_VERSION", "0.0.0".into()),
        ("OUT_DIR", target.join("debug/build/package/out").into_os_string()),
        ("TARGET", OsString::new()),
        ("CARGO", program("CARGO", "cargo")),
        ("RUSTC", program("RUSTC", "rustc")),
    ])
}
