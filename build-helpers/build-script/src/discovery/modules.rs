//! Modules of a kernel file that are files of their own (`mod physics;`), as rustc looks for them
//! ([the reference](https://doc.rust-lang.org/reference/items/modules.html#module-source-filenames)).
//!
//! Their types and constants can be in signatures of the file's kernels. Guaranteed: no file is read twice as the
//! same module, and the search ends. A file that cannot be read is left out: rustc says which, and where.

use super::{
    candidate::{is_special, report_special, reports_large},
    kernel_package::ModuleText,
    nesting::{on_deep_stack, too_deep_at},
};
use crate::base::{paths, report::Report};
use kernelmill_compiler::frontend::rust::signature::Cfgs;
use std::{
    collections::{HashSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, ext::IdentExt};

/// The longest path of modules that is followed: `#[path]` can lead back to a file.
const MAX_DEPTH: usize = 32;

/// A file whose modules are looked for.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) module: Vec<String>,
    pub(crate) text: Arc<str>,
    /// Where its modules lie: its own folder for the root and for `mod.rs`, else the folder of its name.
    pub(crate) folder: PathBuf,
}

/// A module that is a file of its own.
pub(super) struct Found {
    pub(super) module: Vec<String>,
    /// The places where it may be, the first that is there counts, each with the folder of its own modules.
    pub(super) places: Vec<(PathBuf, PathBuf)>,
}

/// The modules of the kernel file at `path`, all below it, each with its file's name relative to `root`; `watched` gets
/// their paths.
pub(super) fn texts(
    path: &Path,
    text: &Arc<str>,
    root: &Path,
    cfgs: &Cfgs,
    watched: &mut Vec<PathBuf>,
    report: &mut Report,
) -> Vec<ModuleText> {
    let folder = path.parent().unwrap_or(root).to_owned();
    let first = File { path: path.to_owned(), module: Vec::new(), text: text.clone(), folder };
    let mut own = Vec::new();
    let texts = texts_below(first, root, cfgs, &mut own, report);
    watched.extend(own);
    texts
}

/// As [`texts`], of a file that may be a module itself; the names of modules are those from its crate's root on.
pub(super) fn texts_below(
    first: File,
    root: &Path,
    cfgs: &Cfgs,
    watched: &mut Vec<PathBuf>,
    report: &mut Report,
) -> Vec<ModuleText> {
    let deepest = first.module.len() + MAX_DEPTH;
    let (mut queue, mut seen) = (VecDeque::from([first]), HashSet::new());
    let mut texts = Vec::new();
    while let Some(file) = queue.pop_front() {
        // Most files have none, and parsing takes time. What nests too deeply is reported by who reads it.
        if !file.text.contains("mod") || too_deep_at(&file.text).is_some() {
            continue;
        }
        // Without a stack nothing can be read, which is reported there too.
        for Found { module, places } in
            on_deep_stack(|| modules_of(&file, cfgs)).unwrap_or_default()
        {
            let is_there = |path: &Path| path.is_file() || is_special(path);
            let Some((path, folder)) = places.into_iter().find(|(path, _)| is_there(path)) else {
                continue;
            };
            let display = paths::relative(root, &path);
            if is_special(&path) {
                report_special(&display, report);
                continue;
            }
            if reports_large(&path, &display, report) {
                continue;
            }
            let Ok(text) = fs::read_to_string(&path).map(Arc::<str>::from) else { continue };
            if module.len() > deepest || !seen.insert((path.clone(), module.clone())) {
                continue;
            }
            watched.push(path.clone());
            texts.push((module.clone(), (display, text.clone())));
            queue.push_back(File { path, module, text, folder });
        }
    }
    texts
}

/// The modules that a file declares without their text.
fn modules_of(file: &File, cfgs: &Cfgs) -> Vec<Found> {
    let Ok(tree) = syn::parse_file(&file.text) else { return Vec::new() };
    let mut found = Vec::new();
    collect(file, &tree.items, &[], cfgs, &mut found);
    found
}

/// Adds the modules among `items`, which are in the modules `inline` of the file.
fn collect(file: &File, items: &[Item], inline: &[String], cfgs: &Cfgs, found: &mut Vec<Found>) {
    for item in items {
        let Item::Mod(item) = item else { continue };
        if cfgs.leave_out(&item.attrs) {
            continue;
        }
        let name = item.ident.unraw().to_string();
        if let Some((_, items)) = &item.content {
            let inline = [inline, &[folder_name(item)]].concat();
            collect(file, items, &inline, cfgs, found);
            continue;
        }
        let module = file.module.iter().chain(inline).chain([&name]).cloned().collect();
        found.push(Found { module, places: places(file, inline, item) });
    }
}

/// The name of the folder that the files of an inline module lie in: `#[path]` says another than the module's.
pub(super) fn folder_name(item: &ItemMod) -> String {
    path_attribute(&item.attrs).unwrap_or_else(|| item.ident.unraw().to_string())
}

/// Where the file of a module may be that is declared in inline modules of a file, by the names of their folders.
pub(super) fn places(file: &File, inline: &[String], item: &ItemMod) -> Vec<(PathBuf, PathBuf)> {
    let name = item.ident.unraw().to_string();
    let below = inline.iter().fold(file.folder.clone(), |folder, name| folder.join(name));
    let Some(named) = path_attribute(&item.attrs) else {
        return vec![
            (below.join(format!("{name}.rs")), below.join(&name)),
            (below.join(&name).join("mod.rs"), below.join(&name)),
        ];
    };
    let base = match inline {
        [] => file.path.parent().unwrap_or(&file.folder).to_owned(),
        _ => below,
    };
    let path = base.join(named);
    let folder = path.parent().unwrap_or(&base).to_owned();
    vec![(path, folder)]
}

/// The value of `#[path = ".."]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Cfgs, Report, texts};
    use std::{fs, path::Path};
    use test_support::temporary_folder;

    /// The modules of `kernels/k.rs` among these files: their paths and their files.
    fn found(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let folder = temporary_folder();
        let root: &Path = folder.path();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let path = root.join("kernels/k.rs");
        let text = fs::read_to_string(&path).unwrap().into();
        let cfgs = Cfgs::new(["on".to_owned()]);
        let mut watched = Vec::new();
        let texts = texts(&path, &text, root, &cfgs, &mut watched, &mut Report::default());
        assert_eq!(watched.len(), texts.len());
        texts.into_iter().map(|(module, (display, _))| (module.join("::"), display)).collect()
    }

    #[test]
    fn modules_lie_where_rustc_looks_for_them() {
        let found = found(&[
            (
                "kernels/k.rs",
                "mod a; mod b; mod inline { mod c; #[path = \"x.rs\"] mod d; } #[path = \"../e.rs\"] mod e;",
            ),
            ("kernels/a.rs", "pub mod deep; #[path = \"beside.rs\"] mod beside;"),
            ("kernels/a/deep.rs", ""),
            ("kernels/beside.rs", ""),
            ("kernels/b/mod.rs", "mod of_b;"),
            ("kernels/b/of_b.rs", ""),
            ("kernels/inline/c.rs", ""),
            ("kernels/inline/x.rs", ""),
            ("e.rs", "mod of_e;"),
            ("of_e.rs", ""),
            ("kernels/other.rs", "mod a;"),
        ]);
        let expected = [
            ("a", "kernels/a.rs"),
            ("b", "kernels/b/mod.rs"),
            ("inline::c", "kernels/inline/c.rs"),
            ("inline::d", "kernels/inline/x.rs"),
            ("e", "e.rs"),
            ("a::deep", "kernels/a/deep.rs"),
            ("a::beside", "kernels/beside.rs"),
            ("b::of_b", "kernels/b/of_b.rs"),
            ("e::of_e", "of_e.rs"),
        ];
        assert_eq!(found, expected.map(|(module, file)| (module.to_owned(), file.to_owned())));
    }

    #[test]
    fn what_is_not_compiled_or_not_there_is_left_out_and_circles_end() {
        let found = found(&[
            (
                "kernels/k.rs",
                "#[cfg(on)] mod a; #[cfg(off)] mod b; mod absent; #[path = \"k.rs\"] mod own;",
            ),
            ("kernels/a.rs", ""),
            ("kernels/b.rs", ""),
        ]);
        assert_eq!(found[0], ("a".to_owned(), "kernels/a.rs".to_owned()));
        assert!(found.iter().all(|(module, _)| !module.contains('b')), "{found:?}");
        let deepest = found.iter().map(|(module, _)| module.split("::").count()).max();
        assert_eq!(deepest, Some(super::MAX_DEPTH));
    }
}
