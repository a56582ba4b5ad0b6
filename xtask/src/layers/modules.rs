//! The module tree of a crate: its files, what each module defines, and what it imports by `use`.

use anyhow::{Context as _, Result};
use proc_macro2::TokenTree;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, spanned::Spanned as _, visit::Visit};

/// A crate as its modules.
pub(super) struct Crate {
    pub(super) files: Vec<PathBuf>,
    /// The root comes first, a parent before its children.
    pub(super) modules: Vec<Module>,
    /// Where the macros are defined that `#[macro_export]` puts into the root.
    pub(super) macros: BTreeMap<String, usize>,
}

/// A module: a file, or a part of one.
#[derive(Default)]
pub(super) struct Module {
    pub(super) file: usize,
    pub(super) parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    /// The names that are defined in it, those of its children not among them.
    pub(super) items: BTreeSet<String>,
    pub(super) uses: Vec<Use>,
    /// Its code, for the paths in it.
    pub(super) code: Vec<Item>,
}

/// One name that a `use` declaration brings in, or all names of a module.
pub(super) struct Use {
    pub(super) path: Vec<String>,
    /// What it is called here; `None` for a glob.
    pub(super) name: Option<String>,
    pub(super) is_exported: bool,
    pub(super) line: usize,
}

impl Crate {
    /// Reads a crate from its root file, and the files of its modules by `read`.
    ///
    /// # Errors
    ///
    /// Where the root cannot be read, or a file is not Rust.
    pub(super) fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Self> {
        let mut tree = Self { files: Vec::new(), modules: Vec::new(), macros: BTreeMap::new() };
        let text = read(root).context("there is no such file")?;
        let folder = root.parent().unwrap_or(Path::new(""));
        Reader { tree: &mut tree, read }.file(root, &text, folder, None)?;
        Ok(tree)
    }
}

struct Reader<'r> {
    tree: &'r mut Crate,
    read: &'r dyn Fn(&Path) -> Option<String>,
}

impl Reader<'_> {
    /// Adds a file; `folder` is where the files of its children lie.
    fn file(
        &mut self,
        path: &Path,
        text: &str,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize> {
        let file = syn::parse_file(text).with_context(|| format!("{}", path.display()))?;
        self.tree.files.push(path.to_owned());
        self.module(self.tree.files.len() - 1, file.items, folder, parent)
    }

    fn module(
        &mut self,
        file: usize,
        items: Vec<Item>,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize> {
        let index = self.tree.modules.len();
        self.tree.modules.push(Module { file, parent, ..Module::default() });
        for item in items {
            if is_test(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(child) if child.ident == "tests" => {}
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    if let Some(child) = self.child(child, file, folder, index)? {
                        self.tree.modules[index].children.insert(name, child);
                    }
                }
                item => {
                    let is_exported =
                        attributes(&item).iter().any(|it| it.path().is_ident("macro_export"));
                    if let Some(name) = name(&item).filter(|_| is_exported) {
                        self.tree.macros.insert(name, index);
                    }
                    let module = &mut self.tree.modules[index];
                    module.items.extend(name(&item));
                    Uses(&mut module.uses).visit_item(&item);
                    module.code.push(item);
                }
            }
        }
        Ok(index)
    }

    /// A child module, inline or in a file of its own; `None` where that file is made by a build.
    fn child(
        &mut self,
        child: ItemMod,
        file: usize,
        folder: &Path,
        parent: usize,
    ) -> Result<Option<usize>> {
        let below = folder.join(child.ident.to_string());
        if let Some((_, items)) = child.content {
            return self.module(file, items, &below, Some(parent)).map(Some);
        }
        let beside = self.tree.files[file].parent().unwrap_or(Path::new("")).to_owned();
        let named = child.attrs.iter().find_map(path_attribute).map(|path| beside.join(path));
        let usual = [below.with_extension("rs"), below.join("mod.rs")];
        for path in named.into_iter().chain(usual) {
            if let Some(text) = (self.read)(&path) {
                return self.file(&path, &text, &below, Some(parent)).map(Some);
            }
        }
        Ok(None)
    }
}

/// The file that `#[path = "..."]` names.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    let value =
        &attribute.meta.require_name_value().ok().filter(|it| it.path.is_ident("path"))?.value;
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value else { return None };
    Some(text.value())
}

/// Whether something is there in tests alone: `#[cfg(test)]`, `#[cfg(all(test, ...))]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Ok(list) = attribute.meta.require_list() else { return false };
        let mut tokens = list.tokens.clone().into_iter();
        let is_word = |token: Option<TokenTree>, word: &str| {
            token.is_some_and(|token| matches!(token, TokenTree::Ident(it) if it == word))
        };
        list.path.is_ident("cfg")
            && match tokens.next() {
                Some(TokenTree::Ident(word)) if word == "all" => match tokens.next() {
                    Some(TokenTree::Group(all)) => is_word(all.stream().into_iter().next(), "test"),
                    _ => false,
                },
                first => is_word(first, "test"),
            }
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The name that an item defines.
fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Collects `use` declarations, those in functions too.
struct Uses<'u>(&'u mut Vec<Use>);

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() && !is_test(&item.attrs) {
            let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
            self.tree(&item.tree, &mut Vec::new(), is_exported);
        }
    }
}

impl Uses<'_> {
    fn tree(&mut self, tree: &UseTree, path: &mut Vec<String>, is_exported: bool) {
        let line = tree.span().start().line;
        let mut add = |path: Vec<String>, name: Option<String>| {
            self.0.push(Use { path, name, is_exported, line });
        };
        match tree {
            UseTree::Path(it) => {
                path.push(it.ident.to_string());
                self.tree(&it.tree, path, is_exported);
                path.pop();
            }
            UseTree::Group(it) => {
                it.items.iter().for_each(|tree| self.tree(tree, path, is_exported));
            }
            UseTree::Name(it) if it.ident == "self" => add(path.clone(), path.last().cloned()),
            UseTree::Name(it) => {
                let name = it.ident.to_string();
                add([&**path, std::slice::from_ref(&name)].concat(), Some(name));
            }
            UseTree::Rename(it) if it.ident == "self" => {
                add(path.clone(), Some(it.rename.to_string()));
            }
            UseTree::Rename(it) => {
                let own = it.ident.to_string();
                add([&**path, &[own]].concat(), Some(it.rename.to_string()));
            }
            UseTree::Glob(_) => add(path.clone(), None),
        }
    }
}
