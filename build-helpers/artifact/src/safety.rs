//! Safety of functions, as the Rust reference has it: whether who calls one upholds memory safety.

/// Whether a function, or a kernel's wrapper, is safe to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// The kernel's own language, or a contract, upholds memory safety.
    Safe,
    /// The caller upholds it.
    Unsafe,
}
