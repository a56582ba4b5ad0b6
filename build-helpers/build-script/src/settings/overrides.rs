//! Overrides that the environment names, before any kernel is known.

use std::{collections::BTreeMap, path::PathBuf};

use crate::base::environment::BuildEnvironment;

/// How the names of the variables begin; the name of the kernel's wrapper follows.
pub(crate) const PREFIX: &str = "KERNELMILL_OVERRIDE_";

/// The files by the names of kernels, which may be those of other packages.
pub(super) fn named(environment: &BuildEnvironment) -> BTreeMap<String, PathBuf> {
    let names = environment.names().into_iter().filter_map(|name| name.into_string().ok());
    let of = |name: String| {
        let file = environment.unwatched(&name)?;
        Some((name.strip_prefix(PREFIX)?.to_owned(), PathBuf::from(file)))
    };
    names.filter(|name| name.starts_with(PREFIX)).filter_map(of).collect()
}
