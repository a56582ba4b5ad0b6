//! Queries and edits of LLVM's intermediate representation that several passes share.

mod calls;
mod copy;
mod frames;
mod functions;
mod inline;
mod shared_memory;
mod uses;
pub(crate) mod variables;

pub(crate) use calls::{calls_of, reachable, reachable_through, users_in_code};
pub(crate) use copy::copy_function;
pub(crate) use frames::{Frames, alloca_bytes, allocas, callees, calls_pointers, is_addressed};
pub(crate) use functions::{names_std, path, path_of, place_of, undefined};
pub(crate) use inline::{always_inline, inline_all};
pub(crate) use shared_memory::{
    SHARED_TAG, SharedMemory, globals_with_shared_parts, shared_globals,
};
pub(crate) use uses::replace_uses;
