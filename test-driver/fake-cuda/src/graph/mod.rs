//! Graphs, and the capture of streams into them.

mod capture;
#[expect(clippy::module_inception, reason = "the graph itself, beside what belongs to it")]
mod graph;
mod node;
mod order;

pub(crate) use capture::{Capture, CaptureSlot, Captured, begin, end, exchange_thread_mode};
pub(crate) use graph::{EXECUTABLES, Executable, GRAPHS, Graph, node_kind};
pub(crate) use node::Content;
