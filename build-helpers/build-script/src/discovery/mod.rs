//! The second stage of a build: the sources of a package, and what is known of them before they are
//! compiled.

pub(crate) mod candidate;
pub(crate) mod cfgs;
pub(crate) mod crate_modules;
pub(crate) mod device_functions;
pub(crate) mod host_files;
mod included_files;
pub(crate) mod includes;
mod kernel_module;
pub(crate) mod kernel_package;
pub(crate) mod language;
mod modules;
mod nesting;
mod outward;
pub(crate) mod override_file;
pub(crate) mod overrides;
pub(crate) mod place;
mod pruned;
pub(crate) mod read;
pub(crate) mod source;
pub(crate) mod sources;
pub(crate) mod template;
pub(crate) mod templates;
mod tokens;

#[cfg(test)]
mod crate_modules_tests;
