//! Names in C++: from compiled code to what people wrote, and from there to names in Rust.

use crate::base::cpp_names::{Parts, demangle};

/// A function's name in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionName {
    /// All of it: `filters::scale<float, 2>(float, float const*)`.
    pub(super) full: String,
    /// The namespaces, the outermost first; one without a name is left out.
    pub(super) namespaces: Vec<String>,
    /// `scale<float, 2>`.
    pub(super) plain: String,
    /// The types of its parameters; `None` for C, whose names do not say them.
    pub(super) parameters: Option<Vec<String>>,
}

/// What a namespace without a name is called.
pub(super) const NO_NAME: &str = "(anonymous namespace)";

/// Takes a name in compiled code apart.
pub(super) fn function(symbol: &str) -> FunctionName {
    let parts = Parts { return_type: false, parameters: true, literal_types: false };
    let Some(full) = demangle(symbol, parts) else {
        return FunctionName {
            full: symbol.to_owned(),
            plain: symbol.to_owned(),
            ..FunctionName::default()
        };
    };
    let qualified =
        demangle(symbol, Parts { parameters: false, ..parts }).unwrap_or_else(|| full.clone());
    let mut path = path(&qualified);
    let plain = path.pop().unwrap_or_default().to_owned();
    let is_named = |part: &&str| *part != NO_NAME && !part.starts_with("_INTERNAL_");
    let namespaces = path.into_iter().filter(is_named).map(str::to_owned).collect();
    let list = full.get(qualified.len()..).unwrap_or_default();
    let list = list.strip_prefix('(').and_then(|list| list.rsplit_once(')'));
    let parameters = list.map(|(list, _)| {
        let parameters = split(list, ",").into_iter().map(str::trim);
        parameters.filter(|ty| !ty.is_empty() && *ty != "void").map(str::to_owned).collect()
    });
    FunctionName { full, namespaces, plain, parameters }
}

/// The name in Rust: each run of other characters is one `_`, and none stands at the end. What a
/// literal says of its type goes: `4u` is `4`.
pub(super) fn identifier(name: &str) -> String {
    let mut text = String::new();
    // One compiler writes truth values as numbers.
    let name = name.replace("(bool)1", "true").replace("(bool)0", "false");
    for run in name.split(|c| !is_of_name(c)).filter(|run| !run.is_empty()) {
        if !text.is_empty() || name.starts_with(|c| !is_of_name(c)) {
            text.push('_');
        }
        text.push_str(literal(run));
    }
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `4ul` without what it says of its type.
fn literal(run: &str) -> &str {
    let digits = run.trim_end_matches(['u', 'U', 'l', 'L']);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits } else { run }
}

/// `a::b<c::d>` is `a` and `b<c::d>`.
pub(super) fn path(name: &str) -> Vec<&str> {
    split(name, "::")
}

/// Splits where a separator stands outside of all brackets.
pub(super) fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if depth == 0 && rest.starts_with(separator) {
            parts.push(&text[start..at]);
            at += separator.len();
            start = at;
            continue;
        }
        let first = rest.chars().next().unwrap_or_default();
        match first {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += first.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_apart() {
        let name = function("_ZN2ns5scaleIfLi2EEEvT_PKS1_PS1_NS_1PENS_4ModeE");
        let full = "ns::scale<float, 2>(float, float const*, float*, ns::P, ns::Mode)";
        assert_eq!((name.full.as_str(), name.plain.as_str()), (full, "scale<float, 2>"));
        assert_eq!(name.namespaces, ["ns"]);
        let parameters = ["float", "float const*", "float*", "ns::P", "ns::Mode"];
        assert_eq!(name.parameters.unwrap(), parameters);
        let c = function("plain");
        assert_eq!((c.full.as_str(), c.plain.as_str(), c.parameters), ("plain", "plain", None));
        let hidden = function("_ZN36_GLOBAL__N__dae003b4_4_x_cu_eee589516hiddenEi");
        assert_eq!(hidden.full, "(anonymous namespace)::hidden(int)");
        assert_eq!((hidden.namespaces.len(), hidden.plain.as_str()), (0, "hidden"));
        assert_eq!(function("_ZL4statv").parameters, Some(vec![]));
        let lambda = function("_Z3runIZ2goPiEUliE_EvT_S0_");
        assert_eq!(identifier(&lambda.plain), "run_go_int_lambda_int_1");
    }

    #[test]
    fn instantiations_are_identifiers() {
        let plain = |symbol| identifier(&function(symbol).plain);
        assert_eq!(plain("_Z5scaleIfEvT_"), "scale_float");
        assert_eq!(plain("_Z5scaleI6__halfLj4EEvT_"), "scale___half_4");
        assert_eq!(plain("_Z1kIfLj4ELb1ELN1a1EE1ELc120ELln3EEvT_"), "k_float_4_true_1_120_3");
        assert_eq!(plain("_Z1kIPN1a1SELb0EEvT_"), "k_a_S_false");
        assert_eq!(identifier("end_"), "end_");
        assert_eq!(identifier("2d"), "_2d");
        assert_eq!(identifier("float const*"), "float_const");
    }
}
