//! The build script of the fixture, and the check of its store: programs that tests start, kill and run as
//! another user.

use kernelmill_build::Upkeep;
use std::{env, process::ExitCode};

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some("build") => kernelmill_build::compile(),
        Some("verify") => return verify(),
        other => panic!("`build` or `verify`, not {other:?}"),
    }
    ExitCode::SUCCESS
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
