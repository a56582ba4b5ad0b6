//! The imports of a crate: which file names something of which other file, and where.

use super::modules::{Crate, Use};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::{ItemMod, ItemUse, Macro, Path, spanned::Spanned as _, visit::Visit};

/// For each pair of files, the first line that imports, and the path that stands there.
pub(super) type Imports = BTreeMap<(usize, usize), (usize, String)>;

/// How far a name is followed, so that re-exports in a circle end.
#[derive(Clone, Copy)]
struct Limits {
    /// Names, one after another.
    names: u8,
    /// Glob imports among them. The path of a glob import is found without others.
    globs: u8,
}

const LIMITS: Limits = Limits { names: 16, globs: 2 };

/// What a path names.
#[derive(Clone, Copy)]
enum Named {
    Module(usize),
    /// A definition in the file of a module.
    Item(usize),
}

/// The imports between the files of a crate.
pub(super) fn of(tree: &Crate) -> Imports {
    let mut imports = Imports::new();
    for (module, content) in tree.modules.iter().enumerate() {
        let mut paths = Paths { found: Vec::new() };
        content.code.iter().for_each(|item| paths.visit_item(item));
        let written = content.uses.iter().map(|it| (it.path.clone(), it.line, it.name.is_none()));
        let in_code = paths.found.into_iter().map(|(path, line)| (path, line, false));
        for (path, line, is_glob) in written.chain(in_code) {
            let targets = match (tree.resolve(module, &path, LIMITS), is_glob) {
                (Some(Named::Item(target)), _) => vec![target],
                (Some(Named::Module(target)), true) => tree.all_of(target),
                _ => Vec::new(),
            };
            for target in targets {
                let (from, to) = (content.file, tree.modules[target].file);
                if from != to {
                    let place = (line, path.join("::"));
                    let known = imports.entry((from, to)).or_insert_with(|| place.clone());
                    *known = place.min(known.clone());
                }
            }
        }
    }
    imports
}

impl Crate {
    /// What a path that stands in a module names; `None` where it leads out of the crate.
    fn resolve(&self, module: usize, path: &[String], limits: Limits) -> Option<Named> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Named::Module(0),
            "self" => Named::Module(module),
            "super" => Named::Module(self.modules[module].parent?),
            name => self.lookup(module, name, !rest.is_empty(), limits)?,
        };
        self.follow(start, rest, limits)
    }

    fn follow(&self, start: Named, path: &[String], limits: Limits) -> Option<Named> {
        let mut here = start;
        for (index, name) in path.iter().enumerate() {
            let Named::Module(module) = here else { break };
            let is_on_the_way = index + 1 < path.len();
            here = match name.as_str() {
                "super" => Named::Module(self.modules[module].parent?),
                name => self
                    .lookup(module, name, is_on_the_way, limits)
                    .or_else(|| self.exported_macro(module, name))
                    // What cannot be found is made by a macro of that file.
                    .unwrap_or(Named::Item(module)),
            };
        }
        Some(here)
    }

    /// The macro of this name in the root of the crate, where `#[macro_export]` puts it.
    fn exported_macro(&self, module: usize, name: &str) -> Option<Named> {
        self.macros.get(name).filter(|_| module == 0).copied().map(Named::Item)
    }

    /// What a name is in a module. Of a module and an item of one name, only the module can have
    /// something behind `::` that leads to another file.
    fn lookup(&self, at: usize, name: &str, wants_module: bool, limits: Limits) -> Option<Named> {
        let module = &self.modules[at];
        let limits = Limits { names: limits.names.checked_sub(1)?, ..limits };
        let child = module.children.get(name).map(|child| Named::Module(*child));
        if wants_module && child.is_some() {
            return child;
        }
        if module.items.contains(name) {
            return Some(Named::Item(at));
        }
        let is_called = |it: &&Use| it.name.as_deref() == Some(name);
        // `use name;` would lead back to itself.
        let is_other = |it: &&Use| it.path.first().is_none_or(|first| first != name);
        let mut uses = module.uses.iter().filter(is_called);
        let by_use = |it: &Use| match is_other(&it) {
            true => self.resolve(at, &it.path, limits),
            false => self.follow(child?, &it.path[1..], limits),
        };
        let fewer = limits.globs.checked_sub(1).map(|globs| Limits { globs, ..limits });
        let mut globs = module.uses.iter().filter(|it| it.name.is_none());
        let in_glob = |it: &Use| match self.resolve(at, &it.path, Limits { globs: 0, ..fewer? })? {
            Named::Module(other) if other != at => self.lookup(other, name, wants_module, fewer?),
            _ => None,
        };
        uses.find_map(by_use).or(child).or_else(|| globs.find_map(in_glob))
    }

    /// The modules that define what a glob import of a module brings in.
    fn all_of(&self, module: usize) -> Vec<usize> {
        let own = Some(module).filter(|module| !self.modules[*module].items.is_empty());
        let exported = self.modules[module].uses.iter().filter(|it| it.is_exported);
        let definers = exported.filter_map(|it| match self.resolve(module, &it.path, LIMITS)? {
            Named::Item(definer) => Some(definer),
            Named::Module(_) => None,
        });
        own.into_iter().chain(definers).collect()
    }
}

/// Collects paths with `::`, each with its line.
struct Paths {
    found: Vec<(Vec<String>, usize)>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let names = path.segments.iter().map(|it| it.ident.to_string()).collect();
            self.found.push((names, path.span().start().line));
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    // `use` declarations are collected with the modules, and modules in functions have none.
    fn visit_item_use(&mut self, _: &'ast ItemUse) {}

    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}
}

impl Paths {
    /// The paths in the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut line, mut colons) = (Vec::new(), 0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(it) if it.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Ident(it) => {
                    if colons != 2 {
                        self.end(&mut path, line);
                    }
                    if path.is_empty() {
                        line = it.span().start().line;
                    }
                    path.push(it.to_string());
                    colons = 0;
                }
                other => {
                    self.end(&mut path, line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.end(&mut path, line);
    }

    fn end(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.found.push((path, line));
        }
    }
}
