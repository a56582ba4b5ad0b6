//! Runs kernels with faults, and kernels without, and prints what the host learns.
//!
//! `sanitized cpu faults`; the device is `cpu` or `cuda`, then `faults`, `correct`,
//! `conformance` or `cost`; with the feature `unchecked` kernels have no checks.

mod kernels {
    kernelmill::include_kernels!();
}

use kernelmill::{Buffer, Device, Launch, Stream};
use kernels::Kernels;
use sanitized_conformance as checks;
use std::{env, error::Error, time::Instant};

type Memory<'a> = (&'a Buffer<f32>, &'a mut Buffer<f32>, i32);
type Kernel = fn(&Kernels, &Stream, Launch<1>, Memory<'_>) -> kernelmill::Result<()>;

/// Kernels in CUDA C++ of a signature, with their names.
macro_rules! cpp {
    ($($name:ident)*) => {
        [$((stringify!($name), |on: &Kernels, stream: &Stream, launch: Launch<1>, (x, y, n): Memory<'_>| {
            // SAFETY: the checks find what is not.
            unsafe { on.$name(stream, launch, x, y, n) }
        })),*]
    };
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [device, what] = arguments.as_slice() else {
        return Err("write `sanitized cpu faults`".into());
    };
    let device = if device == "cuda" { Device::cuda(0)? } else { Device::cpu()? };
    let kernels = Kernels::load(&device)?;
    match what.as_str() {
        "faults" => faults(&device, &kernels),
        "correct" => correct(&device, &kernels),
        "conformance" => conformance(device),
        "cost" => cost(&device, &kernels),
        other => Err(format!("`{other}` is none of faults, correct, conformance and cost").into()),
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 7 % 23) as f32).collect()
}

fn faults(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let all: [(&str, Kernel); 17] = cpp!(
        reads_past_the_end reads_before_the_start loops_one_too_far writes_past_the_end
        reads_in_a_function reads_one_of_two reads_with_a_pointer_that_moves reads_four_at_once
        reads_past_a_local_array reads_past_a_shared_array reads_past_dynamic_shared_memory
        all_write_one_place reverses_without_a_barrier overwrites_what_is_read
        changes_atomically_what_others_write waits_for_its_warp_alone
        reverses_in_dynamic_shared_memory
    );
    let rust: [(&str, Kernel); 2] = [
        ("unchecked", |on, stream, launch, (x, y, _)| on.unchecked(stream, launch, x, y)),
        ("no_barrier", |on, stream, launch, (x, y, _)| on.no_barrier(stream, launch, x, y)),
    ];
    let stream = device.stream();
    for (name, kernel) in all.into_iter().chain(rust) {
        // Inside a larger allocation, whose other bytes are not the kernel's.
        let (x, mut y) = (device.upload(&numbers(32))?, device.zeros(32)?);
        let threads = if name == "waits_for_its_warp_alone" { 64 } else { 32 };
        let launch = Launch::grid([1], [threads]).shared_bytes(128);
        let launched = kernel(kernels, &stream, launch, (&x, &mut y, 32));
        match launched.and_then(|()| stream.synchronize()) {
            Ok(()) => println!("{name}: nothing was reported"),
            Err(error) => {
                println!("{name}: {error}");
                check_frame(name, &error);
            }
        }
    }
    Ok(())
}

fn correct(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let all: [(&str, Kernel); 8] = cpp!(
        adds sums multiplies counts exchanges_in_warps rotates bytes_and_pairs leaves_early
    );
    let rust: [(&str, Kernel); 1] = [("with_barrier", |on, stream, launch, (x, y, _)| {
        let shape = Launch::grid([launch.grid_size()[0] as u32 * 2], [32]);
        on.with_barrier(stream, shape, x, y)
    })];
    let stream = device.stream();
    for (name, kernel) in all.into_iter().chain(rust) {
        let count = if name == "multiplies" { 16 * 16 } else { 64 };
        let n = if name == "multiplies" { 16 } else { 64 };
        let (x, mut y) = (device.upload(&numbers(count))?, device.zeros(64)?);
        let launch = Launch::grid([1], [64]).shared_bytes(256);
        kernel(kernels, &stream, launch, (&x, &mut y, n))?;
        stream.synchronize()?;
        let y: Vec<String> = y.download()?.iter().map(ToString::to_string).collect();
        println!("{name}: {}", y.join(" "));
    }
    Ok(())
}

/// The kernels of tests/conformance, which the checks leave as they are.
fn conformance(device: Device) -> Result<(), Box<dyn Error>> {
    let is_cpu = device.to_string().contains("CPU");
    let context = checks::Context::new(device)?;
    let mut failed = 0;
    for check in checks::all() {
        if is_cpu || check.scope == checks::Scope::Everywhere {
            match check.run(&context) {
                Ok(()) => println!("{}: passed", check.name),
                Err(error) => {
                    failed += 1;
                    println!("{}: {error}", check.name);
                }
            }
        }
    }
    if failed > 0 { Err(format!("{failed} checks failed").into()) } else { Ok(()) }
}

/// The time of kernels without faults, the shortest of many launches.
fn cost(device: &Device, kernels: &Kernels) -> Result<(), Box<dyn Error>> {
    let all: [(&str, Kernel); 4] = cpp!(adds sums multiplies counts);
    let shapes = [(4096, 4096 * 64), (4096, 4096 * 64), (256, 512), (16, 65536)];
    let stream = device.stream();
    for ((name, kernel), (blocks, n)) in all.into_iter().zip(shapes) {
        let (x, mut y) = (device.upload(&numbers(512 * 512))?, device.zeros(4096 * 64)?);
        let mut shortest = f64::INFINITY;
        for _ in 0..30 {
            let start = Instant::now();
            kernel(kernels, &stream, Launch::grid([blocks], [64]), (&x, &mut y, n))?;
            stream.synchronize()?;
            shortest = shortest.min(start.elapsed().as_secs_f64());
        }
        println!("{name}: {:.3} ms", shortest * 1e3);
    }
    Ok(())
}

/// The frame of a fault marks one place, and that of a race both.
fn check_frame(name: &str, error: &kernelmill::Error) {
    let kernelmill::Error::KernelPanic(panic) = error else { panic!("{name}: {error}") };
    let frame = panic.frame(env!("CARGO_MANIFEST_DIR").as_ref()).unwrap_or_default();
    let marked = frame.lines().filter(|line| line.trim_start().starts_with("| ")).count();
    let places = if panic.kind == kernelmill::PanicKind::Race { 2 } else { 1 };
    assert_eq!(marked, places, "{name}:\n{frame}");
}
