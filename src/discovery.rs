//! Device discovery: which devices there are, and the best of them.
//!
//! The only module above the back ends that opens devices.

use crate::{
    backend::{self, cpu, cpu_async},
    device::Device,
    device_name::{self, DeviceName, Which},
    error::{Error, Result},
    properties::Backend,
};

impl Device {
    /// The device that the environment variable `KERNELMILL_DEVICE` names, as `cuda:1`, `hip:0`, `opencl:pocl`, `cpu` or
    /// `cpu-async`. Where it is not set: the first GPU that can be opened, of CUDA (with the feature `cuda`), then of HIP
    /// (with the feature `hip`), then of OpenCL (with the feature `opencl`), then of wgpu (with the feature `wgpu`), else
    /// the processor.
    ///
    /// It may be a device that a program has no binary for, as one for `vulkan` alone has none for an NVIDIA GPU.
    /// `Kernels::best()`, of the generated bindings, takes the best device that runs the kernels.
    ///
    /// A GPU that is there but cannot be opened is passed over. [`Device::unavailable`] says why, and
    /// so does this function, to standard error, where the environment variable `KERNELMILL_LOG` is
    /// set.
    ///
    /// # Errors
    ///
    /// [`Error::RequestedDevice`] where the device that is named cannot be opened, and [`Error::Variable`]
    /// where that variable, or one of the CPU back end, cannot be read. Nothing else: the processor is
    /// always there.
    pub fn best() -> Result<Self> {
        named().unwrap_or_else(Self::first)
    }

    /// The device with this name.
    fn requested(name: &str) -> Result<Self> {
        let name = DeviceName::read(name)?;
        let opened = match &name.which {
            Which::Ordinal(ordinal) => backend::open(name.backend, *ordinal),
            Which::Part(part) => backend::open_named(name.backend, part),
        };
        opened.map(Self::of).map_err(|reason| Error::RequestedDevice {
            device: name.to_string(),
            reason: Box::new(reason),
            devices: Self::inventory(),
        })
    }

    /// The first device that can be opened.
    fn first() -> Result<Self> {
        let mut passed_over = Vec::new();
        let mut devices = backend::devices();
        let best = devices.find_map(|device| device.map_err(|error| passed_over.push(error)).ok());
        let best = Self::of(best.map_or_else(cpu::context::parallel, Ok)?);
        say_passed_over(&passed_over, &best);
        Ok(best)
    }

    /// Every device that can be opened, the best first: GPUs, the processor, and behind it processors as devices of
    /// OpenCL. A GPU that several back ends drive is a device of each. [`Device::inventory`] says the same
    /// for people, and why other devices are not there.
    #[must_use]
    pub fn all() -> Vec<Self> {
        backend::devices().filter_map(Result::ok).map(Self::of).collect()
    }

    /// Why what [`Device::all`] lacks is not there: an error for each driver that is too old or does not start, and
    /// for each of its devices that cannot be opened. A driver that is not installed is none.
    ///
    /// ```
    /// for error in kernelmill::Device::unavailable() {
    ///     eprintln!("{error}");
    /// }
    /// ```
    #[must_use]
    pub fn unavailable() -> Vec<Error> {
        backend::devices().filter_map(Result::err).collect()
    }

    /// Every back end, those that this program was built without among them, for people: a line for each
    /// device with what `KERNELMILL_DEVICE` calls it, and one for each that is not there with the reason.
    ///
    /// ```
    /// println!("{}", kernelmill::Device::inventory());
    /// ```
    #[must_use]
    pub fn inventory() -> String {
        let line = |backend: Backend, found: Result<_>| match found.map(Self::of) {
            Ok(device) => format!("  {}: {device}", device.selector()),
            Err(error) => {
                let (text, known) = (error.to_string(), format!("{backend} is not available: "));
                let reason = text.strip_prefix(&known).unwrap_or(&text);
                format!("  no {}: {reason}", backend.word())
            }
        };
        let lines = Backend::ALL.into_iter().flat_map(|backend| {
            backend::devices_of(backend).into_iter().map(move |found| line(backend, found))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The processor. Blocks of a launch run in parallel, on rayon's global thread pool.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read.
    pub fn cpu() -> Result<Self> {
        cpu::context::parallel().map(Self::of)
    }

    /// The processor, on the calling thread alone: the blocks of a launch run one after the
    /// other, x fastest, and so do the threads of a block up to their next barrier. What a kernel
    /// computes, and which panic of a launch is reported, is the same every time.
    ///
    /// A device of its own: buffers and kernels of [`Device::cpu`] do not go with it.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu_sequential()?;
    /// assert!(device.name().contains("sequential"));
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn cpu_sequential() -> Result<Self> {
        cpu::context::sequential().map(Self::of)
    }

    /// The processor, with launches and copies that are queued, as on a GPU: a launch returns before its kernel
    /// has run, and streams run beside each other. What a program forgets to wait for, it misses here as
    /// it does there, so that tests without a GPU see it.
    ///
    /// A device of its own: buffers and kernels of [`Device::cpu`] do not go with it. Each stream is a thread, which
    /// shares the blocks of a launch among rayon's global thread pool.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read, and
    /// [`Error::Unavailable`] where a thread cannot be started.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu_async()?;
    /// let buffer = device.upload(&[1.0_f32, 2.0])?;
    /// assert_eq!(buffer.download()?, [1.0, 2.0]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    ///
    /// [`Error::Unavailable`]: crate::Error::Unavailable
    pub fn cpu_async() -> Result<Self> {
        cpu_async::context::open().map(Self::of)
    }

    /// The NVIDIA GPU with this number, in its primary context.
    ///
    /// # Errors
    ///
    /// [`Error::Disabled`] without the feature `cuda`, [`Error::NoDevice`] without a driver or such a device,
    /// [`Error::Unavailable`] for a driver that is too old, and [`Error::Cuda`] where the driver refuses the device.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        backend::open(Backend::Cuda, ordinal).map(Self::of)
    }

    /// The AMD GPU with this number.
    ///
    /// # Errors
    ///
    /// [`Error::Disabled`] without the feature `hip`, [`Error::NoDevice`] without a HIP library or such a device,
    /// [`Error::Unavailable`] for a library that is too old, and [`Error::Hip`] where it refuses the device.
    pub fn hip(ordinal: usize) -> Result<Self> {
        backend::open(Backend::Hip, ordinal).map(Self::of)
    }

    /// The device of OpenCL with this number, in the order in which the OpenCL library lists them. `KERNELMILL_DEVICE` can
    /// name one by a part of its name, its platform's or its version, too: `opencl:pocl`.
    ///
    /// # Errors
    ///
    /// [`Error::Disabled`] without the feature `opencl`, [`Error::NoDevice`] without an OpenCL library or such a device,
    /// [`Error::UnsupportedDevice`] for a device without shared virtual memory, and [`Error::OpenCl`] where the library
    /// refuses it.
    pub fn opencl(ordinal: usize) -> Result<Self> {
        backend::open(Backend::OpenCl, ordinal).map(Self::of)
    }

    /// The device of Vulkan, Metal or D3D12 with this number, GPUs first. It runs kernels in WGSL. A GPU of several of them is
    /// enumerated by [`Device::all`] as that of Vulkan; the others have the last numbers. `KERNELMILL_DEVICE` can name one by
    /// a part of its name, of its driver's or of the interface's, too: `wgpu:radv`, `wgpu:d3d12`.
    ///
    /// # Errors
    ///
    /// [`Error::Disabled`] without the feature `wgpu`, [`Error::NoDevice`] without a driver or such a device, and
    /// [`Error::UnsupportedDevice`] for a device of Vulkan that takes no SPIR-V 1.4 as it is where the feature
    /// `wgpu-translation` is off, which macOS and Windows do not need.
    pub fn wgpu(ordinal: usize) -> Result<Self> {
        backend::open(Backend::Wgpu, ordinal).map(Self::of)
    }
}

/// The device that the environment variable `KERNELMILL_DEVICE` names; `None` where it is not set.
pub(crate) fn named() -> Option<Result<Device>> {
    let name = std::env::var_os(device_name::VARIABLE).filter(|name| !name.is_empty())?;
    Some(Device::requested(&name.to_string_lossy()))
}

/// Every device, the best first, each opened when the iterator comes to it; an error for each that cannot be.
pub(crate) fn each() -> impl Iterator<Item = Result<Device>> {
    backend::devices().map(|device| device.map(Device::of))
}

/// Says why devices were passed over for another one, where the environment variable `KERNELMILL_LOG` is set.
pub(crate) fn say_passed_over(errors: &[Error], best: &Device) {
    if !errors.is_empty() && std::env::var_os("KERNELMILL_LOG").is_some_and(is_on) {
        for error in errors {
            eprintln!("kernelmill: {error}; using {best} instead");
        }
    }
}

/// Whether a variable is set to something.
fn is_on(value: std::ffi::OsString) -> bool {
    !value.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_opened_by_its_name() {
        for device in Device::all().into_iter().chain([Device::cpu_async().unwrap()]) {
            assert_eq!(Device::requested(&device.selector()).unwrap(), device);
        }
        let error = Device::requested("gpu").unwrap_err();
        assert!(matches!(error, Error::Variable { variable: "KERNELMILL_DEVICE", .. }), "{error}");
    }

    #[test]
    fn a_device_that_is_not_there_is_explained() {
        let error = Device::requested("cpu:3").unwrap_err();
        let Error::RequestedDevice { reason, .. } = &error else { panic!("{error}") };
        assert_eq!(reason.code().number(), "KM1048");
        let error = error.to_string();
        let expected = "the environment variable KERNELMILL_DEVICE names `cpu:3`, which cannot be opened: CPU is not \
                        available: there is no device 3: the processor is one device, number 0; the devices are:\n";
        assert!(error.starts_with(expected), "{error}");
        let cpu = Device::cpu().unwrap();
        assert!(error.ends_with(&format!("\n  cpu: {cpu}")), "{error}");
    }

    /// Builds without a feature name it, in the error and in the list.
    #[test]
    fn back_ends_that_are_not_built_name_their_feature() {
        let all = [
            (cfg!(feature = "cuda"), "cuda"),
            (cfg!(feature = "hip"), "hip"),
            (cfg!(feature = "opencl"), "opencl"),
            (cfg!(feature = "wgpu"), "wgpu"),
        ];
        for (_, name) in all.into_iter().filter(|(is_built, _)| !is_built) {
            let expected = format!(
                "kernelmill was built without its feature `{name}`; enable it in Cargo.toml: `features = \
                 [\"{name}\"]`"
            );
            let error = Device::requested(name).unwrap_err();
            assert!(error.to_string().contains(&expected), "{error}");
            let Error::RequestedDevice { reason, .. } = error else { panic!("{error}") };
            let Error::Disabled { feature, .. } = *reason else { panic!("{reason}") };
            assert_eq!(feature, name);
            let inventory = Device::inventory();
            assert!(inventory.contains(&format!("  no {name}: {expected}")), "{inventory}");
        }
    }
}
