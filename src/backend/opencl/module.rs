//! OpenCL modules: programs that the library builds for the device when they are loaded, and their kernels.
//!
//! A program in OpenCL C names in its first line what its compiler is to be told, as the build wrote it.

use std::{
    ffi::{CStr, CString},
    ptr,
    sync::Arc,
};

use cl3::{
    error_codes::{CL_BUILD_PROGRAM_FAILURE, CL_INVALID_KERNEL_NAME},
    kernel::create_kernel,
    program::{
        CL_PROGRAM_BUILD_LOG, build_program, create_program_with_il, create_program_with_source,
        get_program_build_data,
    },
};
use kernelmill_artifact::{ArtifactKind, ProgramMemory, Signature};

use super::{
    devices::text,
    driver::named,
    driver_context::{DriverContext, Shared},
    launch::{Function, Image},
    program::{Object, Program},
};
use crate::{
    backend::gpu::{calls::ModuleCalls, module::Kernels},
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal,
};

/// How the line of arguments begins. The compiler writes it.
const ARGUMENTS: &str = "// kernelmill:";

/// A program on the heap: made by `load_module`, and freed by `unload_module`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const Program);

impl Handle {
    /// The program.
    ///
    /// # Safety
    ///
    /// It is loaded.
    pub(super) unsafe fn program(&self) -> &Program {
        // SAFETY: promised.
        unsafe { &*self.0 }
    }
}

impl DriverContext {
    /// What the device's compiler is told: what the program says, in the language that the device has.
    fn arguments(&self, program: &str) -> String {
        let line = program.lines().next().and_then(|line| line.strip_prefix(ARGUMENTS));
        let given = line.unwrap_or_default().trim();
        if given.split(' ').any(|argument| argument.starts_with("-cl-std=")) {
            return given.to_owned();
        }
        let standard = if self.version >= (3, 0) { "-cl-std=CL3.0" } else { "-cl-std=CL2.0" };
        format!("{standard} {given}").trim().to_owned()
    }

    /// Makes a program, and the arguments that it is built with.
    fn program(&self, artifact: &EmbeddedArtifact, binary: &[u8]) -> Result<(Object, String)> {
        let (context, subject) = (self.object(), || artifact.to_string());
        if artifact.kind == ArtifactKind::Spirv {
            let made = create_program_with_il(context, binary);
            return Ok((Object(named(made, "clCreateProgramWithIL", subject)?), String::new()));
        }
        let program = std::str::from_utf8(binary).map_err(|_| Error::OpenClBuild {
            artifact: artifact.to_string(),
            device: self.name.clone(),
            log: "the program is not UTF-8 text".to_owned(),
        })?;
        let made = create_program_with_source(context, &[program]);
        let made = Object(named(made, "clCreateProgramWithSource", subject)?);
        Ok((made, self.arguments(program)))
    }

    /// What the device's compiler said of a program.
    fn log(&self, program: &Object) -> String {
        let log = get_program_build_data(program.0, self.device.0, CL_PROGRAM_BUILD_LOG);
        match log.map(text) {
            Ok(log) if !log.is_empty() => log,
            _ => "the device's compiler gives no reason".to_owned(),
        }
    }
}

impl ModuleCalls for DriverContext {
    type Module = Handle;

    unsafe fn load_module(&self, artifact: &EmbeddedArtifact, binary: &[u8]) -> Result<Handle> {
        let (program, arguments) = self.program(artifact, binary)?;
        // What has a zero in it the build does not write.
        let arguments = CString::new(arguments).unwrap_or_default();
        let built = build_program(program.0, &[self.device.0], &arguments, None, ptr::null_mut());
        match built {
            Err(CL_BUILD_PROGRAM_FAILURE) => Err(Error::OpenClBuild {
                artifact: artifact.to_string(),
                device: self.name.clone(),
                log: self.log(&program),
            }),
            built => {
                named(built, "clBuildProgram", || artifact.to_string())?;
                let is_spirv = artifact.kind == ArtifactKind::Spirv;
                let memory = if is_spirv { ProgramMemory::read(binary) } else { None };
                let program = Program::new(self, program, memory)?;
                Ok(Handle(Box::into_raw(Box::new(program))))
            }
        }
    }

    /// No plugin of the compiler sees what is compiled for OpenCL, so that nothing is relocated.
    unsafe fn global(&self, module: Handle, name: &CStr) -> Result<Option<(u64, usize)>> {
        // SAFETY: promised.
        let program = unsafe { module.program() };
        Ok(name.to_str().ok().and_then(|name| program.variable(name)))
    }

    unsafe fn prints(&self, module: Handle) -> Result<bool> {
        // SAFETY: promised.
        Ok(unsafe { module.program() }.prints())
    }

    unsafe fn unload_module(module: Handle, subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: promised: it is of `load_module`.
        let program = unsafe { Box::from_raw(module.0.cast_mut()) };
        program.release(subject)
    }
}

impl Kernels for DriverContext {
    fn function(
        shared: &Arc<Shared>,
        image: &Arc<Image>,
        kernel: &'static EmbeddedKernel,
        signature: &'static Signature,
        name: CString,
    ) -> Result<Option<Box<dyn hal::Function>>> {
        // SAFETY: the image is loaded.
        let program = unsafe { image.handle.program() };
        match create_kernel(program.object(), &name) {
            Err(CL_INVALID_KERNEL_NAME) => Ok(None),
            created => {
                let handle = named(created, "clCreateKernel", || kernel.entry.to_owned())?;
                // SAFETY: a kernel that was just made.
                let function =
                    unsafe { Function::new(handle, image, shared, (kernel, signature))? };
                Ok(Some(Box::new(function)))
            }
        }
    }
}
