//! Reader of modules of kernels in the crate's own source: each is a source like a file below `kernels/`.
//!
//! rustc compiles a crate of which only the module is left, at its lines and under its path, so that messages and
//! panics name the user's file, and `crate::blur::Params` means the same to the host and to devices.

use super::{
    crate_modules::KernelModule,
    included_files::{self, TextFile},
    kernel_package::ModuleText,
    modules::{self, File},
    nesting::{on_deep_stack, too_deep_at},
    outward::{self, Outward},
    read::{exports, instances},
    source::{ModuleOfCrate, Source, SourceKind},
};
use crate::base::{
    paths,
    report::{Report, place},
};
use kernelmill_compiler::{
    Mirror, MirroredText,
    diagnostic::{Code, Diagnostic},
    frontend::rust::signature::{Cfgs, ListedInstances, Reading, SourceText, read_crate_with},
};
use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};
use syn::{Fields, Generics, Item, Visibility, ext::IdentExt};

/// What reading needs besides the module.
pub(super) struct Reader<'a> {
    /// The package's folder.
    pub(super) root: &'a Path,
    pub(super) cfgs: &'a Cfgs,
    pub(super) listed: &'a [ListedInstances],
    /// The kernel files of the package: of those that a module has too, only the types are read.
    pub(super) kernel_files: &'a HashSet<PathBuf>,
    pub(super) watched: &'a mut Vec<PathBuf>,
    pub(super) report: &'a mut Report,
}

impl Reader<'_> {
    /// Reads a module; `None` where the report says why not.
    pub(super) fn read(&mut self, module: &KernelModule) -> Option<Source> {
        let last = module.files.last()?;
        let first = File { text: last.pruned.full.clone(), ..last.file.clone() };
        let known = self.report.len();
        let below = modules::texts_below(first, self.root, self.cfgs, self.watched, self.report);
        let own_files = module
            .files
            .iter()
            .map(|it| (it.file.module.clone(), (it.display.clone(), it.pruned.full.clone())));
        let texts: Vec<ModuleText> = own_files.chain(below.iter().cloned()).collect();
        self.add_texts(module, &below);
        if self.report.len() > known || self.reports_nesting(&texts) {
            return None;
        }
        if self.lacks_file(module, &below) {
            let message = format!("there is no file for the module `{}`", module.path.join("::"));
            let help = "write its file, or its content in braces";
            self.fault(module, Code::KernelModule, message, help.to_owned());
            return None;
        }
        self.check_paths(module, &texts);
        let files: Vec<_> = texts
            .iter()
            .map(|(path, (display, text))| SourceText {
                module: path,
                text,
                display,
                has_kernels: !self.kernel_files.contains(&self.path(display)),
            })
            .collect();
        let included = self.included(&files);
        if self.report.len() > known {
            return None;
        }
        let (cfgs, listed) = (self.cfgs, self.listed);
        let reading = on_deep_stack(|| {
            let types = own_types(&texts, &module.path, cfgs);
            (read_crate_with(&files, cfgs, listed), types)
        });
        let Ok((reading, types)) = reading else {
            let message = format!("cannot start the thread that reads `{}`", module.display());
            self.report.message(Code::Files, message);
            return None;
        };
        let (signatures, functions, generics, variants, warnings) = match reading {
            Reading::Kernels(kernels, ..)
                if kernels.is_empty() && !files.iter().any(|file| exports(file.text)) =>
            {
                let name = module.path.last().map_or("", String::as_str);
                let message = format!("the module of kernels `{name}` has no kernel");
                let help =
                    "mark a function in it with `#[kernel]`, or remove `#[kernelmill::kernels]`";
                self.fault(module, Code::NoKernelSource, message, help.to_owned());
                return None;
            }
            Reading::Kernels(kernels, functions, generics, variants, warnings) => {
                (Some(kernels), functions, generics, variants, warnings)
            }
            Reading::NotRust => (None, Vec::new(), Vec::new(), Vec::new(), Vec::new()),
            Reading::Rejected(diagnostics) => {
                diagnostics.into_iter().for_each(|it| self.report.diagnostic(it));
                return None;
            }
        };
        let of_crate = module.files.iter().map(|it| MirroredText {
            path: it.file.path.clone(),
            text: it.pruned.short.clone(),
            is_whole: false,
        });
        let whole = below.iter().map(|(_, (display, text))| MirroredText {
            path: self.path(display),
            text: text.clone(),
            is_whole: true,
        });
        let texts = of_crate.chain(whole).collect();
        let originals = module.files.iter().map(|it| (it.display.clone(), it.file.text.clone()));
        let below = below.into_iter().map(|(_, text)| text);
        Some(Source {
            path: module.files.first()?.file.path.clone(),
            display: module.display(),
            kind: SourceKind::File,
            signatures,
            functions,
            instances: instances(&generics, self.listed),
            templates: Vec::new(),
            generics,
            weight: 0,
            texts: originals.chain(below).collect(),
            overrides: Vec::new(),
            states: Vec::new(),
            variables: Vec::new(),
            module: Some(ModuleOfCrate { mirror: Mirror { texts, copies: included }, types }),
            defines: BTreeMap::new(),
            defined: Vec::new(),
            warnings,
            variants,
        })
    }

    /// The absolute path of a file by its name in messages.
    fn path(&self, display: &str) -> PathBuf {
        paths::normal(&self.root.join(display))
    }

    /// Has messages show the lines of the files as they are.
    fn add_texts(&mut self, module: &KernelModule, below: &[ModuleText]) {
        for it in &module.files {
            self.report.add_text(&it.display, it.file.text.clone());
        }
        for (_, (display, text)) in below {
            self.report.add_text(display, text.clone());
        }
    }

    fn reports_nesting(&mut self, texts: &[ModuleText]) -> bool {
        let line =
            |(display, text): &(String, Arc<str>)| Some((display.clone(), too_deep_at(text)?));
        let Some((display, line)) = texts.iter().find_map(|(_, text)| line(text)) else {
            return false;
        };
        self.report.plain(
            Code::Nesting,
            format!("`{display}` is nested too deeply to be read, at line {line}"),
            "move inner blocks and expressions to functions of their own",
        );
        true
    }

    /// Whether the module is to be a file of its own that is not there.
    fn lacks_file(&self, module: &KernelModule, below: &[ModuleText]) -> bool {
        let Some(last) = module.files.last() else { return false };
        let rest = last.pruned.full.get(module.name.end..).unwrap_or_default();
        let is_file = rest.trim_start().starts_with(';');
        is_file && !below.iter().any(|(path, _)| *path == module.path)
    }

    fn check_paths(&mut self, module: &KernelModule, texts: &[ModuleText]) {
        for (path, (display, text)) in texts {
            let find = || outward::find(text, path, &module.path, self.cfgs);
            for Outward { span, written, name } in on_deep_stack(find).unwrap_or_default() {
                let own = module.path.last().map_or("", String::as_str);
                let message = format!("`{written}` is outside of the module of kernels `{own}`");
                let (what, then) = match name {
                    Some(name) => (
                        format!("`{name}`"),
                        format!(", and name it `{own}::{name}` in the rest of the crate"),
                    ),
                    None => ("what its kernels need from there".to_owned(), String::new()),
                };
                let help = format!(
                    "only the module is compiled for devices: move {what} into it{then}. Put \
                     `#[cfg(not(kernelmill))]` before what only the host needs"
                );
                let place = place(display, text, span);
                let diagnostic = Diagnostic::error(Code::OutsideModule, place, message);
                self.report.diagnostic(diagnostic.help(help));
            }
        }
    }

    /// The files that are taken in by `include!` and the like.
    fn included(&mut self, files: &[SourceText<'_>]) -> Vec<PathBuf> {
        let file = |file: &SourceText<'_>| TextFile {
            path: self.path(file.display),
            display: file.display.to_owned(),
            text: file.text.into(),
        };
        let files = files.iter().map(file).collect();
        included_files::check(files, (self.root, self.root), self.report)
    }

    /// Reports something at the module's name.
    fn fault(&mut self, module: &KernelModule, code: Code, message: String, help: String) {
        let Some(last) = module.files.last() else { return };
        let place = place(&last.display, &last.file.text, module.name.clone());
        self.report.diagnostic(Diagnostic::error(code, place, message).help(help));
    }
}

/// The structs and enums of a module of kernels that generated bindings can name, by their names, with their paths.
/// One that is private, has a private field or has a namesake in the module is not among them.
fn own_types(texts: &[ModuleText], kernels: &[String], cfgs: &Cfgs) -> BTreeMap<String, String> {
    let mut found = Types { kernels, cfgs, seen: vec![Vec::new()], types: BTreeMap::new() };
    for (path, (_, text)) in texts {
        if let Ok(tree) = syn::parse_file(text) {
            found.look_into(&tree.items, path);
        }
    }
    let single = found.types.into_iter().filter_map(|(name, path)| Some((name, path?)));
    single.collect()
}

struct Types<'a> {
    kernels: &'a [String],
    cfgs: &'a Cfgs,
    /// The modules that the whole crate can name.
    seen: Vec<Vec<String>>,
    types: BTreeMap<String, Option<String>>,
}

impl Types<'_> {
    fn look_into(&mut self, items: &[Item], path: &[String]) {
        let is_seen = self.seen.iter().any(|seen| seen == path);
        for item in items {
            match item {
                Item::Mod(item) if !self.cfgs.leave_out(&item.attrs) => {
                    let inner = [path, &[item.ident.unraw().to_string()]].concat();
                    if is_seen && (path.is_empty() || is_for_crate(&item.vis)) {
                        self.seen.push(inner.clone());
                    }
                    if let Some((_, items)) = &item.content {
                        self.look_into(items, &inner);
                    }
                }
                Item::Struct(item) if !self.cfgs.leave_out(&item.attrs) => {
                    let is_open = is_open(&item.fields) && is_plain(&item.generics, &item.vis);
                    self.add(&item.ident, path, is_seen && is_open);
                }
                Item::Enum(item) if !self.cfgs.leave_out(&item.attrs) => {
                    let is_open = is_plain(&item.generics, &item.vis);
                    self.add(&item.ident, path, is_seen && is_open);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, ident: &syn::Ident, path: &[String], can_be_named: bool) {
        if !path.starts_with(self.kernels) {
            return;
        }
        let full = format!("crate::{}::{ident}", path.join("::"));
        let entry = self.types.entry(ident.unraw().to_string());
        entry.and_modify(|known| *known = None).or_insert(can_be_named.then_some(full));
    }
}

/// Whether all of the crate sees an item.
fn is_for_crate(visibility: &Visibility) -> bool {
    match visibility {
        Visibility::Public(_) => true,
        Visibility::Restricted(restricted) => restricted.path.is_ident("crate"),
        Visibility::Inherited => false,
    }
}

fn is_plain(generics: &Generics, visibility: &Visibility) -> bool {
    generics.params.is_empty() && matches!(visibility, Visibility::Public(_))
}

fn is_open(fields: &Fields) -> bool {
    fields.iter().all(|field| matches!(field.vis, Visibility::Public(_)))
}
