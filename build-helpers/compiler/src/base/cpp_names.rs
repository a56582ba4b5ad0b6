//! C++ names in symbols of the [Itanium ABI], as the crate `cpp_demangle` writes them.
//!
//! Without the feature `cuda-cpp` a symbol is no C++ name.
//!
//! [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling

/// What the text of a function's name has besides its path.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cuda-cpp"), expect(dead_code, reason = "no name is written"))]
pub(crate) struct Parts {
    /// The type that it returns, where the symbol says it: `void scale<float>(float*)`.
    pub(crate) return_type: bool,
    /// The types of its parameters.
    pub(crate) parameters: bool,
    /// The types of literals in template arguments: `(int)2`.
    pub(crate) literal_types: bool,
}

impl Parts {
    /// All that a symbol says.
    pub(crate) const ALL: Self = Self { return_type: true, parameters: true, literal_types: true };
}

/// The C++ name in a symbol; `None` where it has none.
#[cfg(feature = "cuda-cpp")]
pub(crate) fn demangle(symbol: &str, parts: Parts) -> Option<String> {
    use cpp_demangle::{DemangleOptions, Symbol};

    // Without the prefix a name can still be a type of C++: `l` is `long`.
    if !symbol.starts_with("_Z") {
        return None;
    }
    let mut options = DemangleOptions::new();
    if !parts.return_type {
        options = options.no_return_type();
    }
    if !parts.parameters {
        options = options.no_params();
    }
    if !parts.literal_types {
        options = options.hide_expression_literal_types();
    }
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// The C++ name in a symbol: none.
#[cfg(not(feature = "cuda-cpp"))]
pub(crate) fn demangle(_symbol: &str, _parts: Parts) -> Option<String> {
    None
}
