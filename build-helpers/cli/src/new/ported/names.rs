//! Names and types of C++, as Rust has them.

use std::collections::BTreeSet;

/// The type of Rust that a scalar of C++ is in wrappers.
pub(super) fn rust_type(ty: &str) -> Option<&'static str> {
    Some(match ty.trim() {
        "bool" => "bool",
        "char" | "signed char" | "int8_t" => "i8",
        "unsigned char" | "uint8_t" | "uchar" => "u8",
        "short" | "int16_t" => "i16",
        "unsigned short" | "uint16_t" | "ushort" => "u16",
        "int" | "signed" | "int32_t" => "i32",
        "unsigned" | "unsigned int" | "uint32_t" | "uint" => "u32",
        "long" | "long long" | "int64_t" => "i64",
        "unsigned long" | "ulong" | "unsigned long long" | "uint64_t" => "u64",
        "size_t" => "usize",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}

/// A name as an identifier in small letters that is not taken yet.
pub(super) fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut small = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        // `hostData` and `BFSGraph` have two words, `NI` has one.
        let begins = before.is_lowercase()
            || before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && begins {
            small.push('_');
        }
        before = c;
        small.extend(c.to_lowercase());
    }
    let small = if is_keyword(&small) { small + "_" } else { small };
    let numbered = (2..).map(|number| format!("{small}_{number}"));
    let mut names = std::iter::once(small.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The name of a wrapper.
pub(super) fn raw(name: &str) -> String {
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

/// Whether a name of C++ is a word of Rust.
pub(super) fn is_keyword(name: &str) -> bool {
    let keywords = [
        "as", "dyn", "fn", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
        "ref", "type", "unsafe", "use", "where", "async", "await", "box", "yield", "trait",
    ];
    keywords.contains(&name)
}

/// Whether a sign is one of a name or a number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
