//! Faults that plugins report.

use std::fmt;

/// Something that a plugin cannot do, or has not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFault {
    /// The plugin.
    pub plugin: String,
    /// The function it is in, as written in the source.
    pub function: String,
    /// The source file and line, where debug information has them.
    pub place: Option<(String, u32)>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PluginFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, function, place, message } = self;
        if let Some((file, line)) = place {
            write!(formatter, "{file}:{line}: ")?;
        }
        write!(formatter, "{message}\n  in {function}, by the plugin `{plugin}`")
    }
}
