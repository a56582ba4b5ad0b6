//! Loads seventy kernels in WGSL on a device of Vulkan, a module each, as Halide's tests of its cache do (`gpu_many_kernels`,
//! `gpu_multi_context_threaded`, `gpu_object_lifetime`), and prints the name of each check that is right.

mod kernels;
mod memory;

use kernelmill::{Buffer, CacheStatistics, Device, Launch, Result, Stream, module_cache};
use kernels::Kernels;
use memory::held;
use std::{error::Error, sync::Barrier, thread};

/// Adds the number of a kernel to the first element.
type Call = fn(&Kernels, &Stream, &mut Buffer<f32>) -> Result<()>;

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// How many modules there are.
const MODULES: u64 = CALLS.len() as u64;

type Check = fn() -> Result<()>;

/// `many_kernels` leaves a cache that keeps nothing, so that it is the last.
const CHECKS: [(&str, Check); 3] =
    [("fresh_contexts", fresh_contexts), ("lifetimes", lifetimes), ("many_kernels", many_kernels)];

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(CHECKS, |check| check(), lacks_binary)
}

/// Loads all kernels and runs those that `calls` has, which add their numbers.
fn sum(device: &Device, calls: &[Call]) -> Result<f32> {
    let kernels = Kernels::load(device)?;
    let (stream, mut sum) = (device.stream(), device.zeros::<f32>(1)?);
    for call in calls {
        call(&kernels, &stream, &mut sum)?;
    }
    let found = sum.download()?[0];
    drop((kernels, sum));
    // A module of a stream with work is not evicted.
    device.synchronize()?;
    Ok(found)
}

/// Loads, unloads, and hits since.
fn counts(since: &CacheStatistics) -> (u64, u64, u64) {
    let now = module_cache().statistics();
    (now.loads - since.loads, now.unloads - since.unloads, now.hits - since.hits)
}

/// Cold, warm, and after they were released.
fn many_kernels() -> Result<()> {
    let device = Device::wgpu(0)?;
    let start = module_cache().statistics();
    assert_eq!((sum(&device, &CALLS)?, counts(&start)), (2485.0, (MODULES, 0, 0)));
    assert_eq!((sum(&device, &CALLS)?, counts(&start)), (2485.0, (MODULES, 0, MODULES)));
    module_cache().release_unused();
    assert_eq!((sum(&device, &CALLS)?, counts(&start)), (2485.0, (2 * MODULES, MODULES, MODULES)));
    module_cache().clear();
    assert_eq!(
        (sum(&device, &CALLS)?, counts(&start)),
        (2485.0, (3 * MODULES, 2 * MODULES, MODULES))
    );
    module_cache().set_capacity(0);
    let end = module_cache().statistics();
    assert_eq!(
        (end.unloads - start.unloads, end.evictions - start.evictions, end.loaded),
        (3 * MODULES, MODULES, 0)
    );
    Ok(())
}

/// Two pairs of threads, each pair with a context that it shares, ten times. A context is gone when all have dropped it, and who
/// opens the device then gets a fresh one.
fn fresh_contexts() -> Result<()> {
    const ROUNDS: u64 = 10;
    let start = module_cache().statistics();
    let (opened, dropped) = (Barrier::new(2), Barrier::new(2));
    let pair = |device: &Device| {
        thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| sum(device, &CALLS[..3])));
            both.map(|thread| thread.join().expect("the device panics nowhere"))
        })
    };
    let one = || -> Vec<Result<f32>> {
        let round = |_| {
            let device = Device::wgpu(0);
            // Whatever fails, the other pair is not left waiting.
            opened.wait();
            let sums = device.map_or_else(|error| vec![Err(error)], |it| pair(&it).into());
            dropped.wait();
            sums
        };
        (0..ROUNDS).flat_map(round).collect()
    };
    let pairs = thread::scope(|scope| {
        let pairs = [(); 2].map(|()| scope.spawn(one));
        pairs.map(|pair| pair.join().expect("the device panics nowhere"))
    });
    for sum in pairs.into_iter().flatten() {
        assert_eq!(sum?, 6.0);
    }
    // Each context has loaded each module once, for four threads, and unloaded it.
    let all = ROUNDS * MODULES;
    assert_eq!(counts(&start), (all, all, 3 * all));
    assert_eq!((module_cache().statistics().loaded, module_cache().statistics().bytes), (0, 0));
    Ok(())
}

/// What contexts, modules, kernels and buffers were made of is given back.
fn lifetimes() -> Result<()> {
    const ROUNDS: usize = 5;
    let start = module_cache().statistics();
    let round = || -> Result<usize> {
        let device = Device::wgpu(0)?;
        assert_eq!(sum(&device, &CALLS)?, 2485.0);
        drop(device);
        Ok(held())
    };
    // The first rounds fill what the loader and the driver keep for later.
    let before = (0..2).try_fold(0, |_, _| round())?;
    let after = (0..ROUNDS).try_fold(0, |_, _| round())?;
    let (loads, unloads, _) = counts(&start);
    assert_eq!((loads, unloads), ((2 + ROUNDS as u64) * MODULES, loads));
    let kept = after.saturating_sub(before) / (ROUNDS * CALLS.len());
    assert!(kept < KEPT, "{kept} bytes of each module are kept");
    Ok(())
}

/// The most bytes that a module may leave: by measure 80 to 160, most of them of the device; one that is not freed leaves thousands.
const KEPT: usize = 500;
