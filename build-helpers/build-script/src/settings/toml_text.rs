//! Texts of TOML files. Diagnostics show their lines.

use crate::base::{encoding, error::Error, paths, report::Report};
use kernelmill_compiler::diagnostic::Code;
use std::{fs, path::Path, sync::Arc};
use toml::de::{DeTable, DeValue};

/// A TOML file's text.
#[derive(Clone, Debug)]
pub(crate) struct TomlText {
    /// Its path, relative to the package.
    pub(crate) display: String,
    pub(crate) text: Arc<str>,
}

impl TomlText {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], and [`Error::Settings`] with the line from which it is not UTF-8.
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        let display = paths::relative(root, path);
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let what = encoding::name(error.as_bytes()).map_or_else(
                || format!("is not UTF-8, from line {line} on"),
                |name| format!("is {name}, from line {line} on"),
            );
            let mut report = Report::default();
            let message = format!("`{display}` {what}");
            report.plain(Code::SettingsFile, message, "save it as UTF-8, which TOML is");
            Error::Settings(report)
        })?;
        Ok(Self { display, text: text.into() })
    }
}

/// The value of a key.
pub(crate) fn entry<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}
