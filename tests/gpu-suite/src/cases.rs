//! The kernels of the examples with inputs.

use crate::kernels::{Body, Functions, Kernels, View};
use kernelmill::{Device, Launch, Result, Stream};
use std::time::Instant;

/// A device with the kernels loaded on it.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
}

/// Small inputs to compare, large ones to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Small,
    Large,
}

/// A kernel with inputs.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The relative error against the CPU that rounding explains.
    pub(crate) tolerance: f64,
    pub(crate) run: fn(Side<'_>, Scale) -> Result<Output>,
}

/// What a kernel computed, and how fast.
pub(crate) struct Output {
    /// The elements of the result; none for large inputs.
    pub(crate) values: Vec<f64>,
    /// Seconds of each launch; none for small inputs.
    pub(crate) seconds: Vec<f64>,
    /// Bytes that a launch has to read and write.
    pub(crate) bytes: f64,
    /// Floating-point operations that a launch has to do.
    pub(crate) operations: f64,
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "saxpy", tolerance: 1e-6, run: saxpy },
    Case { name: "mandelbrot", tolerance: 5e-3, run: mandelbrot },
    Case { name: "blur_rows", tolerance: 1e-3, run: blur_rows },
    Case { name: "blur_columns", tolerance: 1e-3, run: blur_columns },
    Case { name: "sobel", tolerance: 1e-3, run: sobel },
    Case { name: "reduce", tolerance: 1e-5, run: reduce },
    Case { name: "matmul", tolerance: 1e-5, run: matmul },
    Case { name: "matmul_f16", tolerance: 1e-5, run: matmul_f16 },
    Case { name: "accelerate", tolerance: 1e-4, run: accelerate },
    Case { name: "drift", tolerance: 1e-6, run: drift },
    Case { name: "develop", tolerance: 1e-5, run: develop },
    Case { name: "histogram", tolerance: 0.0, run: histogram },
    Case { name: "transpose", tolerance: 0.0, run: transpose },
    Case { name: "(copy on the device)", tolerance: 0.0, run: copy },
];

/// Launches in one time measured, so that waiting for the device does not count.
const BATCH: usize = 20;
/// Times measured.
const TIMES: usize = 15;

/// Large inputs: launches once to warm up, then measures.
fn measure(
    stream: &Stream,
    scale: Scale,
    mut launch: impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    launch()?;
    stream.synchronize()?;
    if scale == Scale::Small {
        return Ok(Vec::new());
    }
    let mut seconds = Vec::new();
    for _ in 0..TIMES {
        let start = Instant::now();
        (0..BATCH).try_for_each(|_| launch())?;
        stream.synchronize()?;
        seconds.push(start.elapsed().as_secs_f64() / BATCH as f64);
    }
    Ok(seconds)
}

/// Numbers between -1 and 1 that look random and are the same on every device.
fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn floats(values: Vec<f32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

/// The three colours of every pixel.
fn colours(pixels: Vec<u32>) -> Vec<f64> {
    pixels.into_iter().flat_map(|p| p.to_le_bytes()[..3].to_vec()).map(f64::from).collect()
}

fn saxpy(on: Side<'_>, scale: Scale) -> Result<Output> {
    let n = if scale == Scale::Small { 100_003 } else { 1 << 27 };
    let (x, stream) = (on.device.upload(&numbers(1, n))?, on.device.stream());
    let mut y = on.device.upload(&numbers(2, n))?;
    let seconds =
        measure(&stream, scale, || on.kernels.saxpy(&stream, Launch::linear(n), 0.75, &x, &mut y))?;
    let values = if scale == Scale::Small { floats(y.download()?) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: 12.0 * n as f64, operations: 2.0 * n as f64 })
}

fn mandelbrot(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (width, height) = if scale == Scale::Small { (199, 101) } else { (4096, 2048) };
    let view = View {
        left: -2.2,
        top: -0.8,
        step: 3.2 / (2 * width) as f32,
        samples: 2,
        iterations: if scale == Scale::Small { 50 } else { 1000 },
    };
    let stream = on.device.stream();
    let mut image = on.device.zeros::<u32>((width * height) as usize)?;
    let launch = tiles(width, height);
    let seconds = measure(&stream, scale, || {
        on.kernels.mandelbrot(&stream, launch, width, view, &mut image)
    })?;
    let values = if scale == Scale::Small { colours(image.download()?) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: f64::from(4 * width * height), operations: 0.0 })
}

/// Blocks of 16 by 16 threads.
fn tiles(width: u32, height: u32) -> Launch<2> {
    Launch::grid([width.div_ceil(16), height.div_ceil(16)], [16, 16])
}

/// Width, height and pixels of a picture.
fn picture(scale: Scale) -> (u32, u32, Vec<u32>) {
    let (width, height) = if scale == Scale::Small { (211, 97) } else { (8192, 4096) };
    let noise = numbers(3, (width * height) as usize);
    (width, height, noise.into_iter().map(|value| 0xff00_0000 | value.to_bits() >> 4).collect())
}

/// Weights of a bell of 13 pixels a side.
fn weights() -> Vec<f32> {
    let bell = |distance: i32| (-0.03 * (distance * distance) as f32).exp();
    let total: f32 = (-12..=12).map(bell).sum();
    (0..=12).map(|distance| bell(distance) / total).collect()
}

fn blur_rows(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (width, height, pixels) = picture(scale);
    let stream = on.device.stream();
    let (source, weights) = (on.device.upload(&pixels)?, on.device.upload(&weights())?);
    let mut blurred = on.device.zeros::<u32>(pixels.len())?;
    let launch = Launch::<2>::grid([width.div_ceil(128), height], [128, 1]);
    let seconds = measure(&stream, scale, || {
        on.kernels.blur_rows(&stream, launch, width, &weights, &source, &mut blurred)
    })?;
    filtered(scale, blurred.download()?, seconds, 150.0)
}

fn blur_columns(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (width, height, pixels) = picture(scale);
    let stream = on.device.stream();
    let (source, weights) = (on.device.upload(&pixels)?, on.device.upload(&weights())?);
    let mut blurred = on.device.zeros::<u32>(pixels.len())?;
    let seconds = measure(&stream, scale, || {
        let launch = tiles(width, height);
        on.kernels.blur_columns(&stream, launch, width, &weights, &source, &mut blurred)
    })?;
    filtered(scale, blurred.download()?, seconds, 150.0)
}

fn sobel(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (width, height, pixels) = picture(scale);
    let (stream, source) = (on.device.stream(), on.device.upload(&pixels)?);
    let mut edges = on.device.zeros::<u32>(pixels.len())?;
    let seconds = measure(&stream, scale, || {
        on.kernels.sobel(&stream, tiles(width, height), width, &source, &mut edges)
    })?;
    filtered(scale, edges.download()?, seconds, 25.0)
}

/// The output of a filter of pictures with so many operations a pixel.
fn filtered(scale: Scale, pixels: Vec<u32>, seconds: Vec<f64>, operations: f64) -> Result<Output> {
    let count = pixels.len() as f64;
    let values = if scale == Scale::Small { colours(pixels) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: 8.0 * count, operations: operations * count })
}

fn reduce(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (n, blocks) = if scale == Scale::Small { (50_021, 16) } else { (1 << 28, 2112) };
    let (x, stream) = (on.device.upload(&numbers(4, n))?, on.device.stream());
    let mut sums = on.device.zeros::<f32>(blocks)?;
    let launch = Launch::grid([blocks as u32], [256]);
    let seconds = measure(&stream, scale, || on.kernels.reduce(&stream, launch, &x, &mut sums))?;
    let values = if scale == Scale::Small { floats(sums.download()?) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: 4.0 * n as f64, operations: n as f64 })
}

fn matmul(on: Side<'_>, scale: Scale) -> Result<Output> {
    let [m, n, k] = if scale == Scale::Small { [70, 93, 41] } else { [4096; 3] };
    let stream = on.device.stream();
    let (a, b) = (on.device.upload(&numbers(5, m * k))?, on.device.upload(&numbers(6, k * n))?);
    let mut c = on.device.zeros::<f32>(m * n)?;
    let launch = tiles(n as u32, m as u32);
    let seconds = measure(&stream, scale, || {
        on.kernels.matmul(&stream, launch, n as u32, k as u32, &a, &b, &mut c)
    })?;
    let values = if scale == Scale::Small { floats(c.download()?) } else { Vec::new() };
    let bytes = 4.0 * (m * k + k * n + m * n) as f64;
    Ok(Output { values, seconds, bytes, operations: 2.0 * (m * n * k) as f64 })
}

/// The bits of numbers in half precision, rounded towards zero; what is below 2^-14 is zero.
fn halves(values: &[f32]) -> Vec<u16> {
    let half = |value: &f32| {
        let (bits, least) = (value.to_bits(), 113 << 10);
        let magnitude = (bits & 0x7fff_ffff) >> 13;
        let moved = if magnitude < least { 0 } else { magnitude - (112 << 10) };
        (bits >> 16 & 0x8000 | moved) as u16
    };
    values.iter().map(half).collect()
}

fn matmul_f16(on: Side<'_>, scale: Scale) -> Result<Output> {
    let [m, n, k] = if scale == Scale::Small { [70, 93, 41] } else { [4096; 3] };
    let stream = on.device.stream();
    let a = on.device.upload(&halves(&numbers(5, m * k)))?;
    let b = on.device.upload(&halves(&numbers(6, k * n)))?;
    let mut c = on.device.zeros::<f32>(m * n)?;
    let launch = Launch::grid([(n.div_ceil(32) * m.div_ceil(64)) as u32], [128]);
    let seconds = measure(&stream, scale, || {
        on.kernels.matmul_f16(&stream, launch, n as u32, k as u32, &a, &b, &mut c)
    })?;
    let values = if scale == Scale::Small { floats(c.download()?) } else { Vec::new() };
    let bytes = (2 * (m * k + k * n) + 4 * m * n) as f64;
    Ok(Output { values, seconds, bytes, operations: 2.0 * (m * n * k) as f64 })
}

fn bodies(count: usize) -> Vec<Body> {
    let values = numbers(7, 4 * count);
    let body = |v: &[f32; 4]| Body { x: v[0], y: v[1], z: v[2], mass: 1.0 + v[3] };
    values.as_chunks::<4>().0.iter().map(body).collect()
}

fn accelerate(on: Side<'_>, scale: Scale) -> Result<Output> {
    let n = if scale == Scale::Small { 700 } else { 1 << 16 };
    let (stream, bodies) = (on.device.stream(), on.device.upload(&bodies(n))?);
    let start: Vec<[f32; 3]> = numbers(9, 3 * n).as_chunks::<3>().0.to_vec();
    let mut velocities = on.device.upload(&start)?;
    let launch = Launch::grid([n.div_ceil(256) as u32], [256]);
    let seconds = measure(&stream, scale, || {
        on.kernels.accelerate(&stream, launch, 0.01, 0.01, &bodies, &mut velocities)
    })?;
    let small = scale == Scale::Small;
    let values = if small { floats(velocities.download()?.into_flattened()) } else { Vec::new() };
    // 20 operations a pair, a reciprocal square root among them.
    Ok(Output { values, seconds, bytes: 40.0 * n as f64, operations: 20.0 * (n * n) as f64 })
}

fn drift(on: Side<'_>, scale: Scale) -> Result<Output> {
    let n = if scale == Scale::Small { 1003 } else { 1 << 24 };
    let velocities: Vec<[f32; 3]> = numbers(8, 3 * n).as_chunks::<3>().0.to_vec();
    let (stream, velocities) = (on.device.stream(), on.device.upload(&velocities)?);
    let mut moved = on.device.upload(&bodies(n))?;
    let seconds = measure(&stream, scale, || {
        on.kernels.drift(&stream, Launch::linear(n), 0.5, &velocities, &mut moved)
    })?;
    let small = scale == Scale::Small;
    let moved = if small { moved.download()? } else { Vec::new() };
    let values = moved.iter().flat_map(|body| [body.x, body.y, body.z]).map(f64::from).collect();
    Ok(Output { values, seconds, bytes: 40.0 * n as f64, operations: 6.0 * n as f64 })
}

fn develop(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (width, height) = if scale == Scale::Small { (199, 101) } else { (4096, 2048) };
    let n = (width * height) as usize;
    let pixels: Vec<[f32; 3]> = numbers(9, 3 * n).as_chunks::<3>().0.to_vec();
    let Functions { gray, negative, warm, contrast, vignette } = Kernels::functions();
    let table = on.device.upload(&[warm, contrast, negative, vignette, gray])?;
    let (stream, pixels) = (on.device.stream(), on.device.upload(&pixels)?);
    let mut developed = on.device.zeros::<[f32; 3]>(n)?;
    let launch = tiles(width, height);
    let seconds = measure(&stream, scale, || {
        on.kernels.develop(&stream, launch, &table, width, height, &pixels, &mut developed)
    })?;
    let small = scale == Scale::Small;
    let developed = if small { developed.download()? } else { Vec::new() };
    let values = developed.as_flattened().iter().copied().map(f64::from).collect();
    Ok(Output { values, seconds, bytes: 24.0 * n as f64, operations: 0.0 })
}

fn histogram(on: Side<'_>, scale: Scale) -> Result<Output> {
    let n = if scale == Scale::Small { 10_007_usize } else { 1 << 28 };
    let x: Vec<u32> = numbers(10, n).into_iter().map(|it| (1e6 * (it + 1.0)) as u32).collect();
    let (x, stream) = (on.device.upload(&x)?, on.device.stream());
    let mut bins = on.device.zeros::<u32>(64)?;
    let launch = Launch::grid([n.div_ceil(128) as u32], [128]);
    let seconds = measure(&stream, scale, || on.kernels.histogram(&stream, launch, &x, &mut bins))?;
    let values = bins.download()?.into_iter().map(f64::from).collect();
    Ok(Output { values, seconds, bytes: 4.0 * n as f64, operations: 0.0 })
}

fn transpose(on: Side<'_>, scale: Scale) -> Result<Output> {
    let (columns, rows) = if scale == Scale::Small { (48_u32, 32) } else { (16384, 8192) };
    let n = (columns * rows) as usize;
    let (x, stream) = (on.device.upload(&numbers(11, n))?, on.device.stream());
    let mut y = on.device.zeros::<f32>(n)?;
    let launch = Launch::grid([columns / 16, rows / 16], [16, 16]);
    let seconds =
        measure(&stream, scale, || on.kernels.transpose(&stream, launch, columns, &x, &mut y))?;
    let values = if scale == Scale::Small { floats(y.download()?) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: 8.0 * n as f64, operations: 0.0 })
}

/// What the device's memory gives: no kernel, but the limit of most.
fn copy(on: Side<'_>, scale: Scale) -> Result<Output> {
    let n = if scale == Scale::Small { 1003 } else { 1 << 28 };
    let (x, stream) = (on.device.upload(&numbers(12, n))?, on.device.stream());
    let mut y = on.device.zeros::<f32>(n)?;
    let seconds = measure(&stream, scale, || y.copy_from_buffer(&stream, &x.slice(..)))?;
    let values = if scale == Scale::Small { floats(y.download()?) } else { Vec::new() };
    Ok(Output { values, seconds, bytes: 8.0 * n as f64, operations: 0.0 })
}
