//! The CUDA runtime that host code calls: where it lies, and what has to be linked with it.

use crate::{
    base::{environment::BuildEnvironment, error::Error},
    settings::package::Package,
    toolchain::{FOLDERS_OF_LIBRARIES, Nvcc},
};
use std::path::{Path, PathBuf};

/// Tells Cargo to link the runtime, the static one where there is one.
///
/// # Errors
///
/// [`Error::Tool`] where the toolkit has none.
pub(super) fn link(
    environment: &BuildEnvironment,
    package: &Package,
    nvcc: &Nvcc,
    rdc: bool,
) -> Result<(), Error> {
    let is_msvc = package.target.contains("msvc");
    let Some(runtime) = find(&nvcc.root, is_msvc) else {
        return Err(Error::Tool(format!(
            "the host code of the package needs the CUDA runtime, and there is neither \
             libcudart_static.a nor libcudart.so in the folders {} of {}: install the rest of \
             CUDA's toolkit, or `cargo kernelmill toolchain install cuda`",
            FOLDERS_OF_LIBRARIES.join(", "),
            nvcc.root.display()
        )));
    };
    let mut names = Vec::new();
    let mut arguments = Vec::new();
    let mut add = |library: &'static str, kind: &str| {
        names.push(format!("{kind}={library}"));
        let file = runtime.folder.join(format!("lib{library}.a"));
        arguments.push(match kind {
            "dylib" => format!("-l{library}"),
            _ => file.display().to_string(),
        });
    };
    if rdc {
        add("cudadevrt", "static:-bundle");
    }
    if runtime.is_static {
        add("cudart_static", "static:-bundle");
    } else {
        add("cudart", "dylib");
    }
    if !is_msvc {
        for library in ["stdc++", "rt", "pthread", "dl"] {
            add(library, "dylib");
        }
    }
    if is_msvc {
        // Microsoft's linker takes libraries in any order, and once.
        arguments.clear();
    } else if !runtime.is_static {
        arguments.insert(0, format!("-L{}", runtime.folder.display()));
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    environment.cargo.link_after(Some(&runtime.folder), &names, &arguments);
    Ok(())
}

/// The runtime of a toolkit.
#[derive(Debug, PartialEq, Eq)]
struct Runtime {
    folder: PathBuf,
    is_static: bool,
}

fn find(root: &Path, is_msvc: bool) -> Option<Runtime> {
    let names = match is_msvc {
        true => [("cudart_static.lib", true), ("cudart.lib", false)],
        false => [("libcudart_static.a", true), ("libcudart.so", false)],
    };
    let folders = FOLDERS_OF_LIBRARIES.map(|folder| root.join(folder));
    names.iter().find_map(|(name, is_static)| {
        let folder = folders.iter().find(|folder| folder.join(name).is_file())?.clone();
        Some(Runtime { folder, is_static: *is_static })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::{temporary_folder, write_file};

    #[test]
    fn the_static_runtime_is_preferred_in_every_layout() {
        let root = temporary_folder();
        assert_eq!(find(root.path(), false), None);
        let add = |name: &str| {
            write_file(&root, name, "");
        };
        let found =
            |folder: &str, is_static| Some(Runtime { folder: root.path().join(folder), is_static });
        add("lib64/libcudart.so");
        assert_eq!(find(root.path(), false), found("lib64", false));
        add("lib/libcudart_static.a");
        assert_eq!(find(root.path(), false), found("lib", true));
        add("lib64/libcudart_static.a");
        assert_eq!(find(root.path(), false), found("lib64", true));
        add("lib/x64/cudart_static.lib");
        assert_eq!(find(root.path(), true), found("lib/x64", true));
    }
}
