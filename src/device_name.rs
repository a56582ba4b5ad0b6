//! Device names: how a device is written, `cuda:1`, in the environment variable `KERNELMILL_DEVICE`.
//!
//! A name is a back end, which stands for its first device, or a back end and a number with a colon between
//! them; for OpenCL and wgpu, whose devices are of several vendors, also a part of a name, `opencl:pocl`. The asynchronous
//! processor has a name of its own. Plain data; `discovery` opens what is named.

use std::fmt;

use crate::{error::Error, properties::Backend};

/// The variable with the name of the device that `Device::best` gives.
pub(crate) const VARIABLE: &str = "KERNELMILL_DEVICE";

/// What its value should be, for messages.
const EXPECTED: &str =
    "`cuda`, `hip`, `opencl`, `wgpu`, `cpu` or `cpu-async`, alone or with a number as in `cuda:1`";

/// The asynchronous processor.
const CPU_ASYNC: &str = "cpu-async";

/// Its number among the devices of the processor.
pub(crate) const CPU_ASYNC_ORDINAL: usize = 1;

/// The name of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceName {
    pub(crate) backend: Backend,
    pub(crate) which: Which,
}

/// Which of a back end's devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The one with this number.
    Ordinal(usize),
    /// The first one in whose name, or that of its driver, this occurs.
    Part(String),
}

impl DeviceName {
    /// The device of a back end with a number.
    pub(crate) fn numbered(backend: Backend, ordinal: usize) -> Self {
        Self { backend, which: Which::Ordinal(ordinal) }
    }

    /// Reads the value of [`VARIABLE`].
    ///
    /// # Errors
    ///
    /// [`Error::Variable`] for what is no name.
    pub(crate) fn read(value: &str) -> Result<Self, Error> {
        Self::parse(value).ok_or_else(|| Error::Variable {
            variable: VARIABLE,
            value: value.to_owned(),
            expected: EXPECTED,
        })
    }

    fn parse(value: &str) -> Option<Self> {
        if value == CPU_ASYNC {
            return Some(Self::numbered(Backend::Cpu, CPU_ASYNC_ORDINAL));
        }
        let (backend, which) = value.split_once(':').unwrap_or((value, "0"));
        let backend = Backend::ALL.into_iter().find(|known| known.word() == backend)?;
        if which.is_empty() {
            return None;
        }
        if which.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::numbered(backend, which.parse().ok()?));
        }
        // Only devices of OpenCL and wgpu are of several vendors at once.
        let which = Which::Part(which.to_owned());
        matches!(backend, Backend::OpenCl | Backend::Wgpu).then_some(Self { backend, which })
    }
}

/// As it is written in the variable.
impl fmt::Display for DeviceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.backend, &self.which) {
            (Backend::Cpu, Which::Ordinal(0)) => formatter.write_str(Backend::Cpu.word()),
            (Backend::Cpu, Which::Ordinal(CPU_ASYNC_ORDINAL)) => formatter.write_str(CPU_ASYNC),
            (backend, Which::Ordinal(ordinal)) => write!(formatter, "{}:{ordinal}", backend.word()),
            (backend, Which::Part(part)) => write!(formatter, "{}:{part}", backend.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_back_ends_with_numbers() {
        let cases = [
            ("cpu", Backend::Cpu, 0, "cpu"),
            ("cpu:2", Backend::Cpu, 2, "cpu:2"),
            ("cpu-async", Backend::Cpu, CPU_ASYNC_ORDINAL, "cpu-async"),
            ("cuda", Backend::Cuda, 0, "cuda:0"),
            ("cuda:1", Backend::Cuda, 1, "cuda:1"),
            ("hip:12", Backend::Hip, 12, "hip:12"),
            ("opencl", Backend::OpenCl, 0, "opencl:0"),
            ("wgpu:2", Backend::Wgpu, 2, "wgpu:2"),
        ];
        for (text, backend, ordinal, written) in cases {
            let name = DeviceName::read(text).unwrap();
            assert_eq!(name, DeviceName::numbered(backend, ordinal));
            assert_eq!(name.to_string(), written);
        }
        let name = DeviceName::read("opencl:PoCL 3").unwrap();
        assert_eq!(name.which, Which::Part("PoCL 3".to_owned()));
        assert_eq!((name.backend, name.to_string()), (Backend::OpenCl, "opencl:PoCL 3".to_owned()));
        assert_eq!(DeviceName::read("wgpu:llvmpipe").unwrap().backend, Backend::Wgpu);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for wrong in
            ["", "gpu", "opencl:", "CUDA", "cuda:", "cuda:x", "cuda:+1", "cuda:0:1", "1", " cpu"]
        {
            let text = format!(
                "the environment variable KERNELMILL_DEVICE is `{wrong}`, which is not `cuda`, `hip`, \
                 `opencl`, `wgpu`, `cpu` or `cpu-async`, alone or with a number as in `cuda:1`"
            );
            assert_eq!(DeviceName::read(wrong).unwrap_err().to_string(), text);
        }
    }
}
