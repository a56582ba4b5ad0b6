//! What `--cfg` is given for kernel files: the features and names of their package, and the settings'
//! `define`.

use crate::settings::{package::Package, resolved::Settings};
use std::collections::BTreeMap;

/// `NAME` and `NAME="value"`, as rustc takes them, of what the package and the settings say of every file.
pub(crate) fn of(package: &Package, settings: &Settings) -> Vec<String> {
    with(package, &settings.defines)
}

/// The same of the file with this path.
pub(crate) fn of_file(package: &Package, settings: &Settings, path: &str) -> Vec<String> {
    let mut defines = settings.defines.clone();
    let own = settings.sources.defines_of(path);
    defines.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    with(package, &defines)
}

/// The same with these names in place of the settings'.
pub(crate) fn with(package: &Package, defines: &BTreeMap<String, String>) -> Vec<String> {
    let mut cfgs = package.cfgs.clone();
    for (name, value) in defines {
        cfgs.push(name.clone());
        if !value.is_empty() {
            cfgs.push(format!("{name}={value:?}"));
        }
    }
    cfgs
}
