//! The module cache: what is loaded, found, released, and has to go.

use super::{LAUNCH, LEN, On, processes};
use crate::kernels::Kernels;
use kernelmill::{Backend, CacheStatistics, Device, Result, module_cache};

pub(super) fn once(on: &On) -> Result<()> {
    processes::run(on, processes::MODULES, &[]);
    Ok(())
}

fn statistics() -> CacheStatistics {
    module_cache().statistics()
}

/// Loads the kernels, runs one, and says how many modules were loaded and how many found.
fn load(device: &Device) -> Result<(Kernels, u64, u64)> {
    let before = statistics();
    let kernels = Kernels::load(device)?;
    let mut y = device.zeros::<u32>(LEN)?;
    kernels.added(&device.stream(), LAUNCH, 1, &mut y)?;
    assert_eq!(y.download()?, [1; LEN]);
    device.synchronize()?;
    let after = statistics();
    Ok((kernels, after.loads - before.loads, after.hits - before.hits))
}

/// In a process that has loaded nothing.
pub(super) fn in_process(device: &Device) -> Result<()> {
    let cache = module_cache();
    assert_eq!(statistics().loads, 0);
    let (first, all, hits) = load(device)?;
    assert!(all >= 2 && hits == 0, "{all} modules, {hits} hits");
    let CacheStatistics { loaded, held, bytes, .. } = statistics();
    assert_eq!((loaded, held), (all, all));
    assert_eq!(bytes == 0, device.backend() == Backend::Cpu, "{bytes} bytes");
    // Found while they are in use, and when nobody uses them.
    let (second, loads, hits) = load(device)?;
    assert_eq!((loads, hits), (0, all));
    drop((first, second));
    assert_eq!((statistics().loaded, statistics().held), (all, 0));
    let (third, loads, hits) = load(device)?;
    assert_eq!((loads, hits), (0, all));
    // Modules in use stay, whatever the limits are.
    cache.set_capacity(1);
    cache.set_byte_budget(1);
    assert_eq!((statistics().loaded, statistics().evictions), (all, 0));
    cache.set_byte_budget(u64::MAX);
    drop(third);
    assert_eq!((statistics().loaded, statistics().evictions), (1, all - 1));
    // By bytes: kernels for the processor have none.
    cache.set_capacity(256);
    let (fourth, loads, hits) = load(device)?;
    assert_eq!((loads, hits), (all - 1, 1));
    cache.set_byte_budget(1);
    drop(fourth);
    let stay = if bytes == 0 { all } else { 0 };
    assert_eq!((statistics().loaded, statistics().evictions), (stay, 2 * all - 1 - stay));
    cache.set_byte_budget(u64::MAX);
    // What is forgotten is loaded again, and goes with its last use.
    let (fifth, ..) = load(device)?;
    let unloads = statistics().unloads;
    cache.clear();
    assert_eq!(statistics().unloads, unloads);
    let (sixth, loads, hits) = load(device)?;
    assert_eq!((loads, hits), (all, 0));
    drop(fifth);
    assert_eq!(statistics().unloads, unloads + all);
    drop(sixth);
    cache.release_unused();
    let CacheStatistics { loaded, loads, unloads, failures, .. } = statistics();
    assert_eq!((loaded, unloads, failures), (0, loads, 0));
    Ok(())
}
