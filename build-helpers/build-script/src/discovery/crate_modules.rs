//! Modules of kernels in the crate's own source: those with `#[kernelmill::kernels]`, in the files that its modules
//! lead to.
//!
//! Nothing is parsed where no file has the attribute. Files are followed as rustc follows them; one that cannot be
//! read, or is not Rust, is left out, as rustc says more about it, unless the attribute is in it.

use super::{
    candidate::{MOST_BYTES_OF_RUST, is_special},
    cfgs,
    modules::{File, folder_name, places},
    nesting::{on_deep_stack, too_deep_at},
    pruned::Pruned,
};
use crate::{
    base::{
        paths,
        report::{Report, place},
    },
    settings::{package::Package, resolved::Settings, toml_text::entry},
};
use kernelmill_compiler::{
    diagnostic::{Code, Diagnostic},
    frontend::rust::signature::Cfgs,
};
use proc_macro2::{LineColumn, Span};
use std::{
    collections::{HashSet, VecDeque},
    fs,
    ops::Range,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, Item, ItemMod, Meta, Token, Visibility, ext::IdentExt, parse_quote,
    punctuated::Punctuated, spanned::Spanned,
};
use toml::de::{DeTable, DeValue};
use walkdir::WalkDir;

/// The name of the attribute.
const ATTRIBUTE: &str = "kernels";
/// The most files of a crate that are followed.
const MOST_FILES: usize = 20_000;

/// A module of kernels.
pub(crate) struct KernelModule {
    /// Its path in the crate, `["gpu", "blur"]`.
    pub(crate) path: Vec<String>,
    /// Its file and those of the modules that it lies in, the crate's root first, of which all else is left out.
    pub(crate) files: Vec<PrunedFile>,
    /// Where its name stands, in the last of them.
    pub(crate) name: Range<usize>,
}

/// A file of the crate, of which only a module of kernels is left.
pub(crate) struct PrunedFile {
    pub(crate) file: File,
    pub(crate) display: String,
    /// What is left, in the places where it was.
    pub(crate) pruned: Pruned,
}

impl KernelModule {
    /// Its name in messages, which no other source has.
    pub(crate) fn display(&self) -> String {
        let file = self.files.last().map_or("", |it| &it.display);
        let inner = self.files.last().map_or(0, |it| it.file.module.len());
        format!("{file}::{}", self.path.get(inner..).unwrap_or_default().join("::"))
    }
}

/// The modules of kernels of a package.
#[derive(Default)]
pub(crate) struct CrateModules {
    pub(crate) modules: Vec<KernelModule>,
    /// The folders and files that they are looked for in.
    pub(crate) watched: Vec<PathBuf>,
}

/// Finds the modules of kernels in the crates of a package.
pub(crate) fn find(package: &Package, settings: &Settings, report: &mut Report) -> CrateModules {
    let roots = roots(package, settings);
    let mut watched: Vec<_> =
        roots.iter().filter_map(|root| source_folder(package, root)).collect();
    watched.sort();
    watched.dedup();
    if !may_have(package, &roots) {
        return CrateModules { modules: Vec::new(), watched };
    }
    let cfgs = Cfgs::new(cfgs::of(package, settings));
    let mut walk = Walk {
        root: &package.root,
        cfgs: &cfgs,
        report,
        files: Vec::new(),
        found: Vec::new(),
        places: HashSet::new(),
    };
    roots.into_iter().for_each(|root| walk.crate_of(root));
    let outside = walk.files.iter().map(|file| file.file.path.clone());
    let outside: Vec<_> =
        outside.filter(|path| !watched.iter().any(|folder| path.starts_with(folder))).collect();
    watched.extend(outside);
    CrateModules { modules: walk.found, watched }
}

/// Whether a package may have modules of kernels, by the texts of its files alone.
pub(crate) fn is_likely(package: &Package, settings: &Settings) -> bool {
    may_have(package, &roots(package, settings))
}

/// The roots of the package's crates, absolute: those that Cargo finds, and those that `Cargo.toml` names. One that the
/// settings leave out has no kernels.
fn roots(package: &Package, settings: &Settings) -> Vec<PathBuf> {
    let source = package.root.join("src");
    let mut roots = vec![source.join("lib.rs"), source.join("main.rs")];
    let entries = fs::read_dir(source.join("bin")).into_iter().flatten().flatten();
    let mut programs: Vec<_> = entries.map(|entry| entry.path()).collect();
    programs.sort();
    for path in programs {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        roots.push(if is_rust { path } else { path.join("main.rs") });
    }
    let table = DeTable::parse(&package.manifest.text).map(toml::Spanned::into_inner);
    let table = table.unwrap_or_default();
    let library = entry(&table, "lib").into_iter().collect::<Vec<_>>();
    let programs = entry(&table, "bin").and_then(DeValue::as_array).into_iter().flatten();
    for target in library.into_iter().chain(programs.map(toml::Spanned::get_ref)) {
        let named = target.as_table().and_then(|target| entry(target, "path"));
        if let Some(named) = named.and_then(DeValue::as_str) {
            roots.push(paths::normal(&package.root.join(named)));
        }
    }
    let mut known = HashSet::new();
    let is_excluded = |path: &Path| {
        let display = paths::relative(&package.root, path);
        settings.excludes.iter().any(|glob| glob.relative_to(&package.root).excludes(&display))
    };
    roots.retain(|path| path.is_file() && !is_excluded(path) && known.insert(path.clone()));
    roots
}

/// The folder of a crate's files; none where that would be the whole package, or more.
fn source_folder(package: &Package, root: &Path) -> Option<PathBuf> {
    let folder = root.parent()?;
    let is_below = folder != package.root && folder.starts_with(&package.root);
    Some(if is_below { folder.to_owned() } else { root.to_owned() })
}

/// Whether one of the files below the roots' folders has the attribute, or leads out of these folders.
fn may_have(package: &Package, roots: &[PathBuf]) -> bool {
    let folders: HashSet<_> =
        roots.iter().filter_map(|root| source_folder(package, root)).collect();
    let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    let files = folders.iter().flat_map(|folder| WalkDir::new(folder).into_iter().flatten());
    let mut files = files.filter(|entry| entry.file_type().is_file() && is_source(entry.path()));
    files.any(|entry| {
        let text = read_if_small(entry.path()).unwrap_or_default();
        has_mark(&text) || text.contains("#[path")
    })
}

/// Whether a text may have the attribute: `#[kernels]`, with arguments, or in `#[cfg_attr(.., kernels)]`.
fn has_mark(text: &str) -> bool {
    let is_conditional = text.contains("cfg_attr");
    text.match_indices(ATTRIBUTE).any(|(at, _)| {
        let (before, behind) = (&text[..at], text[at + ATTRIBUTE.len()..].trim_start());
        match behind.chars().next() {
            Some(']') => true,
            Some('(') => before.ends_with("::") || before.ends_with("#["),
            Some(')' | ',') => is_conditional,
            _ => false,
        }
    })
}

fn read_if_small(path: &Path) -> Option<String> {
    let data = fs::metadata(path).ok()?;
    let is_small = data.is_file() && data.len() <= MOST_BYTES_OF_RUST;
    is_small.then(|| fs::read_to_string(path).ok()).flatten()
}

/// A file of a crate that has been read.
struct CrateFile {
    file: File,
    display: String,
    /// The file that declares it, and what to keep of that for it.
    parent: Option<(usize, Vec<Range<usize>>)>,
}

struct Walk<'a> {
    root: &'a Path,
    cfgs: &'a Cfgs,
    report: &'a mut Report,
    files: Vec<CrateFile>,
    found: Vec<KernelModule>,
    /// The places of those that were found: two crates of a package can have a file in common.
    places: HashSet<(PathBuf, usize)>,
}

/// What a file has that matters.
enum Seen {
    /// A module that is a file of its own.
    File { module: Vec<String>, places: Vec<(PathBuf, PathBuf)>, keep: Vec<Range<usize>> },
    /// A module of kernels.
    Kernels { path: Vec<String>, keep: Vec<Range<usize>>, name: Range<usize> },
    /// Something that is wrong with the attribute.
    Fault { span: Range<usize>, message: String, help: String },
}

impl Walk<'_> {
    fn crate_of(&mut self, root: PathBuf) {
        let folder = root.parent().unwrap_or(self.root).to_owned();
        let first = (vec![(root, folder)], Vec::new(), None);
        let mut queue = VecDeque::from([first]);
        let mut seen = HashSet::new();
        while let Some((places, module, parent)) = queue.pop_front() {
            let is_there = |(path, _): &(PathBuf, PathBuf)| path.is_file() && !is_special(path);
            let Some((path, folder)) = places.into_iter().find(is_there) else { continue };
            let path = paths::normal(&path);
            let is_new = seen.len() < MOST_FILES && seen.insert(path.clone());
            let Some(text) = is_new.then(|| read_if_small(&path)).flatten() else { continue };
            let display = paths::relative(self.root, &path);
            let file = File { path, module, text: text.into(), folder };
            let inside = self.look_into(&file, &display);
            let index = self.files.len();
            self.files.push(CrateFile { file, display, parent });
            for seen in inside {
                match seen {
                    Seen::File { module, places, keep } => {
                        queue.push_back((places, module, Some((index, keep))));
                    }
                    Seen::Kernels { path, keep, name } => self.add(index, path, keep, name),
                    Seen::Fault { span, message, help } => {
                        self.fault(index, span, message, help);
                    }
                }
            }
        }
    }

    /// What a file has that matters; nothing where it is not Rust.
    fn look_into(&mut self, file: &File, display: &str) -> Vec<Seen> {
        let may_matter = file.text.contains("mod") || has_mark(&file.text);
        if !may_matter || too_deep_at(&file.text).is_some() {
            return Vec::new();
        }
        let cfgs = self.cfgs;
        let read = on_deep_stack(|| {
            let tree = syn::parse_file(&file.text).map_err(|error| {
                let span = bytes(&file.text, error.span());
                (span, error.to_string())
            })?;
            let mut look = Look { file, cfgs, found: Vec::new() };
            look.items(&tree.items, &mut Chain::default());
            Ok::<_, (Range<usize>, String)>(look.found)
        });
        match read {
            Ok(Ok(found)) => found,
            Ok(Err((span, error))) if has_mark(&file.text) => {
                let place = place(display, &file.text, span);
                let message = format!("`{display}` cannot be read as Rust: {error}");
                let help = "correct the syntax: kernelmill looks for modules with `#[kernelmill::kernels]` in this file";
                self.report.add_text(display, file.text.clone());
                self.report
                    .diagnostic(Diagnostic::error(Code::KernelModule, place, message).help(help));
                Vec::new()
            }
            // Without a stack nothing can be read, which is reported where kernels are.
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }

    fn add(
        &mut self,
        index: usize,
        path: Vec<String>,
        keep: Vec<Range<usize>>,
        name: Range<usize>,
    ) {
        if !self.places.insert((self.files[index].file.path.clone(), name.start)) {
            return;
        }
        let mut files = Vec::new();
        let mut next = Some((index, keep));
        while let Some((index, keep)) = next {
            let CrateFile { file, display, parent } = &self.files[index];
            let pruned = Pruned::new(&file.text, &keep);
            files.push(PrunedFile { file: file.clone(), display: display.clone(), pruned });
            next = parent.clone();
        }
        files.reverse();
        self.found.push(KernelModule { path, files, name });
    }

    fn fault(&mut self, index: usize, span: Range<usize>, message: String, help: String) {
        let CrateFile { file, display, .. } = &self.files[index];
        self.report.add_text(display, file.text.clone());
        let place = place(display, &file.text, span);
        self.report.diagnostic(Diagnostic::error(Code::KernelModule, place, message).help(help));
    }
}

/// The inline modules around an item.
#[derive(Default)]
struct Chain {
    names: Vec<String>,
    /// The names of their folders.
    folders: Vec<String>,
    /// What to keep of the file for something in them: their heads and their ends.
    keep: Vec<Range<usize>>,
}

struct Look<'a> {
    file: &'a File,
    cfgs: &'a Cfgs,
    found: Vec<Seen>,
}

impl Look<'_> {
    fn items(&mut self, items: &[Item], chain: &mut Chain) {
        for item in items {
            let Item::Mod(module) = item else {
                self.misplaced(item);
                continue;
            };
            if self.cfgs.leave_out(&module.attrs) {
                continue;
            }
            match self.attribute(&module.attrs) {
                Some(attribute) => self.kernels(module, attribute, chain),
                None => self.other(module, chain),
            }
        }
    }

    fn kernels(&mut self, module: &ItemMod, attribute: &Attribute, chain: &Chain) {
        if let Meta::List(list) = &attribute.meta
            && list.path.segments.last().is_some_and(|last| last.ident == ATTRIBUTE)
        {
            let span = self.span(list);
            let message = "`#[kernelmill::kernels]` takes no arguments".to_owned();
            self.found.push(Seen::Fault { span, message, help: "remove them".to_owned() });
        }
        if let Some((_, items)) = &module.content {
            self.nested(items);
        }
        let mut keep = chain.keep.clone();
        keep.extend(self.attributes(&module.attrs));
        let end = self.span(module).end;
        keep.push(self.head_start(module)..end);
        let name = self.span(&module.ident);
        self.found.push(Seen::Kernels { path: self.path(module, chain), keep, name });
    }

    /// A module without the attribute, which may have others in it.
    fn other(&mut self, module: &ItemMod, chain: &mut Chain) {
        let conditions = self.attributes(&module.attrs);
        let start = self.head_start(module);
        match &module.content {
            Some((brace, items)) => {
                let open = bytes(&self.file.text, brace.span.open());
                let close = bytes(&self.file.text, brace.span.close());
                let kept = chain.keep.len();
                chain.keep.extend(conditions);
                chain.keep.extend([start..open.end, close]);
                chain.names.push(module.ident.unraw().to_string());
                chain.folders.push(folder_name(module));
                self.items(items, chain);
                chain.names.pop();
                chain.folders.pop();
                chain.keep.truncate(kept);
            }
            None => {
                let mut keep = chain.keep.clone();
                keep.extend(conditions);
                keep.push(start..self.span(module).end);
                let places = places(self.file, &chain.folders, module);
                self.found.push(Seen::File { module: self.path(module, chain), places, keep });
            }
        }
    }

    /// The attribute among those of an item, also under a condition that may hold.
    fn attribute<'t>(&self, attributes: &'t [Attribute]) -> Option<&'t Attribute> {
        attributes.iter().find(|attribute| {
            if is_kernels(&attribute.meta) {
                return true;
            }
            let Some((condition, given)) = conditional(attribute) else { return false };
            given.iter().any(is_kernels)
                && !self.cfgs.leave_out(&[parse_quote!(#[cfg(#condition)])])
        })
    }

    /// The attributes that the module keeps for the devices' compiler: all but the one that makes it one of kernels.
    fn attributes(&self, attributes: &[Attribute]) -> Vec<Range<usize>> {
        let is_kept = |attribute: &&Attribute| {
            ["cfg", "path", "allow", "expect"].iter().any(|name| attribute.path().is_ident(name))
        };
        attributes.iter().filter(is_kept).map(|attribute| self.span(attribute)).collect()
    }

    /// Reports the attribute on what is no module.
    fn misplaced(&mut self, item: &Item) {
        let attributes = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return,
        };
        if let Some(attribute) = self.attribute(attributes) {
            let span = self.span(attribute);
            let message = "`#[kernelmill::kernels]` is not on a module".to_owned();
            let help = "put it before a module, `mod blur { .. }`, and mark the kernels in the module with `#[kernel]`";
            self.found.push(Seen::Fault { span, message, help: help.to_owned() });
        }
    }

    /// Reports the attribute on modules in a module of kernels.
    fn nested(&mut self, items: &[Item]) {
        for item in items {
            let Item::Mod(module) = item else {
                self.misplaced(item);
                continue;
            };
            if let Some(attribute) = self.attribute(&module.attrs) {
                let span = self.span(attribute);
                let message =
                    "a module with `#[kernelmill::kernels]` is inside another one".to_owned();
                let help =
                    "remove the inner attribute: the modules in a module of kernels are part of it";
                self.found.push(Seen::Fault { span, message, help: help.to_owned() });
            }
            if let Some((_, items)) = &module.content {
                self.nested(items);
            }
        }
    }

    fn path(&self, module: &ItemMod, chain: &Chain) -> Vec<String> {
        let name = module.ident.unraw().to_string();
        self.file.module.iter().chain(&chain.names).chain([&name]).cloned().collect()
    }

    /// Where a module begins behind its attributes.
    fn head_start(&self, module: &ItemMod) -> usize {
        match &module.vis {
            Visibility::Inherited => self.span(&module.mod_token).start,
            visibility => self.span(visibility).start,
        }
    }

    fn span(&self, node: &impl Spanned) -> Range<usize> {
        bytes(&self.file.text, node.span())
    }
}

/// Whether an attribute is the one of modules of kernels, by its path.
fn is_kernels(meta: &Meta) -> bool {
    let segments = &meta.path().segments;
    segments.len() <= 2 && segments.last().is_some_and(|last| last.ident == ATTRIBUTE)
}

/// What `#[cfg_attr(condition, ..)]` says.
fn conditional(attribute: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    if !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let all = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut parts = attribute.parse_args_with(all).ok()?.into_iter();
    Some((parts.next()?, parts.collect()))
}

/// The bytes of a span in its text.
pub(super) fn bytes(text: &str, span: Span) -> Range<usize> {
    let start = offset(text, span.start());
    start..offset(text, span.end()).max(start)
}

/// The byte of a position: a span's own bytes do not count a byte order mark.
fn offset(text: &str, at: LineColumn) -> usize {
    let lines = text.split_inclusive('\n').take(at.line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    start + rest.char_indices().nth(at.column).map_or(rest.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::has_mark;

    #[test]
    fn texts_without_the_attribute_are_not_parsed() {
        for text in [
            "#[kernelmill::kernels] mod a;",
            "#[ kernels ]",
            "#[cfg_attr(feature = \"a\", kernels)]",
            "#[cfg_attr(a, kernelmill::kernels, allow(b))]",
            "#[kernelmill::kernels(fast)]",
        ] {
            assert!(has_mark(text), "{text}");
        }
        for text in [
            "mod kernels { kernelmill::include_kernels!(); }",
            "let kernels = kernels::Kernels::load(&device)?; run(&kernels); two(&kernels, 1);",
            "fn kernels() {} kernels();",
        ] {
            assert!(!has_mark(text), "{text}");
        }
    }
}
