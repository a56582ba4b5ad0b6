//! What `--cfg` is given for kernel files: the features and names of their package, and the settings'
//! `define`.

use crate::settings::{package::Package, resolved::Settings};

/// `NAME` and `NAME="value"`, as rustc takes them.
pub(crate) fn of(package: &Package, settings: &Settings) -> Vec<String> {
    let mut cfgs = package.cfgs.clone();
    for (name, value) in &settings.defines {
        cfgs.push(name.clone());
        if !value.is_empty() {
            cfgs.push(format!("{name}={value:?}"));
        }
    }
    cfgs
}
