//! CUDA modules: PTX and cubins that the driver loads, and their kernels.

use std::{
    ffi::{CStr, CString, c_uint, c_void},
    ptr,
    sync::Arc,
};

use cudarc::driver::{result::module as raw, sys};
use kernelmill_artifact::Signature;

use super::{
    capture::BesideCaptures,
    driver::named,
    driver_context::{DriverContext, Shared},
    launch::{Function, Image},
    stack,
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

/// Room for what the driver says about PTX that it refuses.
const LOG_BYTES: usize = 4096;

/// How cubins and fat binaries begin. What begins in another way is PTX.
const BINARY_FORMATS: [&[u8]; 2] = [b"\x7fELF", &0xba55_ed50_u32.to_le_bytes()];

impl ModuleCalls for DriverContext {
    type Module = sys::CUmodule;

    unsafe fn load_module(
        &self,
        artifact: &EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<sys::CUmodule> {
        if BINARY_FORMATS.iter().any(|first| binary.starts_with(first)) {
            stack::make_room(artifact, None)?;
            return load_image(binary.as_ptr().cast(), artifact);
        }
        // PTX. The driver wants text that ends with a zero.
        let text = binary.split(|&byte| byte == 0).next().unwrap_or_default();
        stack::make_room(artifact, Some(&String::from_utf8_lossy(text)))?;
        let text = CString::new(text).expect("the bytes before the first zero");
        load_image(text.as_ptr().cast(), artifact)
    }

    unsafe fn global(&self, module: sys::CUmodule, name: &CStr) -> Result<Option<(u64, usize)>> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the name ends with a zero.
        let found = unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, module, name.as_ptr())
        };
        if found == sys::CUresult::CUDA_ERROR_NOT_FOUND {
            return Ok(None);
        }
        let subject = || name.to_string_lossy().into_owned();
        named(found.result(), "cuModuleGetGlobal", subject)?;
        Ok(Some((address, bytes)))
    }

    unsafe fn unload_module(module: sys::CUmodule, subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { raw::unload(module) }, "cuModuleUnload", subject)
    }
}

/// Loads an image; the error has what the driver's compiler says.
fn load_image(image: *const c_void, artifact: &EmbeddedArtifact) -> Result<sys::CUmodule> {
    use sys::CUjit_option_enum as J;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [J::CU_JIT_ERROR_LOG_BUFFER, J::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes numbers in the place of pointers.
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    let mut handle = ptr::null_mut();
    let _beside = BesideCaptures::begin();
    // SAFETY: the image is a whole cubin, or text that ends with a zero; the options have as many
    // values, and the log outlives the call.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &mut handle,
            image,
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    named(loaded.result(), "cuModuleLoadDataEx", || {
        let text = log.split(|&byte| byte == 0).next().unwrap_or_default();
        match String::from_utf8_lossy(text).trim() {
            "" => artifact.to_string(),
            said => format!("{artifact}: {said}"),
        }
    })?;
    Ok(handle)
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
        // A driver may load the code of a module when it is first asked for it.
        let _beside = BesideCaptures::begin();
        // SAFETY: the module is loaded.
        match unsafe { raw::get_function(image.handle, name) } {
            Ok(handle) => Ok(Some(Box::new(Function::new(handle, image, shared, kernel)?))),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            Err(error) => named(Err(error), "cuModuleGetFunction", || kernel.entry.to_owned()),
        }
    }
}
