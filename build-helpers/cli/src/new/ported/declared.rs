//! Variables, as statements of C++ declare them.

use super::{
    names::is_word,
    text::{split, words},
};

/// A variable, as a statement declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) ty: String,
    /// Whether it is one value, and no pointer or array.
    pub(super) is_single: bool,
    pub(super) is_const: bool,
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

/// The variables that a statement declares; none of any other statement.
pub(super) fn declared(statement: &str, line: usize) -> Vec<Declared> {
    let parts = split(statement);
    let Some(first) = parts.first() else { return Vec::new() };
    let head = first.split(['=', '(', '[', '{']).next().unwrap_or_default();
    let is_comparison = first[head.len()..].starts_with("==");
    let is_head = |c: char| is_word(c) || c.is_whitespace() || "*&:".contains(c);
    let mut named = words(head);
    let other = ["return", "delete", "new", "using", "typedef", "goto", "case", "else", "extern"];
    if is_comparison
        || named.len() < 2
        || !head.chars().all(is_head)
        || named.iter().any(|it| other.contains(it))
    {
        return Vec::new();
    }
    named.pop();
    let is_const = named.iter().any(|it| ["const", "constexpr"].contains(it));
    let left_out = ["const", "constexpr", "static", "struct", "register", "volatile"];
    named.retain(|it| !left_out.contains(it));
    if named.is_empty() {
        return Vec::new();
    }
    let ty = named.join(" ");
    let one = |part: &String| {
        let (head, value) = match part.find(['=', '(', '{']) {
            Some(at) if part[at..].starts_with('=') => (&part[..at], part[at + 1..].trim()),
            Some(at) => {
                let value = part[at + 1..].trim_end().strip_suffix([')', '}']).unwrap_or_default();
                (&part[..at], value.trim())
            }
            None => (&**part, ""),
        };
        let name = words(head.split('[').next()?).last()?.to_string();
        let is_single = !head.contains(['*', '[', '&']);
        let value = Some(value.to_owned()).filter(|it| !it.is_empty());
        Some(Declared { name, ty: ty.clone(), is_single, is_const, value, line })
    };
    parts.iter().filter_map(one).collect()
}
