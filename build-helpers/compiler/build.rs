//! Gives the compiler a digest of its own sources, which is part of every key: what an older state
//! of a checkout compiled is not taken for what this one would.

use std::{
    env, fs,
    hash::{DefaultHasher, Hasher},
    path::{Path, PathBuf},
};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut digest = DefaultHasher::new();
    // The crate that wraps LLVM lies beside this one in a checkout; published, each has a version.
    let folders = [root.join("src"), root.join("cuda"), root.join("../llvm/src")];
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        add(folder, &mut digest);
    }
    println!("cargo::rustc-env=KERNELMILL_COMPILER_DIGEST={:016x}", digest.finish());
}

/// Adds names and contents of all files, in the order of their names.
fn add(folder: &Path, digest: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        digest.write(path.file_name().unwrap_or_default().as_encoded_bytes());
        match fs::read(&path) {
            Ok(content) => {
                digest.write_usize(content.len());
                digest.write(&content);
            }
            Err(_) => add(&path, digest),
        }
    }
}
