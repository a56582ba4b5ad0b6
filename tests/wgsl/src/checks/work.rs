//! Work in flight: buffers that are dropped while launches run, threads with streams of their own, and modules.

use super::{On, groups};
use crate::{allocations::held, kernels::Kernels};
use kernelmill::{Error, Launch, LoadRequest, Result, module_cache};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Buffers are dropped by the host while launches that use them are queued, and new ones made in their place.
pub(crate) fn dropped(on: &On<'_>) -> Result<()> {
    const COUNT: usize = 1 << 16;
    let launch = Launch::grid([groups(COUNT, 64)], [64]);
    let mut sum = on.device.zeros::<f32>(COUNT)?;
    for round in 1..=30 {
        let x = on.device.upload(&vec![round as f32; COUNT])?;
        on.kernels.saxpy(&on.stream, launch, 2.0, &x, &mut sum)?;
        drop(x);
        let other = on.device.upload(&vec![-1e6_f32; COUNT])?;
        drop(other);
    }
    // 2 × (1 + ... + 30).
    assert_eq!(sum.download()?, vec![930.0; COUNT]);
    Ok(())
}

/// Launches with the same buffers and other values each, none of which is waited for before the next.
pub(crate) fn own_values(on: &On<'_>) -> Result<()> {
    const COUNT: usize = 1 << 14;
    let launch = Launch::grid([groups(COUNT, 64)], [64]);
    let x = on.device.upload(&vec![1.0_f32; COUNT])?;
    let [mut y, mut z] = [on.device.zeros::<f32>(COUNT)?, on.device.zeros::<f32>(COUNT)?];
    for a in 1..=100 {
        on.kernels.saxpy(&on.stream, launch, a as f32, &x, &mut y)?;
        on.kernels.saxpy(&on.stream, launch, -a as f32, &x, &mut z)?;
        on.kernels.saxpy(&on.stream, launch, -a as f32, &x, &mut z)?;
    }
    assert_eq!(y.download()?, vec![5050.0; COUNT]);
    assert_eq!(z.download()?, vec![-10100.0; COUNT]);
    Ok(())
}

/// What was kept of a launch for the next does not keep the memory of its buffers, which lavapipe has of the process.
pub(crate) fn freed(on: &On<'_>) -> Result<()> {
    const MIB: usize = 1 << 20;
    const BYTES: usize = 32 * MIB;
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").expect("it is Linux");
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
        pages.expect("a number of pages") * 4096
    };
    let x = on.device.upload(&[1.0_f32; 64])?;
    let before = resident();
    for _ in 0..30 {
        let mut y = on.device.zeros::<f32>(BYTES / 4)?;
        on.kernels.saxpy(&on.stream, Launch::grid([1], [64]), 3.0, &x, &mut y)?;
        on.stream.synchronize()?;
    }
    let more = resident().saturating_sub(before);
    assert!(more < 15 * BYTES, "{} MiB are held", more / MIB);
    Ok(())
}

/// Each thread has a stream and buffers of its own, and they share the device and the kernels.
pub(crate) fn threads(on: &On<'_>) -> Result<()> {
    let one = |seed: u32| -> Result<()> {
        let stream = on.device.new_stream()?;
        let x: Vec<f32> = (0..5000).map(|i| ((i + seed) % 1000) as f32).collect();
        let there = on.device.upload(&x)?;
        let mut y = on.device.zeros::<f32>(x.len())?;
        let launch = Launch::grid([groups(x.len(), 64)], [64]);
        for _ in 0..25 {
            on.kernels.saxpy(&stream, launch, 1.0, &there, &mut y)?;
        }
        stream.synchronize()?;
        let expected: Vec<f32> = x.iter().map(|x| 25.0 * x).collect();
        assert_eq!(y.download()?, expected, "thread {seed}");
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|seed| scope.spawn(move || one(seed))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no check fails"))
    })
}

/// The cache finds a module that is loaded; what nobody uses is unloaded, and loaded again when it is asked for.
pub(crate) fn modules(on: &On<'_>) -> Result<()> {
    let cache = module_cache();
    let before = cache.statistics();
    let again = Kernels::load(on.device)?;
    let found = cache.statistics();
    assert_eq!((found.loads, found.failures), (before.loads, 0));
    assert!(found.hits > before.hits, "{before:?} {found:?}");
    drop(again);
    // The kernels of the program hold theirs: the cache forgets them, and loads them again beside these.
    for round in 1..=3 {
        cache.clear();
        let fresh = Kernels::load(on.device)?;
        let mut y = on.device.upload(&[1.0_f32; 64])?;
        let x = on.device.upload(&[2.0_f32; 64])?;
        fresh.saxpy(&on.stream, Launch::grid([1], [64]), 3.0, &x, &mut y)?;
        drop(fresh);
        assert_eq!(y.download()?, [7.0; 64]);
        let now = cache.statistics();
        assert_eq!(now.loads, before.loads * (round + 1), "{before:?} {now:?}");
    }
    cache.clear();
    on.stream.synchronize()?;
    let end = cache.statistics();
    assert_eq!(end.loads - end.unloads, before.loads, "{before:?} {end:?}");
    Ok(())
}

/// Modules whose binary is damaged, or whose loader fails, are not loaded: the error says why, what was loaded before
/// them is unloaded, and the next attempt works.
pub(crate) fn failures(on: &On<'_>) -> Result<()> {
    let cache = module_cache();
    on.stream.synchronize()?;
    let (whole, is_cut) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (bytes, cut) = (Arc::clone(&whole), Arc::clone(&is_cut));
    let loader = move |request: &LoadRequest<'_>| {
        let artifact = request.artifact();
        if artifact.source != "kernels/values.wgsl" {
            bytes.fetch_add(artifact.bytes.len(), Ordering::SeqCst);
            return Ok(None);
        }
        match cut.load(Ordering::SeqCst) {
            0 => Ok(Some(b"garbage".to_vec())),
            // In the middle of the first instruction.
            1 => Ok(Some(artifact.bytes[..24].to_vec())),
            _ => Err("no such file".into()),
        }
    };
    // SAFETY: what it gives is refused, and nothing of it is launched.
    unsafe { cache.set_loader(Some(Arc::new(loader))) };
    let attempt = |kind: usize| {
        is_cut.store(kind, Ordering::SeqCst);
        cache.clear();
        let error = Kernels::load(on.device).expect_err("a module is damaged");
        cache.clear();
        error
    };
    for kind in [0, 1] {
        let error = attempt(kind).to_string();
        let expected = "create_shader_module failed for ";
        assert!(error.starts_with(expected) && error.contains("not a SPIR-V module"), "{error}");
    }
    assert!(matches!(attempt(2), Error::Loader { .. }));
    let before = (held(), cache.statistics());
    whole.store(0, Ordering::SeqCst);
    const ROUNDS: usize = 12;
    for round in 0..ROUNDS {
        attempt(round % 3);
    }
    let after = (held(), cache.statistics());
    // The six other files were loaded each time.
    let (loads, unloads) = (after.1.loads - before.1.loads, after.1.unloads - before.1.unloads);
    assert_eq!((loads, unloads), (6 * ROUNDS as u64, 6 * ROUNDS as u64));
    assert_eq!(after.1.failures - before.1.failures, ROUNDS as u64);
    // Their SPIR-V alone would be so much.
    let (kept, leaked) = (after.0.saturating_sub(before.0), whole.load(Ordering::SeqCst));
    assert!(kept < leaked / 4, "{kept} bytes are kept of {leaked}");
    // SAFETY: there is none.
    unsafe { cache.set_loader(None) };
    let fresh = Kernels::load(on.device)?;
    let (x, mut y) = (on.device.upload(&[2.0_f32; 64])?, on.device.upload(&[1.0_f32; 64])?);
    fresh.saxpy(&on.stream, Launch::grid([1], [64]), 3.0, &x, &mut y)?;
    assert_eq!(y.download()?, [7.0; 64]);
    Ok(())
}

/// A module that the translation does not take is not loaded, and the error says why; a driver would not have looked.
pub(crate) fn untranslatable(on: &On<'_>) -> Result<()> {
    /// `OpCapability Kernel`: what OpenCL has.
    const OF_OPENCL: [u32; 2] = [2 << 16 | 17, 6];
    /// The bytes before the first instruction.
    const HEADER: usize = 20;
    let cache = module_cache();
    let loader = |request: &LoadRequest<'_>| {
        let (header, rest) = request.artifact().bytes.split_at(HEADER);
        Ok(Some([header, &OF_OPENCL.map(u32::to_le_bytes).concat(), rest].concat()))
    };
    // SAFETY: what it gives is refused.
    unsafe { cache.set_loader(Some(Arc::new(loader))) };
    cache.clear();
    let error = Kernels::load(on.device).expect_err("naga reads no SPIR-V for OpenCL").to_string();
    // SAFETY: there is none.
    unsafe { cache.set_loader(None) };
    cache.clear();
    assert!(error.starts_with("create_shader_module failed for "), "{error}");
    assert!(error.contains("Kernel"), "{error}");
    Kernels::load(on.device).map(drop)
}
