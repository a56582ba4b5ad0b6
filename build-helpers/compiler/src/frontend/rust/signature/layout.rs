//! Where the fields of a `#[repr(C)]` struct lie.

use super::{
    empty::{Empty, emptiness},
    scope::ModuleId,
    syntax::bare,
    types::Types,
    unsupported::{self, UnsupportedType},
};
use kernelmill_artifact::{Field, StructLayout, ValueType};
use syn::{Attribute, Item, ItemImpl, ItemStruct, LitInt, Meta, Type, Visibility, ext::IdentExt};

/// What a struct's `#[repr(..)]` attributes say.
#[derive(Default)]
struct Repr {
    c: bool,
    transparent: bool,
    packed: bool,
    align: u64,
}

impl Types<'_, '_> {
    /// The layout of a struct by the rules of C: each field at the next multiple of its alignment,
    /// the size a multiple of the largest alignment.
    pub(super) fn structure(
        &mut self,
        module: ModuleId,
        item: &ItemStruct,
    ) -> Result<ValueType, UnsupportedType> {
        let repr = Repr::read(&item.attrs);
        let name = item.ident.unraw().to_string();
        if !repr.c && !repr.transparent {
            let place = self.scope.text(module).place(&item.ident);
            let mut refusal = unsupported::not_repr_c(&name, self.is_copy(item), place);
            self.add_loose_fields(module, item, &mut refusal);
            return Err(refusal);
        }
        if repr.packed {
            return Err(unsupported::packed(&name, self.scope.text(module).place(&item.ident)));
        }
        let (mut offset, mut align, mut fields) = (0_u64, repr.align.max(1), Vec::new());
        let kept = item.fields.iter().filter(|field| !self.scope.leaves_out(&field.attrs));
        let mut is_sealed = false;
        for (index, field) in kept.enumerate() {
            if let Some(empty) = emptiness(self.scope, module, &field.ty) {
                is_sealed |= empty.in_field(&field.vis) == Empty::Sealed;
                continue;
            }
            let field_name = field
                .ident
                .as_ref()
                .map_or_else(|| index.to_string(), |name| name.unraw().to_string());
            let ty = self.value(module, &field.ty).map_err(|refusal| {
                refusal.or_at(self.scope.text(module).place(&field.ty)).within(&field_name)
            })?;
            align = align.max(ty.align());
            offset = offset.next_multiple_of(ty.align());
            let end = offset.saturating_add(ty.size());
            let public = matches!(field.vis, Visibility::Public(_));
            fields.push(Field { name: field_name.into(), ty, offset, public });
            offset = end;
        }
        if fields.is_empty() {
            return Err(unsupported::no_fields(&name, self.scope.text(module).place(&item.ident)));
        }
        if is_sealed {
            // What keeps others from making a value has no bytes: on the host the fields that have some stand for it.
            fields.iter_mut().for_each(|field| field.public = false);
        }
        let size = offset.next_multiple_of(align);
        let layout = StructLayout { name: name.into(), size, align, fields: fields.into() };
        Ok(ValueType::Struct(layout.into()))
    }
}

impl Types<'_, '_> {
    /// Whether a struct is written to be `Copy`, or may be by a macro or on a condition.
    fn is_copy(&self, item: &ItemStruct) -> bool {
        let may_derive = item.attrs.iter().any(|attribute| match &attribute.meta {
            Meta::List(list) if attribute.path().is_ident("derive") => {
                list.tokens.clone().into_iter().any(|it| it.to_string() == "Copy")
            }
            Meta::List(_) => attribute.path().is_ident("cfg_attr"),
            Meta::Path(_) | Meta::NameValue(_) => false,
        });
        let of_item = |ty: &Type| match bare(ty) {
            Type::Path(it) => it.path.segments.last().is_some_and(|it| it.ident == item.ident),
            _ => false,
        };
        let implements = |it: &ItemImpl| {
            let path = it.trait_.as_ref().and_then(|(path, _)| path.segments.last());
            path.is_some_and(|last| last.ident == "Copy") && of_item(&it.self_ty)
        };
        let mut items = self.scope.all_modules().flat_map(|(_, items)| items);
        may_derive || items.any(|it| matches!(it, Item::Impl(it) if implements(it)))
    }

    /// Adds to what is said of a struct the structs of its fields that lack `#[repr(C)]` too.
    fn add_loose_fields(
        &mut self,
        module: ModuleId,
        item: &ItemStruct,
        refusal: &mut UnsupportedType,
    ) {
        for field in item.fields.iter().filter(|field| !self.scope.leaves_out(&field.attrs)) {
            let Err(inner) = self.value(module, &field.ty) else { continue };
            if inner.why == unsupported::NOT_REPR_C && !refusal.help.contains(&inner.help) {
                refusal.help += &format!(", and {}", inner.help);
            }
        }
    }
}

impl Repr {
    fn read(attributes: &[Attribute]) -> Self {
        let mut repr = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
            // What is not understood here, rustc refuses.
            let _ = attribute.parse_nested_meta(|meta| {
                repr.c |= meta.path.is_ident("C");
                repr.transparent |= meta.path.is_ident("transparent");
                repr.packed |= meta.path.is_ident("packed");
                let is_align = meta.path.is_ident("align");
                if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    let number: LitInt = content.parse()?;
                    if is_align {
                        repr.align = number.base10_parse()?;
                    }
                }
                Ok(())
            });
        }
        repr
    }
}
