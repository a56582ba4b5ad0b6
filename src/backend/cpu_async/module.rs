//! Modules: kernels are linked into the application, so that there is nothing to load.

use std::{
    ffi::{CStr, CString},
    sync::Arc,
};

use kernelmill_artifact::Signature;

use super::{
    driver_context::{DriverContext, Shared},
    launch::{Function, Image},
};
use crate::{
    backend::{
        cpu,
        gpu::{calls::ModuleCalls, module::Kernels},
    },
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::Result,
    hal,
};

impl ModuleCalls for DriverContext {
    type Module = ();

    unsafe fn load_module(&self, _artifact: &EmbeddedArtifact, _binary: &[u8]) -> Result<()> {
        Ok(())
    }

    unsafe fn global(&self, (): (), _name: &CStr) -> Result<Option<(u64, usize)>> {
        Ok(None)
    }

    unsafe fn unload_module((): (), _subject: impl FnOnce() -> String) -> Result<()> {
        Ok(())
    }
}

impl Kernels for DriverContext {
    fn function(
        shared: &Arc<Shared>,
        image: &Arc<Image>,
        kernel: &'static EmbeddedKernel,
        _signature: &'static Signature,
        _name: CString,
    ) -> Result<Option<Box<dyn hal::Function>>> {
        let of_cpu = cpu::module::function(&shared.device, image.artifact, kernel)?;
        Ok(Some(Box::new(Function::new(of_cpu, image, shared, kernel))))
    }
}
