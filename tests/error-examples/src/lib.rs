//! The examples of the explanations of error codes: their blocks, and a small package that is built of them.
//!
//! As in [rustc's index of errors](https://doc.rust-lang.org/error_codes/error-index.html), the first block of an
//! explanation fails with its code, and each later one builds. The blocks of a code are written into one package, in their
//! order, so that a block mends what it shows again and leaves the rest as it was.
//!
//! A block says by its lines where it stands: `// kernels/a.rs`, `# kernelmill.toml`; several files are several such lines.
//! Without one its language does: settings are of `Cargo.toml`, a source is `kernels/example` with the ending of its
//! language, and commands are run. `cargo build` is the build script alone, without Cargo.

mod block;
mod package;

pub use block::{Block, blocks, codes};
pub use package::{Around, Package, Writer};
