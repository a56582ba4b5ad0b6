//! Check of the module layers: the modules of a crate import downwards only, without a cycle.
//!
//! Every path of a crate's source is resolved to the file that defines what it names: `use`
//! declarations, and paths with `::` in code, in types and in the arguments of macros. A file that names
//! something of another file imports that file. The rules:
//!
//! - The node is the file. Inline modules belong to the file that they stand in.
//! - A re-export is followed: an import through it goes to the file that defines the item. So a
//!   `mod.rs` that only declares and re-exports its children is transparent, and no re-export hides a
//!   cycle.
//! - A `mod` declaration is no import. Neither is an import of a module by its name: the paths that
//!   go through that name are.
//! - Everything else counts, between parents and children too: a parent that uses or re-exports an
//!   item of its child imports the child, and a child that uses a definition in its parent's file
//!   imports the parent. Where both happen, that is a cycle; the definition then belongs in a file of
//!   its own.
//! - A glob import counts for the file of its module, where that defines something, and for all that
//!   the module re-exports.
//! - Tests do not count: items under `#[cfg(test)]`, and modules called `tests`. Method calls name no
//!   file, and included files are not read.

mod cycles;
mod imports;
mod modules;
#[cfg(test)]
mod tests;

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, bail};
use cycles::Cycle;
use modules::Crate;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Crates that are still to be done: their modules import each other in cycles. Each by its root file,
/// with what ties the modules.
const PENDING: [(&str, &str); 17] = [
    ("benches/cpu/src/main.rs", "the cases and the tables share types of `main.rs`"),
    (
        "build-helpers/artifact/src/lib.rs",
        "signatures and functions, messages and places name each other",
    ),
    ("build-helpers/autodiff/src/lib.rs", "the session and the two ways to derive name each other"),
    ("build-helpers/cli/src/main.rs", "the toolchain's parts use helpers of their `mod.rs`"),
    ("build-helpers/compiler/src/lib.rs", "the CPU's passes name each other"),
    ("build-helpers/device/src/lib.rs", "intrinsics and what they are for name each other"),
    ("build-helpers/device-macros/src/lib.rs", "parameters use the helpers of functions"),
    ("build-helpers/llvm/src/lib.rs", "errors name the library's version"),
    ("build-helpers/sanitize/src/lib.rs", "kernels and memory name each other"),
    ("examples/mandelbrot/src/main.rs", "the reference is checked against types of `main.rs`"),
    ("examples/photo/src/main.rs", "the reference is checked against types of `main.rs`"),
    (
        "test-driver/emulator/src/lib.rs",
        "decoding, execution and memory share types of their `mod.rs`",
    ),
    ("test-driver/fake-cuda/src/lib.rs", "contexts and what they own name each other"),
    ("tests/conformance/src/lib.rs", "the list of checks lies beside the type of a check"),
    ("tests/cuda/src/lib.rs", "launches name the sources"),
    ("tests/gpu-suite/src/lib.rs", "the list of cases lies beside their types"),
    (
        "xtask/src/main.rs",
        "benchmarks use helpers of their `mod.rs`, the test driver and the examples each other",
    ),
];

/// Checks every crate of the workspace.
///
/// # Errors
///
/// With every crate that has a cycle, and with those of [`PENDING`] that have none.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut roots = Vec::new();
    find_roots(&workspace.root, &mut roots)?;
    let mut faults = Vec::new();
    for root in roots {
        let name = root.strip_prefix(&workspace.root).unwrap_or(&root).display().to_string();
        let cycles = check(&root, &|path| fs::read_to_string(path).ok())
            .with_context(|| format!("cannot read the modules of {name}"))?;
        let reports: Vec<_> = cycles.iter().map(|cycle| cycle.report(&workspace.root)).collect();
        let pending = PENDING.iter().find(|(known, _)| *known == name);
        faults.extend(judge(&name, reports, pending.map(|(_, why)| *why)));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n\n"));
    }
    Ok(())
}

/// What is wrong with a crate that has these cycles, and may have them for a reason.
fn judge(name: &str, cycles: Vec<String>, pending: Option<&str>) -> Vec<String> {
    match pending {
        None => cycles,
        Some(_) if cycles.is_empty() => {
            vec![format!("{name} has no cycle any more: remove it from `PENDING`")]
        }
        Some(why) => {
            println!("still to be done: {name}: {why}");
            Vec::new()
        }
    }
}

/// The cycles of the crate with this root file.
fn check(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<Cycle>> {
    let tree = Crate::read(root, read)?;
    Ok(cycles::find(&tree, &imports::of(&tree)))
}

/// The root files of all libraries and programs below a folder.
fn find_roots(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    if folder.join("Cargo.toml").is_file() {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        found.extend(roots.into_iter().filter(|root| root.is_file()));
    }
    for entry in entries {
        let name = entry.file_name();
        let is_source = entry.file_type()?.is_dir()
            && name != "target"
            && name != "templates"
            && !name.to_string_lossy().starts_with('.');
        if is_source {
            find_roots(&entry.path(), found)?;
        }
    }
    Ok(())
}
