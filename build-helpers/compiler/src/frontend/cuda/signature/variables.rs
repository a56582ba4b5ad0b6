//! Which variables of compiled code the host can read and write, and their names.

use super::names;

/// The symbol of a variable as nvcc writes it, from that of any compiler; `None` for a variable that the host does not reach:
/// in a namespace without a name, `static` in a namespace or in a function, of a template, and one of headers of ours or of
/// CUDA's.
///
/// `static` at the outside of all namespaces is mangled by clang (`_ZL5table`), and not by nvcc (`table`).
pub(crate) fn symbol(symbol: &str) -> Option<String> {
    let Some(mangled) = symbol.strip_prefix("_Z") else {
        let is_plain = symbol.chars().all(names::is_of_name) && !symbol.starts_with("__");
        return is_plain.then(|| symbol.to_owned());
    };
    if let Some(mangled) = mangled.strip_prefix('L') {
        let (name, rest) = component(mangled)?;
        return (rest.is_empty() && !name.starts_with("__")).then(|| name.to_owned());
    }
    let mut rest = mangled.strip_prefix('N')?.strip_suffix('E')?;
    while !rest.is_empty() {
        let (name, after) = component(rest)?;
        if name.starts_with('_') {
            return None;
        }
        rest = after;
    }
    Some(symbol.to_owned())
}

/// `3ns` at the start of a mangled name, and what is behind it.
fn component(mangled: &str) -> Option<(&str, &str)> {
    let end = mangled.find(|c: char| !c.is_ascii_digit())?;
    let (length, rest) = mangled.split_at(end);
    let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
    name.chars().all(names::is_of_name).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::symbol;

    #[test]
    fn symbols_are_those_of_nvcc_and_what_the_host_cannot_reach_has_none() {
        for (given, expected) in [
            ("coefficients", "coefficients"),
            ("_ZL12coefficients", "coefficients"),
            ("_ZN6filter5tableE", "_ZN6filter5tableE"),
            ("_ZN1a1b5tableE", "_ZN1a1b5tableE"),
        ] {
            assert_eq!(symbol(given).as_deref(), Some(expected), "{given}");
        }
        for hidden in [
            "__kernelmill_heap",
            "_ZL6__ours",
            "_Z2tvILi3EE",
            "_ZZ1kPfE5local",
            "_ZN2nsL6hiddenE",
            "_ZN12_GLOBAL__N_14anonE",
            "_ZN33_INTERNAL_a20b6033_5_ns_cu__Z1kPf2ns3hidE",
            "_ZL99x",
            "a$b",
        ] {
            assert_eq!(symbol(hidden), None, "{hidden}");
        }
    }
}
