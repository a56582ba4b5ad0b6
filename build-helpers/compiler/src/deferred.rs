//! Functions of other sources that kernels name: *deferred references*.
//!
//! A source names a function by the symbol `__kernelmill_deferred_NAME`, which is declared and
//! nowhere defined; `deferred!` of the device crate writes it. Where the function is, is found
//! when the kernel is compiled: in its own source, or in one of those that are given with it. What
//! such a function names in turn is found in the same way, until nothing is left.

use std::collections::{BTreeMap, BTreeSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Type, Value, parse_bitcode},
};

use crate::{
    Error, Lowered,
    bytes::{Reader, Writer},
    dispatch::{self, EXPORTED},
    entry::SHIM_PREFIX,
    link::{self, PREFIX},
    place::{calls_of, reachable},
};

/// A name after this is that of a function in some source.
pub(crate) const MARKER: &str = "__kernelmill_deferred_";

/// What a source has for others, and what it wants of them. Each sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// The functions that others can name.
    pub defines: Vec<String>,
    /// The functions that it names.
    pub defers: Vec<String>,
    /// The functions that it calls by names of C or C++ and that nothing here defines: libraries of
    /// device code may have them.
    pub externals: Vec<String>,
}

/// A source that is given with another, for the functions it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The source as people know it.
    pub display: String,
    /// As the front end left it.
    pub lowered: Lowered,
}

impl Symbols {
    /// The symbols as bytes for a store.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        for list in [&self.defines, &self.defers, &self.externals] {
            writer.number(list.len() as u64);
            list.iter().for_each(|name| writer.text(name));
        }
        writer.finish()
    }

    /// Reads what [`Symbols::to_bytes`] wrote; `None` where it is not that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let defines = reader.list(Reader::text)?;
        let defers = reader.list(Reader::text)?;
        let externals = reader.list(Reader::text)?;
        reader.end()?;
        Some(Self { defines, defers, externals })
    }

    /// The sources that one reaches by the functions it names, directly or through others: their
    /// places among `all`, in order, without its own.
    #[must_use]
    pub fn reached(all: &[Option<&Self>], from: usize) -> Vec<usize> {
        let mut found = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(symbols) = work.pop().and_then(|place| all[place]) {
            let foreign = symbols.defers.iter().filter(|name| !symbols.has(name));
            for name in foreign {
                let has_it = |place: &usize| all[*place].is_some_and(|it| it.has(name));
                work.extend((0..all.len()).filter(has_it).filter(|place| found.insert(*place)));
            }
        }
        found.remove(&from);
        found.into_iter().collect()
    }

    fn has(&self, name: &str) -> bool {
        self.defines.iter().any(|it| it == name)
    }

    fn of<'c>(modules: &[Module<'c>]) -> Self {
        let [mut defines, mut defers, mut externals] = [(); 3].map(|()| BTreeSet::new());
        for function in modules.iter().flat_map(ModuleExt::functions) {
            let name = function.name();
            if function.is_declaration() {
                let deferred = name.strip_prefix(MARKER).filter(|_| function.is_used());
                defers.extend(deferred.map(str::to_owned));
                if function.is_used() && is_external(function, &name) {
                    externals.insert(name);
                }
            } else if is_exported(function, &name) {
                defines.insert(name);
            }
        }
        let sorted = |names: BTreeSet<String>| names.into_iter().collect();
        externals.retain(|name| !defines.contains(name));
        Self { defines: sorted(defines), defers: sorted(defers), externals: sorted(externals) }
    }
}

/// Whether a function that is declared only may be one of a library of device code's.
fn is_external(function: Value<'_>, name: &str) -> bool {
    let is_rusts = rustc_demangle::try_demangle(name).is_ok();
    !is_rusts && !function.is_intrinsic() && !name.starts_with(PREFIX) && !link::provides(name)
}

/// Whether other sources can name a function: it is visible, and its name is not one that rustc
/// made.
fn is_exported(function: Value<'_>, name: &str) -> bool {
    let is_local = [Linkage::Internal, Linkage::Private].contains(&function.linkage());
    let is_rusts = rustc_demangle::try_demangle(name).is_ok();
    let is_ours = name.starts_with(PREFIX) || name.starts_with(SHIM_PREFIX);
    !is_local && !is_rusts && (!is_ours || name.starts_with(EXPORTED))
}

/// What the modules of a source define and name. LLVM must be open.
pub(crate) fn symbols(modules: &[Vec<u8>]) -> Result<Symbols, Error> {
    let context = Context::create();
    let parsed: Result<Vec<_>, _> =
        modules.iter().map(|bitcode| parse_bitcode(&context, bitcode, "symbols")).collect();
    Ok(Symbols::of(&parsed?))
}

/// Reads bitcode and makes it the target's.
pub(crate) type Prepare<'a, 'c> = &'a dyn Fn(&[u8]) -> Result<Module<'c>, Error>;

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
    (own, lowered): (&str, &Lowered),
    prepare: Prepare<'_, 'c>,
) -> Result<(), Error> {
    let mut parts = Vec::new();
    for child in &lowered.children {
        let modules: Result<Vec<_>, _> =
            child.lowered.modules.iter().map(|bitcode| prepare(bitcode)).collect();
        let modules = modules?;
        let symbols = Symbols::of(&modules);
        parts.push(Part { display: &child.display, modules, symbols });
    }
    let find = |name: &str| {
        let own = ModuleExt::function(module, name).filter(|it| !it.is_declaration());
        own.or_else(|| parts.iter().find_map(|part| part.function(name)))
    };
    let table = dispatch::Table::new(&lowered.functions, &find, refer)?;
    for module in std::iter::once(module).chain(parts.iter().flat_map(|part| &part.modules)) {
        table.dispatch(context, module)?;
    }
    let mut faults = Vec::new();
    let mut wanted = wanted(module, own, (&parts, &lowered.known), &mut faults);
    if !faults.is_empty() {
        return Err(Error::Deferred(faults));
    }
    bind(module);
    for (place, part) in parts.into_iter().enumerate() {
        let names = wanted.remove(&place).unwrap_or_default();
        for part in part.modules {
            only(&part, &names);
            module
                .link_in_module(part)
                .map_err(|message| Error::Internal(format!("linking functions: {message}")))?;
            bind(module);
        }
    }
    Ok(())
}

/// A child that has been read.
struct Part<'a, 'c> {
    display: &'a str,
    modules: Vec<Module<'c>>,
    symbols: Symbols,
}

impl<'c> Part<'_, 'c> {
    fn function(&self, name: &str) -> Option<Value<'c>> {
        let functions = self.modules.iter().filter_map(|module| ModuleExt::function(module, name));
        functions.into_iter().find(|function| !function.is_declaration())
    }
}

/// The functions that are wanted of each part, followed to a fixpoint.
fn wanted(
    module: &Module<'_>,
    own: &str,
    (parts, known): (&[Part<'_, '_>], &[(String, String)]),
    faults: &mut Vec<String>,
) -> BTreeMap<usize, BTreeSet<String>> {
    let mut wanted: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let defined = |name: &str| {
        ModuleExt::function(module, name).filter(|function| !function.is_declaration())
    };
    // The functions of parts that are wanted, and `None` for all of the module's own.
    let mut work: Vec<Option<(usize, Value<'_>)>> = vec![None];
    while let Some(next) = work.pop() {
        let (place, markers) = match next {
            None => (None, markers(module)),
            Some((place, function)) => (Some(place), named(reachable(function))),
        };
        let namer = place.and_then(|place| parts.get(place)).map_or(own, |part| part.display);
        for (marker, name) in markers {
            let having: Vec<_> =
                (0..parts.len()).filter(|place| parts[*place].symbols.has(&name)).collect();
            // The source's own function comes first.
            let at_home = defined(&name).filter(|_| place.is_none()).map(|it| (None, it));
            let everywhere = defined(&name).map(|function| (None, function)).into_iter();
            let everywhere = everywhere.chain(having.iter().filter_map(|place| {
                parts[*place].function(&name).map(|function| (Some(*place), function))
            }));
            let found = at_home.map_or_else(|| everywhere.collect(), |it| vec![it]);
            match found[..] {
                [(place, function)] => {
                    if function.value_type() != marker.value_type() {
                        faults.push(other_types(namer, &name, marker, function));
                    }
                    if let Some(place) = place
                        && wanted.entry(place).or_default().insert(name)
                    {
                        work.push(Some((place, function)));
                    }
                }
                [] => faults.push(not_there(module, namer, &name, marker, (parts, known))),
                _ => faults.push(ambiguous(namer, &name, marker, own, &found, parts)),
            }
        }
    }
    wanted
}

/// The functions that a module names, as they are declared.
fn markers<'c>(module: &Module<'c>) -> Vec<(Value<'c>, String)> {
    named(module.functions().into_iter().filter(|function| function.is_used()))
}

/// The markers among values, with the names in them, in the order of these.
fn named<'c>(values: impl IntoIterator<Item = Value<'c>>) -> Vec<(Value<'c>, String)> {
    let markers = values.into_iter().filter(|value| value.is_function() && value.is_declaration());
    let mut named: Vec<_> = markers
        .filter_map(|marker| Some((marker, marker.name().strip_prefix(MARKER)?.to_owned())))
        .collect();
    named.sort_by(|(_, one), (_, other)| one.cmp(other));
    named
}

/// Names a function of some source in a module.
fn refer<'c>(module: &Module<'c>, name: &str, ty: Type<'c>) -> Value<'c> {
    module.declare(&format!("{MARKER}{name}"), ty)
}

/// Makes the module's markers the functions they name, declared where they are not there yet.
fn bind(module: &Module<'_>) {
    for (marker, name) in markers(module) {
        let function = module.declare(&name, marker.value_type());
        marker.replace_with(function);
        marker.delete_function();
    }
}

/// Leaves nothing visible of a part but these functions.
fn only(part: &Module<'_>, names: &BTreeSet<String>) {
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

/// Where a function is named.
fn place(namer: &str, marker: Value<'_>) -> String {
    let call = calls_of(marker).into_iter().find(|call| call.debug_line() > 0);
    let used = || marker.users().into_iter().find(|it| it.is_instruction() && it.debug_line() > 0);
    match call.or_else(used) {
        Some(at) => format!("{}:{}", at.debug_file().unwrap_or_default(), at.debug_line()),
        None => namer.to_owned(),
    }
}

fn not_there(
    module: &Module<'_>,
    namer: &str,
    name: &str,
    marker: Value<'_>,
    (parts, known): (&[Part<'_, '_>], &[(String, String)]),
) -> String {
    let own = module.definitions().into_iter().map(|function| (function, function.name()));
    let own = own.filter(|(function, name)| is_exported(*function, name)).map(|(_, name)| name);
    let others = parts.iter().flat_map(|part| part.symbols.defines.clone());
    let unused = known.iter().map(|(name, _)| name.clone());
    // Those that the host gives are called by entries of their own.
    let names = own.chain(others).chain(unused).filter(|name| !name.starts_with(EXPORTED));
    let nearest = kernelmill_artifact::target::nearest(name, names);
    let help = nearest.map_or_else(
        || format!("write `#[unsafe(no_mangle)] pub extern \"C\" fn {name}`, or `extern \"C\" __device__`"),
        |nearest| match known.iter().find(|(name, _)| *name == nearest) {
            Some((_, source)) => format!("the nearest is `{nearest}` of {source}"),
            None => format!("the nearest is `{nearest}`"),
        },
    );
    format!("{}: no source has a function `{name}` for others; {help}", place(namer, marker))
}

fn ambiguous(
    namer: &str,
    name: &str,
    marker: Value<'_>,
    own: &str,
    found: &[(Option<usize>, Value<'_>)],
    parts: &[Part<'_, '_>],
) -> String {
    let having = found.iter().map(|(place, _)| place.map_or(own, |place| parts[place].display));
    let having: Vec<_> = having.map(|display| format!("`{display}`")).collect();
    let place = place(namer, marker);
    format!("{place}: several sources have a function `{name}`: {}; rename one", having.join(", "))
}

fn other_types(namer: &str, name: &str, marker: Value<'_>, function: Value<'_>) -> String {
    format!(
        "{}: `{name}` is named with the types `{:?}` and defined with `{:?}`; write the same \
         parameters and result",
        place(namer, marker),
        marker.value_type(),
        function.value_type()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_reached_through_others_and_circles_end() {
        let symbols = |defines: &[&str], defers: &[&str]| Symbols {
            defines: defines.iter().map(|name| (*name).to_owned()).collect(),
            defers: defers.iter().map(|name| (*name).to_owned()).collect(),
            externals: vec!["scaled".to_owned()],
        };
        let all = [
            symbols(&["own"], &["own", "a"]),
            symbols(&["a"], &["b"]),
            symbols(&["b", "unused"], &["a"]),
            symbols(&["c", "own"], &[]),
        ];
        let all: Vec<_> = all.iter().map(Some).collect();
        assert_eq!(Symbols::reached(&all, 0), [1, 2]);
        assert_eq!(Symbols::reached(&all, 1), [2]);
        assert_eq!(Symbols::reached(&all, 3), [0_usize; 0]);
        let bytes = all[0].unwrap().to_bytes();
        assert_eq!(Symbols::from_bytes(&bytes).as_ref(), all[0]);
        assert_eq!(Symbols::from_bytes(&bytes[1..]), None);
    }
}
