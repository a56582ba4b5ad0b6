//! The names by which people know a function of compiled code.

use super::names;

/// The full name in C++ of a function with this name in compiled code.
///
/// ```
/// use kernelmill_compiler::frontend::cuda::signature::full_name;
/// assert_eq!(full_name("_ZN7filters5scaleIfEEvT_Pf"), "filters::scale<float>(float, float*)");
/// assert_eq!(full_name("saxpy"), "saxpy");
/// ```
#[must_use]
pub fn full_name(symbol: &str) -> String {
    names::function(symbol).full
}

/// The name of the wrapper of a function with this name in compiled code, unless another kernel has it too.
pub(crate) fn wrapper_name(symbol: &str) -> String {
    names::identifier(&names::function(symbol).plain)
}

/// Whether people may mean a function by a name: its name in C++ with or without its parameters,
/// spaces aside, or its name in compiled code.
///
/// ```
/// use kernelmill_compiler::frontend::cuda::signature::is_named;
/// let symbol = "_ZN7filters5scaleIfLi2EEEvT_Pf";
/// assert!(is_named(symbol, "filters::scale<float,2>"));
/// assert!(is_named(symbol, "filters::scale<float, 2>(float, float*)"));
/// assert!(!is_named(symbol, "scale<float, 2>"));
/// ```
#[must_use]
pub fn is_named(symbol: &str, name: &str) -> bool {
    let without_spaces = |text: &str| text.replace(' ', "");
    let (full, name) = (without_spaces(&full_name(symbol)), without_spaces(name));
    symbol == name
        || full.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}
