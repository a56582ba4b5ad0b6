//! Names in the bindings: those of parameters, and keywords as raw identifiers.

use kernelmill_artifact::Parameter;

/// The names of a wrapper's parameters: the kernel's, without leading underscores where that
/// keeps them apart, so that a parameter the kernel does not use is an ordinary one here, and then those of its launch
/// state.
pub(super) fn parameter_names(parameters: &[Parameter]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let name = parameter.state_name().unwrap_or(&parameter.name);
        let short = name.trim_start_matches('_');
        let is_taken = |name: &str| {
            names.iter().any(|known| known == name)
                || parameters.iter().enumerate().any(|(at, it)| at != index && it.name == name)
        };
        let starts_well = short.starts_with(|c: char| !c.is_ascii_digit());
        let name = if starts_well && !is_taken(short) {
            identifier(short)
        } else {
            format!("argument_{index}")
        };
        names.push(name);
    }
    names
}

/// A name as Rust writes it: words of the language become raw.
pub(super) fn identifier(name: &str) -> String {
    const WORDS: [&str; 48] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield",
    ];
    match name {
        // These cannot be raw.
        "self" | "Self" | "super" | "crate" | "_" => format!("{name}_"),
        _ if WORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn words_of_rust_become_raw_or_longer_names() {
        let names = [("saxpy", "saxpy"), ("match", "r#match"), ("self", "self_"), ("_", "__")];
        for (name, expected) in names {
            assert_eq!(identifier(name), expected);
        }
    }
}
