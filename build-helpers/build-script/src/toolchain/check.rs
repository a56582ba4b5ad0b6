//! Checks of the tools that were found, and the messages for those that are missing.

use super::{Clang, Nvcc, clang, search::Search};
use crate::base::{error::Error, report::Report};
use kernelmill_artifact::Target;
use kernelmill_compiler::diagnostic::Code;

/// The first release of LLVM that has a back end for SPIR-V by default.
const SPIRV_SINCE: u32 = 20;

/// The command that installs NVIDIA's tools for a user.
pub(crate) const INSTALL_CUDA: &str = "cargo kernelmill toolchain install cuda";

/// Reports every NVIDIA target that this nvcc does not know, with the nearest that it does.
pub(crate) fn nvcc_targets(nvcc: &Nvcc, targets: &[Target], report: &mut Report) {
    let unknown = targets.iter().filter(|target| is_nvidia(target) && !nvcc.knows(target));
    for target in unknown {
        let help = nearest(nvcc, &target.to_string()).map_or_else(
            || "this nvcc lists no architecture".to_owned(),
            |near| format!("the nearest that this nvcc knows is `{near}`"),
        );
        let (major, minor) = nvcc.release;
        report.plain(
            Code::ToolVersion,
            format!(
                "nvcc {major}.{minor} does not know the target `{target}` ({})",
                nvcc.program.display()
            ),
            format!("{help}; `{INSTALL_CUDA}` installs the newest nvcc"),
        );
    }
}

/// The architecture of the same kind whose number is nearest.
fn nearest<'a>(nvcc: &'a Nvcc, name: &str) -> Option<&'a str> {
    let (kind, wanted) = parts(name)?;
    let same_kind = nvcc.gpu_codes.iter().filter_map(|code| {
        let (its_kind, number) = parts(code)?;
        (its_kind == kind).then_some((number.abs_diff(wanted), code.as_str()))
    });
    same_kind.min_by_key(|(distance, code)| (*distance, code.len())).map(|(_, code)| code)
}

/// `sm_90a` is `sm` and 90.
fn parts(code: &str) -> Option<(&str, u32)> {
    let (kind, number) = code.split_once('_')?;
    Some((kind, number.trim_end_matches(['a', 'f']).parse().ok()?))
}

/// Reports that CUDA C++ cannot be compiled for want of nvcc and clang.
pub(crate) fn no_cuda_compiler(
    search: &Search<'_>,
    llvm: Option<u32>,
    sources: &str,
    report: &mut Report,
) {
    report.plain(
        Code::MissingTool,
        format!(
            "{sources} need nvcc or clang, and neither was found: nvcc is not named by the \
             setting `nvcc`, KERNELMILL_NVCC or NVCC; {}; clang is not named by the setting \
             `clang`, KERNELMILL_CLANG or CLANG, and neither `clang` nor `clang-NN` is on PATH{}",
            search.places("nvcc"),
            search.passed_over(&clang::names())
        ),
        format!(
            "install nvcc with `{INSTALL_CUDA}`, or clang with `{}`",
            clang::install_command(search, llvm)
        ),
    );
}

/// Reports that something needs nvcc, which was not found.
pub(crate) fn no_nvcc(search: &Search<'_>, subject: &str, report: &mut Report) {
    report.plain(
        Code::MissingTool,
        format!(
            "{subject} needs nvcc, and none was found: it is not named by the setting `nvcc`, \
             KERNELMILL_NVCC or NVCC; {}",
            search.places("nvcc")
        ),
        format!("install it with `{INSTALL_CUDA}`"),
    );
}

/// Reports that something needs clang, which was not found.
pub(crate) fn no_clang(search: &Search<'_>, llvm: Option<u32>, subject: &str, report: &mut Report) {
    report.plain(
        Code::MissingTool,
        format!(
            "{subject} needs clang, and none was found: it is not named by the setting `clang`, \
             KERNELMILL_CLANG or CLANG, and neither `clang` nor `clang-NN` is on PATH{}",
            search.passed_over(&clang::names())
        ),
        format!("install it with `{}`", clang::install_command(search, llvm)),
    );
}

/// Reports a clang that has no back end for SPIR-V.
///
/// # Errors
///
/// [`Error::Tool`] where it cannot be asked.
pub(crate) fn check_spirv(
    search: &Search<'_>,
    clang: &Clang,
    sources: &str,
    report: &mut Report,
) -> Result<(), Error> {
    let said = search.ask(&clang.program, &["--print-targets"])?;
    if said.lines().all(|line| line.split_whitespace().next() != Some("spirv64")) {
        report.plain(
            Code::ToolVersion, format!(
                "the target `spirv64` needs a clang with LLVM's back end for SPIR-V, and {} (version {}) \
                 has none: {sources}",
                clang.program.display(),
                clang.major
            ),
            format!(
                "install a newer one with `{}`, or use the target `opencl-c`, which needs no such back end",
                clang::install_command(search, Some(SPIRV_SINCE))
            ),
        );
    }
    Ok(())
}

/// Reports that device libraries cannot be linked.
pub(crate) fn no_nvlink(search: &Search<'_>, report: &mut Report) {
    report.plain(
        Code::MissingTool,
        format!("`device-libraries` needs nvlink, and none was found: {}", search.places("nvlink")),
        format!("install it with `{INSTALL_CUDA}`"),
    );
}

/// Reports every cubin, where there is no ptxas to make it.
pub(crate) fn no_ptxas(search: &Search<'_>, targets: &[Target], report: &mut Report) {
    for target in targets {
        if let Target::Cubin(arch) = target {
            report.plain(
                Code::MissingTool,
                format!(
                    "the target `{target}` needs ptxas, and none was found: KERNELMILL_PTXAS is \
                     not set; {}",
                    search.places("ptxas")
                ),
                format!(
                    "install it with `{INSTALL_CUDA}`, or use the target `{}`, which needs no tool",
                    Target::Ptx(*arch)
                ),
            );
        }
    }
}

fn is_nvidia(target: &Target) -> bool {
    matches!(target, Target::Ptx(_) | Target::Cubin(_))
}

impl Nvcc {
    /// Whether this nvcc can compile for a target.
    #[must_use]
    pub fn knows(&self, target: &Target) -> bool {
        let name = target.to_string();
        let is_listed = |name: &str| self.gpu_codes.iter().any(|code| code == name);
        if is_listed(&name) {
            return true;
        }
        // An nvcc whose help lists no suffix at all says itself whether it takes one.
        let lists_suffixes = self.gpu_codes.iter().any(|code| code.ends_with(['a', 'f']));
        is_nvidia(target) && !lists_suffixes && is_listed(name.trim_end_matches(['a', 'f']))
    }
}
