//! Resolution of deferred references: the definitions that a module names are linked to it.

use std::collections::{BTreeMap, BTreeSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Type, Value},
};

use super::{
    faults::{Nearest, Reference},
    symbols::{is_exported, of},
};
use crate::{
    Error,
    base::names::{DEFERRED, EXPORTED},
    error::DeferredFault,
    ir::reachable,
    job::{Lowered, Symbols},
    passes::dispatch::Table,
};

/// Where definitions are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    /// The module's own source, as people know it.
    pub(crate) own: &'a str,
    /// What the front end made of it, with the sources that are given with it.
    pub(crate) lowered: &'a Lowered,
}

/// Reads bitcode and makes it the target's.
pub(crate) type Read<'a, 'c> = &'a dyn Fn(&[u8]) -> Result<Module<'c>, Error>;

/// Gives every function that the module names, and that what is linked for it names, a definition:
/// of the module itself or of a child, which is linked once, whatever the number of its functions
/// that are wanted.
///
/// # Errors
///
/// [`Error::Deferred`] with every name that no source has, or several have, or one has with other
/// types.
pub(crate) fn resolve<'c>(
    context: &'c Context,
    module: &Module<'c>,
    sources: Sources<'_>,
    read: Read<'_, 'c>,
) -> Result<(), Error> {
    let Sources { own, lowered } = sources;
    let children = lowered.children.iter();
    let parts = children.map(|child| Part::read(&child.display, &child.lowered, read));
    let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
    call_tables(context, module, &parts, lowered)?;
    let mut wanted = Search { module, own, parts: &parts, known: &lowered.known }.wanted()?;
    bind(module);
    for (place, part) in parts.into_iter().enumerate() {
        let names = wanted.remove(&place).unwrap_or_default();
        for part in part.modules {
            keep_visible(&part, &names);
            module
                .link(part)
                .map_err(|message| Error::Internal(format!("linking functions: {message}")))?;
            bind(module);
        }
    }
    Ok(())
}

/// Replaces calls by number in a module and its children by the function table's dispatch, which
/// names functions by deferred references.
fn call_tables<'c>(
    context: &'c Context,
    module: &Module<'c>,
    parts: &[Part<'_, 'c>],
    lowered: &Lowered,
) -> Result<(), Error> {
    let find = |name: &str| {
        let own = ModuleExt::function(module, name).filter(|it| !it.is_declaration());
        own.or_else(|| parts.iter().find_map(|part| part.function(name)))
    };
    let table = Table::new(&lowered.functions, &find, refer)?;
    let children = parts.iter().flat_map(|part| &part.modules);
    std::iter::once(module).chain(children).try_for_each(|module| table.dispatch(context, module))
}

/// A child that has been read.
struct Part<'a, 'c> {
    display: &'a str,
    modules: Vec<Module<'c>>,
    symbols: Symbols,
}

impl<'a, 'c> Part<'a, 'c> {
    fn read(display: &'a str, lowered: &Lowered, read: Read<'_, 'c>) -> Result<Self, Error> {
        let modules = lowered.modules.iter().map(|bitcode| read(bitcode));
        let modules: Vec<_> = modules.collect::<Result<_, _>>()?;
        let symbols = of(&modules);
        Ok(Self { display, modules, symbols })
    }

    fn function(&self, name: &str) -> Option<Value<'c>> {
        let functions = self.modules.iter().filter_map(|module| ModuleExt::function(module, name));
        functions.into_iter().find(|function| !function.is_declaration())
    }
}

/// The search for definitions in a module and in the sources that are given with it.
struct Search<'a, 'c> {
    module: &'a Module<'c>,
    /// The module's source.
    own: &'a str,
    parts: &'a [Part<'a, 'c>],
    /// Functions of sources that are not given, each with its source.
    known: &'a [(String, String)],
}

/// A definition: of the part at this index, or of the module itself.
#[derive(Clone, Copy)]
struct Definition<'c> {
    part: Option<usize>,
    function: Value<'c>,
}

/// The names of the functions that are wanted of each part, by its index.
type Wanted = BTreeMap<usize, BTreeSet<String>>;

impl<'c> Search<'_, 'c> {
    /// The functions that are wanted of each part, followed to a fixpoint.
    fn wanted(&self) -> Result<Wanted, Error> {
        let (mut wanted, mut faults) = (Wanted::new(), Vec::new());
        // The functions of parts that are wanted, and `None` for all of the module's own.
        let mut work: Vec<Option<Definition<'c>>> = vec![None];
        while let Some(next) = work.pop() {
            let part = next.and_then(|definition| definition.part);
            let source = part.and_then(|part| self.parts.get(part));
            let source = source.map_or(self.own, |part| part.display);
            let named = match next {
                None => markers(self.module),
                Some(definition) => named(reachable(definition.function)),
            };
            for Marker { marker, name } in named {
                let reference = Reference { source, name: &name, marker };
                match self.definition(reference, part) {
                    Ok(found) => {
                        if found.function.value_type() != marker.value_type() {
                            let text = reference.other_types(found.function);
                            faults.push(DeferredFault { text, is_missing: false });
                        }
                        if let Some(part) = found.part
                            && wanted.entry(part).or_default().insert(name)
                        {
                            work.push(Some(found));
                        }
                    }
                    Err(fault) => faults.push(fault),
                }
            }
        }
        if faults.is_empty() { Ok(wanted) } else { Err(Error::Deferred(faults)) }
    }

    /// The one definition of a function that a part names, or, without one, the module itself.
    fn definition(
        &self,
        reference: Reference<'_, 'c>,
        from: Option<usize>,
    ) -> Result<Definition<'c>, DeferredFault> {
        let name = reference.name;
        let own = ModuleExt::function(self.module, name).filter(|it| !it.is_declaration());
        let own = own.map(|function| Definition { part: None, function });
        // The source's own function comes first.
        if let (Some(own), None) = (own, from) {
            return Ok(own);
        }
        let having = (0..self.parts.len()).filter(|part| self.parts[*part].symbols.has(name));
        let of_parts = having.filter_map(|part| {
            let function = self.parts[part].function(name)?;
            Some(Definition { part: Some(part), function })
        });
        let found: Vec<_> = own.into_iter().chain(of_parts).collect();
        match found[..] {
            [definition] => Ok(definition),
            [] => {
                let text = reference.missing(self.nearest(name));
                Err(DeferredFault { text, is_missing: true })
            }
            _ => {
                let sources = found.iter().map(|it| it.part);
                let sources =
                    sources.map(|part| part.map_or(self.own, |it| self.parts[it].display));
                let text = reference.ambiguous(&sources.collect::<Vec<_>>());
                Err(DeferredFault { text, is_missing: false })
            }
        }
    }

    /// The function with the name that is most similar to one that is missing.
    fn nearest(&self, name: &str) -> Option<Nearest<'_>> {
        let own = self.module.definitions().into_iter();
        let own = own.map(|function| (function, function.name()));
        let own = own.filter(|(function, name)| is_exported(*function, name)).map(|(_, name)| name);
        let others = self.parts.iter().flat_map(|part| part.symbols.defines.clone());
        let unused = self.known.iter().map(|(name, _)| name.clone());
        // Those that the host gives are called by entries of their own.
        let names = own.chain(others).chain(unused).filter(|name| !name.starts_with(EXPORTED));
        let name = kernelmill_artifact::target::nearest(name, names)?;
        let source = self.known.iter().find(|(known, _)| *known == name);
        Some(Nearest { source: source.map(|(_, source)| &**source), name })
    }
}

/// A deferred reference, as a module declares it.
struct Marker<'c> {
    marker: Value<'c>,
    name: String,
}

/// The functions that a module names, as they are declared.
fn markers<'c>(module: &Module<'c>) -> Vec<Marker<'c>> {
    named(module.functions().into_iter().filter(|function| function.is_used()))
}

/// The deferred references among values, in the order of the names.
fn named<'c>(values: impl IntoIterator<Item = Value<'c>>) -> Vec<Marker<'c>> {
    let markers = values.into_iter().filter(|value| value.is_function() && value.is_declaration());
    let named = markers.filter_map(|marker| {
        let name = marker.name().strip_prefix(DEFERRED)?.to_owned();
        Some(Marker { marker, name })
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by(|one, other| one.name.cmp(&other.name));
    named
}

/// Names a function of some source in a module.
fn refer<'c>(module: &Module<'c>, name: &str, ty: Type<'c>) -> Value<'c> {
    module.declare(&format!("{DEFERRED}{name}"), ty)
}

/// Replaces the module's deferred references by the functions that they name, which are declared where
/// they are not there yet.
fn bind(module: &Module<'_>) {
    for Marker { marker, name } in markers(module) {
        let function = module.declare(&name, marker.value_type());
        marker.replace_with(function);
        marker.delete_function();
    }
}

/// Leaves nothing visible of a part but these functions.
fn keep_visible(part: &Module<'_>, names: &BTreeSet<String>) {
    for value in part.definitions().into_iter().chain(part.globals()) {
        if value.is_declaration() {
            continue;
        }
        let linkage =
            if names.contains(&value.name()) { Linkage::External } else { Linkage::Internal };
        value.set_linkage(linkage);
        value.drop_comdat();
    }
}
