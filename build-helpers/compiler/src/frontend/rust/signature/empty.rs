//! Types whose values have no bytes: nothing of them crosses from host to device.

use super::{
    scope::{Found, ModuleId, Scope, TypeItem},
    syntax::{bare, segments},
};
use syn::{ItemStruct, Type, Visibility};

/// Structs in structs deeper than this are taken for ones with bytes, which then says what is wrong.
const DEEPEST: usize = 16;

/// Who can make a value of a type without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// Everybody.
    Open,
    /// Its own code alone: it has a private field, as a token that proves something has.
    Sealed,
}

impl Empty {
    /// That of a value with both as its parts.
    fn and(self, other: Self) -> Self {
        if self == Self::Open { other } else { self }
    }

    /// That of a value with it as a field.
    pub(super) fn in_field(self, visibility: &Visibility) -> Self {
        if matches!(visibility, Visibility::Public(_)) { self } else { Self::Sealed }
    }
}

/// Who can make a value of a type without bytes and without an alignment of its own: `()`, `PhantomData<T>`, and
/// structs of nothing but such. `None` for every other type.
pub(super) fn emptiness(scope: &Scope<'_>, module: ModuleId, ty: &Type) -> Option<Empty> {
    Emptiness { scope }.of_type(module, ty, DEEPEST)
}

struct Emptiness<'s, 'a> {
    scope: &'s Scope<'a>,
}

impl Emptiness<'_, '_> {
    fn of_type(&self, module: ModuleId, ty: &Type, depth: usize) -> Option<Empty> {
        let depth = depth.checked_sub(1)?;
        let of_marker = |names: &[String]| is_marker(names).then_some(Empty::Open);
        match bare(ty) {
            Type::Tuple(tuple) => all(tuple.elems.iter().map(|it| self.of_type(module, it, depth))),
            Type::Path(path) if path.qself.is_none() => {
                let names = segments(&path.path);
                if path.path.leading_colon.is_some() {
                    return of_marker(&names);
                }
                match self.scope.find_type(module, &names) {
                    Found::Here(home, TypeItem::Struct(item)) => self.of_struct(home, item, depth),
                    Found::Here(home, TypeItem::Alias(item)) => self.of_type(home, &item.ty, depth),
                    Found::Elsewhere(full) => of_marker(&full),
                    Found::Here(_, TypeItem::Enum(_) | TypeItem::Union | TypeItem::Function(_))
                    | Found::Nothing => None,
                }
            }
            _ => None,
        }
    }

    fn of_struct(&self, home: ModuleId, item: &ItemStruct, depth: usize) -> Option<Empty> {
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
        if aligned {
            return None;
        }
        let fields = item.fields.iter().filter(|field| !self.scope.leaves_out(&field.attrs));
        all(fields.map(|field| {
            let empty = self.of_type(home, &field.ty, depth)?;
            Some(empty.in_field(&field.vis))
        }))
    }
}

/// That of a value with these parts.
fn all(mut parts: impl Iterator<Item = Option<Empty>>) -> Option<Empty> {
    parts.try_fold(Empty::Open, |before, part| Some(before.and(part?)))
}

/// Whether a path into another crate names one of the empty types of `core`.
fn is_marker(path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(*names, ["core" | "std", "marker", "PhantomData" | "PhantomPinned"])
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use kernelmill_artifact::{ParameterKind, ValueType};

    /// A value that proves something has no bytes: the host could not be told from one that has it.
    #[test]
    fn values_without_bytes_that_only_their_own_code_makes_do_not_come_from_the_host() {
        let tokens = "mod token {
                pub struct Proof(()); pub struct Holder { pub proof: Proof } pub struct Open(pub ());
            }
            use token::*;";
        for ty in ["Proof", "Holder", "((), token::Proof)"] {
            let text = format!("#[kernel] fn k(p: {ty}) {{}}\n{tokens}");
            let message = read(&text, "kernels/k.rs").unwrap_err()[0].to_string();
            let expected = format!(
                "kernels/k.rs:1:19: error[KM0040]: parameter `p` of kernel `k` has type `{ty}`, which has size \
                 zero and a private field, so that only its own module can make values of it\n  help: leave the \
                 parameter out and make the value in the kernel, or make the fields `pub`"
            );
            assert_eq!(message, expected);
        }
        let open = format!("{tokens} #[kernel] fn k(a: Open, b: ((), Open)) {{}}");
        assert_eq!(read(&open, "kernels/k.rs").unwrap()[0].to_string(), "fn k()");
        for (field, public) in
            [("_only: ()", false), ("pub proof: Proof", false), ("pub open: Open", true)]
        {
            let text = format!(
                "{tokens} #[repr(C)] pub struct P {{ pub a: u32, {field} }} #[kernel] fn k(p: P) {{}}"
            );
            let found = read(&text, "kernels/k.rs").unwrap();
            let ParameterKind::Value(ty @ ValueType::Struct(layout)) = &found[0].parameters[0].kind
            else {
                panic!("{found:?}");
            };
            assert_eq!((layout.fields[0].public, ty.zero_is_value()), (public, public), "{field}");
        }
    }
}
