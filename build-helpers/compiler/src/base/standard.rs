//! Files of Rust's standard library, as debug information names them.

/// Whether a file is one of the standard library's: `/rustc/HASH/library/..`, or in the sources of a toolchain, which rustc
/// names where the component `rust-src` is installed.
pub(crate) fn is_standard(file: &str) -> bool {
    ["/rustc/", "library/"].iter().any(|start| file.starts_with(start))
        || file.replace('\\', "/").contains("/lib/rustlib/src/rust/library/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_standard_library_are_known_with_and_without_its_sources() {
        for file in [
            "/rustc/0123/library/core/src/option.rs",
            "library/core/src/option.rs",
            "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs",
            "C:\\rustup\\lib\\rustlib\\src\\rust\\library\\core\\src\\option.rs",
        ] {
            assert!(is_standard(file), "{file}");
        }
        for file in ["kernels/library/a.rs", "kernels/saxpy.rs", "/lib/rust/library/a.rs"] {
            assert!(!is_standard(file), "{file}");
        }
    }
}
