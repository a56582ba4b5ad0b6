//! Names of types, and of functions whose address is taken, as they are written in C++.

use super::names::{NO_NAME, identifier, is_of_name, path};
use crate::base::cpp_names::{Parts, demangle};

/// An expression in C++ for the address of a function, at the end of its own file; `None` for one
/// that has no name people could write.
pub(super) fn expression(symbol: &str) -> Option<String> {
    let parts = Parts { return_type: false, ..Parts::ALL };
    let Some(full) = demangle(symbol, parts) else { return Some(format!("&{symbol}")) };
    let qualified = demangle(symbol, Parts { parameters: false, ..parts })?;
    let parameters = full.strip_prefix(&qualified)?;
    let text = format!("static_cast<void (*){parameters}>(&{qualified})");
    let text = text.replace(&format!("{NO_NAME}::"), "");
    (!text.contains(['{', '\''])).then_some(text)
}

/// The name of a type or an enumerator as it is written; `None` where it has none, and the
/// compiler made one up.
pub(super) fn written(name: &str) -> Option<String> {
    let plain = match demangle(name, Parts::ALL) {
        Some(full) => path(&full).pop().unwrap_or_default().to_owned(),
        None => name.to_owned(),
    };
    let digits = plain.strip_prefix("__C");
    let is_made_up = plain.is_empty()
        || plain.contains(['{', '\''])
        || digits.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        || plain.starts_with("._anon")
        || plain.starts_with("(anonymous");
    (!is_made_up).then_some(plain)
}

/// The name in Rust for a struct or an enum: as [`identifier`] makes it, without the namespaces of
/// template arguments, which not every compiler says.
pub(super) fn type_identifier(written: &str) -> String {
    match written {
        // What people write for them.
        "__half2" => "half2".to_owned(),
        "__nv_bfloat162" => "nv_bfloat162".to_owned(),
        _ => identifier(&without_namespaces(written)),
    }
}

/// `Pair<a::b, c>` without `a::`.
fn without_namespaces(name: &str) -> String {
    let mut text = String::new();
    for part in name.replace(NO_NAME, "").split("::") {
        let end = text.trim_end_matches(is_of_name).len();
        text.truncate(end);
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_people_write() {
        assert_eq!(written("_ZN2ns3Big1XE").as_deref(), Some("X"));
        assert_eq!(written("Q<float>").as_deref(), Some("Q<float>"));
        for made_up in [
            "_ZN2ns1QIfEUt_E",
            "_ZZ2goPiEUliE_",
            "__C6",
            "_ZN34_INTERNAL_dae003b4_4_x_cu_eee58951Ut4_E",
        ] {
            assert_eq!(written(made_up), None, "{made_up}");
        }
        assert_eq!(type_identifier("W<4U,false,One<S> >"), "W_4_false_One_S");
        assert_eq!(type_identifier("W<4U, false, ns::One<a::b::S> >"), "W_4_false_One_S");
        assert_eq!(type_identifier("W<4, (bool)0, S>"), "W_4_false_S");
        assert_eq!(type_identifier("__half2"), "half2");
    }
}
