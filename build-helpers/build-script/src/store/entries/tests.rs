use super::*;
use crate::{base::key::digest, test_support::files};
use test_support::temporary_folder;

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
    assert_eq!(store.finish(), None);
}

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
                assert_eq!(store.finish(), None);
            });
        }
    });
    assert_eq!(files(folder.path()).len(), 10);
}

#[test]
fn a_store_that_cannot_be_written_only_warns_once() {
    let folder = temporary_folder();
    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    let store = Store::new(Some(blocked), u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    store.put("artifact", &digest(b"b"), b"content");
    assert_eq!(store.get("artifact", &digest(b"a")), None);
    let warning = store.finish().unwrap();
    assert!(warning.starts_with("kernelmill's store cannot be written ("), "{warning}");
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
    assert_eq!(store.finish(), None);
    let kept: Vec<_> =
        (0..10_u8).filter(|number| store.get("artifact", &digest(&[*number])).is_some()).collect();
    assert_eq!(kept, [0, 6, 7, 8, 9]);
}

#[test]
fn a_store_without_a_folder_holds_nothing() {
    let store = Store::new(None, u64::MAX);
    store.put("artifact", &digest(b"a"), b"content");
    assert_eq!(store.get("artifact", &digest(b"a")), None);
    assert_eq!(store.finish(), None);
}
