//! Places of values in the files of settings, for what is found to be wrong with them after they were read.

use super::{contract::Origin, located::report_at, package::Package, toml_text::TomlText};
use crate::base::report::{Report, place};
use kernelmill_compiler::diagnostic::Code;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A value as a setting has it.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) key: &'a str,
    pub(crate) text: &'a str,
}

impl Value<'_> {
    /// Reports what is wrong with the value, where it stands in a file of the package or its workspace; a
    /// value of a build script or a variable has no place.
    pub(crate) fn report(
        self,
        code: Code,
        package: &Package,
        message: String,
        help: &str,
        report: &mut Report,
    ) {
        report_at(code, self.origin(package).as_ref(), message, help, report);
    }

    fn origin(self, package: &Package) -> Option<Origin> {
        let tables: [(Option<&TomlText>, &[&str]); 3] = [
            (package.settings.as_ref(), &[]),
            (Some(&package.manifest), &["package", "metadata", "kernelmill"]),
            (package.workspace.as_ref(), &["workspace", "metadata", "kernelmill"]),
        ];
        tables.into_iter().find_map(|(file, path)| {
            let file = file?;
            let place = place(&file.display, &file.text, self.span(&file.text, path)?);
            Some(Origin { place, file: file.text.clone() })
        })
    }

    /// Where a text of TOML has the value, alone or in a list, under the key of the table at this path.
    fn span(self, text: &str, path: &[&str]) -> Option<Range<usize>> {
        let document = DeTable::parse(text).ok()?.into_inner();
        let mut table = &document;
        for name in path {
            table = table.get(*name)?.get_ref().as_table()?;
        }
        let value = table.get(self.key)?;
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        let found = items.into_iter().find(|item| item.get_ref().as_str() == Some(self.text));
        found.map(|item| item.span())
    }
}
