//! The build script of the fixture, and the check of its store: programs that tests start, kill and run as
//! another user.

use kernelmill_build::Upkeep;
use std::{env, process::ExitCode, thread, time::Duration};

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some("build") => kernelmill_build::compile(),
        Some("verify") => return verify(),
        Some("upkeep") => return upkeep(),
        other => panic!("`build`, `verify` or `upkeep`, not {other:?}"),
    }
    ExitCode::SUCCESS
}

/// What a build has between two clearings of its store, to run in and not to wait for the processor.
const PAUSE: Duration = Duration::from_millis(1);

/// Collects garbage and clears the store in turns until it is ended; 1 where that fails.
fn upkeep() -> ExitCode {
    loop {
        thread::sleep(PAUSE);
        let kept = Upkeep::of_user().and_then(|store| {
            store.collect_garbage()?;
            store.clear()
        });
        if let Err(error) = kept {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
}

/// Prints the number of entries and temporary files; 1 where an entry is damaged, 2 where the store is refused.
fn verify() -> ExitCode {
    let checked = Upkeep::of_user().and_then(|store| {
        let damaged = store.verify()?;
        let stats = store.stats();
        println!("{} {}", stats.entries, stats.temporary.0);
        Ok(damaged)
    });
    match checked {
        Ok(damaged) => {
            damaged.iter().for_each(|path| eprintln!("damaged: {}", path.display()));
            ExitCode::from(u8::from(!damaged.is_empty()))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
