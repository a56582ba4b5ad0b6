//! Device variables: memory of modules that the program reads and writes, `__constant__` and `__device__` variables of
//! CUDA C++ and HIP. What CUDA has `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol` for.

use std::{fmt, marker::PhantomData, mem::MaybeUninit, sync::Arc};

use crate::{
    cache::ModuleHold,
    copy::DeviceCopy,
    device::Device,
    embedded::{EmbeddedArtifact, VariableLayout},
    error::{Error, Result},
    hal::VariablePlace,
};

/// A module with a variable, and the binary that it was loaded from.
pub(crate) type VariableModule = (&'static EmbeddedArtifact, Arc<ModuleHold>);

/// A variable of device code on one device: a generated `Kernels` has them under
/// `variables()`, with the types of their sources.
///
/// It lives in a module that is loaded on the device, with the value that the source gives it at first, and keeps what was
/// written as long as the module is loaded: at least as long as a `Kernels` or this lives. Two `Kernels` on one device share
/// it. On the CPU there is one for all devices of the program.
///
/// Each access waits for all that the device was given before, as `cudaMemcpyToSymbol` does, so that kernels which were
/// launched before a write read what was there, and those after it the new value. What a kernel reads that another thread
/// launches during a write is not defined on a GPU.
///
/// ```no_run
/// # use kernelmill::{DeviceVariable, Result};
/// # fn example(blur: DeviceVariable<[f32; 9]>) -> Result<()> {
/// // __constant__ float blur[9];
/// blur.write(&[1.0 / 9.0; 9])?;
/// blur.write_from(4, &[0.5])?;
/// assert_eq!(blur.read()?[4], 0.5);
/// # Ok(())
/// # }
/// ```
pub struct DeviceVariable<T> {
    layout: &'static VariableLayout,
    device: Device,
    modules: Vec<VariableModule>,
    ty: PhantomData<fn(T) -> T>,
}

impl<T: DeviceCopy> DeviceVariable<T> {
    /// The variable in some modules; one at least.
    ///
    /// # Safety
    ///
    /// It has this type.
    pub(crate) unsafe fn new(
        layout: &'static VariableLayout,
        device: Device,
        modules: Vec<VariableModule>,
    ) -> Self {
        Self { layout, device, modules, ty: PhantomData }
    }

    /// Its name in the source.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.layout.name
    }

    /// Gives it a value, in each module that has it.
    ///
    /// # Errors
    ///
    /// [`Error::MissingVariable`] where the compiler has left it out of all binaries, [`Error::VariableInUse`] where the
    /// calling thread may not wait for kernels, and what the driver reports.
    pub fn write(&self, value: &T) -> Result<()> {
        // SAFETY: the value has the size of the variable.
        unsafe { self.write_bytes(0, (&raw const *value).cast(), size_of::<T>()) }
    }

    /// Its value. Where several modules have it, of variants for example, it is that of the first.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceVariable::write`].
    pub fn read(&self) -> Result<T> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the value has the size of the variable; what a device holds of that type is a value of it.
        unsafe {
            self.read_bytes(0, value.as_mut_ptr().cast(), size_of::<T>())?;
            Ok(value.assume_init())
        }
    }

    /// # Safety
    ///
    /// The bytes are within the variable, and can be read at `source`.
    unsafe fn write_bytes(&self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        let mut found = false;
        for (artifact, module) in &self.modules {
            // SAFETY: promised.
            found |= unsafe {
                module.module().write_variable(artifact, self.place(offset), source, bytes)?
            };
        }
        if found { Ok(()) } else { Err(self.missing()) }
    }

    /// # Safety
    ///
    /// The bytes are within the variable, and can be written at `target`.
    unsafe fn read_bytes(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        for (artifact, module) in &self.modules {
            // SAFETY: promised.
            if unsafe {
                module.module().read_variable(artifact, self.place(offset), target, bytes)?
            } {
                return Ok(());
            }
        }
        Err(self.missing())
    }

    fn place(&self, offset: usize) -> VariablePlace<'static> {
        VariablePlace { symbol: self.layout.symbol, size: self.layout.bytes, offset }
    }

    fn missing(&self) -> Error {
        Error::MissingVariable { variable: self.name(), device: self.device.to_string() }
    }
}

impl<T: DeviceCopy, const N: usize> DeviceVariable<[T; N]> {
    /// Gives elements of it values, from the one with the index `first` on. The others keep theirs.
    ///
    /// # Errors
    ///
    /// [`Error::VariableRange`] where they are more than it has, and those of [`DeviceVariable::write`].
    pub fn write_from(&self, first: usize, values: &[T]) -> Result<()> {
        self.check(first, values.len())?;
        let (offset, bytes) = (first * size_of::<T>(), size_of_val(values));
        // SAFETY: they are within the variable.
        unsafe { self.write_bytes(offset, values.as_ptr().cast(), bytes) }
    }

    /// Copies elements of it, from the one with the index `first` on.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceVariable::write_from`].
    pub fn read_from(&self, first: usize, values: &mut [T]) -> Result<()> {
        self.check(first, values.len())?;
        let (offset, bytes) = (first * size_of::<T>(), size_of_val(values));
        // SAFETY: they are within the variable; what a device holds of that type are values of it.
        unsafe { self.read_bytes(offset, values.as_mut_ptr().cast(), bytes) }
    }

    fn check(&self, first: usize, count: usize) -> Result<()> {
        if first.checked_add(count).is_some_and(|end| end <= N) {
            return Ok(());
        }
        Err(Error::VariableRange { variable: self.name(), length: N, first, count })
    }
}

impl<T> fmt::Debug for DeviceVariable<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, device, .. } = self;
        let mut shown = formatter.debug_struct("DeviceVariable");
        shown.field("name", &layout.name).field("bytes", &layout.bytes);
        shown.field("device", &format_args!("{device}")).finish_non_exhaustive()
    }
}
