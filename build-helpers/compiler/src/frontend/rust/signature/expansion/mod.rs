//! Expansion of `macro_rules!` macros that stand in the place of items, so that the kernels, types and constants that
//! they write are found.
//!
//! Macros of the crate itself are expanded, by the scopes of [Macros By Example]: in the order of the text, through
//! modules, and by path. Macros of other crates and procedural macros are not, nor are macros in the bodies of functions:
//! such calls stay as they are, and one with kernels in it is refused where kernels are read. rustc expands the same
//! source when it compiles it, and what it compiled is compared with what was read (`identity`, `layout`).
//!
//! Tokens keep their places in the text: a kernel is where its call gives its name. Those from a definition in another
//! file are said to be at the call.
//!
//! [Macros By Example]: https://doc.rust-lang.org/reference/macros-by-example.html

mod rules;
#[cfg(test)]
mod tests;
mod transcribe;

use super::{cfg::Cfgs, source_text::SourceText, syntax::marker_in, text::Text};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use rules::Rule;
use std::{collections::BTreeSet, mem};
use syn::{
    Attribute, File, Item, ItemMacro,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    spanned::Spanned,
};
use transcribe::{Names, Transcriber};

/// rustc's limit of macros within macros.
const DEEPEST: usize = 128;
/// The most tokens that all macros of a crate may write.
const MOST_TOKENS: usize = 1 << 20;
/// How deep brackets may be in each other, and how many tokens without a separator may follow each other, in what a macro
/// writes: syn's parser is recursive.
const MOST_BRACKETS: usize = 500;
const MOST_IN_ROW: usize = 5_000;

/// Expands the macros among the items of a crate's files, and tells the texts where their definitions are. Says which
/// macros write kernels or device functions.
pub(super) fn expand<'a>(
    files: &[SourceText<'a>],
    trees: &mut [File],
    texts: &mut [Text<'a>],
    cfgs: &Cfgs,
) -> BTreeSet<String> {
    if !trees.iter().any(|tree| has_definition(&tree.items)) {
        return BTreeSet::new();
    }
    let mut expander = Expander {
        files,
        texts,
        cfgs,
        done: vec![false; files.len()],
        definitions: Vec::new(),
        visible: Vec::new(),
        modules: BTreeSet::new(),
        left: MOST_TOKENS,
    };
    for (file, tree) in trees.iter().enumerate() {
        expander.define_all(&tree.items, file);
    }
    for file in 0..files.len() {
        let visible = expander.visible.len();
        expander.file(file, trees);
        expander.visible.truncate(visible);
    }
    expander.marked()
}

fn has_definition(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Macro(_) => true,
        Item::Mod(module) => module.content.as_ref().is_some_and(|(_, it)| has_definition(it)),
        _ => false,
    })
}

/// A `macro_rules!` macro.
struct Definition {
    name: String,
    rules: Vec<Rule>,
    /// The file that it stands in.
    file: usize,
    /// Where its name stands.
    start: usize,
    /// Whether one of our attributes is in it.
    is_marked: bool,
    /// The words before a `!` in it.
    calls: Vec<String>,
}

struct Expander<'e, 'a> {
    files: &'e [SourceText<'a>],
    texts: &'e mut [Text<'a>],
    cfgs: &'e Cfgs,
    /// The files whose items have been expanded.
    done: Vec<bool>,
    definitions: Vec<Definition>,
    /// The definitions that are in scope by their position in the text.
    visible: Vec<usize>,
    /// The names of the crate's modules.
    modules: BTreeSet<String>,
    left: usize,
}

impl Expander<'_, '_> {
    /// Notes the definitions among items and in their modules.
    fn define_all(&mut self, items: &[Item], file: usize) {
        for item in items {
            match item {
                Item::Macro(item) => {
                    self.define(item, file, false);
                }
                Item::Mod(module) => {
                    self.modules.insert(module.ident.unraw().to_string());
                    if let Some((_, items)) = &module.content {
                        self.define_all(items, file);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes a definition, one that a macro writes each time; the place where it is noted.
    fn define(&mut self, item: &ItemMacro, file: usize, is_written: bool) -> Option<usize> {
        let ident = item.ident.as_ref()?;
        let name = ident.unraw().to_string();
        if !item.mac.path.is_ident("macro_rules") || self.cfgs.leave_out(&item.attrs) {
            return None;
        }
        let start = self.texts[file].place(ident).span.start;
        let is_known = |it: &Definition| it.file == file && it.start == start && it.name == name;
        if let (Some(known), false) = (self.definitions.iter().position(is_known), is_written) {
            return Some(known);
        }
        let rules = rules::read(item.mac.tokens.clone())?;
        self.texts[file].add_definition(&item.mac.tokens);
        let mut calls = Vec::new();
        calls_in(item.mac.tokens.clone(), &mut calls);
        self.definitions.push(Definition {
            name,
            rules,
            file,
            start,
            is_marked: marker_in(item.mac.tokens.clone()).is_some(),
            calls,
        });
        Some(self.definitions.len() - 1)
    }

    /// Expands the items of a file.
    fn file(&mut self, file: usize, trees: &mut [File]) {
        if !mem::replace(&mut self.done[file], true) {
            let items = mem::take(&mut trees[file].items);
            let path = self.files[file].module.to_vec();
            trees[file].items = self.items(items, file, &path, trees, 0);
        }
    }

    fn items(
        &mut self,
        items: Vec<Item>,
        file: usize,
        path: &[String],
        trees: &mut [File],
        depth: usize,
    ) -> Vec<Item> {
        let mut output = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Item::Mod(mut module) if !self.cfgs.leave_out(&module.attrs) => {
                    let visible = self.visible.len();
                    let below = [path, &[module.ident.unraw().to_string()]].concat();
                    if let Some((_, items)) = &mut module.content {
                        *items = self.items(mem::take(items), file, &below, trees, depth);
                    } else if let Some(file) = self.files.iter().position(|it| *it.module == *below)
                    {
                        self.file(file, trees);
                    }
                    if !keeps_macros(&module.attrs) {
                        self.visible.truncate(visible);
                    }
                    output.push(Item::Mod(module));
                }
                Item::Macro(item) if item.ident.is_some() => {
                    let definition = self.define(&item, file, depth > 0);
                    self.visible.extend(definition);
                    output.push(Item::Macro(item));
                }
                Item::Macro(item) if depth < DEEPEST && !self.cfgs.leave_out(&item.attrs) => {
                    match self.expanded(&item, file) {
                        Some(items) => {
                            output.extend(self.items(items, file, path, trees, depth + 1));
                        }
                        None => output.push(Item::Macro(item)),
                    }
                }
                item => output.push(item),
            }
        }
        output
    }

    /// What a call writes; `None` where its macro or what it writes is not understood.
    fn expanded(&mut self, call: &ItemMacro, file: usize) -> Option<Vec<Item>> {
        let definition = &self.definitions[self.find(call)?];
        let span = (definition.file != file).then(|| call.mac.path.span());
        let (rule, bindings) =
            definition.rules.iter().find_map(|rule| Some((rule, rule.bind(&call.mac.tokens)?)))?;
        let mut transcriber = Transcriber { span, left: self.left };
        let written = transcriber.write(rule.transcriber.clone(), &Names(vec![&bindings]));
        self.left = transcriber.left;
        let written = written.filter(|it| fits(it.clone(), MOST_BRACKETS, MOST_IN_ROW))?;
        items_in.parse2(written).ok()
    }

    /// The macro that a call names.
    fn find(&self, call: &ItemMacro) -> Option<usize> {
        let path = &call.mac.path;
        let last = path.segments.last()?.ident.unraw().to_string();
        if path.leading_colon.is_some() {
            return None;
        }
        if path.segments.len() == 1 {
            let is_named = |it: &&usize| self.definitions[**it].name == last;
            if let Some(found) = self.visible.iter().rev().find(is_named) {
                return Some(*found);
            }
        } else if !["crate", "self", "super"].iter().any(|it| path.segments[0].ident == it) {
            // A path through a module of this crate, as far as that is seen.
            if !self.modules.contains(&path.segments[0].ident.unraw().to_string()) {
                return None;
            }
        }
        // By an import or a path: rustc knows which; here only one can be meant.
        let mut named = (0..self.definitions.len()).filter(|it| self.definitions[*it].name == last);
        let first = named.next()?;
        named.next().is_none().then_some(first)
    }

    /// The names of macros that write one of our attributes, by themselves or by macros that they call.
    fn marked(&self) -> BTreeSet<String> {
        let marked = self.definitions.iter().filter(|it| it.is_marked);
        let mut names: BTreeSet<String> = marked.map(|it| it.name.clone()).collect();
        loop {
            let calls = |it: &&Definition| {
                !names.contains(&it.name) && it.calls.iter().any(|call| names.contains(call))
            };
            let more: Vec<_> =
                self.definitions.iter().filter(calls).map(|it| it.name.clone()).collect();
            if more.is_empty() {
                return names;
            }
            names.extend(more);
        }
    }
}

/// Whether the macros of a module are in scope after it.
fn keeps_macros(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("macro_use"))
}

fn items_in(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok(items)
}

/// The words before a `!`.
fn calls_in(tokens: TokenStream, calls: &mut Vec<String>) {
    let mut word = None;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                word = Some(name.unraw().to_string());
                continue;
            }
            TokenTree::Punct(sign) if sign.as_char() == '!' => calls.extend(word.take()),
            TokenTree::Group(group) => calls_in(group.stream(), calls),
            _ => {}
        }
        word = None;
    }
}

/// Whether tokens nest no deeper than a parser can read.
fn fits(tokens: TokenStream, brackets: usize, in_row: usize) -> bool {
    let mut row = 0;
    for token in tokens {
        row += 1;
        match token {
            TokenTree::Group(group) => {
                let Some(brackets) = brackets.checked_sub(1) else { return false };
                if !fits(group.stream(), brackets, in_row.saturating_sub(row)) {
                    return false;
                }
                if group.delimiter() == Delimiter::Brace {
                    row = 0;
                }
            }
            TokenTree::Punct(sign) if matches!(sign.as_char(), ';' | ',') => row = 0,
            _ => {}
        }
        if row > in_row {
            return false;
        }
    }
    true
}
