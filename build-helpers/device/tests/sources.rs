//! The lists of sources are complete, and enough to build both crates with.

mod common;

use kernelmill_device::sources;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use test_support::{temporary_folder, write_file};

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

fn listed(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn no_source_file_is_missing() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for (folder, list) in [("src", sources::DEVICE), ("macros-src", sources::MACROS)] {
        let mut found = BTreeMap::new();
        collect(&root.join(folder), "", &mut found);
        assert!(found == listed(list), "{folder}: {:?}", found.keys());
    }
}

#[test]
fn the_lists_build() {
    let folder = temporary_folder();
    for (name, list) in [("device", sources::DEVICE), ("macros", sources::MACROS)] {
        for (path, text) in list {
            write_file(&folder, Path::new(name).join(path), text);
        }
    }
    let built = common::build(
        &folder,
        &folder.path().join("macros/lib.rs"),
        &folder.path().join("device/lib.rs"),
    );
    assert_eq!(built, "", "warnings");
}
