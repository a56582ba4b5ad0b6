//! What the module cache costs: a hit, which is a hold of a loaded module and its release, from one thread and from
//! eight, of one module and of a module for each thread; and the load of 256 modules. With the feature `cuda`, where
//! there is a driver, the same there.
//!
//! `cargo bench -p kernelmill --bench cache`

#[path = "common/contention.rs"]
mod contention;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use kernelmill::{
    __bench::visit, __codegen::EmbeddedArtifact, ArtifactKind, Device, Result, module_cache,
};

/// Modules that are loaded, as many as stay loaded without a setting.
const MODULES: usize = 256;

const PTX: &str =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n\0";

/// How often they are; the best time counts.
const LOADS: usize = 50;

/// Binaries without kernels, each with a fingerprint of its own.
fn artifacts(of: &str, target: &'static str, kind: ArtifactKind) -> Vec<&'static EmbeddedArtifact> {
    let bytes = if kind == ArtifactKind::Ptx { PTX.as_bytes() } else { &[] };
    let artifact = |number: usize| {
        let fingerprint = Box::leak(format!("{of}-{number:060}").into_boxed_str());
        let artifact = EmbeddedArtifact {
            fingerprint,
            target,
            kind,
            source: "benches/cache.rs",
            bytes,
            kernels: &[],
            locations: &[],
            backtraces: &[],
            messages: &[],
            relocations: &[],
            variables: &[],
        };
        &*Box::leak(Box::new(artifact))
    };
    (0..MODULES).map(artifact).collect()
}

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

/// The time of a load and of an unload, in nanoseconds each, of 256 modules.
fn loads(device: &Device, modules: &[&'static EmbeddedArtifact]) -> Result<(f64, f64)> {
    let (mut load, mut unload) = (Duration::MAX, Duration::MAX);
    for _ in 0..LOADS {
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

fn main() -> Result<()> {
    let device = Device::cpu()?;
    println!("{device}");
    let modules = artifacts("cpu", "cpu", ArtifactKind::Object);
    hits("  a hit, one module", &device, &modules[..1])?;
    hits("  a hit, a module for each thread", &device, &modules[..contention::THREADS])?;
    let (load, unload) = loads(&device, &modules)?;
    println!("  256 modules, a load each                     {load:9.1} ns");
    println!("  256 modules, an unload each                  {unload:9.1} ns");
    #[cfg(feature = "cuda")]
    if let Ok(device) = Device::cuda(0) {
        println!("{device}");
        let modules = artifacts("cuda", "compute_75", ArtifactKind::Ptx);
        hits("  a hit, one module", &device, &modules[..1])?;
        let (load, unload) = loads(&device, &modules)?;
        println!("  256 modules, a load each                     {load:9.1} ns");
        println!("  256 modules, an unload each                  {unload:9.1} ns");
    }
    Ok(())
}
