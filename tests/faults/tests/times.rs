//! Times of files that were changed: by a clock that was set, by archives that bring files back with their times.
//! Content decides what is made again.

use faults::{Fixture, References, VARIANTS, files, for_seeds};
use std::{
    fs::File,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use test_support::Random;

/// Cases in CI.
const CASES: u64 = 6;

const YEAR: Duration = Duration::from_secs(365 * 86_400);

fn set_time(path: &Path, time: SystemTime) {
    let file = File::options().append(true).open(path).expect("a file of the test");
    file.set_modified(time).expect("a time can be set");
}

/// A time: of the past, of the future, or near to now.
fn any_time(random: &mut Random) -> SystemTime {
    let now = SystemTime::now();
    match random.below(4) {
        0 => SystemTime::UNIX_EPOCH,
        1 => now - YEAR,
        2 => now + YEAR * 40,
        _ => now + Duration::from_secs(random.below(20) as u64) - Duration::from_secs(10),
    }
}

#[test]
fn no_time_of_a_file_changes_what_a_build_gives() {
    let Some(fixture) = Fixture::new(env!("CARGO_BIN_EXE_faults")) else { return };
    let references = References::of(&fixture);
    for_seeds("changed times", CASES, |_, random| {
        let (before, variant) = (random.below(VARIANTS), random.below(VARIANTS));
        fixture.set_variant(before);
        fixture.take_store(&references, before);
        fixture.take_outputs(&references, variant);
        // One time for all files of a folder, or one for each.
        for folder in [fixture.cache(), fixture.out(), fixture.package().join("kernels")] {
            let (one, is_one) = (any_time(random), random.below(2) == 0);
            for path in files(&folder) {
                set_time(&path, if is_one { one } else { any_time(random) });
            }
        }
        fixture.build_is_right(&references, before);
        // Other sources of the same length, with the times that those before had.
        let sources = files(&fixture.package().join("kernels"));
        let time = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).expect("a time");
        let times: Vec<_> = sources.iter().map(time).collect();
        fixture.set_variant(variant);
        sources.iter().zip(times).for_each(|(path, time)| set_time(path, time));
        fixture.build_is_right(&references, variant);
    });
}
