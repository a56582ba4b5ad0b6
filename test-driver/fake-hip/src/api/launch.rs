//! Launches.

use std::ffi::{c_int, c_uint, c_void};

use kernelmill::__codegen::abi::Geometry;

use super::{
    device::{COMPUTE_UNITS, THREADS_PER_UNIT},
    give,
};
use crate::{
    call::{call, current},
    code::{self, Code},
    execute::{Copied, Launch},
    memory::{Found, When},
    module::Function,
    queue::Work,
    state::State,
};

/// Bytes of local memory that a block can have.
const LOCAL_MEMORY: u64 = 65_536;

impl State {
    /// Refuses a shape that a device cannot launch.
    pub(super) fn check_shape(
        &mut self,
        function: &Function,
        shape: &Geometry,
    ) -> Result<(), Code> {
        let Geometry { grid, block, dynamic_shared_bytes, .. } = shape;
        let kernel = &function.kernel;
        let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
        let is_dispatch =
            grid.iter().zip(block).all(|(&g, &b)| u64::from(g) * u64::from(b) <= u32::MAX.into());
        if threads == 0 || grid.contains(&0) || threads > kernel.most_threads || !is_dispatch {
            let what = format!("`{}` is launched with {grid:?} blocks of {block:?}", kernel.name);
            return self.refuse(code::INVALID_CONFIGURATION, &what);
        }
        if kernel.shared_bytes + u64::from(*dynamic_shared_bytes) > LOCAL_MEMORY {
            let what = format!("`{}` is launched with too much local memory", kernel.name);
            return self.refuse(code::INVALID_VALUE, &what);
        }
        Ok(())
    }

    /// Copies the arguments as the code object describes them.
    ///
    /// # Safety
    ///
    /// There is a pointer for each, to as many bytes as it has.
    pub(super) unsafe fn prepare(
        &mut self,
        function: Function,
        geometry: Geometry,
        parameters: *mut *mut c_void,
    ) -> Result<Launch, Code> {
        let Function { module, digest, kernel, prints, .. } = function;
        let Some(code) = self.registered.find(digest, &kernel.name).cloned() else {
            let what = format!("`{}` is of a code object that no test has registered", kernel.name);
            return self.refuse(code::LAUNCH_FAILURE, &what);
        };
        if let Err(what) = code.check(&kernel.arguments) {
            return self.refuse(code::INVALID_VALUE, &format!("`{}`: {what}", kernel.name));
        }
        let mut arguments = Vec::new();
        for (index, argument) in kernel.arguments.iter().enumerate() {
            // SAFETY: promised.
            let value = unsafe { parameters.add(index).read() };
            if value.is_null() {
                let what = format!("`{}`: argument {} is null", kernel.name, index + 1);
                return self.refuse(code::INVALID_VALUE, &what);
            }
            // SAFETY: promised.
            arguments.push(unsafe { Copied::new(value.cast(), argument.size as usize) });
        }
        let with_buffer = arguments.iter().zip(&kernel.arguments).filter(|it| it.1.is_buffer);
        let buffers = with_buffer.map(|(copied, _)| copied.word() as usize).collect();
        let (name, number) = (kernel.name, self.launch_number());
        let cooperative = false;
        Ok(Launch { name, module, code, geometry, arguments, buffers, number, cooperative, prints })
    }
}

/// A launch as the caller asks for it.
struct Request {
    function: *mut c_void,
    geometry: Geometry,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    cooperative: bool,
}

impl State {
    /// Checks a launch and queues it.
    ///
    /// # Safety
    ///
    /// There is a pointer for each argument, to as many bytes as it has.
    unsafe fn launch(&mut self, request: Request) -> Result<(), Code> {
        let Request { function, geometry, stream, parameters, extra, cooperative } = request;
        let function = self.function(function.addr())?;
        let stream = self.work_stream(stream.addr())?;
        if function.device != current() || !extra.is_null() {
            return self.refuse(code::INVALID_VALUE, "a launch on another device, or with `extra`");
        }
        self.check_shape(&function, &geometry)?;
        if cooperative {
            self.check_residence(&function, &geometry)?;
        }
        if parameters.is_null() && !function.kernel.arguments.is_empty() {
            return self.refuse(code::INVALID_VALUE, "a launch without arguments");
        }
        // SAFETY: promised.
        let launch = unsafe { self.prepare(function, geometry, parameters)? };
        let is_given_back =
            |address: &usize| self.memory.find(*address, 1, When::Queued) == Found::Faulty;
        if launch.buffers.iter().any(is_given_back) {
            let what = format!("`{}` is launched with memory that was freed", launch.name);
            return self.refuse(code::INVALID_VALUE, &what);
        }
        self.submit(stream, Work::Launch(Box::new(Launch { cooperative, ..launch })));
        Ok(())
    }

    /// Refuses a cooperative launch whose blocks are not all on the device at once.
    fn check_residence(&mut self, function: &Function, shape: &Geometry) -> Result<(), Code> {
        if !self.config.cooperative {
            return self.refuse(
                code::NOT_SUPPORTED,
                "a cooperative launch on a device that does not support it",
            );
        }
        let threads: u64 = shape.block.iter().map(|&n| u64::from(n)).product();
        let each = resident_blocks(function, threads, shape.dynamic_shared_bytes.into());
        let blocks: u64 = shape.grid.iter().map(|&n| u64::from(n)).product();
        if blocks > each * u64::from(COMPUTE_UNITS) {
            let what = format!("`{}` is launched with too many blocks", function.kernel.name);
            return self.refuse(code::COOPERATIVE_LAUNCH_TOO_LARGE, &what);
        }
        Ok(())
    }
}

/// How many blocks a compute unit holds at once: by its threads and its local memory.
fn resident_blocks(function: &Function, threads: u64, dynamic_shared_bytes: u64) -> u64 {
    let bytes = function.kernel.shared_bytes + dynamic_shared_bytes;
    let by_memory = LOCAL_MEMORY.checked_div(bytes).unwrap_or(u64::MAX);
    THREADS_PER_UNIT.checked_div(threads).unwrap_or(0).min(by_memory)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared_bytes: c_uint,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Code {
    call("hipModuleLaunchKernel", |state| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        let cooperative = false;
        let request = Request { function, geometry, stream, parameters, extra, cooperative };
        // SAFETY: the caller promises the arguments.
        unsafe { state.launch(request) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleLaunchCooperativeKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared_bytes: c_uint,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
) -> Code {
    call("hipModuleLaunchCooperativeKernel", |state| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        let (cooperative, extra) = (true, std::ptr::null_mut());
        let request = Request { function, geometry, stream, parameters, extra, cooperative };
        // SAFETY: the caller promises the arguments.
        unsafe { state.launch(request) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: *mut c_void,
    threads: c_int,
    dynamic_shared_bytes: usize,
) -> Code {
    call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", |state| {
        let function = state.function(function.addr())?;
        let Ok(threads) = u64::try_from(threads) else {
            return state.refuse(code::INVALID_VALUE, "an occupancy of negative blocks");
        };
        let found = resident_blocks(&function, threads, dynamic_shared_bytes as u64);
        // SAFETY: the caller's place.
        unsafe { give(blocks, found as c_int) }
    })
}
