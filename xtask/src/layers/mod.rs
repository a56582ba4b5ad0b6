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
mod names;
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
use walkdir::WalkDir;

/// Checks every crate of the workspace, and the names of its packages ([`names`]).
///
/// # Errors
///
/// With every package of another name than its folder, and every cycle.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut faults = names::check(workspace);
    for root in find_roots(&workspace.root)? {
        let name = root.strip_prefix(&workspace.root).unwrap_or(&root).display().to_string();
        let cycles = check(&root, &|path| fs::read_to_string(path).ok())
            .with_context(|| format!("cannot read the modules of {name}"))?;
        faults.extend(cycles.iter().map(|cycle| cycle.report(&workspace.root)));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n\n"));
    }
    Ok(())
}

/// The cycles of the crate with this root file.
fn check(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<Cycle>> {
    let tree = Crate::read(root, read)?;
    Ok(cycles::find(&tree, &imports::of(&tree)))
}

/// The root files of all libraries and programs below a folder, those of kernel packages among them.
fn find_roots(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_source = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        let is_hidden = name.to_string_lossy().starts_with('.');
        entry.depth() == 0 || !(is_hidden || name == "target" || name == "templates")
    };
    let mut roots = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_source) {
        let entry = entry?;
        if entry.file_name() == "Cargo.toml" {
            let found = ["src/lib.rs", "src/main.rs"].map(|it| entry.path().with_file_name(it));
            roots.extend(found.into_iter().filter(|root| root.is_file()));
        }
    }
    Ok(roots)
}
