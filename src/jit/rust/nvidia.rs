//! Bitcode for NVIDIA's GPUs: the architecture and the version of PTX that it is compiled for, and launch bounds.

use std::collections::BTreeMap;

use kernelmill_artifact::{
    LaunchLimits, NvidiaArch, NvidiaSuffix, PtxVersion, target::NVIDIA_ARCHS,
};
use kernelmill_llvm::{
    Version,
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, calling_convention},
    machine::Machine,
};

use super::{choices::bound, library::VARIABLE};

/// The newest architecture that LLVM knows, the device runs and the bitcode is for, and its oldest version of PTX that
/// has what the kernels use.
pub(super) fn machine_for(
    number: u32,
    base: NvidiaArch,
    oldest_ptx: u32,
) -> Result<(NvidiaArch, Machine), String> {
    let all = NVIDIA_ARCHS.iter().rev().map(|known| NvidiaArch {
        major: known / 10,
        minor: known % 10,
        suffix: base.suffix,
    });
    let fits = |arch: &NvidiaArch| {
        let is_between = arch.number() >= base.number() && arch.number() <= number;
        is_between
            && match base.suffix {
                NvidiaSuffix::None => true,
                NvidiaSuffix::Family => arch.major == base.major,
                NvidiaSuffix::Exact => *arch == base,
            }
    };
    for arch in all.filter(fits) {
        let Some(version) = PtxVersion::of_architecture(arch) else { continue };
        let oldest = (version.major * 10 + version.minor).max(oldest_ptx);
        let versions = PtxVersion::all().filter(|it| it.major * 10 + it.minor >= oldest);
        for version in versions {
            if let Some(machine) = machine(arch, version)? {
                return Ok((arch, machine));
            }
        }
    }
    Err(format!(
        "LLVM {} supports no architecture from sm_{base} to sm_{number} with PTX {}.{} or later: set {VARIABLE} to \
         the library of a later LLVM",
        Version::opened(),
        oldest_ptx / 10,
        oldest_ptx % 10
    ))
}

/// LLVM's machine for an architecture and a version of PTX; `None` where it does not know one of them.
fn machine(arch: NvidiaArch, version: PtxVersion) -> Result<Option<Machine>, String> {
    let features = format!("+ptx{}{}", version.major, version.minor);
    let machine = Machine::new("nvptx64-nvidia-cuda", &format!("sm_{arch}"), &features, false);
    let machine = machine.map_err(|error| error.to_string())?;
    let context = Context::create();
    let module = context.create_module("version");
    machine.adopt(&module);
    let text = machine.assembly(&module).map_err(|error| error.to_string())?;
    let target = format!(".target sm_{arch}");
    let said = String::from_utf8_lossy(&text);
    let knows_arch = said.lines().any(|line| line.trim().split(',').next() == Some(&*target));
    Ok((knows_arch && PtxVersion::of(&text) == Some(version)).then_some(machine))
}

/// Says the launch bounds of kernels, by their entries, in a module.
pub(super) fn bound_kernels<'c>(
    context: &'c Context,
    module: &Module<'c>,
    limits: &BTreeMap<&'static str, LaunchLimits>,
) {
    for kernel in module.definitions() {
        if kernel.calling_convention() == calling_convention::PTX_KERNEL
            && let Some(limits) = limits.get(&*kernel.name())
        {
            bound(context, kernel, limits);
        }
    }
}
