//! The selection of tools for a build: those that its sources, targets and settings need.

use super::{
    ask::{ask, llvm_of_rustc},
    check::no_ptxas,
    clang::{Clang, find_clang},
    cuda::{self, find_ptxas},
    nvcc::{Nvcc, find_nvcc},
    rocm,
    search::Search,
};
use crate::{
    base::{error::Error, faults::Faults, report::Report},
    settings::{choices::CudaCompiler, package::Package, resolved::Settings},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::{MathLibrary, Toolchain};
use std::path::PathBuf;

/// What is there in C and C++ to compile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Kernels in CUDA C++.
    pub(crate) has_kernels: bool,
    /// Files with host code, in CUDA C++.
    pub(crate) has_host_code: bool,
    /// Kernels in HIP or OpenCL C, or files in CUDA C++ that stand for kernels: clang alone compiles them.
    pub(crate) is_for_clang: bool,
    /// Whether a compiler that cannot be used is as good as none, which builds without binaries do with.
    pub(crate) is_optional: bool,
}

/// The compilers for C and C++ of a build.
#[derive(Debug, Default)]
pub(crate) struct CppTools {
    pub(crate) nvcc: Option<Nvcc>,
    pub(crate) clang: Option<Clang>,
}

impl CppTools {
    /// Finds nvcc where NVIDIA's targets need it, and clang where HIP, OpenCL C or the other targets do, or
    /// where there is no nvcc.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] where a compiler that is named does not exist or cannot be asked and is not optional, and
    /// [`Error::Toolchain`] where rustc cannot be asked.
    pub(crate) fn find(
        search: &Search<'_>,
        package: &Package,
        settings: &Settings,
        needs: &Needs,
    ) -> Result<Self, Error> {
        let Needs { has_kernels, has_host_code, is_for_clang, is_optional } = *needs;
        let has_cuda = has_kernels || has_host_code;
        let is_for_nvcc = has_host_code || settings.cuda_compiler != CudaCompiler::Clang;
        let mut faults = Faults::default();
        let nvcc = if has_cuda && is_for_nvcc && settings.has_nvidia() {
            faults.take(or_none(find_nvcc(search), is_optional)).flatten()
        } else {
            None
        };
        let wants_clang = settings.cuda_compiler == CudaCompiler::Clang;
        let falls_back = nvcc.is_none() && settings.cuda_compiler == CudaCompiler::Auto;
        let is_seen = looks_into_kernels(settings) && settings.cuda_compiler != CudaCompiler::Nvcc;
        let is_better = wants_clang || falls_back || is_seen;
        let needs_clang = is_for_clang || has_kernels && (is_better || settings.has_others());
        let clang = if needs_clang {
            let found = find_clang(search, llvm_of_rustc(rustc_version(package)?));
            faults.take(or_none(found, is_optional)).flatten()
        } else {
            None
        };
        faults.into_result()?;
        Ok(Self { nvcc, clang })
    }

    /// nvcc, where it is the one that compiles kernels. What it makes no plugin sees, and it has no LLVM IR, so where one
    /// is to see all kernels, or a file stands for such code, it is clang, if nothing else is said.
    pub(crate) fn compiles_kernels(&self, settings: &Settings) -> Option<&Nvcc> {
        let is_by_clang = match settings.cuda_compiler {
            CudaCompiler::Auto => looks_into_kernels(settings) && self.clang.is_some(),
            CudaCompiler::Nvcc => false,
            CudaCompiler::Clang => true,
        };
        self.nvcc.as_ref().filter(|_| !is_by_clang)
    }
}

/// What was found. Where it is optional, an error is as if nothing was.
fn or_none<T>(found: Result<Option<T>, Error>, is_optional: bool) -> Result<Option<T>, Error> {
    if is_optional { Ok(found.unwrap_or(None)) } else { found }
}

/// Whether something works on kernels on their way through the compiler.
fn looks_into_kernels(settings: &Settings) -> bool {
    let is_of_nvcc = |path: &PathBuf| path.extension().is_some_and(|it| it == "cu" || it == "ptx");
    settings.plugin_on_everything.is_some() || !settings.overrides.values().all(is_of_nvcc)
}

/// What the package's rustc prints.
fn ask_rustc(package: &Package, arguments: &[&str]) -> Result<String, Error> {
    ask(&package.rustc, arguments).map_err(|error| Error::Toolchain(error.to_string()))
}

/// What it prints for `-vV`, which it is asked once for.
fn rustc_version(package: &Package) -> Result<&str, Error> {
    if let Some(known) = package.rustc_version.get() {
        return Ok(known);
    }
    let said = ask_rustc(package, &["-vV"])?;
    Ok(package.rustc_version.get_or_init(|| said))
}

/// Finds the compiler's own toolchain for these settings. Tools that no target needs are not
/// looked for, so that installing one changes nothing for them.
///
/// # Errors
///
/// [`Error::Toolchain`] where rustc cannot be asked, [`Error::Tool`] where ptxas cannot. What is wrong with clang is one of the
/// `faults`.
pub(crate) fn find(
    search: &Search<'_>,
    package: &Package,
    settings: &Settings,
    faults: &mut Faults,
) -> Result<Toolchain, Error> {
    let rustc_version = rustc_version(package)?.to_owned();
    let sysroot = ask_rustc(package, &["--print", "sysroot"])?;
    let has_cubins = settings.targets.iter().any(|target| matches!(target, Target::Cubin(_)));
    let needs_ptxas = has_cubins || settings.has_ptx;
    let ptxas = if needs_ptxas { find_ptxas(search) } else { None };
    let ptxas_version = match &ptxas {
        Some(ptxas) => search.ask(ptxas, &["--version"])?,
        None => String::new(),
    };
    // libdevice lies beside ptxas, whether that is needed or not.
    let (libdevice, ocml) = match settings.params.math {
        MathLibrary::Vendor => (cuda::find_libdevice(search), rocm::find_ocml(search)),
        MathLibrary::Own => (None, None),
    };
    [&libdevice, &ocml].into_iter().flatten().for_each(|path| search.environment.cargo.watch(path));
    if let Some(ptxas) = &ptxas {
        search.environment.cargo.watch(ptxas);
    }
    let spirv = match settings.targets.contains(&Target::Spirv64) {
        true => faults.take(find_clang(search, llvm_of_rustc(&rustc_version))).flatten(),
        false => None,
    };
    let spirv_version = spirv.as_ref().map_or_else(String::new, |it| it.version.clone());
    Ok(Toolchain {
        rustc: package.rustc.clone(),
        rustc_version,
        sysroot: PathBuf::from(sysroot.trim()),
        host: package.target.clone(),
        llvm: search.environment.path("KERNELMILL_LLVM"),
        ptxas,
        ptxas_version,
        libdevice,
        ocml,
        spirv: spirv.map(|clang| clang.program),
        spirv_version,
        limits: package.limits,
        scratch: package.out_dir.join("kernelmill"),
    })
}

/// Refuses targets whose binaries ptxas makes where there is none.
///
/// # Errors
///
/// [`Error::Sources`] with every such target.
pub(crate) fn check_ptxas(
    search: &Search<'_>,
    settings: &Settings,
    toolchain: &Toolchain,
) -> Result<(), Error> {
    let mut report = Report::default();
    if toolchain.ptxas.is_none() {
        no_ptxas(search, &settings.targets, &mut report);
    }
    report.into_result(Error::Sources)
}
