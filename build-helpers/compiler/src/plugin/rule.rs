//! A rule of marked code, as plugins state it.

/// In marked code calls of a function are calls of another one.
///
/// Both are named as [`Task::function`](super::Task::function) takes them: `sin` is `my_kernels::sin` too. They have
/// the same type. What the other function calls is as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The function that is called.
    pub function: &'static str,
    /// The function that is called instead.
    pub replacement: &'static str,
}
