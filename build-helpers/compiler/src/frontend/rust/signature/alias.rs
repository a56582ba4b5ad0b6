//! Aliases of names of the device library, `use DisjointSlice as Out`.
//!
//! The attribute `#[kernel]` is a procedural macro: it sees the parameters as they are written, and name
//! resolution comes after it. So the types that it treats specially have their own names in signatures,
//! and no other types have these names.

use super::{
    scope::{Found, ModuleId, Scope, TypeItem},
    syntax::{bare, first_argument, segments},
    types::Types,
    unsupported::UnsupportedType,
};
use syn::{Attribute, Path, Type};

/// The types that the attribute knows by their names.
const KNOWN: [&str; 4] = ["DisjointSlice", "TensorMap", "TensorMapMut", "BlockArray"];

/// The attributes that make kernels and device functions.
const ATTRIBUTES: [&str; 2] = ["kernel", "device_fn"];

/// The crate of the device library.
const DEVICE_CRATE: &str = "kernelmill_device";

/// More aliases of aliases than this are taken for a cycle.
const LONGEST_CHAIN: usize = 32;

impl Types<'_, '_> {
    /// Refuses a path that is an alias of one of the library's types, or another type of such a name.
    pub(super) fn refuse_alias(
        &self,
        module: ModuleId,
        path: &Path,
    ) -> Result<(), UnsupportedType> {
        let (Some(written), None) = (path.segments.last(), &path.leading_colon) else {
            return Ok(());
        };
        let meant = known(self.scope, module, path, LONGEST_CHAIN);
        let known = KNOWN.into_iter().find(|name| written.ident == name);
        if meant.is_none() && known.is_none() {
            return Ok(());
        }
        let is_alias = !matches!(meant, Some(Meant { name, direct: true }) if Some(name) == known);
        if let Some(Meant { name, .. }) = meant.filter(|_| is_alias) {
            let help = format!(
                "write `{name}<..>` itself: `#[kernel]` knows it by its name, before names are resolved"
            );
            return Err(self.alias(module, path, "an alias of a type of the device library", help));
        }
        match known.filter(|_| is_other(self.scope, module, path)) {
            Some(name) => {
                let help =
                    format!("rename it: `#[kernel]` takes `{name}` for that of the device library");
                let why = "another type than the one of this name in the device library";
                Err(self.alias(module, path, why, help))
            }
            None => Ok(()),
        }
    }

    /// `F` of `DeviceFn<F>`, under whatever name it is imported: the attribute takes it for any other value.
    pub(super) fn of_device_fn<'p>(&self, module: ModuleId, path: &'p Path) -> Option<&'p Type> {
        let last = path.segments.last()?;
        let is_ours = match self.scope.find_type(module, &segments(path)) {
            Found::Here(..) => false,
            Found::Elsewhere(full) => full.last().is_some_and(|name| name == "DeviceFn"),
            Found::Nothing => last.ident == "DeviceFn",
        };
        first_argument(last).filter(|_| is_ours)
    }

    fn alias(
        &self,
        module: ModuleId,
        path: &Path,
        why: &'static str,
        help: String,
    ) -> UnsupportedType {
        UnsupportedType::new(self.scope.text(module).written(path), why, help)
    }
}

/// One of the library's types that a path means.
#[derive(Clone, Copy)]
struct Meant {
    name: &'static str,
    /// Whether the path names it without an alias of this crate.
    direct: bool,
}

/// Which of the library's types a path means, as far as it is known to mean one.
fn known(scope: &Scope<'_>, module: ModuleId, path: &Path, chain: usize) -> Option<Meant> {
    let chain = chain.checked_sub(1)?;
    match scope.find_type(module, &segments(path)) {
        Found::Here(home, TypeItem::Alias(item)) => {
            let Type::Path(inner) = bare(&item.ty) else { return None };
            let direct = known(scope, home, &inner.path, chain).map(|meant| meant.name);
            let last = inner.path.segments.last()?;
            let named = || KNOWN.into_iter().find(|name| last.ident == name);
            direct.or_else(named).map(|name| Meant { name, direct: false })
        }
        Found::Elsewhere(full) if full.first().is_some_and(|it| it == DEVICE_CRATE) => {
            let name = KNOWN.into_iter().find(|name| full.last().is_some_and(|it| it == name))?;
            Some(Meant { name, direct: true })
        }
        _ => None,
    }
}

/// Whether a path certainly means something that is not of the library.
fn is_other(scope: &Scope<'_>, module: ModuleId, path: &Path) -> bool {
    let names = segments(path);
    match scope.find_type(module, &names) {
        Found::Here(..) => true,
        // Another crate may export the library's type again, under its own name.
        Found::Elsewhere(full) => full.last() != names.last(),
        Found::Nothing => false,
    }
}

/// An attribute that is one of the library's under another name, with that of the library.
pub(super) fn renamed_attribute<'a>(
    scope: &Scope<'_>,
    module: ModuleId,
    attributes: &'a [Attribute],
) -> Option<(&'a Attribute, &'static str)> {
    attributes.iter().find_map(|attribute| {
        let written = attribute.path().get_ident()?.to_string();
        let full = scope.import(module, &written)?;
        let name = ATTRIBUTES.into_iter().find(|name| full.last().is_some_and(|it| it == name))?;
        let is_ours = full.first().is_some_and(|it| it == DEVICE_CRATE) && written != name;
        is_ours.then_some((attribute, name))
    })
}
