//! Demangling: symbols as the paths that their source has.

use super::{
    cpp_names::{self, Parts},
    names::SHIM_PREFIX,
};

/// A symbol as a path for people: without hash, instances of generics, and the angle brackets that
/// Rust's mangling puts around types (`<Instant>::now` is `Instant::now`). Other names stay as they are.
pub(crate) fn demangle(symbol: &str) -> String {
    let name = symbol.strip_prefix(SHIM_PREFIX).unwrap_or(symbol);
    if let Ok(path) = rustc_demangle::try_demangle(name) {
        return without_instances(&format!("{path:#}"));
    }
    cpp_names::demangle(name, Parts::ALL).unwrap_or_else(|| name.to_owned())
}

/// A symbol as it is written in the source.
#[must_use]
pub fn source_name(symbol: &str) -> String {
    demangle(symbol)
}

/// The crates whose types say nothing to a reader where a trait's method is named.
const STANDARD: [&str; 3] = ["core::", "alloc::", "std::"];

fn without_instances(path: &str) -> String {
    if let Some((of, rest)) = path.strip_prefix('<').and_then(split_at_end) {
        let (ty, of_trait) = match split_at_as(of) {
            Some((ty, of_trait)) => (without_lists(ty), Some(without_lists(of_trait))),
            None => (without_lists(of), None),
        };
        let rest = without_lists(rest);
        let is_path = ty.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
        return match of_trait {
            Some(of_trait) if STANDARD.iter().any(|it| ty.starts_with(it)) => of_trait + &rest,
            Some(of_trait) => format!("<{ty} as {of_trait}>{rest}"),
            None if is_path => ty + &rest,
            None => format!("<{ty}>{rest}"),
        };
    }
    without_lists(path)
}

/// What comes before the bracket that closes one that is open, and what after it.
fn split_at_end(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // Not the arrow of a function's type.
            b'>' if at > 0 && text.as_bytes()[at - 1] != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// The type and the trait of `A as B`.
fn split_at_as(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(found) = text[at..].find(" as ") {
        let place = at + found;
        let open = text[..place].matches('<').count();
        let closed = text[..place].replace("->", "").matches('>').count();
        if open == closed {
            return Some((&text[..place], &text[place + 4..]));
        }
        at = place + 4;
    }
    None
}

/// A path without lists of generic arguments: `a::b::<c>::d` is `a::b::d`.
fn without_lists(path: &str) -> String {
    let mut kept = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('<') {
        // A list follows a name; a bracket at the start of a path is a type's.
        let follows_name = kept.len() + at > 0 && !rest[..at].ends_with([' ', '(', '&', ',']);
        let Some((_, after)) = split_at_end(&rest[at + 1..]).filter(|_| follows_name) else {
            kept.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let before = &rest[..at];
        kept.push_str(before.strip_suffix("::").unwrap_or(before));
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_generics_are_left_out() {
        for (path, expected) in [
            ("std::env::var::<&str>", "std::env::var"),
            ("<std::time::Instant>::now", "std::time::Instant::now"),
            (
                "<std::thread::local::LocalKey<core::cell::Cell<u32>>>::set",
                "std::thread::local::LocalKey::set",
            ),
            (
                "<core::iter::Map<core::ops::Range<u32>, k::f::{closure#0}> as core::iter::Iterator>::collect::<alloc::vec::Vec<u32>>",
                "core::iter::Iterator::collect",
            ),
            ("<f32 as kernels::Real>::add", "<f32 as kernels::Real>::add"),
            ("<k::Pair<f32> as k::Sum<i32>>::sum::<3usize>", "<k::Pair as k::Sum>::sum"),
            ("core::ptr::drop_glue::<alloc::vec::Vec<u32>>", "core::ptr::drop_glue"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<u32>>", "core::ptr::drop_in_place"),
            ("k::map::<fn(u32) -> u32>::{closure#0}", "k::map::{closure#0}"),
            ("<[f32]>::iter", "<[f32]>::iter"),
            ("<k::Wave>::at", "k::Wave::at"),
            ("kernels::saxpy", "kernels::saxpy"),
        ] {
            assert_eq!(without_instances(path), expected, "{path}");
        }
    }

    #[test]
    fn names_that_are_no_symbols_stay() {
        assert_eq!(demangle("l"), "l");
        assert_eq!(demangle("_Z5scaleIfEvPfT_"), "void scale<float>(float*, float)");
        assert_eq!(demangle("_RNvCs3Au2cvYB0CL_7atomics9histogram"), "atomics::histogram");
    }
}
