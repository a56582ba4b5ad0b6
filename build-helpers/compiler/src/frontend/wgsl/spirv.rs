//! SPIR-V for Vulkan, written by naga: one module with every kernel of a file.
//!
//! Indices into buffers and arrays are clamped, as WGSL has it
//! ([WGSL, "Out-of-bounds access"](https://www.w3.org/TR/WGSL/#out-of-bounds-access-sec)), and loops are bounded for the
//! optimiser. Version 1.4 lists the buffers of each entry point, by which a launch knows their groups and bindings.

use kernelmill_artifact::{ArtifactKind, Resources, Target};
use naga::{
    AddressSpace,
    back::spv::{self, Capability, WriterFlags, ZeroInitializeWorkgroupMemoryMode},
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
};

use super::{WgslSource, kernels::used, module::ValidModule, types::Types};
use crate::{
    Error,
    artifact::{Artifact, CompiledKernel},
    job::Config,
};

/// The version of SPIR-V: devices of Vulkan 1.2 read it.
pub(super) const VERSION: (u8, u8) = (1, 4);

/// Compiles a source for [`Target::Vulkan`]. `kernels` are the names of the kernels that are wanted.
///
/// # Errors
///
/// [`Error::Wgsl`] for a source that is not valid, [`Error::Tool`] where naga cannot write it as SPIR-V, and
/// [`Error::Unsupported`] for another target.
pub fn compile(
    source: &WgslSource,
    config: &Config,
    kernels: &[String],
) -> Result<Artifact, Error> {
    if config.target != Target::Vulkan {
        let (file, target) = (source.display.clone(), config.target.clone());
        return Err(Error::Unsupported { file, target });
    }
    let valid = ValidModule::read(source)?;
    let ValidModule { module, info } = &valid;
    let options = options();
    let words = spv::write_vec(module, info, &options, None).map_err(|error| Error::Tool {
        tool: "naga",
        subject: format!("{} for {}", source.display, config.target),
        stderr: error.to_string(),
        kept: None,
    })?;
    let types = Types::new(module).map_err(Error::Internal)?;
    let shared = |name: &str| {
        let index = module.entry_points.iter().position(|entry| entry.name == name)?;
        let used = used(&valid, info.get_entry_point(index)).into_iter();
        let own = used.filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
        Some(own.fold(0_u32, |sum, (_, variable)| sum.saturating_add(types.bytes(variable.ty))))
    };
    let compiled = kernels.iter().map(|name| kernel(name, shared(name).unwrap_or(0)));
    Ok(Artifact {
        target: config.target.clone(),
        kind: ArtifactKind::Spirv,
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        kernels: compiled.collect(),
        locations: Vec::new(),
        messages: Vec::new(),
        relocations: Vec::new(),
        variables: Vec::new(),
        warnings: Vec::new(),
        passes: Vec::new(),
    })
}

fn options() -> spv::Options<'static> {
    spv::Options {
        lang_version: VERSION,
        flags: WriterFlags::empty(),
        // What every device of Vulkan has.
        capabilities: Some([Capability::Shader].into_iter().collect()),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::Polyfill,
        force_loop_bounding: true,
        ..spv::Options::default()
    }
}

/// A kernel under the name that it has in the source.
fn kernel(name: &str, static_shared_bytes: u32) -> CompiledKernel {
    CompiledKernel {
        name: name.to_owned(),
        entry: name.to_owned(),
        static_shared_bytes,
        panics: false,
        cooperative: false,
        cpu_symbol: None,
        strategy: None,
        resources: Resources {
            static_shared_bytes: Some(static_shared_bytes),
            ..Resources::UNKNOWN
        },
        notes: Vec::new(),
    }
}
