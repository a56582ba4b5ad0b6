//! `cargo kernelmill store`: the store of compiled kernels that all packages of a user share.

use anyhow::Result;
use clap::Subcommand;
use kernelmill_build::{Removed, StoreStats, Upkeep};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// What to do with the store.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Counts what is in it, by kind, with older formats and temporary files.
    Stats {
        /// Prints JSON; sizes are in bytes.
        #[arg(long)]
        json: bool,
    },
    /// Reads every entry, and removes those that are damaged; fails where there were any.
    Verify {
        /// Prints JSON: the entries that are whole, and the files that were removed.
        #[arg(long)]
        json: bool,
    },
    /// Removes everything in it. Installed tools stay.
    Clear {
        /// Prints JSON: the files that were removed, and their bytes.
        #[arg(long)]
        json: bool,
    },
    /// Removes older formats, temporary files of builds that have died, and what is over the limit.
    Gc {
        /// Prints JSON: the files that were removed, and their bytes.
        #[arg(long)]
        json: bool,
    },
}

/// Runs an action.
pub(crate) fn run(action: &Action) -> Result<ExitCode> {
    let store = Upkeep::of_user()?;
    match action {
        Action::Stats { json: false } => print(&store, &store.stats()),
        Action::Stats { json: true } => println!("{:#}", as_json(&store, &store.stats())),
        Action::Verify { json: is_json } => {
            let bad = store.verify()?;
            let whole = store.stats().entries;
            if *is_json {
                println!("{:#}", json!({ "whole": whole, "removed": bad }));
            } else {
                bad.iter().for_each(|path| println!("removed {}", path.display()));
                println!("{whole} entries are intact, {} damaged ones were removed", bad.len());
            }
            return Ok(ExitCode::from(u8::from(!bad.is_empty())));
        }
        Action::Clear { json } => tell(&store.clear()?, *json),
        Action::Gc { json } => tell(&store.collect_garbage()?, *json),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(store: &Upkeep, stats: &StoreStats) {
    println!("{}, at most {}", store.folder().display(), size(stats.limit));
    let line = |name: &str, (files, bytes): (usize, u64)| {
        println!("{name:16} {files:8} {:>10}", size(bytes));
    };
    for (kind, counts) in &stats.kinds {
        line(kind, *counts);
    }
    line("all entries", (stats.entries, stats.bytes));
    line("older formats", stats.other_formats);
    line("temporary files", stats.temporary);
}

fn as_json(store: &Upkeep, stats: &StoreStats) -> Value {
    let counts = |(files, bytes): (usize, u64)| json!({ "files": files, "bytes": bytes });
    let kinds: Map<_, _> =
        stats.kinds.iter().map(|(kind, of_kind)| (kind.to_string(), counts(*of_kind))).collect();
    json!({
        "folder": store.folder(),
        "limit": stats.limit,
        "kinds": kinds,
        "entries": counts((stats.entries, stats.bytes)),
        "other_formats": counts(stats.other_formats),
        "temporary": counts(stats.temporary),
    })
}

fn tell(removed: &Removed, is_json: bool) {
    let Removed { files, bytes, .. } = *removed;
    if is_json {
        println!("{:#}", json!({ "files": files, "bytes": bytes }));
    } else {
        println!("removed {files} files, {}", size(bytes));
    }
}

/// Bytes in the largest unit of which there is one.
fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_in_the_largest_unit() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(2 << 30), "2.0 GiB");
        assert_eq!(size(u64::MAX), "17179869183.9 GiB");
    }
}
