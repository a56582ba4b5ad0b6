//! Names of kernels for people.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name that a kernel has in C++, with its template arguments and without its parameters; the symbol itself where
/// that is no C++ name.
pub(crate) fn readable(symbol: &str) -> String {
    let options =
        DemangleOptions::new().no_return_type().no_params().hide_expression_literal_types();
    // Without the prefix a name can still be a type of C++: `l` is `long`.
    let parsed = symbol.starts_with("_Z").then(|| Symbol::new(symbol).ok()).flatten();
    parsed
        .and_then(|it| it.demangle_with_options(&options).ok())
        .unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_cpp_are_read_and_others_are_as_they_are() {
        assert_eq!(readable("_Z5scalePfi"), "scale");
        assert_eq!(readable("_ZN4math4fillIiLi5EEEvPT_"), "math::fill<int, 5>");
        for name in ["saxpy", "l", "_Z", "_Zx", ""] {
            assert_eq!(readable(name), name);
        }
    }
}
