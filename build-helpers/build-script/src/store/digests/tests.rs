use super::*;
use kernelmill_store::Store;
use std::fs::File;
use test_support::{TempDir, temporary_folder};

/// Sets back when a file was written, as if long ago.
fn age(path: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
}

fn fresh<T>(folder: &TempDir, look: impl FnOnce(&Digests<'_>) -> T) -> T {
    let store = Store::new(Some(folder.path().join("store")), 1 << 20);
    let checkout = folder.path().join("checkout");
    let digests = Digests::new(&store, "package", &checkout);
    let found = look(&digests);
    digests.finish();
    found
}

/// The number of files that the store remembers.
fn remembered(folder: &TempDir) -> usize {
    fresh(folder, |digests| {
        let entry = digests.store.get(KIND, &digests.key);
        entry.map_or(0, |bytes| String::from_utf8(bytes).unwrap().lines().count())
    })
}

#[test]
fn a_file_elsewhere_is_remembered_until_anything_about_it_changes() {
    let folder = temporary_folder();
    let header = folder.path().join("a header.h");
    fs::write(&header, "one").unwrap();
    age(&header);
    let of_header = || fresh(&folder, |digests| digests.of(&header));
    assert_eq!(of_header(), Some(digest(b"one")));
    assert_eq!(remembered(&folder), 1);
    assert_eq!(of_header(), Some(digest(b"one")));
    // As long, and as old.
    fs::write(&header, "two").unwrap();
    age(&header);
    #[cfg(unix)]
    assert_eq!(of_header(), Some(digest(b"two")));
    fs::write(&header, "three").unwrap();
    assert_eq!(of_header(), Some(digest(b"three")));
    fs::remove_file(&header).unwrap();
    assert_eq!(of_header(), None);
}

#[test]
fn what_is_remembered_is_not_read() {
    let folder = temporary_folder();
    let header = folder.path().join("header.h");
    fs::write(&header, "one").unwrap();
    age(&header);
    fresh(&folder, |digests| digests.of(&header));
    // A digest that no content of the file has shows where the answer comes from.
    let store = Store::new(Some(folder.path().join("store")), 1 << 20);
    let key = fresh(&folder, |digests| digests.key);
    let text = String::from_utf8(store.get(KIND, &key).unwrap()).unwrap();
    let other = text.replace(&digest(b"one").to_string(), &digest(b"other").to_string());
    store.put(KIND, &key, other.as_bytes());
    assert_eq!(fresh(&folder, |digests| digests.of(&header)), Some(digest(b"other")));
}

#[test]
fn files_of_the_checkout_and_files_just_written_are_read_each_time() {
    let folder = temporary_folder();
    let own = folder.path().join("checkout/own.h");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "own").unwrap();
    age(&own);
    let new = folder.path().join("new.h");
    fs::write(&new, "new").unwrap();
    let both = fresh(&folder, |digests| [digests.of(&own), digests.of(&new)]);
    assert_eq!(both, [Some(digest(b"own")), Some(digest(b"new"))]);
    assert_eq!(remembered(&folder), 0);
}

#[test]
fn what_cannot_be_understood_is_forgotten() {
    let known = Known {
        files: [("/usr/a b.h".to_owned(), ("1:2:3".to_owned(), digest(b"a")))].into(),
        has_grown: false,
    };
    let text = known.write();
    assert_eq!(Known::read(&text), Some(known));
    assert_eq!(Known::read("nonsense"), None);
    assert_eq!(Known::read(&text.replace(' ', "")), None);
}
