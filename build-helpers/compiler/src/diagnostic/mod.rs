//! Diagnostics: what is wrong with a source, as plain data. This crate prints nothing.

mod codes;
mod cpp;
mod fault;
mod finding;
mod plugin;
mod signature;

pub use codes::{Code, UnknownCode};
pub use cpp::{Message, MessageSeverity};
pub(crate) use fault::Listing;
pub use fault::{Fault, Frame};
pub use finding::{Diagnostic, Label, Place, Severity};
pub use plugin::PluginFault;
pub use signature::SignatureError;
