//! Prepared launches: everything of a launch that does not change from one to the next, done once.
//!
//! A launch wrapper checks a launch, holds memory, and lists arguments each time. A prepared launch does so when it is
//! made. What is left is what has to be done for every launch: the order with what else uses the memory, and the call
//! of the driver, or of the kernel on the CPU.

use std::{fmt, marker::PhantomData, sync::Arc};

use crate::{
    argument::{LaunchStream, PreparedSlice},
    device::Device,
    error::{Error, Result},
    hal::{Guard, Queue, StreamRef},
    launch::Launch,
    loaded::{Loaded, PreparedParts},
    preparation::{Noted, Preparation, PreparedMemory},
};
use kernelmill_artifact::{MAX_ARGUMENTS, Signature};

/// A launch that is ready to be made any number of times, by `Kernels::prepare` of the generated bindings.
///
/// The buffers that it uses are borrowed while it lives, as they are for the call of a wrapper: those that the kernel
/// writes can be read when it is gone. Its kernel stays loaded as long.
///
/// ```
/// # /* What the next line brings in is written by the build script:
/// mod kernels { kernelmill::include_kernels!(); }
/// # */
/// # use kernelmill::{__codegen as cg, Device, Launch, PreparedLaunch, ReadSlice, Result, WriteSlice};
/// # struct Kernels(Device);
/// # impl Kernels {
/// #     fn load(device: &Device) -> Result<Self> { Ok(Self(device.clone())) }
/// #     fn prepare(&self) -> &Self { self }
/// #     fn saxpy<'a>(
/// #         &self, _: Launch<1>, a: f32, x: impl ReadSlice<f32> + 'a, y: impl WriteSlice<f32> + 'a,
/// #     ) -> Result<PreparedLaunch<'a>> {
/// #         unsafe {
/// #             cg::prepare(&self.0, |stream| {
/// #                 let stream = cg::stream(stream);
/// #                 cg::read(x, stream)?;
/// #                 cg::write(y, stream).map(drop)
/// #             })
/// #         }
/// #     }
/// # }
/// let device = Device::cpu()?;
/// let kernels = Kernels::load(&device)?;
/// let x = device.upload(&[1.0f32; 1000])?;
/// let mut y = device.zeros::<f32>(1000)?;
///
/// let stream = device.stream();
/// let mut saxpy = kernels.prepare().saxpy(Launch::linear(1000), 2.0, &x, &mut y)?;
/// for _ in 0..10 {
///     saxpy.launch(&stream)?;
/// }
/// drop(saxpy);
/// let sums = y.download()?;
/// # assert_eq!(sums.len(), 1000);
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// `Kernels::set_scalars` of the generated bindings sets its scalars, with the checks of a launch:
/// `kernels.set_scalars().saxpy(&mut saxpy, 3.0)?`.
///
/// A buffer that is written is not to be read meanwhile:
///
/// ```compile_fail,E0502
/// # use kernelmill::{Buffer, PreparedLaunch, Result, Stream, WriteSlice};
/// # fn prepare<'a>(y: impl WriteSlice<f32> + 'a) -> PreparedLaunch<'a> { unreachable!() }
/// # fn f(stream: &Stream, mut y: Buffer<f32>) -> Result<()> {
/// let mut fill = prepare(&mut y);
/// y.download()?;
/// fill.launch(stream)?;
/// # Ok(()) }
/// ```
///
/// A buffer that is gone is not to be used:
///
/// ```compile_fail,E0505
/// # use kernelmill::{Buffer, PreparedLaunch, ReadSlice, Result, Stream};
/// # fn prepare<'a>(x: impl ReadSlice<f32> + 'a) -> PreparedLaunch<'a> { unreachable!() }
/// # fn f(stream: &Stream, x: Buffer<f32>) -> Result<()> {
/// let mut sum = prepare(&x);
/// drop(x);
/// sum.launch(stream)?;
/// # Ok(()) }
/// ```
pub struct PreparedLaunch<'a> {
    /// `None`: there are no threads.
    launch: Option<Box<PreparedParts>>,
    memory: Vec<PreparedMemory>,
    /// The elements of each slice: their address and how many they are.
    slices: Vec<(u64, usize)>,
    /// Which kernel it is of, and the launch that was asked for.
    asked: Option<(&'static Signature, Launch<3>)>,
    /// The default stream, where a launch on it has held all memory for those that follow on it. It stays the same stream
    /// for as long as this is here.
    held_for: Option<Arc<dyn Queue>>,
    device: Device,
    /// The memory is borrowed for this.
    marker: PhantomData<&'a mut ()>,
}

/// Blocks of memory that are held without a word on the heap in the least space.
const FEWEST: usize = 3;
const FEW: usize = 8;

/// Prepares the launch that `wrapper` makes on the stream that it is given.
///
/// # Errors
///
/// Those of the wrapper.
///
/// # Safety
///
/// `wrapper` makes one launch. What it gives that to use is borrowed for `'a`, for writing where the launch writes,
/// and what the wrapper asks of its caller holds for every launch in `'a`.
pub unsafe fn prepare<'a>(
    device: &Device,
    wrapper: impl FnOnce(&PreparationStream) -> Result<()>,
) -> Result<PreparedLaunch<'a>> {
    let stream = PreparationStream(Preparation::new(device.context().id()));
    wrapper(&stream)?;
    let Noted { memory, slices, asked, launch } = stream.0.into_noted();
    let launch = launch.and_then(|launch| launch.downcast::<PreparedParts>().ok());
    let device = device.clone();
    Ok(PreparedLaunch {
        launch,
        memory,
        slices,
        asked,
        held_for: None,
        device,
        marker: PhantomData,
    })
}

/// The slices of a prepared launch, in the order of the parameters.
#[derive(Debug)]
pub struct PreparedSlices<'p>(std::slice::Iter<'p, (u64, usize)>);

impl PreparedSlices<'_> {
    /// The next one; no elements where there is none.
    #[must_use]
    pub fn take(&mut self) -> PreparedSlice {
        let (address, len) = self.0.next().copied().unwrap_or_default();
        PreparedSlice { address, len }
    }
}

/// Sets the scalars of a prepared launch: `wrapper` makes the launch again, with the slices that it has and other scalars,
/// so that it is checked as any launch. One that is refused leaves the prepared launch as it was.
///
/// # Errors
///
/// [`Error::OtherKernel`] and [`Error::WrongDevice`] for a launch that this kernel is not of, and those of the wrapper.
///
/// # Safety
///
/// `wrapper` makes one launch of this kernel, and passes the slices where its parameters are slices, in their order. What it
/// asks of its caller holds for every launch.
pub unsafe fn set_scalars<const D: usize>(
    prepared: &mut PreparedLaunch<'_>,
    loaded: &Loaded,
    signature: usize,
    wrapper: impl FnOnce(&PreparationStream, Launch<D>, &mut PreparedSlices<'_>) -> Result<()>,
) -> Result<()> {
    let context = loaded.device().context().id();
    if context != prepared.device.context().id() {
        return Err(prepared.wrong_device(&loaded.device().to_string()));
    }
    let expected = loaded.kernel(signature)?.signature();
    let launch = match prepared.asked {
        Some((found, launch)) if std::ptr::eq(found, expected) => launch,
        other => return Err(other_kernel(other.map(|(found, _)| found), expected)),
    };
    let stream = PreparationStream(Preparation::again(context, prepared.launch.take()));
    let mut slices = PreparedSlices(prepared.slices.iter());
    let set = wrapper(&stream, launch.narrowed(), &mut slices);
    // What was there before, unless another launch has taken its place.
    let launch = stream.0.into_noted().launch;
    prepared.launch = launch.and_then(|launch| launch.downcast::<PreparedParts>().ok());
    set
}

#[cold]
fn other_kernel(found: Option<&Signature>, expected: &'static Signature) -> Error {
    let found = found.map_or("no kernel".to_owned(), |found| format!("`{}`", found.name()));
    Error::OtherKernel { found, expected: expected.name() }
}

/// The stream that a wrapper is given while its launch is prepared.
pub struct PreparationStream(Preparation);

impl crate::argument::sealed::Sealed for PreparationStream {}

impl LaunchStream for PreparationStream {
    fn stream(&self) -> StreamRef<'_> {
        StreamRef::new(&self.0)
    }
}

impl fmt::Debug for PreparationStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PreparationStream").finish_non_exhaustive()
    }
}

impl PreparedLaunch<'_> {
    /// Puts the launch on a stream, as the wrapper would: it waits for what else uses its buffers.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] for a stream of another device or a graph that is being recorded, and what the driver
    /// reports. A panic of the kernel is reported by the stream or a buffer, as that of any launch.
    pub fn launch(&mut self, stream: &impl LaunchStream) -> Result<()> {
        let stream = stream.stream();
        if let (Some(held_for), Some(parts)) = (&self.held_for, &self.launch)
            && stream.is(&**held_for)
        {
            return parts.launch_held(stream, &[]);
        }
        self.hold_and_launch(stream)
    }

    /// Launches it, and notes whether that is all that has to be done for the memory.
    fn hold_and_launch(&mut self, stream: StreamRef<'_>) -> Result<()> {
        self.held_for = None;
        if stream.is_recording() || !self.device.context().accepts(&stream) {
            return Err(self.wrong_device(stream.describe()));
        }
        let Some(parts) = &self.launch else { return Ok(()) };
        let is_held = if self.memory.len() <= FEWEST {
            parts.launch::<FEWEST>(&mut self.memory, stream)?
        } else if self.memory.len() <= FEW {
            parts.launch::<FEW>(&mut self.memory, stream)?
        } else {
            parts.launch::<MAX_ARGUMENTS>(&mut self.memory, stream)?
        };
        // Any other stream may be gone before this is, and one that is made then have its address.
        if is_held {
            let default = self.device.context().default_stream();
            self.held_for = stream.is(&*default).then_some(default);
        }
        Ok(())
    }

    /// The device that it is prepared for.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    #[cold]
    fn wrong_device(&self, expected: &str) -> Error {
        let name = self.asked.map(|(signature, _)| signature.name());
        Error::WrongDevice {
            subject: format!("a prepared launch of `{}`", name.unwrap_or("a kernel")),
            found: self.device.to_string(),
            expected: expected.to_owned(),
        }
    }
}

impl PreparedParts {
    /// Launches it, with as many blocks of memory at most. Whether the memory is held for further launches on the stream.
    fn launch<const N: usize>(
        &self,
        memory: &mut [PreparedMemory],
        stream: StreamRef<'_>,
    ) -> Result<bool> {
        let mut guards = [const { Guard::Nothing }; N];
        for (guard, memory) in guards.iter_mut().zip(memory) {
            // SAFETY: who prepared the launch has promised that the memory is borrowed while it lives.
            unsafe { memory.hold(&stream, guard)? };
        }
        self.launch_held(stream, &guards)?;
        Ok(guards.iter().all(Guard::is_lasting))
    }

    /// Launches it with memory that is held.
    fn launch_held(&self, stream: StreamRef<'_>, guards: &[Guard<'_>]) -> Result<()> {
        let Self { kernel, shape, arguments } = self;
        // SAFETY: the memory is held, the shape was checked, and the stream is of the kernel's device.
        let error = unsafe { kernel.run_owned(stream, shape, arguments)? };
        if let Some(error) = error {
            guards.iter().filter_map(Guard::errors).for_each(|slot| slot.keep(&error));
        }
        Ok(())
    }
}

impl fmt::Debug for PreparedLaunch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.asked.map(|(signature, _)| signature.name());
        formatter
            .debug_struct("PreparedLaunch")
            .field("kernel", &name)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
