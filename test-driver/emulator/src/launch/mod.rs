//! Launches as users see them: configuration, options, faults, coverage, report.

mod configuration;
mod coverage;
mod fault;
mod frame;
mod report;
mod space;

pub use configuration::{Launch, Options, Order};
pub use coverage::{Coverage, Covered};
pub use fault::{Access, Fault, FaultKind, Nearest};
pub use report::Report;
pub use space::Space;
