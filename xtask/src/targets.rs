//! Targets other than this machine that the tests build for, and the programs that link and run for them.

/// Linked whole by Rust's own tools, so that no C compiler and no library for it need be there.
pub(crate) const AARCH64_MUSL: &str = "aarch64-unknown-linux-musl";
/// Linked with glibc.
pub(crate) const AARCH64_GNU: &str = "aarch64-unknown-linux-gnu";
/// Windows, linked with MinGW-w64.
pub(crate) const WINDOWS: &str = "x86_64-pc-windows-gnu";
/// Those whose code is type-checked only.
pub(crate) const CHECKED: [&str; 2] = ["x86_64-pc-windows-msvc", "aarch64-apple-darwin"];
/// All of them: each needs its standard library.
pub(crate) const ALL: [&str; 5] = [AARCH64_MUSL, AARCH64_GNU, WINDOWS, CHECKED[0], CHECKED[1]];

/// What runs programs for aarch64.
pub(crate) const QEMU: &str = "qemu-aarch64";
/// What links programs for aarch64 with glibc.
pub(crate) const AARCH64_GCC: &str = "aarch64-linux-gnu-gcc";
/// What links programs for Windows.
pub(crate) const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// What runs programs for Windows.
pub(crate) const WINE: &str = "wine";
