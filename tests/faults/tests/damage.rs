//! Damaged stores: every kind of entry, damaged in every way. A build gives what it gave before, or says what
//! to do where it cannot use the store.

use faults::{Fixture, References, VARIANTS, count, entries, files, for_seeds, kind, remove};
use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};
use test_support::{Random, fuzz::damaged, write_file};

/// A way to damage an entry of a store, beside the store of other sources.
type Damage = fn(&Entry<'_>, &mut Random);

struct Entry<'e> {
    path: &'e Path,
    /// An entry of the same kind that is right for other sources.
    of_others: Option<&'e Path>,
    /// All entries of its store.
    all: &'e [PathBuf],
}

impl Entry<'_> {
    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path).expect("an entry can be read")
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(self.path, bytes).expect("an entry can be written");
    }

    fn flip_a_bit(&self, random: &mut Random) {
        let mut bytes = self.bytes();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        self.write(&bytes);
    }

    fn set_time(&self, time: SystemTime) {
        let file = fs::File::options().append(true).open(self.path).expect("an entry");
        file.set_modified(time).expect("a time can be set");
    }

    fn set_mode(&self, mode: u32) {
        fs::set_permissions(self.path, Permissions::from_mode(mode)).expect("a mode can be set");
    }
}

/// Ways to damage an entry, by name.
const DAMAGES: [(&str, Damage); 16] = [
    ("a bit", |entry, random| entry.flip_a_bit(random)),
    ("truncated", |entry, random| {
        let bytes = entry.bytes();
        entry.write(&bytes[..random.below(bytes.len())]);
    }),
    ("empty", |entry, _| entry.write(&[])),
    ("zeros", |entry, _| entry.write(&vec![0; entry.bytes().len()])),
    ("longer", |entry, _| entry.write(&[entry.bytes(), b"more".to_vec()].concat())),
    ("several changes", |entry, random| entry.write(&damaged(&entry.bytes(), random))),
    ("another's", |entry, random| {
        let other = fs::read(random.pick(entry.all)).expect("an entry can be read");
        entry.write(&other);
    }),
    ("that of other sources", |entry, _| {
        let other = entry.of_others.map_or(Vec::new(), |path| fs::read(path).expect("an entry"));
        entry.write(&other);
    }),
    ("not readable", |entry, _| entry.set_mode(0o000)),
    ("not writable, and damaged", |entry, random| {
        entry.flip_a_bit(random);
        entry.set_mode(0o400);
    }),
    ("of the far future", |entry, _| {
        entry.set_time(SystemTime::now() + Duration::from_secs(40 * 365 * 86_400));
    }),
    ("of the far future, and damaged", |entry, random| {
        entry.flip_a_bit(random);
        entry.set_time(SystemTime::now() + Duration::from_secs(40 * 365 * 86_400));
    }),
    ("of 1970", |entry, _| entry.set_time(SystemTime::UNIX_EPOCH)),
    ("a folder", |entry, _| {
        remove(entry.path);
        fs::create_dir_all(entry.path.join("folder")).expect("a folder");
    }),
    ("a link to itself", |entry, _| {
        remove(entry.path);
        symlink(entry.path, entry.path).expect("a link");
    }),
    ("a pipe", |entry, _| {
        remove(entry.path);
        let status = Command::new("mkfifo").arg(entry.path).status();
        assert!(status.expect("mkfifo runs").success());
    }),
];

/// Cases in CI: each damage of one kind of entry.
const CASES: u64 = DAMAGES.len() as u64;

#[test]
fn every_damage_of_every_kind_of_entry_is_a_miss() {
    let Some(fixture) = Fixture::new(env!("CARGO_BIN_EXE_faults")) else { return };
    let references = References::of(&fixture);
    let kinds: BTreeSet<_> = entries(&references.store(0)).iter().map(|path| kind(path)).collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    println!("kinds of entries: {kinds:?}");
    assert!(kinds.len() > 4, "{kinds:?}");
    for_seeds("damaged stores", CASES, |seed, random| {
        // Each damage with the next kind of entry each time.
        let number = seed as usize - 1;
        let (turn, number) = (number / DAMAGES.len(), number % DAMAGES.len());
        let damage = &DAMAGES[number];
        let damaged_kind = &kinds[(number + turn) % kinds.len()];
        let variant = random.below(VARIANTS);
        fixture.set_variant(variant);
        fixture.take_store(&references, variant);
        remove(&fixture.out());
        if random.below(2) == 0 {
            // What is not there may be made of what is damaged.
            remove_kind(&fixture, random.pick::<String>(&kinds));
        }
        let others = entries(&references.store((variant + 1) % VARIANTS));
        println!("seed {seed}: {damaged_kind}, {}", damage.0);
        damage_kind(&fixture, damaged_kind, damage.1, (&others, random));
        let built = fixture.build_gives(&references, variant);
        assert!(!built.messages.contains("error"), "{}", built.messages);
        // What was not needed is found by the check, and what was is whole.
        let left = fixture.verifier().output().expect("a program");
        assert!(left.status.code() < Some(2), "{left:?}");
        fixture.build_is_right(&references, variant);
    });
}

fn of_kind(paths: &[PathBuf], wanted: &str) -> Vec<PathBuf> {
    paths.iter().filter(|path| kind(path) == *wanted).cloned().collect()
}

fn remove_kind(fixture: &Fixture, kind: &str) {
    of_kind(&entries(&fixture.cache()), kind).iter().for_each(|path| remove(path));
}

/// Damages every entry of a kind. The store of other sources and the random numbers come as one.
fn damage_kind(fixture: &Fixture, kind: &str, damage: Damage, with: (&[PathBuf], &mut Random)) {
    let (others, random) = with;
    let all = entries(&fixture.cache().join("kernelmill"));
    let others = of_kind(others, kind);
    for path in &of_kind(&all, kind) {
        let of_others = (!others.is_empty()).then(|| random.pick(&others).as_path());
        damage(&Entry { path, of_others, all: &all }, random);
    }
}

/// A change of the store's folder, by name, and what a build on it says of the store; empty where nothing.
type Change = (&'static str, fn(&Path), &'static str);

const CHANGES: [Change; 7] = [
    (
        "files of others",
        |store| {
            for name in
                ["v3/00/notes.txt", "v3/zz", "v3/.x.1.0.tmp", "v99/ab/cd.artifact", "README"]
            {
                write_file(store, name, "text");
            }
        },
        "",
    ),
    (
        "a file in place of a folder of entries",
        |store| {
            // Every build needs the binaries.
            let found = of_kind(&entries(store), "artifact");
            let folder = found[0].parent().expect("a folder").to_owned();
            remove(&folder);
            fs::write(folder, "").expect("a file");
        },
        "cannot be written",
    ),
    (
        "a file in place of the entries",
        |store| {
            remove(&store.join("v3"));
            fs::write(store.join("v3"), "").expect("a file");
        },
        "cannot be written",
    ),
    (
        "a link to nothing in place of the store",
        |store| {
            remove(store);
            symlink("/nothing/here", store).expect("a link");
        },
        "cannot be written",
    ),
    (
        "entries that all can read",
        |store| {
            for path in files(store) {
                fs::set_permissions(path, Permissions::from_mode(0o666)).expect("a mode");
            }
        },
        "",
    ),
    (
        "a store that all can write",
        |store| {
            fs::set_permissions(store, Permissions::from_mode(0o777)).expect("a mode");
        },
        "refused",
    ),
    (
        "entries in a folder that all can write",
        |store| {
            fs::set_permissions(store.join("v3"), Permissions::from_mode(0o777)).expect("a mode");
        },
        "refused",
    ),
];

#[test]
fn a_store_whose_folder_is_not_as_it_was_is_used_or_refused() {
    let Some(fixture) = Fixture::new(env!("CARGO_BIN_EXE_faults")) else { return };
    let references = References::of(&fixture);
    let store = fixture.cache().join("kernelmill");
    fixture.set_variant(0);
    for (name, change, expected) in CHANGES {
        println!("{name}");
        fixture.take_store(&references, 0);
        remove(&fixture.out());
        change(&store);
        if expected == "refused" {
            let built = fixture.build();
            assert_eq!(built.code, Some(1), "{}", built.messages);
            assert!(
                built.messages.contains("other users can change the store of compiled kernels"),
                "{}",
                built.messages
            );
            assert!(built.messages.contains("chmod"), "it says what to do: {}", built.messages);
        } else {
            let built = fixture.build_gives(&references, 0);
            assert!(built.messages.contains(expected), "{name}: {}", built.messages);
            assert!(!expected.is_empty() || built.messages.is_empty(), "{}", built.messages);
        }
    }
    count("changed folders of the store", CHANGES.len() as u64, 0);
}
