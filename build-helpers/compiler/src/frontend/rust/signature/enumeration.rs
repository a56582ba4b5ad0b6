//! Enums of which a value is one integer: those without data, with `#[repr(u32)]` or the like.

use super::{
    length,
    scope::ModuleId,
    types::Types,
    unsupported::{self, UnsupportedType},
};
use kernelmill_artifact::{EnumLayout, Scalar, ValueType, Variant};
use syn::{Attribute, ItemEnum, ext::IdentExt};

impl Types<'_, '_> {
    /// The integer and the variants of an enum. A variant without a value has that of the one before, and 1.
    pub(super) fn enumeration(
        &self,
        module: ModuleId,
        item: &ItemEnum,
    ) -> Result<ValueType, UnsupportedType> {
        let text = self.scope.text(module);
        let name = item.ident.unraw().to_string();
        let place = || text.place(&item.ident);
        let kept = || item.variants.iter().filter(|it| !self.scope.leaves_out(&it.attrs));
        if let Some(variant) = kept().find(|variant| !variant.fields.is_empty()) {
            let variant = variant.ident.unraw().to_string();
            return Err(unsupported::enum_with_data(&name, &variant, place()));
        }
        if kept().next().is_none() {
            return Err(unsupported::empty_enum(&name, place()));
        }
        let Some(scalar) = repr(&item.attrs) else {
            return Err(unsupported::enum_without_repr(&name, place()));
        };
        let (mut next, mut variants) = (0_i128, Vec::new());
        for variant in kept() {
            let variant_name = variant.ident.unraw().to_string();
            if let Some((_, value)) = &variant.discriminant {
                next = length::integer(self.scope, module, value).ok_or_else(|| {
                    let place = text.place(value);
                    unsupported::unknown_discriminant(&name, &variant_name, place)
                })?;
            }
            variants.push(Variant { name: variant_name.into(), value: next });
            next = next.wrapping_add(1);
        }
        let variants = variants.into();
        let layout = EnumLayout { name: name.into(), scalar, variants, exhaustive: true };
        Ok(ValueType::Enum(layout.into()))
    }
}

/// The integer that `#[repr(..)]` gives an enum, where it is as large on every device.
fn repr(attributes: &[Attribute]) -> Option<Scalar> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // What is not understood here, rustc refuses.
        let _ = attribute.parse_nested_meta(|meta| {
            let scalar = meta.path.get_ident().map(ToString::to_string);
            found = scalar.as_deref().and_then(Scalar::from_name).or(found);
            Ok(())
        });
    }
    found.filter(|scalar| !matches!(scalar, Scalar::Isize | Scalar::Usize))
}
