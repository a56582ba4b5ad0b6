//! Modules: SPIR-V as naga wrote it in the build, which the driver is given as it is, or [translated](super::translation).

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString},
    sync::Arc,
};

use kernelmill_artifact::Signature;
use wgpu::ShaderModule;

use super::{
    compiled::{self, Code},
    driver::Gpu,
    driver_context::{DriverContext, Shared},
    fused::Probes,
    interface::{self, Binding, Interface},
    launch::{Function, Image},
    shader, translation,
    variables::Variables,
};
use crate::{
    backend::gpu::{calls::ModuleCalls, module::Kernels},
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::Result,
    hal,
};

/// A module that is loaded: its entry points, and the memory of its variables.
pub(super) struct LoadedModule(BTreeMap<String, Entry>, Option<Variables>);

/// An entry point.
enum Entry {
    /// Of a source in WGSL: a module of wgpu, and the buffers there.
    Wgsl(ShaderModule, Vec<Binding>),
    /// Of a kernel that was compiled by passes of our own.
    Compiled(Arc<Code>),
}

/// A module on the heap: made by `load_module`, and freed by `unload_module`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const LoadedModule);

impl Handle {
    /// The module.
    ///
    /// # Safety
    ///
    /// It is loaded.
    pub(super) unsafe fn module(&self) -> &LoadedModule {
        // SAFETY: promised.
        unsafe { &*self.0 }
    }
}

/// Gives the driver a module for each entry point, whose bindings have numbers of their own.
///
/// # Safety
///
/// It is what naga has written for a module that is valid.
unsafe fn passed_on(
    gpu: &Gpu,
    artifact: &EmbeddedArtifact,
    (interface, words): (&Interface, &[u32]),
) -> Result<LoadedModule> {
    let load = |(name, bindings): (&str, Vec<Binding>)| {
        let subject = || format!("`{name}` of {artifact}");
        // SAFETY: promised.
        let shader =
            unsafe { shader::pass_on(gpu, name, interface.numbered(name, words), subject)? };
        Ok((name.to_owned(), Entry::Wgsl(shader, bindings)))
    };
    Ok(LoadedModule(interface.entries().map(load).collect::<Result<_>>()?, None))
}

/// The kernels of a module that was compiled by passes of our own, which is loaded once the size of a block is known.
///
/// # Safety
///
/// As for [`passed_on`].
unsafe fn compiled(
    gpu: &Arc<Gpu>,
    binary: &[u8],
    (interface, words): (&Interface, &[u32]),
) -> Result<LoadedModule> {
    // SAFETY: promised.
    let variables = unsafe { Variables::of(gpu, binary, (interface, words))? };
    let memory = variables.as_ref().map(Variables::address);
    let probes = Arc::new(Probes::of(interface, words));
    let entry = |(name, _): (&str, Vec<Binding>)| {
        let (words, bindings) = (interface.numbered(name, words), interface.pairs(name));
        let code = Code { words, bindings, probes: Arc::clone(&probes), memory };
        (name.to_owned(), Entry::Compiled(Arc::new(code)))
    };
    Ok(LoadedModule(interface.entries().map(entry).collect(), variables))
}

/// Has a module translated, which all entry points share.
///
/// # Safety
///
/// As for [`passed_on`].
unsafe fn translated(
    gpu: &Gpu,
    artifact: &EmbeddedArtifact,
    (interface, words): (&Interface, &[u32]),
) -> Result<LoadedModule> {
    // SAFETY: promised.
    let shader = unsafe { translation::load(gpu, words, || artifact.to_string())? };
    let entry =
        |(name, bindings): (&str, _)| (name.to_owned(), Entry::Wgsl(shader.clone(), bindings));
    Ok(LoadedModule(interface.in_source().map(entry).collect(), None))
}

impl ModuleCalls for DriverContext {
    type Module = Handle;

    unsafe fn load_module(&self, artifact: &EmbeddedArtifact, binary: &[u8]) -> Result<Handle> {
        let gpu = &*self.gpu;
        let damaged = || {
            let message = "the binary is not a SPIR-V module".to_owned();
            gpu.error("create_shader_module", artifact.to_string(), message)
        };
        let words = interface::words(binary).ok_or_else(damaged)?;
        let interface = interface::of_module(&words).ok_or_else(damaged)?;
        // SAFETY: the caller promises a whole binary: it is what naga has written for a module that is valid.
        let module = unsafe {
            match gpu.translates {
                _ if !artifact.source.ends_with(".wgsl") => {
                    compiled(&self.gpu, binary, (&interface, &words))?
                }
                true => translated(gpu, artifact, (&interface, &words))?,
                false => passed_on(gpu, artifact, (&interface, &words))?,
            }
        };
        Ok(Handle(Box::into_raw(Box::new(module))))
    }

    /// No plugin of the compiler sees what is compiled for Vulkan, so that nothing is relocated.
    unsafe fn global(&self, module: Handle, name: &CStr) -> Result<Option<(u64, usize)>> {
        // SAFETY: promised.
        let variables = unsafe { module.module() }.1.as_ref();
        Ok(variables.zip(name.to_str().ok()).and_then(|(variables, name)| variables.find(name)))
    }

    unsafe fn unload_module(module: Handle, _subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: promised: it is of `load_module`.
        drop(unsafe { Box::from_raw(module.0.cast_mut()) });
        Ok(())
    }
}

impl Kernels for DriverContext {
    fn function(
        shared: &Arc<Shared>,
        image: &Arc<Image>,
        kernel: &'static EmbeddedKernel,
        signature: &'static Signature,
        _name: CString,
    ) -> Result<Option<Box<dyn hal::Function>>> {
        // SAFETY: the image is loaded.
        let module = unsafe { image.handle.module() };
        let Some(entry) = module.0.get(kernel.entry) else { return Ok(None) };
        let known = (kernel, signature);
        Ok(Some(match entry {
            Entry::Wgsl(shader, bindings) => {
                Box::new(Function::new((image, shader), shared, known, bindings)?)
            }
            Entry::Compiled(code) => Box::new(compiled::Function::new(image, code, shared, known)?),
        }))
    }
}
