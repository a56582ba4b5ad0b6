//! Errors: what can go wrong, and the code of each variant, with an explanation.

mod code;
mod variants;

pub use code::{ErrorCode, UnknownErrorCode};
pub use variants::{Error, KernelPanic, LaunchTimeout, NoBinary, Rejected, Result};
