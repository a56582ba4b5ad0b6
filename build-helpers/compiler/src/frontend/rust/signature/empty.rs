//! Types whose values have no bytes: nothing of them crosses from host to device.

use super::{
    scope::{Found, ModuleId, Scope, TypeItem},
    syntax::{bare, segments},
};
use syn::{ItemStruct, Type};

/// Structs in structs deeper than this are taken for ones with bytes, which then says what is wrong.
const DEEPEST: usize = 16;

/// Whether a type has no bytes and no alignment of its own: `()`, `PhantomData<T>`, and structs of
/// nothing but such.
pub(super) fn is_empty(scope: &Scope<'_>, module: ModuleId, ty: &Type) -> bool {
    Emptiness { scope }.of_type(module, ty, DEEPEST)
}

struct Emptiness<'s, 'a> {
    scope: &'s Scope<'a>,
}

impl Emptiness<'_, '_> {
    fn of_type(&self, module: ModuleId, ty: &Type, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match bare(ty) {
            Type::Tuple(tuple) => tuple.elems.iter().all(|it| self.of_type(module, it, depth)),
            Type::Path(path) if path.qself.is_none() => {
                let names = segments(&path.path);
                if path.path.leading_colon.is_some() {
                    return is_marker(&names);
                }
                match self.scope.find_type(module, &names) {
                    Found::Here(home, TypeItem::Struct(item)) => self.of_struct(home, item, depth),
                    Found::Here(home, TypeItem::Alias(item)) => self.of_type(home, &item.ty, depth),
                    Found::Elsewhere(full) => is_marker(&full),
                    Found::Here(_, TypeItem::Enum(_) | TypeItem::Union) | Found::Nothing => false,
                }
            }
            _ => false,
        }
    }

    fn of_struct(&self, home: ModuleId, item: &ItemStruct, depth: usize) -> bool {
        let aligned = item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).any(
            |attribute| {
                let mut found = false;
                // What is not understood here, rustc refuses.
                let _ = attribute.parse_nested_meta(|meta| {
                    found |= meta.path.is_ident("align");
                    if meta.input.peek(syn::token::Paren) {
                        let content;
                        syn::parenthesized!(content in meta.input);
                        content.parse::<syn::LitInt>()?;
                    }
                    Ok(())
                });
                found
            },
        );
        let mut fields = item.fields.iter().filter(|field| !self.scope.leaves_out(&field.attrs));
        !aligned && fields.all(|field| self.of_type(home, &field.ty, depth))
    }
}

/// Whether a path into another crate names one of the empty types of `core`.
fn is_marker(path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(*names, ["core" | "std", "marker", "PhantomData" | "PhantomPinned"])
}
