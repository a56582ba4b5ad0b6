use kernelmill_device_macros::kernels;

/// As a module is to be.
#[kernels]
#[allow(dead_code)]
pub(crate) mod fine {
    #[kernelmill_device::kernel]
    pub fn k() {}
}

#[kernels]
pub fn k() {}

#[kernels(fast)]
mod with_arguments {}

#[kernels]
pub(crate) struct NoModule;
