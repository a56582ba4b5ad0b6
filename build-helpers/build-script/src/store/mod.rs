//! The store of results, as builds use it, and the dependency records by which results are found. Its entries are those of
//! the crate `kernelmill-store`.

pub(crate) mod dependency_record;
pub(crate) mod digests;
pub(crate) mod location;
pub(crate) mod upkeep;
