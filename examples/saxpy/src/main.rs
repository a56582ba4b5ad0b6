//! The shortest program with a kernel: `y += a * x`.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::Launch;

fn main() -> kernelmill::Result<()> {
    let kernels = kernels::Kernels::best()?; // on CUDA, HIP, OpenCL, Vulkan, else the CPU
    let device = kernels.device();
    let x = device.upload(&[1.0f32; 1000])?;
    let mut y = device.upload(&[2.0f32; 1000])?;
    kernels.saxpy(&device.stream(), Launch::linear(1000), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?[999], 5.0);
    println!("saxpy: 3 * 1 + 2 = 5 for 1000 elements on {}", device.name());
    Ok(())
}
