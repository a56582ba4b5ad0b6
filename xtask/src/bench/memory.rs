//! How much memory the processes of a build have at one time.

use anyhow::Result;
use std::{
    collections::HashMap,
    fs,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

/// How often is looked.
const INTERVAL: Duration = Duration::from_millis(100);
/// Linux counts resident memory in pages.
const PAGE_BYTES: u64 = 4096;

/// Does the work, and gives with its result the most bytes that the descendants of this process had
/// resident at one time. Pages that several of them share count for each.
pub(super) fn watched<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let (peak, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                peak.fetch_max(resident_bytes(std::process::id()), Ordering::Relaxed);
                thread::sleep(INTERVAL);
            }
        });
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        result
    })?;
    #[expect(clippy::cast_precision_loss, reason = "megabytes are shown")]
    Ok((result, peak.load(Ordering::Relaxed) as f64))
}

/// The resident bytes of all descendants of a process.
fn resident_bytes(root: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let processes: HashMap<u32, (u32, u64)> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The program's name comes second, in parentheses; the parent is the second after it.
            let mut words = text.rsplit_once(')')?.1.split_whitespace();
            let parent = words.nth(1)?.parse().ok()?;
            let pages: u64 = words.nth(19)?.parse().ok()?;
            Some((number, (parent, pages * PAGE_BYTES)))
        })
        .collect();
    let is_below = |mut process: u32| {
        while let Some((parent, _)) = processes.get(&process) {
            if *parent == root {
                return true;
            }
            process = *parent;
        }
        false
    };
    processes.iter().filter(|(number, _)| is_below(**number)).map(|(_, (_, bytes))| bytes).sum()
}
