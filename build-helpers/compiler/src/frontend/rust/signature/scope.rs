//! The modules of a crate and what their names mean.

use super::{
    cfg::Cfgs,
    syntax::{DEVICE_FN, marked},
    text::Text,
};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Attribute, Item, ItemConst, ItemEnum, ItemFn, ItemStruct, ItemType, Meta, UseTree,
    ext::IdentExt,
};

/// The modules of a crate, as far as they are in the files at hand.
pub(super) struct Scope<'a> {
    texts: Vec<Text<'a>>,
    /// For each text whether its kernels are read.
    has_kernels: Vec<bool>,
    modules: Vec<Module<'a>>,
    cfgs: &'a Cfgs,
    /// The names of macros that write kernels or device functions.
    writers: BTreeSet<String>,
}

/// A module's place in its [`Scope`].
pub(super) type ModuleId = usize;

struct Module<'a> {
    file: usize,
    parent: Option<ModuleId>,
    children: BTreeMap<String, ModuleId>,
    /// `None` for the root and for modules that only have children so far.
    items: &'a [Item],
    types: BTreeMap<String, TypeItem<'a>>,
    constants: BTreeMap<String, &'a ItemConst>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// An item that a type's name can stand for.
#[derive(Clone, Copy)]
pub(super) enum TypeItem<'a> {
    Struct(&'a ItemStruct),
    Alias(&'a ItemType),
    Enum(&'a ItemEnum),
    Union,
    /// The type that `#[device_fn]` makes of a function.
    Function(&'a ItemFn),
}

/// What a path stands for.
pub(super) enum Found<T> {
    /// An item of this crate, in this module.
    Here(ModuleId, T),
    /// Something in another crate, under its full path.
    Elsewhere(Vec<String>),
    /// Nothing that is known.
    Nothing,
}

/// More imports than this between a name and what it means are taken for a cycle.
const LONGEST_CHAIN: usize = 32;

impl<'a> Scope<'a> {
    pub(super) fn new(
        texts: Vec<Text<'a>>,
        has_kernels: Vec<bool>,
        cfgs: &'a Cfgs,
        writers: BTreeSet<String>,
    ) -> Self {
        let mut scope = Self { texts, has_kernels, modules: Vec::new(), cfgs, writers };
        scope.push(0, None, &[]);
        scope
    }

    /// Adds a file's items as the module `path`.
    pub(super) fn add_file(&mut self, file: usize, path: &[String], items: &'a [Item]) {
        let mut module = 0;
        for name in path {
            module = match self.modules[module].children.get(name) {
                Some(&child) => child,
                None => {
                    let child = self.push(file, Some(module), &[]);
                    self.modules[module].children.insert(name.clone(), child);
                    child
                }
            };
        }
        self.modules[module].file = file;
        self.fill(module, items);
    }

    /// Whether macros of this name write kernels or device functions.
    pub(super) fn writes_kernels(&self, name: &str) -> bool {
        self.writers.contains(name)
    }

    /// Whether an item with these attributes is certainly left out when kernels are compiled.
    pub(super) fn leaves_out(&self, attributes: &[Attribute]) -> bool {
        self.cfgs.leave_out(attributes)
    }

    /// Whether a condition certainly does not hold when kernels are compiled.
    pub(super) fn is_false(&self, condition: &Meta) -> bool {
        self.cfgs.is_false(condition)
    }

    /// Every module whose kernels are read, with its items, parents before children, in source order.
    pub(super) fn modules(&self) -> impl Iterator<Item = (ModuleId, &'a [Item])> {
        let modules = self.modules.iter().enumerate();
        let read = modules.filter(|(_, module)| self.has_kernels.get(module.file) == Some(&true));
        read.map(|(id, module)| (id, module.items))
    }

    /// Every module, with its items.
    pub(super) fn all_modules(&self) -> impl Iterator<Item = (ModuleId, &'a [Item])> {
        self.modules.iter().enumerate().map(|(id, module)| (id, module.items))
    }

    /// The text of the file that holds a module.
    pub(super) fn text(&self, module: ModuleId) -> &Text<'a> {
        &self.texts[self.modules[module].file]
    }

    /// The place of a module's file among the files.
    pub(super) fn file(&self, module: ModuleId) -> usize {
        self.modules[module].file
    }

    /// What a path means as a type, seen from a module.
    pub(super) fn find_type(&self, module: ModuleId, path: &[String]) -> Found<TypeItem<'a>> {
        self.find(module, path, &|module, name| module.types.get(name).copied(), LONGEST_CHAIN)
    }

    /// What a path means as a constant, seen from a module.
    pub(super) fn find_constant(&self, module: ModuleId, path: &[String]) -> Found<&'a ItemConst> {
        self.find(module, path, &|module, name| module.constants.get(name).copied(), LONGEST_CHAIN)
    }

    /// The path that a module imports under a name.
    pub(super) fn import(&self, module: ModuleId, name: &str) -> Option<&[String]> {
        self.modules[module].imports.get(name).map(Vec::as_slice)
    }

    /// Whether a module imports everything from a module of another crate of this name.
    pub(super) fn has_glob_of(&self, module: ModuleId, name: &str) -> bool {
        self.modules[module].globs.iter().any(|glob| glob.first().is_some_and(|it| it == name))
    }

    fn push(&mut self, file: usize, parent: Option<ModuleId>, items: &'a [Item]) -> ModuleId {
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            items,
            types: BTreeMap::new(),
            constants: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
        });
        self.modules.len() - 1
    }

    fn fill(&mut self, id: ModuleId, items: &'a [Item]) {
        let cfgs = self.cfgs;
        let module = &mut self.modules[id];
        module.items = items;
        let mut inline = Vec::new();
        for item in items {
            match item {
                Item::Struct(item) if !cfgs.leave_out(&item.attrs) => {
                    module.types.insert(item.ident.unraw().to_string(), TypeItem::Struct(item));
                }
                Item::Type(item) if !cfgs.leave_out(&item.attrs) => {
                    module.types.insert(item.ident.unraw().to_string(), TypeItem::Alias(item));
                }
                Item::Enum(item) if !cfgs.leave_out(&item.attrs) => {
                    module.types.insert(item.ident.unraw().to_string(), TypeItem::Enum(item));
                }
                Item::Union(item) => {
                    module.types.insert(item.ident.unraw().to_string(), TypeItem::Union);
                }
                Item::Fn(item)
                    if !cfgs.leave_out(&item.attrs) && marked(&item.attrs, DEVICE_FN).is_some() =>
                {
                    let name = item.sig.ident.unraw().to_string();
                    module.types.entry(name).or_insert(TypeItem::Function(item));
                }
                Item::Const(item) if !cfgs.leave_out(&item.attrs) => {
                    module.constants.insert(item.ident.unraw().to_string(), item);
                }
                Item::Use(item) if !cfgs.leave_out(&item.attrs) => {
                    module.import(&mut Vec::new(), &item.tree);
                }
                Item::Mod(item) if !cfgs.leave_out(&item.attrs) => {
                    if let Some((_, content)) = &item.content {
                        inline.push((item.ident.unraw().to_string(), content.as_slice()));
                    }
                }
                _ => {}
            }
        }
        for (name, content) in inline {
            let child = self.push(self.modules[id].file, Some(id), &[]);
            self.modules[id].children.insert(name, child);
            self.fill(child, content);
        }
    }

    fn find<T>(
        &self,
        from: ModuleId,
        path: &[String],
        own: &dyn Fn(&Module<'a>, &str) -> Option<T>,
        chain: usize,
    ) -> Found<T> {
        let module = &self.modules[from];
        let Some((first, rest)) = path.split_first() else { return Found::Nothing };
        let Some(chain) = chain.checked_sub(1) else { return Found::Nothing };
        match first.as_str() {
            "crate" => return self.find(0, rest, own, chain),
            "self" => return self.find(from, rest, own, chain),
            "super" => {
                let parent = module.parent.map(|parent| self.find(parent, rest, own, chain));
                return parent.unwrap_or(Found::Nothing);
            }
            _ => {}
        }
        if rest.is_empty() {
            if let Some(item) = own(module, first) {
                return Found::Here(from, item);
            }
        } else if let Some(&child) = module.children.get(first) {
            return self.find(child, rest, own, chain);
        }
        if let Some(import) = module.imports.get(first) {
            let full = [import, rest].concat();
            let is_crate = import.first() == Some(first) && !module.children.contains_key(first);
            return if is_crate {
                Found::Elsewhere(full)
            } else {
                self.find(from, &full, own, chain)
            };
        }
        self.find_in_globs(from, path, own, chain).unwrap_or_else(|| {
            if rest.is_empty() { Found::Nothing } else { Found::Elsewhere(path.to_vec()) }
        })
    }

    /// What a path names by one of a module's glob imports.
    fn find_in_globs<T>(
        &self,
        from: ModuleId,
        path: &[String],
        own: &dyn Fn(&Module<'a>, &str) -> Option<T>,
        chain: usize,
    ) -> Option<Found<T>> {
        let module = &self.modules[from];
        // Those of other crates would be looked for through each other, again and again.
        let is_here = |name: &String| {
            ["crate", "self", "super"].contains(&name.as_str())
                || module.children.contains_key(name)
                || module.imports.contains_key(name)
        };
        for glob in module.globs.iter().filter(|glob| glob.first().is_some_and(is_here)) {
            let full = [glob, path].concat();
            if let found @ Found::Here(..) = self.find(from, &full, own, chain) {
                return Some(found);
            }
        }
        None
    }
}

impl Module<'_> {
    fn import(&mut self, prefix: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.unraw().to_string());
                self.import(prefix, &path.tree);
                prefix.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = prefix.last().cloned() {
                    self.imports.insert(last, prefix.clone());
                }
            }
            UseTree::Name(name) => {
                let name = name.ident.unraw().to_string();
                self.imports.insert(name.clone(), [prefix.as_slice(), &[name]].concat());
            }
            UseTree::Rename(rename) => {
                let mut path = prefix.clone();
                if rename.ident != "self" {
                    path.push(rename.ident.unraw().to_string());
                }
                self.imports.insert(rename.rename.unraw().to_string(), path);
            }
            UseTree::Glob(_) => self.globs.push(prefix.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(prefix, tree);
                }
            }
        }
    }
}
