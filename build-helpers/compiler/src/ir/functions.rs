//! Functions by their symbols: those that a module does not define, and paths in Rust; places of instructions.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

/// The names of functions that the module uses and does not define.
pub(crate) fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .functions()
        .into_iter()
        .filter(|function| function.is_declaration() && function.is_used())
        .filter(|function| !function.is_intrinsic())
        .map(Value::name)
        .collect()
}

/// The file and line of an instruction; `None` where debug information has none.
pub(crate) fn place_of(instruction: Value<'_>) -> Option<(String, u32)> {
    let line = instruction.debug_line();
    instruction.debug_file().filter(|_| line > 0).map(|file| (file, line))
}

/// The path of a function in Rust, without the hash at its end.
pub(crate) fn path(function: Value<'_>) -> String {
    path_of(&function.name())
}

/// The path in Rust that a symbol is of, without the hash at its end.
pub(crate) fn path_of(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Whether a path names something of the crate `std`: `std::env::args`, and `<std::env::Args as
/// core::iter::Iterator>::next`.
pub(crate) fn names_std(path: &str) -> bool {
    let is_inside = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    let is_crate = |index: usize| !path[..index].ends_with(is_inside);
    path.match_indices("std::").any(|(index, _)| is_crate(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_std_is_told_from_one_that_ends_so() {
        assert!(names_std("std::env::args"));
        assert!(names_std("<std::env::Args as core::iter::Iterator>::next"));
        assert!(names_std("alloc::sync::Arc<std::thread::Packet>::drop_slow"));
        assert!(!names_std("core::fmt::write") && !names_std("my_std::write"));
        assert!(!names_std("own::std::write"));
    }
}
