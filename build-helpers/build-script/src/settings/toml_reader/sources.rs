//! Settings of single sources in TOML: `[sources."kernels/*.cl"]`.

use super::{
    super::{checks, layer::SourceLayer, sources::SOURCE_KEYS},
    Key, Reader, in_source_order,
};
use std::{collections::BTreeMap, ops::Range};
use toml::de::DeTable;

impl Reader<'_> {
    pub(super) fn sources(&mut self, (name, value): Key<'_, '_>) -> BTreeMap<String, SourceLayer> {
        let mut sources = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(
                name,
                value,
                "a table for each path or pattern, `[sources.\"kernels/*.cu\"]`",
            );
            return sources;
        };
        for (key, value) in in_source_order(table) {
            if let Err(fault) = checks::pattern(name, key.get_ref()) {
                self.report(fault.code, key.span(), fault.message, fault.help);
                continue;
            }
            let Some(table) = value.get_ref().as_table() else {
                self.wrong(key.get_ref(), value, "a table, `[sources.\"kernels/*.cu\"]`");
                continue;
            };
            let layer = self.source(table, key.span());
            sources.insert(key.get_ref().to_string(), layer);
        }
        sources
    }

    fn source(&mut self, table: &DeTable<'_>, span: Range<usize>) -> SourceLayer {
        let mut layer = SourceLayer { origin: Some(self.origin(span)), ..SourceLayer::default() };
        for (name, value) in in_source_order(table) {
            let key = (name.get_ref().as_ref(), value);
            match key.0 {
                "define" => layer.defines = Some(self.definitions(key)),
                "arguments" => layer.arguments = Some(self.arguments(key)),
                unknown => self.unknown(unknown, name.span(), &SOURCE_KEYS),
            }
        }
        layer
    }
}
