//! Sources of several kernels, in OpenCL C and WGSL: the part of one that a kernel is made of.
//!
//! A source is split into items at the outermost level: functions, types, variables, directives of the preprocessor. A kernel is made of
//! its function, of what is named in that, and so on. An item stays where it cannot be told what it is, so that no change is missed.

use std::collections::BTreeSet;

/// The items of a source that the kernel `entry` is made of; `None` where the source cannot be split, or has no such kernel.
pub(super) fn of_kernel(text: &str, language: Language, entry: &str) -> Option<String> {
    // Names that are put together are none that the source has.
    if text.contains("##") {
        return None;
    }
    let items = items(text, language)?;
    let macros: BTreeSet<&str> = items.iter().filter_map(|item| macro_name(item.text)).collect();
    let is_known = |item: &Item<'_>| item.names.iter().any(|name| !macros.contains(name));
    let mut kept: Vec<bool> = items
        .iter()
        .map(|item| match macro_name(item.text) {
            Some(_) => false,
            None => !is_known(item) || item.names.contains(entry),
        })
        .collect();
    if !items.iter().any(|item| is_known(item) && item.names.contains(entry)) {
        return None;
    }
    let mut mentioned: BTreeSet<&str> = BTreeSet::new();
    let mut new: Vec<usize> = (0..items.len()).filter(|index| kept[*index]).collect();
    while let Some(index) = new.pop() {
        mentioned.extend(&items[index].words);
        for (other, item) in items.iter().enumerate() {
            let is_mentioned = |item: &Item<'_>| match macro_name(item.text) {
                Some(name) => mentioned.contains(name),
                None => item.names.iter().any(|name| mentioned.contains(name)),
            };
            if !kept[other] && is_mentioned(item) {
                kept[other] = true;
                new.push(other);
            }
        }
    }
    let kept = items.iter().zip(kept).filter(|(_, is_kept)| *is_kept);
    Some(kept.map(|(item, _)| format!("{}\n", item.text)).collect())
}

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    OpenclC,
    Wgsl,
}

/// An item of a source.
struct Item<'t> {
    text: &'t str,
    /// What it defines or declares; empty for directives.
    names: BTreeSet<&'t str>,
    /// The words in it.
    words: BTreeSet<&'t str>,
}

/// The name that a directive defines.
fn macro_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('#')?.trim_start().strip_prefix("define")?;
    rest.strip_prefix([' ', '\t']).and_then(|rest| words_of(rest).next())
}

/// Splits a source; `None` where brackets do not match.
fn items(text: &str, language: Language) -> Option<Vec<Item<'_>>> {
    let mut splitter = Splitter { text, items: Vec::new(), tokens: Vec::new() };
    // Whether a body has ended, behind which a type in C has a semicolon or names of variables.
    let (mut depth, mut after_body) = (0_usize, false);
    for token in (Tokens { text, place: 0 }) {
        if token.text.starts_with('#') {
            // In a body it belongs to that.
            if depth == 0 {
                splitter.finish();
                splitter.tokens.push(token);
                splitter.finish();
                after_body = false;
            } else {
                splitter.tokens.push(token);
            }
            continue;
        }
        let goes_on = language == Language::OpenclC && is_type(&splitter.tokens);
        if after_body && !goes_on && token.text != ";" {
            splitter.finish();
        }
        splitter.tokens.push(token);
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.checked_sub(1)?,
            ";" if depth == 0 => splitter.finish(),
            _ => (),
        }
        after_body = token.text == "}" && depth == 0 && !has_value(&splitter.tokens);
    }
    splitter.finish();
    (depth == 0).then_some(splitter.items)
}

/// A source that is split.
struct Splitter<'t> {
    text: &'t str,
    items: Vec<Item<'t>>,
    /// Those of the item that has begun.
    tokens: Vec<Token<'t>>,
}

impl Splitter<'_> {
    fn finish(&mut self) {
        if let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) {
            let text = &self.text[first.place..last.place + last.text.len()];
            let words = self
                .tokens
                .iter()
                .filter(|token| token.text.starts_with('#') || is_word(token.text));
            let words = words.flat_map(|token| words_of(token.text)).collect();
            self.items.push(Item { text, names: names(&self.tokens), words });
        }
        self.tokens.clear();
    }
}

/// Whether an item of C is of a type, behind whose body its own names may stand. A function that returns one has a name
/// and parameters before the body.
fn is_type(tokens: &[Token<'_>]) -> bool {
    let head = tokens.iter().map(|token| token.text).take_while(|text| *text != "{");
    let words: Vec<_> = head.filter(|text| *text != "__attribute__").collect();
    let is_type = ["typedef", "struct", "union", "enum"].iter().any(|it| words.contains(it));
    let has_parameters = words.windows(2).any(|pair| is_word(pair[0]) && pair[1] == "(");
    is_type && !has_parameters
}

/// Whether an item is a variable with its value.
fn has_value(tokens: &[Token<'_>]) -> bool {
    let head = tokens.iter().take_while(|token| token.text != "{");
    head.into_iter().any(|token| token.text == "=")
}

/// Words before a bracket that name nothing.
const KEYWORDS: [&str; 4] = ["__attribute__", "struct", "union", "enum"];

/// What begins statements of WGSL that are about the whole module.
const OF_MODULES: [&str; 4] = ["enable", "requires", "diagnostic", "const_assert"];

/// The names that an item defines: at the outermost level those before parameters, a body, a value, a size, a type in WGSL, a
/// semicolon or a comma, and the constants of an enumeration.
fn names<'t>(tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let (mut depth, mut is_over) = (0_usize, false);
    if tokens.first().is_some_and(|first| OF_MODULES.contains(&first.text)) {
        return names;
    }
    let is_enum = tokens.iter().take_while(|token| token.text != "{").any(|it| it.text == "enum");
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map_or("", |next| next.text);
        let before = index.checked_sub(1).map_or("", |before| tokens[before].text);
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            // What is behind is a value, or the type of a result.
            "=" if depth == 0 => is_over = true,
            "," if depth == 0 => is_over = false,
            // In WGSL a type.
            ":" | "->" if depth == 0 => return names,
            _ => (),
        }
        let is_place = depth == 0
            && !is_over
            && !["@", "<"].contains(&before)
            && !KEYWORDS.contains(&token.text)
            || is_enum && depth == 1 && !["=", "(", "["].contains(&before);
        let ends = ["(", "{", "=", "[", ";", ",", ":", "}"];
        if is_place && is_word(token.text) && ends.contains(&next) {
            names.insert(token.text);
        }
    }
    names
}

/// The identifiers of a text.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
    text.split(move |it| !is_of_name(it)).filter(|word| is_word(word))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|it: char| it.is_alphabetic() || it == '_')
}

/// A word, a number, a mark, a text in quotes, or a whole directive.
#[derive(Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    place: usize,
}

/// The tokens of a text, without comments.
struct Tokens<'t> {
    text: &'t str,
    place: usize,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = &self.text[self.place..];
            let first = rest.chars().next()?;
            let comment = match () {
                () if first.is_whitespace() => Some(first.len_utf8()),
                () if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
                () if rest.starts_with("/*") => {
                    Some(rest.find("*/").map_or(rest.len(), |it| it + 2))
                }
                () => None,
            };
            if let Some(length) = comment {
                self.place += length;
                continue;
            }
            let length = match first {
                '#' => length_of_directive(rest),
                '"' | '\'' => length_of_text(rest, first),
                '-' if rest.starts_with("->") => 2,
                '=' | '!' | '<' | '>' if rest[1..].starts_with('=') => 2,
                _ if first.is_alphanumeric() || first == '_' => {
                    rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len())
                }
                _ => first.len_utf8(),
            };
            let token = Token { text: &rest[..length], place: self.place };
            self.place += length;
            return Some(token);
        }
    }
}

/// A directive goes on behind a backslash at the end of a line.
fn length_of_directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let whole = line.trim_end();
        if !whole.ends_with('\\') {
            return length + whole.len();
        }
        length += line.len();
    }
    text.len()
}

/// A text in quotes, with what a backslash is before.
fn length_of_text(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, character) in text.char_indices().skip(1) {
        if !is_escaped && character == quote {
            return place + 1;
        }
        is_escaped = !is_escaped && character == '\\';
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{Language, of_kernel};

    const OPENCL: &str = r#"#define STEP 2
#define WIDE(x) \
  ((x) * STEP)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { float a; int b; } pair;
struct other { int c; };
enum { FIRST, SECOND = 4 };
constant float table[2] = { 1.0f, 2.0f };
constant int unused = 3, also = 4;
static float helper(float x) { return x * table[0]; }
static float alone(float x) { return x; }
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void one(global pair *x) { x[0].a = helper(WIDE(1.0f)); /* alone */ printf("} alone"); }
struct other made(int x) { struct other o; o.c = x; return o; }
__kernel void two(global int *y) { y[0] = made(SECOND).c; }
"#;

    fn part(text: &str, of: &str) -> Vec<String> {
        let part = of_kernel(text, Language::OpenclC, of).expect("it has the kernel");
        let heads = part.lines().map(|line| line.split(['{', '(']).next().unwrap_or_default());
        heads.map(|head| head.trim().to_owned()).collect()
    }

    #[test]
    fn a_kernel_in_opencl_c_is_made_of_what_it_names() {
        let expected = [
            "#define STEP 2",
            "#define WIDE",
            "",
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
            "typedef struct",
            "constant float table[2] =",
            "static float helper",
            "kernel __attribute__",
            "void one",
        ];
        assert_eq!(part(OPENCL, "one"), expected);
        let expected = [
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
            "struct other",
            "enum",
            "struct other made",
            "__kernel void two",
        ];
        assert_eq!(part(OPENCL, "two"), expected);
    }

    #[test]
    fn a_kernel_in_wgsl_is_made_of_what_it_names() {
        let text = "\
enable f16;
struct Pair { a: f32, b: array<u32, 4> }
@group(0) @binding(0) var<storage, read> x: array<Pair>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
var<workgroup> tile: array<f32, 64>;
const COUNT: u32 = 4u;
alias Wide = vec4<f32>;
override scale = 2.0;
fn doubled(v: f32) -> f32 { return v * scale; }
fn halved(v: f32) -> f32 { return v / 2.0; }
@compute @workgroup_size(COUNT, 1, 1)
fn one(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = doubled(x[id.x].a); }
@compute @workgroup_size(64) fn two() { tile[0] = halved(1.0); y[0] = tile[0]; }
";
        let kept = of_kernel(text, Language::Wgsl, "one").unwrap();
        for line in ["tile", "alias", "halved", "two"] {
            assert!(!kept.contains(line), "{line}: {kept}");
        }
        for line in ["enable f16;", "struct Pair", "> x:", "> y:", "COUNT: u32 = 4u", "override"] {
            assert!(kept.contains(line), "{line}: {kept}");
        }
        let kept = of_kernel(text, Language::Wgsl, "two").unwrap();
        assert!(kept.contains("> tile:") && kept.contains("fn halved"), "{kept}");
        assert!(!kept.contains("Pair") && !kept.contains("doubled"), "{kept}");
    }

    #[test]
    fn what_cannot_be_told_is_compared_as_a_whole() {
        let of_kernel = |text, of| of_kernel(text, Language::OpenclC, of);
        assert_eq!(of_kernel("kernel void k() {}", "other"), None);
        assert_eq!(of_kernel("#define J(a) a##b\nkernel void k() {}", "k"), None);
        let halves = "#ifdef A\nkernel void k() {\n#else\nkernel void k(int n) {\n#endif\n}";
        assert_eq!(of_kernel(halves, "k"), None);
        // A function that a macro heads may have any name.
        let text = "#define HELPER(name) static int name(void)\nHELPER(one) { return 1; }\nkernel void k() {}\n";
        assert_eq!(of_kernel(text, "k").unwrap(), text);
    }
}
