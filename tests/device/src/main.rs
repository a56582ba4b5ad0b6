//! Runs kernels that fail, print and allocate on a device, and prints what the host learns.
//!
//! `device-library cpu failures`; the device is `cpu` or `cuda`, then `failures`, `prints` or `heap`.

mod kernels {
    kernelmill::include_kernels!();
}

use kernelmill::{Buffer, Device, Launch, Stream};
use kernels::Kernels;
use std::{env, error::Error};

type Kernel =
    fn(&Kernels, &Stream, Launch<1>, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>;

const FAILURES: [(&str, Kernel); 7] = [
    ("formatted", |on, stream, launch, x, y| on.formatted(stream, launch, x, y)),
    ("compared", |on, stream, launch, x, y| on.compared(stream, launch, x, y)),
    ("unwrapped", |on, stream, launch, x, y| on.unwrapped(stream, launch, x, y)),
    ("expected", |on, stream, launch, x, y| on.expected(stream, launch, x, y)),
    ("overflown", |on, stream, launch, x, y| on.overflown(stream, launch, x, y)),
    ("exhausted", |on, stream, launch, x, y| on.exhausted(stream, launch, x, y)),
    ("divided", |on, stream, launch, x, y| on.divided(stream, launch, x, y)),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [device, what] = arguments.as_slice() else {
        return Err("write `device-library cpu failures`".into());
    };
    let device = if device == "cuda" { Device::cuda(0)? } else { Device::cpu()? };
    let kernels = Kernels::load(&device)?;
    match what.as_str() {
        "failures" => failures(&device, &kernels),
        "prints" => prints(&device, &kernels),
        "heap" => heap(&device, &kernels),
        other => Err(format!("`{other}` is none of failures, prints and heap").into()),
    }
}

/// Thread 5 of block 1 fails; then the device does the same launch with other numbers.
fn failures(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let good: Vec<u32> = (0..64).map(|i| 7 + i / 3).collect();
    let mut bad = good.clone();
    bad[37] = 0;
    let (stream, launch) = (device.stream(), Launch::grid([2], [32]));
    for (name, kernel) in FAILURES {
        let mut output = device.zeros(64)?;
        kernel(kernels, &stream, launch, &device.upload(&bad)?, &mut output)?;
        match stream.synchronize() {
            Ok(()) => println!("{name}: nothing was reported"),
            Err(error) => println!("{name}: {error}"),
        }
        kernel(kernels, &stream, launch, &device.upload(&good)?, &mut output)?;
        stream.synchronize()?;
        let after = if output.download()? == good { "works" } else { "is wrong" };
        println!("{name}: the device {after} afterwards");
    }
    Ok(())
}

fn prints(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let stream = device.stream();
    let x = device.upload(&[0.1_f32, -2.5, 1e-7])?;
    kernels.prints(&stream, Launch::grid([1], [4]), &x)?;
    stream.synchronize()?;
    let x: Vec<u32> = (0..256).map(|i| i * i).collect();
    kernels.prints_lines(&stream, Launch::grid([8], [32]), &device.upload(&x)?)?;
    stream.synchronize()?;
    Ok(())
}

fn heap(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let (stream, launch) = (device.stream(), Launch::grid([2], [32]));
    let x: Vec<u32> = (0..64).map(|i| i % 11).collect();
    let (input, mut output) = (device.upload(&x)?, device.zeros(64)?);
    kernels.grows(&stream, launch, &input, &mut output)?;
    let expected: Vec<u32> = x.iter().map(|n| 3 * n * n.saturating_sub(1) / 2 + 1000 * n).collect();
    println!("lists: {}", output.download()? == expected);
    kernels.trees(&stream, launch, &input, &mut output)?;
    let expected: Vec<u32> = x.iter().map(|n| (0..16).map(|leaf| 16 * n + leaf).sum()).collect();
    println!("trees: {}", output.download()? == expected);
    Ok(())
}
