//! Errors: what can go wrong, and the code of each variant, with an explanation.

mod code;
mod conversions;
mod frame;
mod no_binary;
mod panic;
mod timeout;
mod variants;
mod wording;

pub use code::{ErrorCode, UnknownErrorCode};
pub use no_binary::{NoBinary, Rejected};
pub use panic::KernelPanic;
pub use timeout::LaunchTimeout;
pub use variants::{Error, Result};
