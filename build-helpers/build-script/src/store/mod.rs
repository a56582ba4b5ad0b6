//! The store of results, and the dependency records by which results are found.

pub(crate) mod dependency_record;
pub(crate) mod digests;
pub(crate) mod entries;
pub(crate) mod location;
pub(crate) mod upkeep;
