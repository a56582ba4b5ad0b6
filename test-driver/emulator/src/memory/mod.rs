//! Memory: the generic address space, device allocations with red zones, words, kinds of accesses,
//! tensor maps.

mod access_kind;
mod address_space;
mod region;
mod store;
mod tensor_map;
mod word;

pub(crate) use access_kind::AccessKind;
pub(crate) use address_space::*;
pub(crate) use region::{Region, Window};
pub use store::MemoryError;
pub(crate) use store::Store;
pub use tensor_map::TensorMap;
pub(crate) use tensor_map::WORDS;
pub(crate) use word::Word;
