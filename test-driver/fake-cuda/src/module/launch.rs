//! Launches of kernels: checked as the driver does, then run by the emulator.
//!
//! CUDA Driver API, "Execution Control".

use std::{
    io::{self, Write},
    path::Path,
    sync::{Arc, OnceLock, atomic::Ordering},
};

use cudarc::driver::sys;
use ptx_emulator::{Kernel, Launch};

use super::module::{self, Function, Module};
use super::occupancy;
use crate::base::abi::In;
use crate::base::error::{AsyncError, Error, Result};
use crate::base::names::readable;
use crate::coverage;
use crate::device::Profile;
use crate::driver::device_of;
use crate::emulator;
use crate::memory::Owner;

/// Sizes of a launch, and where its arguments are.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) cooperative: bool,
    /// One pointer a parameter.
    pub(crate) arguments: In<In<u8>>,
    /// Keys and values, for arguments in one buffer.
    pub(crate) extra: In<usize>,
}

/// A launch that was checked, with its arguments.
pub(crate) struct Launchable {
    module: Arc<Module>,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    cooperative: bool,
    arguments: Vec<Vec<u8>>,
    /// What kernels find in `%gridid`: it is among the constants of a launch, so that a node of a graph has the same one
    /// each time.
    number: OnceLock<u64>,
}

/// Checks a launch as the driver does, and copies its arguments.
pub(crate) fn prepare(owner: Owner, function: &Function, request: &Request) -> Result<Launchable> {
    let module = function.module()?;
    if module.owner != owner {
        return Err(Error::CUDA_ERROR_INVALID_HANDLE);
    }
    let kernel = module::kernel(&module, function)?;
    check_dimensions(kernel, request)?;
    check_shared(owner, function, kernel, request)?;
    if request.cooperative {
        check_cooperative(owner, kernel, request)?;
    }
    let arguments = arguments(kernel, request)?;
    let (grid, block, shared_bytes) = (request.grid, request.block, request.shared_bytes);
    let (cooperative, kernel) = (request.cooperative, kernel.name.clone());
    let number = OnceLock::new();
    Ok(Launchable { module, kernel, grid, block, shared_bytes, cooperative, arguments, number })
}

fn check_dimensions(kernel: &Kernel, request: &Request) -> Result<()> {
    let within = |size: [u32; 3], limit: [u32; 3]| {
        size.iter().zip(limit).all(|(size, limit)| (1..=limit).contains(size))
    };
    if !within(request.grid, Profile::GRID) || !within(request.block, Profile::BLOCK) {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let threads: u32 = request.block.iter().product();
    let other_shape = kernel.required_block.is_some_and(|required| required != request.block);
    if other_shape || threads > module::threads(kernel) {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

fn check_shared(
    owner: Owner,
    function: &Function,
    kernel: &Kernel,
    request: &Request,
) -> Result<()> {
    let allowed = function.dynamic_allowed.load(Ordering::Relaxed);
    let dynamic = u64::from(request.shared_bytes);
    let total = dynamic + kernel.static_shared_bytes as u64;
    let most = u64::from(device_of(owner.ordinal).profile.shared_per_block);
    if dynamic > allowed as u64 || total > most {
        Err(Error::CUDA_ERROR_INVALID_VALUE)
    } else {
        Ok(())
    }
}

/// All blocks of a cooperative launch have to be on the device at once.
fn check_cooperative(owner: Owner, kernel: &Kernel, request: &Request) -> Result<()> {
    let profile = &device_of(owner.ordinal).profile;
    let threads = request.block.iter().product();
    let each = occupancy::blocks(profile, kernel, threads, request.shared_bytes as usize);
    let most = u64::from(each) * u64::from(profile.multiprocessors);
    let blocks: u64 = request.grid.iter().map(|&size| u64::from(size)).product();
    if blocks > most { Err(Error::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}

/// The bytes of each argument.
fn arguments(kernel: &Kernel, request: &Request) -> Result<Vec<Vec<u8>>> {
    if !request.arguments.is_null() || kernel.parameters.is_empty() {
        let parameters = kernel.parameters.iter().enumerate();
        let read = parameters.map(|(index, parameter)| {
            request.arguments.element(index)?.elements(parameter.size as usize)
        });
        return read.collect();
    }
    let buffer = packed(request.extra)?;
    let slice = |offset: usize, size: usize| {
        let bytes = buffer.get(offset..offset + size).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        Ok(bytes.to_vec())
    };
    let parameters = kernel.parameters.iter();
    parameters.map(|one| slice(one.offset as usize, one.size as usize)).collect()
}

/// The buffer that `extra` names.
fn packed(extra: In<usize>) -> Result<Vec<u8>> {
    const END: usize = sys::CU_LAUNCH_PARAM_END_AS_INT as usize;
    const POINTER: usize = sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize;
    const SIZE: usize = sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize;
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    loop {
        match extra.element(index)? {
            END => break,
            POINTER => buffer = Some(extra.cast::<In<u8>>().element(index + 1)?),
            SIZE => size = Some(extra.cast::<In<usize>>().element(index + 1)?.get()?),
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
        index += 2;
    }
    match (buffer, size) {
        (Some(buffer), Some(size)) => buffer.elements(size),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Writes what a kernel has printed.
fn show(printed: &str) {
    let mut output = io::stdout().lock();
    // A program without an output has nobody who reads it.
    let _ = output.write_all(printed.as_bytes()).and_then(|()| output.flush());
}

impl Launchable {
    /// Runs the kernel.
    pub(crate) fn run(&self, ordinal: usize) -> Result<(), AsyncError> {
        if self.module.unloaded.load(Ordering::Acquire) {
            let text = format!(
                "kernel `{}`: its module is unloaded before the launch has run",
                readable(&self.kernel)
            );
            return Err(AsyncError { error: Error::CUDA_ERROR_LAUNCH_FAILED, text });
        }
        let arguments: Vec<&[u8]> = self.arguments.iter().map(Vec::as_slice).collect();
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            dynamic_shared_bytes: self.shared_bytes,
            arguments: &arguments,
            cooperative: self.cooperative,
        };
        let emulator = &device_of(ordinal).emulator;
        let number = *self.number.get_or_init(|| emulator.next_number());
        let result = emulator.launch(&self.module.loaded, &self.kernel, &launch, number);
        let report = result.as_ref().unwrap_or_else(|fault| &fault.report);
        show(&report.printed);
        coverage::add(&self.kernel, report);
        match result {
            Ok(_) => Ok(()),
            Err(fault) => {
                let mut text = format!("kernel `{}`: {fault}", readable(&self.kernel));
                // Programs and tests run in the folder of their package, which sources are named from.
                if let Some(frame) = fault.frame(Path::new("")) {
                    text = format!("{text}\n{frame}");
                }
                Err(AsyncError { error: emulator::error_of(&fault), text })
            }
        }
    }
}
