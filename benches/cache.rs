//! What the module cache costs: a hit, which is a hold of a loaded module and its release, from one thread, from two and
//! from eight, of one module and of a module for each thread; hits of two modules in turn, of which a thread may remember
//! one only; and the load of 256 modules. With the features `cuda`, `hip`, `opencl` and `wgpu`, where there is a driver,
//! the same there: on an OpenCL device the load compiles a program, and on one of wgpu a module is given to the driver.
//!
//! `cargo bench -p kernelmill --bench cache`

#[path = "common/contention.rs"]
mod contention;
#[path = "common/modules.rs"]
mod modules;

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use kernelmill::{__bench::visit, __codegen::EmbeddedArtifact, Device, Result, module_cache};
use modules::Binaries;

/// Modules that are loaded, as many as stay loaded without a setting.
const MODULES: usize = 256;

/// The time of a hit, where each thread holds one of `modules`.
fn hits(name: &str, device: &Device, modules: &[&'static EmbeddedArtifact]) -> Result<()> {
    for module in modules {
        visit(device, module)?;
    }
    let loads = module_cache().statistics().loads;
    contention::report(name, |thread| {
        let module = modules[thread % modules.len()];
        black_box(visit(device, black_box(module))).expect("it is loaded");
    });
    assert_eq!(module_cache().statistics().loads, loads, "every hold was a hit");
    Ok(())
}

/// How often two modules are held in turn in one sample, and samples of each pair, of which the best counts.
const TURNS: u32 = 500;
const SAMPLES: usize = 20;

/// The time of a hit, in nanoseconds, where a thread holds the first module and another one in turn: in the middle of all
/// others and with the worst one. With so many modules some others share the first one's place.
fn in_turn(device: &Device, modules: &[&'static EmbeddedArtifact]) -> Result<(f64, f64)> {
    for module in modules {
        visit(device, module)?;
    }
    let (first, others) = (modules[0], &modules[1..]);
    let each = |other: &&'static EmbeddedArtifact| {
        let sample = |_| -> Result<Duration> {
            let begin = Instant::now();
            for _ in 0..TURNS {
                visit(device, black_box(first))?;
                visit(device, black_box(other))?;
            }
            Ok(begin.elapsed())
        };
        let samples: Result<Vec<Duration>> = (0..SAMPLES).map(sample).collect();
        let best = samples?.into_iter().min().expect("there are samples");
        Ok(best.as_secs_f64() * 1e9 / f64::from(2 * TURNS))
    };
    let mut times = others.iter().map(each).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[times.len() - 1]))
}

/// The time of a load and of an unload, in nanoseconds each, of 256 modules.
fn loads(
    device: &Device,
    modules: &[&'static EmbeddedArtifact],
    times: usize,
) -> Result<(f64, f64)> {
    let (mut load, mut unload) = (Duration::MAX, Duration::MAX);
    for _ in 0..times {
        module_cache().release_unused();
        let before = module_cache().statistics();
        let begin = Instant::now();
        for module in modules {
            visit(device, module)?;
        }
        load = load.min(begin.elapsed());
        let begin = Instant::now();
        module_cache().release_unused();
        unload = unload.min(begin.elapsed());
        let after = module_cache().statistics();
        assert_eq!(after.loads - before.loads, MODULES as u64, "each was loaded");
        assert_eq!(after.unloads - before.unloads, MODULES as u64, "each was unloaded");
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / MODULES as f64;
    Ok((each(load), each(unload)))
}

/// The time of a count that all threads write to. Where it is no slower in several threads, they did not run at once, and
/// what is measured beside it does not show how threads contend.
fn shared_count() {
    let shared = Arc::new(());
    contention::report("  a reference count that all threads share", |_| {
        drop(black_box(Arc::clone(black_box(&shared))));
    });
}

/// The times on a device.
fn measure(device: &Device, binaries: &Binaries) -> Result<()> {
    println!("{device}");
    let modules = binaries.artifacts(MODULES);
    shared_count();
    hits("  a hit, one module", device, &modules[..1])?;
    hits("  a hit, a module for each thread", device, &modules[..contention::THREADS])?;
    shared_count();
    let (middle, worst) = in_turn(device, &modules)?;
    println!("  a hit, two modules in turn, middle of pairs   {middle:9.1} ns");
    println!("  a hit, two modules in turn, worst pair        {worst:9.1} ns");
    let (load, unload) = loads(device, &modules, binaries.loads)?;
    println!("  256 modules, a load each                     {load:9.1} ns");
    println!("  256 modules, an unload each                  {unload:9.1} ns");
    Ok(())
}

fn main() -> Result<()> {
    measure(&Device::cpu()?, &modules::CPU)?;
    #[cfg(feature = "cuda")]
    if let Ok(device) = Device::cuda(0) {
        measure(&device, &modules::CUDA)?;
    }
    #[cfg(feature = "hip")]
    if let Ok(device) = Device::hip(0) {
        measure(&device, &modules::HIP)?;
    }
    #[cfg(feature = "opencl")]
    if let Ok(device) = Device::opencl(0) {
        measure(&device, &modules::OPENCL)?;
    }
    #[cfg(feature = "wgpu")]
    if let Ok(device) = Device::wgpu(0) {
        measure(&device, &modules::WGPU)?;
    }
    Ok(())
}
