//! Kernels of programs that were compiled at run time, and their arguments.

use std::{fmt, sync::Arc};

use crate::{
    argument::{Kind, LaunchStream, ReadSlice, WriteSlice},
    codegen::{self, Bind, Pointer, Read, Value, Write, launch_checked},
    compiled::CompiledKernel,
    copy::DeviceCopy,
    error::{Error, Result},
    launch::Launch,
    loaded::Loaded,
};

/// Arguments of a launch in the order of the kernel's parameters: a tuple of what [`value`], [`read`] and [`write()`] make, or
/// of such tuples, where there are more than eight.
pub trait Arguments: Bind {}

impl<A: Bind> Arguments for A {}

/// A scalar or a struct, by value.
pub fn value<T: DeviceCopy>(value: T) -> Value<T> {
    Value(value)
}

/// The address of elements that the kernel reads: null where there are none.
pub fn read<T: DeviceCopy, S: ReadSlice<T>>(memory: S) -> Pointer<Read<T, S>> {
    codegen::read_pointer(memory)
}

/// The address of elements that the kernel writes: null where there are none.
pub fn write<T: DeviceCopy, S: WriteSlice<T>>(memory: S) -> Pointer<Write<T, S>> {
    codegen::write_pointer(memory)
}

/// A kernel of a program that was compiled at run time. Its program stays loaded while it lives.
#[derive(Clone)]
pub struct Kernel {
    loaded: Arc<Loaded>,
    index: usize,
    /// Sizes of its parameters in bytes; 0 where they are not known.
    parameters: &'static [u64],
}

impl Kernel {
    pub(super) fn new(loaded: Arc<Loaded>, index: usize, parameters: &'static [u64]) -> Self {
        Self { loaded, index, parameters }
    }

    /// Launches it.
    ///
    /// # Errors
    ///
    /// [`Error::Arguments`] where their number or a size is not what the kernel takes; [`Error::Limit`],
    /// [`Error::WrongDevice`], and what the driver reports.
    ///
    /// # Safety
    ///
    /// The arguments have the types of the kernel's parameters, and what it does with them in the threads of this launch
    /// is sound: it reads and writes within its buffers alone, and threads do not write what others use.
    pub unsafe fn launch<A: Arguments>(
        &self,
        stream: &impl LaunchStream,
        launch: impl Into<Launch<3>>,
        arguments: A,
    ) -> Result<()> {
        let check = |kinds: &mut dyn Iterator<Item = Kind>| self.check(kinds);
        // SAFETY: the arguments have the sizes of the kernel's parameters, and the rest is promised.
        unsafe { launch_checked(&self.loaded, self.index, stream, launch, arguments, check) }
    }

    /// What it is apart from its launches: resources and occupancy, from the driver.
    ///
    /// # Errors
    ///
    /// None: it is loaded.
    pub fn compiled(&self) -> Result<CompiledKernel> {
        self.loaded.compiled(self.index)
    }

    /// The sizes of its parameters in bytes; 0 where they are not known.
    pub(super) fn parameters(&self) -> &'static [u64] {
        self.parameters
    }

    fn check(&self, arguments: &mut dyn Iterator<Item = Kind>) -> Result<()> {
        let (mut count, mut faults) = (0, Vec::new());
        for argument in arguments {
            let bytes = match argument {
                Kind::Value { bytes, .. } => bytes as u64,
                _ => size_of::<u64>() as u64,
            };
            let parameter = self.parameters.get(count);
            count += 1;
            if let Some(expected) = parameter.filter(|size| **size != 0 && **size != bytes) {
                faults.push(format!(
                    "argument {count} has {bytes} bytes, but its parameter has {expected}"
                ));
            }
        }
        if count != self.parameters.len() {
            faults = vec![format!(
                "the kernel takes {} arguments, but the launch passes {count}",
                self.parameters.len()
            )];
        }
        if faults.is_empty() {
            return Ok(());
        }
        let kernel = self.loaded.kernel(self.index)?.name().to_owned();
        Err(Error::Arguments { kernel, reason: faults.join("; ") })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = self.loaded.kernel(self.index).ok();
        formatter.debug_tuple("Kernel").field(&kernel).finish()
    }
}
