//! Device functions passed to kernels at run time: the rows of a function table, and their
//! symbols.

use crate::base::names::EXPORTED;

/// A function that kernels can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFunction {
    /// What names it in memory: `DeviceFunction::id`.
    pub id: u64,
    /// What it is called by: see [`exported`].
    pub symbol: String,
}

/// The symbol that a function marked `#[device_fn]` is called by.
///
/// ```
/// assert_eq!(kernelmill_compiler::exported("square"), "__kernelmill_exported_square");
/// ```
#[must_use]
pub fn exported(name: &str) -> String {
    format!("{EXPORTED}{}", kernelmill_artifact::symbol(name))
}

/// The symbol of such a function of another package, which has made it its own by `qualify`.
///
/// ```
/// let symbol = kernelmill_compiler::exported_by("fast-colors", "square");
/// assert_eq!(symbol, "__kernelmill_exported_fast_colors.square");
/// ```
#[must_use]
pub fn exported_by(package: &str, name: &str) -> String {
    format!(
        "{EXPORTED}{}.{}",
        kernelmill_artifact::symbol(package),
        kernelmill_artifact::symbol(name)
    )
}
