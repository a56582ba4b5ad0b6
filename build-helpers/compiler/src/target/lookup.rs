//! The list of targets, and the back end of a job's target.

use kernelmill_artifact::Target;

use super::{
    amd::Amd,
    backend::Backend,
    cpu::Cpu,
    nvidia::{self, Nvidia},
    spirv::Spirv,
    vulkan::Vulkan,
};
use crate::{Error, job::Job, passes::parameters, toolchain::Toolchain};

/// The back end of a job's target.
pub(crate) fn lookup(toolchain: &Toolchain, job: &Job<'_>) -> Result<Box<dyn Backend>, Error> {
    let signatures = job.source.signatures;
    let bytes = signatures.iter().map(parameters::bytes).max().unwrap_or(0);
    let needs = nvidia::Needs {
        parameter_bytes: bytes,
        debug_level: job.config.options.debug_level,
        matrices: job.source.lowered.names(nvidia::MATRICES),
        bulk: job.source.lowered.names(nvidia::BULK),
        maps: job.source.lowered.names(nvidia::MAPS),
        has_functions: !job.config.options.kernel,
    };
    let link = job.config.params.device_link.as_ref();
    let nvidia = |arch, assemble| Nvidia::new(arch, assemble, &needs, toolchain, link);
    match &job.config.target {
        Target::Cpu => Ok(Box::new(Cpu::new(toolchain)?)),
        Target::CpuBitcode => Ok(Box::new(Cpu::new(toolchain)?.into_bitcode())),
        Target::Ptx(arch) => Ok(Box::new(nvidia(*arch, false)?)),
        Target::Bitcode(arch) => Ok(Box::new(nvidia(*arch, false)?.into_bitcode())),
        Target::Cubin(arch) => Ok(Box::new(nvidia(*arch, true)?)),
        Target::Amd(amd) => Ok(Box::new(Amd::new(amd)?)),
        Target::Spirv64 => Ok(Box::new(Spirv::new()?)),
        Target::Vulkan => Ok(Box::new(Vulkan::new()?)),
        other => {
            let file = signatures.first().map_or("", |signature| &signature.file);
            Err(Error::Unsupported { file: file.to_owned(), target: other.clone() })
        }
    }
}
