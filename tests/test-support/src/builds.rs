//! Packages that tests build with a cargo of their own, as a user does.
//!
//! All of them are built into one target folder, where kernelmill is compiled once. Cargo tells packages of one folder
//! apart by their names and versions, so that those of two tests must differ, and each test removes what it has built of
//! its own package: every build script has the whole compiler in it.

use crate::shared_folder;
use std::{
    env,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The target folder of packages that tests build.
#[must_use]
pub fn target() -> PathBuf {
    shared_folder("end-to-end").join("target")
}

/// Sets the variables for a program that runs cargo: none of those of the cargo that runs the tests, and `target` to
/// build into.
pub fn set_variables(command: &mut Command, target: &Path) {
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_the_outer_cargo(name)) {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never");
    for profile in ["CARGO_PROFILE_DEV_DEBUG", "CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG"] {
        command.env(profile, "0");
    }
    // A hundred build scripts are linked, each once: what only helps a second or a debugger would take gigabytes.
    command.env("CARGO_INCREMENTAL", "0");
    command.env("CARGO_PROFILE_DEV_STRIP", "symbols");
}

/// Variables that the cargo which runs the tests has set, and that would change what an inner one
/// does; those that say where things are kept or how to download stay.
fn is_of_the_outer_cargo(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let kept = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let kept_prefixes = ["CARGO_NET", "CARGO_HTTP", "CARGO_REGISTR", "CARGO_SOURCE"];
    let ours = name.starts_with("KERNELMILL_") && name != "KERNELMILL_LLVM";
    let cargos = ["CARGO", "RUST", "MAKEFLAGS", "MFLAGS", "NEXTEST", "OUT_DIR", "DOCS_RS"];
    let cargos = cargos.iter().any(|prefix| name.starts_with(prefix));
    let kept = kept.contains(&name) || kept_prefixes.iter().any(|p| name.starts_with(p));
    (ours || cargos) && !kept
}

/// Removes what cargo has built of one package: its build script with its output, libraries and programs.
///
/// # Errors
///
/// Where a file cannot be removed.
pub fn remove(target: &Path, package: &str) -> io::Result<()> {
    let profile = target.join("debug");
    // Cargo's fingerprints first: what they speak of is there as long as they are.
    for folder in [".fingerprint", "build", "deps"] {
        for entry in fs::read_dir(profile.join(folder))? {
            let path = entry?.path();
            let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            let stem = stem.strip_prefix("lib").filter(|_| folder == "deps").unwrap_or(stem);
            if is_of(package, stem) {
                if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
            }
        }
    }
    let program = profile.join(package);
    if program.exists() { fs::remove_file(program) } else { Ok(()) }
}

/// Whether a name is that of a package, or of its library, and cargo's hash.
fn is_of(package: &str, name: &str) -> bool {
    let is_hash = |it: &str| it.len() == 16 && it.bytes().all(|it| it.is_ascii_hexdigit());
    let parts = name.rsplit_once('-').filter(|(_, hash)| is_hash(hash));
    parts.is_some_and(|(stem, _)| stem == package || stem == package.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{temporary_folder, write_file};

    #[test]
    fn only_what_is_of_the_package_is_removed() {
        let folder = temporary_folder();
        let hash = "0123456789abcdef";
        let of_package = [
            format!(".fingerprint/my-app-{hash}/dep"),
            format!("build/my-app-{hash}/out/kernels.rs"),
            format!("deps/libmy_app-{hash}.rlib"),
            format!("deps/my_app-{hash}"),
            "my-app".to_owned(),
        ];
        let others = [
            format!(".fingerprint/my-app-too-{hash}/dep"),
            format!("build/my-{hash}/out/kernels.rs"),
            format!("deps/libmy_app_too-{hash}.rlib"),
            "deps/my_app-short".to_owned(),
        ];
        for name in of_package.iter().chain(&others) {
            write_file(folder.path(), format!("debug/{name}"), "");
        }
        remove(folder.path(), "my-app").unwrap();
        let is_there = |name: &String| folder.path().join("debug").join(name).exists();
        assert!(!of_package.iter().any(is_there));
        assert!(others.iter().all(is_there));
    }
}
