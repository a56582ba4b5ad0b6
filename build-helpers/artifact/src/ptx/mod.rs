//! PTX as text: its version, the kernels that a module declares, and whether its calls leave their stack open. Both sides read it: the build for files in PTX, the run
//! time for what is compiled at run time.

mod calls;
mod entries;
mod tokens;
mod version;

pub use calls::ptx_has_open_stack;
pub use entries::{PtxEntry, PtxParameter, ptx_entries};
pub use tokens::{PtxToken, ptx_tokens};
pub use version::PtxVersion;
