//! The second stage of a build: the sources of a package, and what is known of them before they are
//! compiled.

pub(crate) mod candidate;
pub(crate) mod cfgs;
pub(crate) mod device_functions;
pub(crate) mod host_files;
mod included_files;
pub(crate) mod includes;
pub(crate) mod kernel_package;
pub(crate) mod language;
mod modules;
mod nesting;
pub(crate) mod override_file;
pub(crate) mod overrides;
pub(crate) mod place;
pub(crate) mod read;
pub(crate) mod source;
pub(crate) mod sources;
pub(crate) mod templates;
mod tokens;
