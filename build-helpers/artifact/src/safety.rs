//! Safety of calls: whether whoever launches a kernel or calls a device function upholds memory safety.

/// Whether a kernel's wrapper, or a function, is safe to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// The kernel's own language, or a contract, upholds memory safety.
    Safe,
    /// The caller upholds it.
    Unsafe,
}
