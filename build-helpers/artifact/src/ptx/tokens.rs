//! Tokens of PTX: words, which may start with a dot, and single characters.

/// A token of PTX, with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxToken<'t> {
    /// Its characters.
    pub text: &'t str,
    /// Its line, from 1.
    pub line: u32,
}

/// The tokens of a text of PTX, without comments and strings.
#[must_use]
pub fn ptx_tokens(text: &str) -> Vec<PtxToken<'_>> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            _ if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |at| at + 2), false),
            '"' => (rest[1..].find('"').map_or(rest.len(), |at| at + 2), false),
            _ if is_part(first) => (rest.find(|it| !is_part(it)).unwrap_or(rest.len()), true),
            _ => (first.len_utf8(), !first.is_whitespace()),
        };
        let (text, after) = rest.split_at(length);
        if is_token {
            found.push(PtxToken { text, line });
        }
        line += text.matches('\n').count() as u32;
        rest = after;
    }
    found
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_$%.".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_left_out_and_lines_are_counted() {
        let text = "// .entry a\n.version 8.0 /* b\nc */ .entry\t$k_1(\n.file 1 \".entry x\"\n;";
        let found: Vec<_> = ptx_tokens(text).iter().map(|it| (it.text, it.line)).collect();
        let expected = [
            (".version", 2),
            ("8.0", 2),
            (".entry", 3),
            ("$k_1", 3),
            ("(", 3),
            (".file", 4),
            ("1", 4),
            (";", 5),
        ];
        assert_eq!(found, expected);
        for cut in ["/* never", "\"never", "//", "/"] {
            assert!(ptx_tokens(cut).len() <= 1, "{cut}");
        }
    }
}
