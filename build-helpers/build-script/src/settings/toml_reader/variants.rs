//! Variants of kernels in TOML: `variants = [{ launch-bounds = 128 }, { index-width = 32 }]`.

use super::{
    super::{layer::VariantLayer, variants::VARIANT_KEYS},
    Key, Reader, in_source_order, number,
};
use toml::de::{DeTable, DeValue};

/// What a value is to be.
const EXPECTED: &str =
    "a list of tables, for example `[{ launch-bounds = 128 }, { index-width = 32 }]`";

impl Reader<'_> {
    pub(super) fn variants(&mut self, (name, value): Key<'_, '_>) -> Vec<VariantLayer> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong(name, value, EXPECTED);
            return Vec::new();
        };
        let mut variants = Vec::new();
        for item in items {
            match item.get_ref().as_table() {
                Some(table) => {
                    let origin = Some(self.origin(item.span()));
                    variants.push(VariantLayer { origin, ..self.variant(table) });
                }
                None => self.wrong(name, item, EXPECTED),
            }
        }
        variants
    }

    /// The bits of indices.
    pub(super) fn index_width(&mut self, (name, value): Key<'_, '_>) -> u32 {
        let width = number(value.get_ref()).filter(|width| matches!(width, 32 | 64));
        if width.is_none() {
            self.wrong(name, value, "32 or 64");
        }
        width.unwrap_or_default()
    }

    fn variant(&mut self, table: &DeTable<'_>) -> VariantLayer {
        let mut layer = VariantLayer::default();
        for (name, value) in in_source_order(table) {
            let key = (name.get_ref().as_ref(), value);
            match key.0 {
                "launch-bounds" => layer.limits.max_block_threads = self.count(key),
                "block-size" => layer.limits.block = self.sizes(key),
                "min-blocks" => layer.limits.min_blocks = self.count(key),
                "max-registers" => layer.limits.max_registers = self.count(key),
                "index-width" => layer.limits.index_width = self.index_width(key),
                "define" => layer.defines = self.definitions(key),
                "name" => layer.name = self.text(key),
                "targets" => layer.targets = Some(self.targets(key)),
                unknown => self.unknown(unknown, name.span(), &VARIANT_KEYS),
            }
        }
        layer
    }
}
