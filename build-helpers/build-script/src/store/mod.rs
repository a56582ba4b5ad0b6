//! The store of results, and the dependency records that find them.

pub(crate) mod dependency_record;
pub(crate) mod digests;
pub(crate) mod entries;
