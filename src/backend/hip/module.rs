//! HIP modules: code objects that the library loads, and their kernels.

use std::{
    ffi::{CStr, CString},
    ptr,
    sync::Arc,
};

use kernelmill_artifact::{PRINTS, Signature};

use super::{
    driver::{NOT_FOUND, named},
    driver_context::{DriverContext, Shared},
    launch::{Function, Image},
    library::{Handle, hip},
};
use crate::{
    backend::gpu::{
        calls::{ContextCalls as _, ModuleCalls},
        module::Kernels,
    },
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::Result,
    hal,
};

impl ModuleCalls for DriverContext {
    type Module = Handle;

    unsafe fn load_module(&self, artifact: &EmbeddedArtifact, binary: &[u8]) -> Result<Handle> {
        let mut handle = ptr::null_mut();
        // SAFETY: a whole code object, whose size its header says.
        let code = unsafe { (hip().hipModuleLoadData)(&raw mut handle, binary.as_ptr().cast()) };
        named(code, "hipModuleLoadData", || artifact.to_string())?;
        Ok(handle)
    }

    unsafe fn global(&self, module: Handle, name: &CStr) -> Result<Option<(u64, usize)>> {
        let (mut address, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: the module is loaded; the name ends with a zero.
        let code = unsafe {
            (hip().hipModuleGetGlobal)(&raw mut address, &raw mut bytes, module, name.as_ptr())
        };
        if code == NOT_FOUND {
            return Ok(None);
        }
        named(code, "hipModuleGetGlobal", || name.to_string_lossy().into_owned())?;
        Ok(Some((address.expose_provenance() as u64, bytes)))
    }

    unsafe fn prints(&self, module: Handle) -> Result<bool> {
        let mark = CString::new(PRINTS).expect("a symbol has no zero");
        // SAFETY: promised.
        Ok(unsafe { self.global(module, &mark)? }.is_some())
    }

    unsafe fn unload_module(module: Handle, subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { (hip().hipModuleUnload)(module) }, "hipModuleUnload", subject)
    }
}

impl Kernels for DriverContext {
    fn function(
        shared: &Arc<Shared>,
        image: &Arc<Image>,
        kernel: &'static EmbeddedKernel,
        _signature: &'static Signature,
        name: CString,
    ) -> Result<Option<Box<dyn hal::Function>>> {
        shared.bind()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded; the name ends with a zero.
        let code =
            unsafe { (hip().hipModuleGetFunction)(&raw mut handle, image.handle, name.as_ptr()) };
        if code == NOT_FOUND {
            return Ok(None);
        }
        named(code, "hipModuleGetFunction", || kernel.entry.to_owned())?;
        Ok(Some(Box::new(Function::new(handle, image, shared, kernel)?)))
    }
}
