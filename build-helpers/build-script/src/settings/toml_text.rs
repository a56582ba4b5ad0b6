//! Texts of TOML files. Diagnostics show their lines.

use crate::base::{error::Error, paths};
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
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
        Ok(Self { display: paths::relative(root, path), text: text.into() })
    }
}

/// The value of a key.
pub(crate) fn entry<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}
