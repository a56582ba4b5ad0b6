use super::*;
use crate::key::digest;
use test_support::temporary_folder;

/// Ends the use of a store; why it could not be written.
fn finish(store: &Store) -> Option<String> {
    store.shrink();
    store.failure().map(ToString::to_string)
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

#[test]
fn what_was_put_is_found_under_its_key_and_kind_only() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let key = digest(b"key");
    assert_eq!(store.get("artifact", &key), None);
    store.put("artifact", &key, b"content");
    assert_eq!(store.get("artifact", &key).as_deref(), Some(&b"content"[..]));
    assert_eq!(store.get("front", &key), None);
    assert_eq!(store.get("artifact", &digest(b"other")), None);
    assert_eq!(finish(&store), None);
}

/// Acceptance: S3.13, C24.
#[test]
fn every_damage_is_a_miss_and_is_replaced() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let key = digest(b"key");
    store.put("artifact", &key, b"content");
    let file = files(folder.path()).remove(0);
    let whole = fs::read(&file).unwrap();
    for cut in 0..whole.len() {
        fs::write(&file, &whole[..cut]).unwrap();
        assert_eq!(store.get("artifact", &key), None, "cut at {cut}");
        assert!(!file.exists());
    }
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        fs::write(&file, &altered).unwrap();
        assert_eq!(store.get("artifact", &key), None, "altered at {at}");
    }
    fs::write(&file, [whole.as_slice(), b"more"].concat()).unwrap();
    assert_eq!(store.get("artifact", &key), None);
    store.put("artifact", &key, b"content");
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_a_miss_and_is_replaced() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let key = digest(b"key");
    let path = store.path("artifact", &key).unwrap();
    let in_place: [fn(&Path); 3] = [
        |path| fs::create_dir_all(path.join("folder")).unwrap(),
        |path| std::os::unix::fs::symlink(path, path).unwrap(),
        |path| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let status = std::process::Command::new("mkfifo").arg(path).status();
            assert!(status.unwrap().success());
        },
    ];
    for put in in_place {
        put(&path);
        assert_eq!(store.get("artifact", &key), None);
        store.put("artifact", &key, b"content");
        assert_eq!(store.get("artifact", &key).as_deref(), Some(&b"content"[..]));
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(finish(&store), None);
}

/// Acceptance: S3.13, C24.
#[test]
fn writers_at_once_leave_whole_entries_and_no_temporary_files() {
    let folder = temporary_folder();
    let content = vec![7_u8; 200_000];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
                for round in 0..10_u8 {
                    let key = digest(&[round]);
                    store.put("artifact", &key, &content);
                    assert_eq!(store.get("artifact", &key).as_deref(), Some(&*content));
                }
                assert_eq!(finish(&store), None);
            });
        }
    });
    assert_eq!(files(folder.path()).len(), 10);
}

/// Acceptance: S3.13.
#[test]
fn a_store_that_cannot_be_written_only_warns_once() {
    let folder = temporary_folder();
    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    let store = Store::new(Some(blocked), u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    store.put("artifact", &digest(b"b"), b"content");
    assert_eq!(store.get("artifact", &digest(b"a")), None);
    let warning = finish(&store).unwrap();
    let file = folder.path().join("file").display().to_string();
    assert!(warning.starts_with(&file), "{warning}");
}

/// The folder above the store is gone for a while, as it is under a build whose store is cleared.
#[cfg(unix)]
#[test]
fn a_store_whose_folder_was_gone_for_a_while_is_written_again() {
    let folder = temporary_folder();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let store = Store::new(Some(link), u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    assert!(finish(&store).is_some(), "nothing could be written");
    fs::create_dir(&target).unwrap();
    store.put("artifact", &digest(b"b"), b"content");
    assert_eq!(store.get("artifact", &digest(b"a")), None);
    assert_eq!(store.get("artifact", &digest(b"b")).as_deref(), Some(&b"content"[..]));
    assert_eq!(finish(&store), None);
}

#[test]
fn a_write_that_failed_for_good_is_the_last() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let path = store.path("artifact", &digest(b"a")).unwrap();
    let blocked = path.parent().unwrap();
    fs::create_dir_all(blocked.parent().unwrap()).unwrap();
    fs::write(blocked, "").unwrap();
    for content in [b"a", b"b"] {
        store.put("artifact", &digest(content), b"content");
    }
    assert_eq!(files(folder.path()), [blocked]);
    assert!(finish(&store).is_some());
}

#[test]
fn the_entries_not_used_for_longest_go_first() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), 10_000);
    for number in 0..10_u8 {
        store.put("artifact", &digest(&[number]), &[number; 1_500]);
        let path = store.path("artifact", &digest(&[number])).unwrap();
        let age = Duration::from_secs(100_000 - u64::from(number) * 1_000);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    // Used again, the oldest one stays.
    assert!(store.get("artifact", &digest(&[0])).is_some());
    assert_eq!(finish(&store), None);
    let kept: Vec<_> =
        (0..10_u8).filter(|number| store.get("artifact", &digest(&[*number])).is_some()).collect();
    assert_eq!(kept, [0, 6, 7, 8, 9]);
}

/// A build that wrote little measures what is there every ten minutes only, also where a clock was ahead.
#[cfg(unix)]
#[test]
fn little_is_not_measured_again_soon() {
    let folder = temporary_folder();
    let limit = 100_000;
    let build = |number: u8, length: usize| {
        let store = Store::new(Some(folder.path().to_owned()), limit);
        store.put("artifact", &digest(&[number]), &vec![number; length]);
        assert_eq!(finish(&store), None);
        files(folder.path()).len()
    };
    let measured_at = |time| {
        let entries = Store::new(Some(folder.path().to_owned()), limit).folder.unwrap();
        fs::File::open(entries).unwrap().set_modified(time).unwrap();
    };
    assert_eq!(build(0, 10), 1);
    // Twice the limit, written by builds that say nothing of it.
    for number in 1..=20 {
        let store = Store::new(Some(folder.path().to_owned()), limit);
        store.put("artifact", &digest(&[number]), &vec![number; 10_000]);
    }
    assert_eq!(build(21, 10), 22);
    for time in [SystemTime::now() - 2 * MEASURED_AGAIN_AFTER, SystemTime::now() + RENEW_AFTER] {
        measured_at(time);
        // A new folder of entries would be news to the time.
        let left = build(21, 10);
        assert!(left < 12, "{left} entries");
        for number in 1..=20 {
            let store = Store::new(Some(folder.path().to_owned()), limit);
            store.put("artifact", &digest(&[number]), &vec![number; 10_000]);
        }
    }
    let left = build(23, 2_000);
    assert!(left < 12, "{left} entries after much was written");
}

/// A clock that was ahead leaves times that are still to come: they keep nothing.
#[test]
fn times_in_the_future_keep_no_entry_and_no_temporary_file() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), 10_000);
    let ahead = SystemTime::now() + Duration::from_secs(10 * 365 * 24 * 60 * 60);
    let place = |path: &Path| {
        fs::File::options().append(true).open(path).unwrap().set_modified(ahead).unwrap();
    };
    for number in 0..10_u8 {
        store.put("artifact", &digest(&[number]), &[number; 1_500]);
    }
    let path = |number: u8| store.path("artifact", &digest(&[number])).unwrap();
    (0..3).for_each(|number| place(&path(number)));
    let temporary = path(9).with_file_name(".x.1.0.tmp");
    fs::write(&temporary, b"half").unwrap();
    place(&temporary);
    // One of them is used, and has the time of that.
    assert!(store.get("artifact", &digest(&[1])).is_some());
    assert!(fs::metadata(path(1)).unwrap().modified().unwrap() < ahead);
    assert_eq!(finish(&store), None);
    assert!(!temporary.exists() && !path(0).exists() && !path(2).exists() && path(1).exists());
}

#[test]
fn entries_of_other_versions_count_and_go() {
    let folder = temporary_folder();
    let old = folder.path().join("v1/ab/cd.artifact");
    let tool = folder.path().join("toolchains/cuda/tool");
    for file in [&old, &tool] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, [0; 9_000]).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(100_000);
        fs::File::options().append(true).open(file).unwrap().set_modified(long_ago).unwrap();
    }
    let store = Store::new(Some(folder.path().to_owned()), 10_000);
    store.put("artifact", &digest(b"a"), &[1; 2_000]);
    assert_eq!(finish(&store), None);
    assert!(!old.exists() && tool.exists());
    assert!(store.get("artifact", &digest(b"a")).is_some());
}

#[test]
fn a_store_without_a_folder_holds_nothing() {
    let store = Store::new(None, u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    assert_eq!(store.get("artifact", &digest(b"a")), None);
    assert_eq!(finish(&store), None);
}

#[test]
fn two_entries_that_were_swapped_are_misses_and_are_replaced() {
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let names = [("artifact", b"a"), ("artifact", b"b"), ("lowered", b"a")];
    let put = || names.map(|(kind, name)| store.put(kind, &digest(name), name));
    let path = |(kind, name): (&str, &[u8; 1])| store.path(kind, &digest(name)).unwrap();
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        put();
        let [one, other] = [path(names[first]), path(names[second])];
        let between = folder.path().join("between");
        fs::rename(&one, &between).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&between, &other).unwrap();
        for (index, (kind, name)) in names.iter().enumerate() {
            let expected = (index != first && index != second).then(|| name.to_vec());
            assert_eq!(store.get(kind, &digest(*name)), expected, "{first} and {second}: {index}");
        }
        assert!(!one.exists() && !other.exists());
    }
}

#[cfg(unix)]
#[test]
fn a_store_is_made_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = temporary_folder();
    let base = folder.path().join("cache/kernelmill");
    let store = Store::new(Some(base.clone()), u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    let entries = walkdir::WalkDir::new(&base).into_iter().map(Result::unwrap);
    let modes: Vec<_> = entries
        .map(|entry| (entry.file_type().is_dir(), entry.metadata().unwrap().permissions().mode()))
        .collect();
    assert_eq!(modes.len(), 4, "the folder, the version, the first digits, the entry");
    for (is_folder, mode) in modes {
        assert_eq!(mode & 0o777, if is_folder { 0o700 } else { 0o600 });
    }
}

/// Others can make entries that fit: what they could have written is no entry, wherever in the store it lies.
#[cfg(unix)]
#[test]
fn what_others_could_have_written_in_the_store_is_a_miss_and_is_replaced() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let folder = temporary_folder();
    let store = Store::new(Some(folder.path().to_owned()), u64::MAX);
    let key = digest(b"key");
    store.put("artifact", &key, b"content");
    let file = files(folder.path()).remove(0);
    let digits = file.parent().unwrap().to_owned();
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mode_of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let opened: [(&Path, u32); 3] = [(&file, 0o666), (&digits, 0o777), (&digits, 0o1777)];
    for (place, open) in opened {
        mode(place, open);
        assert_eq!(store.get("artifact", &key), None, "{open:o}");
        assert!(!file.exists());
        store.put("artifact", &key, b"content");
        assert_eq!((mode_of(&file), mode_of(&digits)), (0o600, 0o700));
        assert_eq!(store.get("artifact", &key).as_deref(), Some(&b"content"[..]));
    }
    // Only root can make a file another user's.
    for place in [&file, &digits] {
        if chown(place, Some(65534), None).is_ok() {
            assert_eq!(store.get("artifact", &key), None);
            chown(&digits, Some(0), None).unwrap();
            store.put("artifact", &key, b"content");
            assert!(store.get("artifact", &key).is_some());
        }
    }
    assert_eq!(finish(&store), None);
}

/// A folder `v0` may be a link that somebody has made for another purpose.
#[cfg(unix)]
#[test]
fn what_a_link_in_the_store_leads_to_is_not_removed() {
    let folder = temporary_folder();
    let own = test_support::write_file(&folder, "mine/aa/text.artifact", "my own");
    let store = Store::new(Some(folder.path().join("store")), 1);
    store.put("artifact", &digest(b"a"), b"content");
    let link = folder.path().join("store/v0");
    std::os::unix::fs::symlink(folder.path().join("mine"), &link).unwrap();
    assert_eq!(finish(&store), None);
    assert_eq!(store.get("artifact", &digest(b"a")), None, "the limit counts");
    assert_eq!(fs::read(own).unwrap(), b"my own");
}
