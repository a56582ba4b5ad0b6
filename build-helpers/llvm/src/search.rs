//! Where the LLVM library of a Rust toolchain is.
//!
//! rustup's toolchains bring it in their folder `lib`. The rustc of a distribution, whose toolchain's folder is `/usr`,
//! shares the library with other programs, beside those of other versions; of these only one of rustc's own major version is
//! taken. On Windows, and where rustc has LLVM linked in, it is that of LLVM's own installer or Homebrew's.

use std::path::{Path, PathBuf};

use crate::Error;

/// The LLVM library in the folder `lib` of a Rust toolchain, of any version.
///
/// # Errors
///
/// [`Error::NotInToolchain`] where the toolchain has none.
pub fn find_in_sysroot(sysroot: &Path) -> Result<PathBuf, Error> {
    find_library(sysroot, None)
}

/// The LLVM library for a Rust toolchain: its own, or one of the system with the major version that rustc has.
///
/// # Errors
///
/// [`Error::NotInToolchain`] where there is none.
pub fn find_library(sysroot: &Path, major: Option<u32>) -> Result<PathBuf, Error> {
    let system = major.map(|major| system_folders(sysroot, major)).unwrap_or_default();
    let own = sysroot.join("lib");
    let found = find_in(&own, major).or_else(|| system.iter().find_map(|it| find_in(it, major)));
    found.ok_or_else(|| Error::NotInToolchain {
        sysroot: sysroot.to_owned(),
        folders: std::iter::once(own).chain(system).collect(),
    })
}

/// The folders of the system that may have LLVM's library of a major version.
fn system_folders(sysroot: &Path, major: u32) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![PathBuf::from(r"C:\Program Files\LLVM\bin")];
    }
    if cfg!(target_os = "macos") {
        let prefixes = ["/opt/homebrew/opt", "/usr/local/opt"];
        let formulas = [format!("llvm@{major}/lib"), "llvm/lib".to_owned()];
        let of = |prefix: &'static str| formulas.iter().map(move |it| Path::new(prefix).join(it));
        return prefixes.into_iter().flat_map(of).collect();
    }
    // Those of Debian, of Fedora, and of Alpine and Gentoo. `/usr/lib` itself is Arch's, and the first of all.
    let multiarch = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let own = [format!("lib/llvm-{major}/lib"), format!("lib64/llvm{major}/lib")];
    let others = [format!("lib/llvm{major}/lib"), format!("lib/llvm/{major}/lib64")];
    let folders = [multiarch, "lib64".to_owned()].into_iter().chain(own).chain(others);
    folders.map(|folder| sysroot.join(folder)).collect()
}

/// The library in a folder: the one of this major version where it is known, or else of a name without one.
fn find_in(folder: &Path, major: Option<u32>) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let fits = fits(&name, major)?;
            // `libLLVM-22-rust-1.95.0-stable.so` is a linker script that names the real file.
            let path = entry.path();
            path.metadata().is_ok_and(|metadata| metadata.len() > 1 << 16).then_some((fits, path))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, path)| path)
}

/// How well a file's name says that it is the library; `None` where it is another file, or of another version.
fn fits(name: &str, major: Option<u32>) -> Option<Fit> {
    let rest = match name.strip_prefix("libLLVM") {
        _ if cfg!(windows) && name.eq_ignore_ascii_case("LLVM-C.dll") => {
            return Some(Fit::Unversioned);
        }
        rest => rest?,
    };
    let is_library =
        if cfg!(target_os = "macos") { rest.ends_with(".dylib") } else { rest.contains(".so") };
    // `libLLVM.so.22.1`, `libLLVM-22.so`: what follows another word is another library.
    if !is_library || !rest.starts_with(['.', '-']) {
        return None;
    }
    let digits = rest.find(|letter: char| letter.is_ascii_digit()).map(|at| &rest[at..]);
    let before = &rest[..rest.len() - digits.map_or(0, str::len)];
    let is_version = matches!(before, "-" | ".so." | ".");
    let version = digits.filter(|_| is_version).and_then(|digits| {
        digits.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok()
    });
    // `libLLVM.so.22.1-rust-1.95.0-stable` is the toolchain's own, whatever its version.
    let is_own = rest.contains("-rust-");
    match (version, major) {
        (Some(version), Some(major)) if version != major && !is_own => None,
        (Some(version), _) => Some(Fit::Version(version)),
        (None, _) => Some(Fit::Unversioned),
    }
}

/// What a name says of the version, the better answer last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Unversioned,
    Version(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn installed(files: &[&str]) -> test_support::TempDir {
        let folder = test_support::temporary_folder();
        for file in files {
            test_support::write_file(&folder, file, "x".repeat(1 << 17));
        }
        folder
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn rustups_toolchains_have_one_beside_a_linker_script() {
        let folder =
            installed(&["lib/libLLVM.so.22.1-rust-1.95.0-stable", "lib/librustc_driver.so"]);
        test_support::write_file(&folder, "lib/libLLVM-22-rust-1.95.0-stable.so", "INPUT(it)");
        let expected = folder.path().join("lib/libLLVM.so.22.1-rust-1.95.0-stable");
        for major in [None, Some(22), Some(99)] {
            assert_eq!(find_library(folder.path(), major).unwrap(), expected);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn of_a_distributions_libraries_the_one_of_rustcs_version_is_taken() {
        let multiarch = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
        let layouts = [
            format!("{multiarch}/libLLVM.so.22.1"),
            "lib64/libLLVM.so.22.1".to_owned(),
            "lib/llvm-22/lib/libLLVM-22.so.1".to_owned(),
            "lib64/llvm22/lib/libLLVM-22.so".to_owned(),
            "lib/libLLVM.so.22.1".to_owned(),
            "lib/llvm22/lib/libLLVM.so".to_owned(),
        ];
        for layout in &layouts {
            let other = format!("{multiarch}/libLLVM.so.23.1");
            let folder =
                installed(&[layout, &other, "lib/libLLVM.so.19.1", "lib/libLLVMSupport.so"]);
            let found = find_library(folder.path(), Some(22)).unwrap();
            assert_eq!(found, folder.path().join(layout));
            let error = find_library(folder.path(), Some(21)).unwrap_err().to_string();
            assert!(error.contains(&multiarch) && error.contains("KERNELMILL_LLVM"), "{error}");
        }
    }

    #[test]
    fn a_toolchain_without_the_library_is_an_error_that_says_what_to_set() {
        let folder = test_support::temporary_folder();
        let message =
            find_in_sysroot(&folder.path().join("no-such-toolchain")).unwrap_err().to_string();
        assert!(message.contains("no-such-toolchain"), "{message}");
        assert!(message.contains("KERNELMILL_LLVM") && message.contains("rustup"), "{message}");
    }
}
