//! The code of a source's text, without what may look like code.

/// A text with blanks in place of comments and of texts in quotes, byte for byte, in C and C++ in place of lines of the
/// preprocessor too.
#[must_use]
pub fn code_of(text: &str, is_rust: bool) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_start = true;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first == '"' || first == '\'' && !is_rust {
            quoted(rest, first)
        } else if rest.starts_with("'\"'") {
            // Other apostrophes may begin a lifetime.
            3
        } else if first == '#' && is_start && !is_rust {
            directive(rest)
        } else {
            is_start = first == '\n' || is_start && first.is_whitespace();
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (blank, after) = rest.split_at(length);
        code.extend(blank.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code
}

/// The bytes of the text in quotes that a text begins with.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            c if c == quote && !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// The bytes of a line of the preprocessor, with those that continue it.
fn directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.trim_end_matches(['\n', '\r']).len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
        length += line.len() - line.trim_end_matches(['\n', '\r']).len();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_is_blank() {
        let cpp = "#define A(x) \\\n  x\nint a; // é\nchar b = '\"', *c = \"/* \\\" */\"; /* d\n */ int e;\n";
        let expected =
            "              \n   \nint a;      \nchar b =    , *c =           ;     \n    int e;\n";
        let code = code_of(cpp, false);
        assert_eq!(code.len(), cpp.len());
        assert_eq!(code, expected);
        let rust = "#[a] fn f<'a>(x: &'a str) -> char { '\"' } // b";
        assert_eq!(code_of(rust, true), "#[a] fn f<'a>(x: &'a str) -> char {     }     ");
    }
}
