//! Two processes that write and read one store at once, for a second, or as many as `STORE_TEST_SECONDS` says.
//!
//! ```sh
//! STORE_TEST_SECONDS=60 cargo nextest run -p kernelmill-store --success-output final -E 'binary(at_once)'
//! ```

use kernelmill_store::{Store, digest};
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use test_support::temporary_folder;

/// Says to a child process where the store is.
const FOLDER: &str = "STORE_TEST_FOLDER";
const SECONDS: &str = "STORE_TEST_SECONDS";
const KIND: &str = "program";

/// The keys that both processes use: few, so that both often write the same one.
const KEYS: u64 = 8;

/// How often a process opens the store again.
const ROUNDS_OF_A_STORE: u64 = 50;

/// What belongs to a key: up to 16 KiB, another text for each.
fn content(key: u64) -> Vec<u8> {
    let text = format!("program {key}\n").into_bytes();
    let length = (key + 1) * 2048;
    text.iter().copied().cycle().take(length as usize).collect()
}

fn store(folder: &Path) -> Store {
    Store::new(Some(folder.to_owned()), u64::MAX)
}

/// Whether the store has a key. What it has is whole, and of that key.
fn has(store: &Store, key: u64) -> bool {
    let found = store.get(KIND, &digest(&key.to_le_bytes()));
    found.inspect(|found| assert_eq!(*found, content(key), "of the key {key}")).is_some()
}

/// Writes and reads until the time is over; how often.
fn hammer(folder: &Path, time: Duration) -> u64 {
    let begun = Instant::now();
    let (mut rounds, mut random) = (0_u64, u64::from(std::process::id()));
    while begun.elapsed() < time {
        let store = store(folder);
        for _ in 0..ROUNDS_OF_A_STORE {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let (written, other) = ((random >> 33) % KEYS, (random >> 20) % KEYS);
            store.put(KIND, &digest(&written.to_le_bytes()), &content(written));
            assert!(has(&store, written), "the key {written} was lost");
            has(&store, other);
            rounds += 1;
        }
        store.shrink();
        assert!(store.failure().is_none(), "{:?}", store.failure());
    }
    rounds
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    walk.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Acceptance: S3.13, C24.
#[test]
fn two_processes_that_use_a_store_at_once_lose_nothing() {
    let seconds = env::var(SECONDS).map_or(1, |text| text.parse().expect("a number of seconds"));
    let time = Duration::from_secs(seconds);
    if let Some(folder) = env::var_os(FOLDER) {
        println!("{} rounds", hammer(Path::new(&folder), time));
        return;
    }
    let folder = temporary_folder();
    let start = || {
        Command::new(env::current_exe().unwrap())
            .args(["two_processes_that_use_a_store_at_once_lose_nothing", "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for process in [start(), start()] {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        let rounds = said.lines().find(|line| line.contains(" rounds"));
        println!("{}", rounds.expect("it says how many"));
    }
    let store = store(folder.path());
    let kept = (0..KEYS).filter(|key| has(&store, *key)).count();
    // One file an entry: no two for one key, and none that was not finished.
    assert_eq!((kept > 0, files(folder.path()).len()), (true, kept));
    println!("{kept} entries");
}
