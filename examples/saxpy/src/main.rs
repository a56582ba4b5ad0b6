//! The shortest program with a kernel: `y += a * x`.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?; // CUDA, HIP, OpenCL, Vulkan, else CPU
    let kernels = kernels::Kernels::load(&device)?;
    let x = device.upload(&[1.0f32; 1000])?;
    let mut y = device.upload(&[2.0f32; 1000])?;
    kernels.saxpy(&device.stream(), Launch::linear(1000), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?[999], 5.0);
    println!("saxpy: 3 * 1 + 2 = 5 for 1000 elements on {}", device.name());
    Ok(())
}
