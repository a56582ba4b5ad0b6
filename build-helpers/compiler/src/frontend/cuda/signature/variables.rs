//! Which variables of compiled code the host can read and write, and their names.

use super::names;

/// The symbol of a variable as nvcc writes it, from that of any compiler; `None` for a variable that the host does not reach:
/// in a namespace without a name, `static` in a namespace, in a function or of a template, and one of headers of ours or of
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
    let nested = mangled.strip_prefix('N').and_then(|rest| rest.strip_suffix('E'));
    let mut rest = nested.unwrap_or(mangled);
    while !rest.is_empty() {
        if rest != mangled && is_arguments(rest) {
            return Some(symbol.to_owned());
        }
        let (name, after) = component(rest)?;
        if nested.is_none() && (after.is_empty() || name.starts_with("__")) {
            return None;
        }
        if nested.is_some() && name.starts_with('_') {
            return None;
        }
        rest = after;
    }
    Some(symbol.to_owned())
}

/// Whether a variable is an instance of a template, by its symbol.
pub(crate) fn is_of_template(symbol: &str) -> bool {
    symbol.starts_with("_Z") && names::function(symbol).plain.contains('<')
}

/// Whether the end of a mangled name is the arguments of a template: `IfLi3EE`. Types in namespaces without a name, which
/// every compiler calls otherwise, are none.
fn is_arguments(mangled: &str) -> bool {
    let has_no_name =
        ["_GLOBAL__N_", "_INTERNAL_", "Ut", "UlvE"].iter().any(|it| mangled.contains(it));
    mangled.starts_with('I') && mangled.ends_with('E') && !has_no_name
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
    use super::{is_of_template, symbol};

    #[test]
    fn symbols_are_those_of_nvcc_and_what_the_host_cannot_reach_has_none() {
        for (given, expected) in [
            ("coefficients", "coefficients"),
            ("_ZL12coefficients", "coefficients"),
            ("_ZN6filter5tableE", "_ZN6filter5tableE"),
            ("_ZN1a1b5tableE", "_ZN1a1b5tableE"),
            ("_Z4maskIfE", "_Z4maskIfE"),
            ("_Z2tvILi3EE", "_Z2tvILi3EE"),
            ("_ZN2ns5tableIfN1a1SEEE", "_ZN2ns5tableIfN1a1SEEE"),
        ] {
            assert_eq!(symbol(given).as_deref(), Some(expected), "{given}");
        }
        for hidden in [
            "__kernelmill_heap",
            "_ZL6__ours",
            "_Z5__tvILi3EE",
            "_Z2tv",
            "_ZL4statIfE",
            "_ZN3std3__45valueIiEE",
            "_Z4maskIN12_GLOBAL__N_11SEE",
            "_ZN39_INTERNAL_9ca73c4a_4_t_cu_8f934aa6_32794statIfEE",
            "_Z4funcIfEvT_",
            "_ZZ1kPfE5local",
            "_ZZ1kIfEvPT_E5local",
            "_ZN2nsL6hiddenE",
            "_ZN12_GLOBAL__N_14anonE",
            "_ZN33_INTERNAL_a20b6033_5_ns_cu__Z1kPf2ns3hidE",
            "_ZL99x",
            "a$b",
        ] {
            assert_eq!(symbol(hidden), None, "{hidden}");
        }
        assert!(is_of_template("_ZN2ns5tableIfLi3EEE"));
        assert!(!is_of_template("_ZN2ns5tableE") && !is_of_template("mask"));
    }
}
