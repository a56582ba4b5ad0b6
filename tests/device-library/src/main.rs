//! Runs kernels that fail, print and allocate on a device, and prints what the host learns.
//!
//! `device-library cpu failures`; the device is `cpu` or `cuda`, then `failures`, `passed`, `prints`,
//! `heap` or `boxes`.

mod kernels {
    kernelmill::include_kernels!();
}

use kernelmill::{Buffer, Device, Launch, Stream, Swizzle, TensorMap, TensorMapMut};
use kernels::Kernels;
use std::{env, error::Error};

type Kernel =
    fn(&Kernels, &Stream, Launch<1>, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>;

const FAILURES: [(&str, Kernel); 12] = [
    ("formatted", |on, stream, launch, x, y| on.formatted(stream, launch, x, y)),
    ("compared", |on, stream, launch, x, y| on.compared(stream, launch, x, y)),
    ("unwrapped", |on, stream, launch, x, y| on.unwrapped(stream, launch, x, y)),
    ("expected", |on, stream, launch, x, y| on.expected(stream, launch, x, y)),
    ("named", |on, stream, launch, x, y| on.named(stream, launch, x, y)),
    ("explained", |on, stream, launch, x, y| on.explained(stream, launch, x, y)),
    ("missed", |on, stream, launch, x, y| on.missed(stream, launch, x, y)),
    ("spelt", |on, stream, launch, x, y| on.spelt(stream, launch, x, y)),
    ("overflown", |on, stream, launch, x, y| on.overflown(stream, launch, x, y)),
    ("exhausted", |on, stream, launch, x, y| on.exhausted(stream, launch, x, y)),
    ("overfull", |on, stream, launch, x, y| on.overfull(stream, launch, x, y)),
    ("divided", |on, stream, launch, x, y| on.divided(stream, launch, x, y)),
];

/// Its way there ends early on the CPU, where several functions of the kernel lead to it.
const PASSED: (&str, Kernel) =
    ("passed", |on, stream, launch, x, y| on.passed(stream, launch, x, y));

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [device, what] = arguments.as_slice() else {
        return Err("write `device-library cpu failures`".into());
    };
    let device = if device == "cuda" { Device::cuda(0)? } else { Device::cpu()? };
    let kernels = Kernels::load(&device)?;
    match what.as_str() {
        "failures" => failures(&device, &kernels, &FAILURES, usize::MAX),
        "passed" => failures(&device, &kernels, &[PASSED], 1),
        "prints" => prints(&device, &kernels),
        "heap" => heap(&device, &kernels),
        "boxes" => boxes(&device, &kernels),
        other => {
            Err(format!("`{other}` is none of failures, passed, prints, heap and boxes").into())
        }
    }
}

/// Thread 5 of block 1 fails; then the device does the same launch with other numbers.
/// Of what is reported the first lines are printed.
fn failures(
    device: &Device,
    kernels: &Kernels,
    failing: &[(&str, Kernel)],
    lines: usize,
) -> Result<(), Box<dyn Error>> {
    let good: Vec<u32> = (0..64).map(|i| 7 + i / 3).collect();
    let mut bad = good.clone();
    bad[37] = 0;
    let (stream, launch) = (device.stream(), Launch::grid([2], [32]));
    for (name, kernel) in failing {
        let mut output = device.zeros(64)?;
        kernel(kernels, &stream, launch, &device.upload(&bad)?, &mut output)?;
        match stream.synchronize() {
            Ok(()) => println!("{name}: nothing was reported"),
            Err(error) => {
                let text = error.to_string();
                let text: Vec<_> = text.lines().take(lines).collect();
                println!("{name}: {}", text.join("\n"));
            }
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

/// Shifts a matrix of 70 by 21 by a few elements, box by box, and prints what a device says of maps that
/// do not fit.
fn boxes(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let (width, height, stride) = (70, 21, 72);
    let values: Vec<u32> = (1..=(stride * height) as u32).collect();
    let input = device.upload(&values)?;
    let shifts = [
        (0, Swizzle::None),
        (0, Swizzle::Bytes128),
        (4, Swizzle::None),
        (3, Swizzle::None),
        (3, Swizzle::Bytes128),
        (-5, Swizzle::Bytes128),
    ];
    for (shift, swizzle) in shifts {
        let mut output = device.zeros::<u32>(stride * height)?;
        let from = TensorMap::tiled(&input, [width, height], [1, stride], [32, 8])?;
        let to = TensorMapMut::tiled(&mut output, [width, height], [1, stride], [32, 8])?;
        let (from, mut to) = (from.swizzled(swizzle)?, to.swizzled(swizzle)?);
        let launch = Launch::grid([3, 3], [64, 1]);
        kernels.shifted(&device.stream(), launch, &from, &mut to, shift)?;
        let found = output.download()?;
        let expected = |at: usize| {
            let (x, y) = (at % stride, at / stride);
            let (from_x, from_y) = (x as i32 - shift, y as i32 - shift);
            let inside = |at: i32, size: usize| (0..size as i32).contains(&at);
            let is_there = x < width && inside(from_x, width) && inside(from_y, height);
            // Boxes that begin past the last one would bring zeros.
            if is_there { values[from_y as usize * stride + from_x as usize] } else { 0 }
        };
        let right = (0..found.len()).filter(|at| found[*at] == expected(*at)).count();
        println!("shifted by {shift}, {swizzle:?}: {right} of {} elements are right", found.len());
    }
    let other = Device::cpu_sequential()?.zeros::<u32>(stride * height)?;
    let from = TensorMap::tiled(&other, [width, height], [1, stride], [32, 8])?;
    let mut output = device.zeros::<u32>(stride * height)?;
    let mut to = TensorMapMut::tiled(&mut output, [width, height], [1, stride], [32, 8])?;
    let launch = Launch::grid([3, 3], [64, 1]);
    let refused = kernels.shifted(&device.stream(), launch, &from, &mut to, 0);
    println!("a map of another device: {}", refused.is_err());
    // The box is larger than the tile, which only the kernel knows.
    let from = TensorMap::tiled(&input, [width, height], [1, stride], [32, 16])?;
    kernels.shifted(&device.stream(), launch, &from, &mut to, 0)?;
    match device.stream().synchronize() {
        Ok(()) => println!("a box that is too large: nothing was reported"),
        Err(error) => println!("a box that is too large: {error}"),
    }
    Ok(())
}
