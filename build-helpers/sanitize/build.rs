//! Gives the plugin a digest of its own sources, which is part of its version: what an older state of
//! a checkout compiled is not taken for what this one would.

use std::{
    env, fs,
    hash::{DefaultHasher, Hasher},
    path::PathBuf,
};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut digest = DefaultHasher::new();
    let mut stack = vec![root];
    while let Some(folder) = stack.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            digest.write(path.file_name().unwrap_or_default().as_encoded_bytes());
            match fs::read(&path) {
                Ok(content) => digest.write(&content),
                Err(_) => stack.push(path),
            }
        }
    }
    println!("cargo::rustc-env=KERNELMILL_SANITIZE_DIGEST={:016x}", digest.finish());
}
