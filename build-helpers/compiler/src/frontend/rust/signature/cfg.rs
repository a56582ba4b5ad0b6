//! `#[cfg(..)]`, as far as it is known before rustc runs.

use std::collections::BTreeSet;

use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitBool, Meta, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// What `--cfg` is given, by which it is decided what of a source is compiled.
///
/// ```
/// use kernelmill_compiler::frontend::rust::signature::Cfgs;
/// let cfgs = Cfgs::new(["fast".to_owned(), "feature=\"half\"".to_owned()]);
/// assert_eq!(cfgs, Cfgs::new(["feature=\"half\"".to_owned(), "fast".to_owned()]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfgs {
    /// `NAME` or `NAME="value"`; `None` where they are not known.
    given: Option<BTreeSet<String>>,
}

/// Names that rustc itself gives a value, by the target.
const OF_RUSTC: [&str; 13] = [
    "debug_assertions",
    "doc",
    "doctest",
    "miri",
    "overflow_checks",
    "panic",
    "proc_macro",
    "relocation_model",
    "sanitize",
    "ub_checks",
    "unix",
    "windows",
    "version",
];

/// A predicate. `true` and `false`, which syn takes for no `Meta`, are paths of that name here.
pub(super) struct Predicate(pub(super) Meta);

impl Parse for Predicate {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitBool) {
            return Ok(Self(Meta::Path(Ident::parse_any(input)?.into())));
        }
        input.parse().map(Self)
    }
}

impl Cfgs {
    /// All that is given: what is not among them, and is none of rustc's own, is not set.
    pub fn new(given: impl IntoIterator<Item = String>) -> Self {
        Self { given: Some(given.into_iter().collect()) }
    }

    /// Whether an item with these attributes is certainly left out when kernels are compiled. What hangs on
    /// something that is not known stays in.
    #[must_use]
    pub fn leave_out(&self, attributes: &[Attribute]) -> bool {
        let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        conditions
            .filter_map(|attribute| attribute.parse_args::<Predicate>().ok())
            .any(|condition| self.is_false(&condition.0))
    }

    /// Whether a predicate certainly does not hold.
    pub(super) fn is_false(&self, condition: &Meta) -> bool {
        self.value(condition) == Some(false)
    }

    /// The value of a predicate, `None` where it is not known.
    fn value(&self, condition: &Meta) -> Option<bool> {
        match condition {
            Meta::Path(path) => match path.get_ident()?.to_string().as_str() {
                "test" => Some(false),
                "kernelmill" | "true" => Some(true),
                "false" => Some(false),
                name => self.has(name, name),
            },
            Meta::NameValue(pair) => {
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else {
                    return None;
                };
                let name = pair.path.get_ident()?.to_string();
                self.has(&name, &format!("{name}={:?}", value.value()))
            }
            Meta::List(list) => {
                let all = Punctuated::<Predicate, Token![,]>::parse_terminated;
                let parts = list.parse_args_with(all).ok()?;
                let mut values = parts.iter().map(|part| self.value(&part.0));
                if list.path.is_ident("not") {
                    values.next()?.map(|value| !value)
                } else if list.path.is_ident("all") {
                    decided_by(false, &mut values)
                } else if list.path.is_ident("any") {
                    decided_by(true, &mut values)
                } else {
                    None
                }
            }
        }
    }

    /// Whether something is given; `None` where it is not known.
    fn has(&self, name: &str, written: &str) -> Option<bool> {
        let given = self.given.as_ref()?;
        let is_rustcs = OF_RUSTC.contains(&name) || name.starts_with("target_");
        if given.contains(written) { Some(true) } else { (!is_rustcs).then_some(false) }
    }
}

/// The value of predicates of which one that is `deciding` decides.
fn decided_by(deciding: bool, values: &mut dyn Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(!deciding);
    for value in values {
        match value {
            Some(value) if value == deciding => return Some(deciding),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_own_names_are_decided_where_all_are_known() {
        let known = Cfgs::new(["feature=\"half\"", "fast", "tile=\"8\""].map(str::to_owned));
        let left_out = |cfgs: &Cfgs, condition: &str| {
            let text = format!("#[cfg({condition})] fn k() {{}}");
            cfgs.leave_out(&syn::parse_str::<syn::ItemFn>(&text).unwrap().attrs)
        };
        for kept in [
            "feature = \"half\"",
            "fast",
            "tile = \"8\"",
            "not(slow)",
            "any(slow, fast)",
            "kernelmill",
            "target_os = \"none\"",
            "unix",
            "not(windows)",
            "true",
            "any(slow, true)",
        ] {
            assert!(!left_out(&known, kept), "{kept}");
        }
        for out in [
            "feature = \"full\"",
            "slow",
            "tile = \"9\"",
            "not(fast)",
            "all(fast, slow)",
            "test",
            "not(kernelmill)",
            "all(unix, slow)",
            "false",
            "not(true)",
            "all(true, false)",
        ] {
            assert!(left_out(&known, out), "{out}");
        }
        let unknown = Cfgs::default();
        assert!(left_out(&unknown, "test") && !left_out(&unknown, "feature = \"half\""));
    }
}
