//! PTX as text: its version, and the kernels that a module declares. Both sides read it: the build for files in PTX, the run
//! time for what is compiled at run time.

mod entries;
mod tokens;
mod version;

pub use entries::{PtxEntry, PtxParameter, ptx_entries};
pub use tokens::{PtxToken, ptx_tokens};
pub use version::PtxVersion;
