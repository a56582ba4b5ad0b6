//! Enumerations.

use super::{
    debug::NodeId,
    types::{Types, UnsupportedType, refuse, signed, unsigned},
    written,
};
use gimli::constants as dw;
use kernelmill_artifact::{EnumLayout, Scalar, Variant};

impl Types<'_> {
    /// The layout of an enumeration.
    ///
    /// Not every compiler says what an enumeration is made of, only its size, and wrappers are not to
    /// depend on the compiler. So the values decide: of 1 or 2 bytes it is unsigned, of more it is
    /// signed, unless a value says otherwise.
    pub(super) fn enumeration(
        &self,
        id: NodeId,
        typedefs: &[&str],
        hint: &str,
    ) -> Result<EnumLayout, UnsupportedType> {
        let node = self.debug.node(id);
        let variants: Vec<(String, i128)> = self
            .debug
            .children(id)
            .filter(|child| child.tag == dw::DW_TAG_enumerator)
            .filter_map(|child| Some((written::written(child.name.as_deref()?)?, child.value?)))
            .collect();
        let Some(size) = node.size.filter(|_| !node.is_declaration) else {
            return refuse("is declared and not defined in this file", "define it");
        };
        let has_negative = variants.iter().any(|(_, value)| *value < 0);
        let largest = variants.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let is_large = size < 16 && largest >= 1_i128 << (8 * size).saturating_sub(1).min(126);
        let is_unsigned = !has_negative && (size <= 2 || is_large);
        let scalar = if is_unsigned { unsigned(size) } else { signed(size) };
        let Some(scalar) = scalar.filter(|scalar| scalar.size() <= 8) else {
            return refuse("is an enumeration of an unknown size", "give it an underlying type");
        };
        let variants = variants
            .into_iter()
            .map(|(name, value)| Variant { name: name.into(), value: wrap(value, scalar) });
        let name = node.name.as_deref().and_then(written::written);
        let name = name.or_else(|| typedefs.last().map(|name| (*name).to_owned()));
        let name = name.unwrap_or_else(|| hint.to_owned());
        Ok(EnumLayout {
            name: written::type_identifier(&name).into(),
            scalar,
            variants: variants.collect(),
            exhaustive: false,
        })
    }
}

/// The value in the range of its scalar: of the same bits.
fn wrap(value: i128, scalar: Scalar) -> i128 {
    match scalar {
        Scalar::I8 => i128::from(value as i8),
        Scalar::I16 => i128::from(value as i16),
        Scalar::I32 => i128::from(value as i32),
        Scalar::I64 => i128::from(value as i64),
        _ => value,
    }
}
