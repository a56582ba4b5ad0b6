//! What the pages of the book on WGSL and on Vulkan show, word for word.

use super::On;
use crate::kernels::Kernels;
use kernelmill::{Device, Launch};

pub(crate) fn of_wgsl(_: &On<'_>) -> kernelmill::Result<()> {
    saxpy()
}

pub(crate) fn of_vulkan(_: &On<'_>) -> kernelmill::Result<()> {
    blend()
}

fn saxpy() -> kernelmill::Result<()> {
    let device = Device::wgpu(0)?;
    let kernels = Kernels::load(&device)?;
    let x = device.upload(&[1.0f32; 1000])?;
    let mut y = device.upload(&[2.0f32; 1000])?;
    kernels.saxpy(&device.stream(), Launch::grid([16], [64]), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?, [5.0; 1000]);
    Ok(())
}

fn blend() -> kernelmill::Result<()> {
    let device = Device::wgpu(0)?;
    let kernels = Kernels::load(&device)?;
    let x = device.upload(&[1.0f32; 1000])?;
    let mut y = device.upload(&[2.0f32; 1000])?;
    kernels.blend(&device.stream(), Launch::linear(1000), 0.25, &x, &mut y)?;
    assert_eq!(y.download()?, [1.75; 1000]);
    Ok(())
}
