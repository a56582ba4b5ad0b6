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
        let not_utf8 = |what: &str, line: usize| {
            let mut report = Report::default();
            let message = format!("`{display}` is {what}, from line {line} on");
            report.plain(Code::SettingsFile, message, "save it as UTF-8, the encoding of TOML");
            Error::Settings(report)
        };
        if encoding::utf16(&bytes).is_some() {
            return Err(not_utf8("UTF-16", 1));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            not_utf8("not UTF-8", before.iter().filter(|byte| **byte == b'\n').count() + 1)
        })?;
        Ok(Self { display, text: text.into() })
    }
}

/// The value of a key.
pub(crate) fn entry<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}
