//! Launches.

use std::ffi::{c_uint, c_void};

use kernelmill::__codegen::abi::Geometry;

use crate::{
    call::{call, current},
    code::{self, Code},
    execute::{Copied, Launch},
    module::Function,
    queue::Work,
    state::State,
};

/// Bytes of local memory that a block can have.
const LOCAL_MEMORY: u64 = 65_536;

impl State {
    /// Refuses a shape that a device cannot launch.
    fn check_shape(&mut self, function: &Function, shape: &Geometry) -> Result<(), Code> {
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
    unsafe fn prepare(
        &mut self,
        function: Function,
        geometry: Geometry,
        parameters: *mut *mut c_void,
    ) -> Result<Launch, Code> {
        let Function { module, digest, kernel, .. } = function;
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
                let what = format!("`{}`: argument {index} is null", kernel.name);
                return self.refuse(code::INVALID_VALUE, &what);
            }
            // SAFETY: promised.
            arguments.push(unsafe { Copied::new(value.cast(), argument.size as usize) });
        }
        let with_buffer = arguments.iter().zip(&kernel.arguments).filter(|it| it.1.is_buffer);
        let buffers = with_buffer.map(|(copied, _)| copied.word() as usize).collect();
        Ok(Launch { name: kernel.name, module, code, geometry, arguments, buffers })
    }
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
        let function = state.function(function.addr())?;
        let stream = state.work_stream(stream.addr())?;
        if function.device != current() || !extra.is_null() {
            return state
                .refuse(code::INVALID_VALUE, "a launch on another device, or with `extra`");
        }
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        state.check_shape(&function, &geometry)?;
        if parameters.is_null() && !function.kernel.arguments.is_empty() {
            return state.refuse(code::INVALID_VALUE, "a launch without arguments");
        }
        // SAFETY: the caller promises the arguments.
        let launch = unsafe { state.prepare(function, geometry, parameters)? };
        state.submit(stream, Work::Launch(Box::new(launch)));
        Ok(())
    })
}
