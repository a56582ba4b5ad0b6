//! Replacement of an entry in PTX by that of another text, with what that needs.
//!
//! PTX is a list of directives: the statements of a module end with `;` or with the `}` of a body. See the
//! [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#statements).

use std::{borrow::Cow, collections::BTreeMap};

/// The bytes of the address of a record of panics.
const RECORD: u64 = 8;

/// What a name of another text becomes where this one has the same for something else.
const SUFFIX: &str = "_override";

/// Puts the entry of `other` in place of that of `text`, both called `entry`. What else `other` has comes with it,
/// without what `text` has already; under other names where `text` has the same ones for something else. Where the entry
/// has the address of a record of panics behind the kernel's own parameters, which `has_record` says, that of `other` may
/// lack it: it gets one that it does not read.
///
/// # Errors
///
/// What is wrong with `other`, where it has no such entry, or one with other parameters.
pub(crate) fn replace(
    text: &str,
    other: &str,
    entry: &str,
    has_record: bool,
) -> Result<String, String> {
    let (own, theirs) = (statements(text), statements(other));
    let is_entry = |statement: &&&str| name(statement) == Some(entry) && is_kernel(statement);
    let old = own.iter().find(is_entry).ok_or("the source has no such entry")?;
    let new = theirs.iter().find(is_entry).ok_or_else(|| {
        let names = theirs.iter().filter(|it| is_kernel(it)).filter_map(|it| name(it));
        let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => format!("it has no entry `{entry}`"),
            false => format!("it has no entry `{entry}`, only: {}", names.join(", ")),
        }
    })?;
    let (expected, mut has) = (parameters(old), parameters(new));
    let mut new = Cow::Borrowed(*new);
    if has_record && expected.strip_suffix(&[RECORD]) == Some(&*has) {
        new = with_record(&new, entry, has.is_empty()).into();
        has.push(RECORD);
    }
    if expected != has {
        let list = |sizes: &[u64]| {
            let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
            sizes.join(", ")
        };
        return Err(format!(
            "its parameters have ({}) bytes, and those of the kernel ({})",
            list(&has),
            list(&expected)
        ));
    }
    let known: BTreeMap<_, _> = own.iter().filter_map(|it| Some((name(it)?, *it))).collect();
    let definitions = theirs.iter().filter(|it| !is_entry(it) && !is_kernel(it) && !is_head(it));
    let definitions = definitions.filter(|it| name(it).is_some());
    let (mut renamed, mut added) = (Vec::new(), Vec::new());
    for statement in definitions {
        let Some(name) = name(statement) else { continue };
        match known.get(name) {
            Some(own) if same(own, statement) => {}
            Some(_) => {
                renamed.push(name);
                added.push(*statement);
            }
            None => added.push(*statement),
        }
    }
    added.push(&new);
    let rename = |statement: &str| {
        let with_names = renamed.iter().fold(statement.to_owned(), |text, name| {
            with_name(&text, name, &format!("{name}{SUFFIX}"))
        });
        // Lines are those of files that this text does not name.
        let is_line = |line: &&str| line.split_whitespace().next() == Some(".loc");
        with_names.lines().filter(|line| !is_line(line)).collect::<Vec<_>>().join("\n")
    };
    let added: Vec<_> = added.into_iter().map(rename).collect();
    let (before, after) = text.split_once(*old).ok_or("the text has changed")?;
    Ok(with_version(&format!("{before}{}{after}", added.join("\n")), version(other)))
}

/// The statements of a module, without comments around them.
fn statements(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    let mut end = |start: &mut usize, end: usize| {
        let statement = without_comments(text[*start..end].trim());
        if !statement.is_empty() {
            found.push(statement);
        }
        *start = end;
    };
    let mut place = 0;
    while let Some(letter) = text[place..].chars().next() {
        let rest = &text[place..];
        place += letter.len_utf8();
        match letter {
            '/' if rest.starts_with("//") => place += rest.find('\n').unwrap_or(rest.len()) - 1,
            '/' if rest.starts_with("/*") => {
                place += rest.find("*/").map_or(rest.len() - 1, |found| found + 1);
            }
            '"' => place += rest[1..].find('"').map_or(rest.len() - 1, |found| found + 1),
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !is_initializer(&text[start..place]) {
                    end(&mut start, place);
                }
            }
            ';' if depth == 0 => end(&mut start, place),
            '\n' if depth == 0 && is_head(without_comments(text[start..place].trim())) => {
                end(&mut start, place);
            }
            _ => {}
        }
    }
    found
}

/// Whether the braces of a statement so far are those of a variable's value: it ends with `;`.
fn is_initializer(statement: &str) -> bool {
    let before = statement.split('{').next().unwrap_or_default();
    before.trim_end().ends_with('=')
}

/// A statement without the comments before it.
fn without_comments(mut statement: &str) -> &str {
    loop {
        let rest = match statement {
            it if it.starts_with("//") => it.split_once('\n').map_or("", |(_, rest)| rest),
            it if it.starts_with("/*") => it.split_once("*/").map_or("", |(_, rest)| rest),
            it => return it,
        };
        statement = rest.trim_start();
    }
}

/// Whether a statement is a directive that ends with its line.
fn is_head(statement: &str) -> bool {
    [".version", ".target", ".address_size", ".file"].iter().any(|it| statement.starts_with(it))
}

fn is_kernel(statement: &str) -> bool {
    head(statement).split_whitespace().any(|word| word == ".entry")
}

/// What is before the parameters, the body or the value of a statement.
fn head(statement: &str) -> &str {
    statement.split(['{', '=', ';']).next().unwrap_or_default()
}

/// The name that a statement declares or defines: that of a function before its parameters, that of a variable
/// before its size. Sections have none.
fn name(statement: &str) -> Option<&str> {
    let head = head(statement);
    if is_head(statement) || head.starts_with(".section") {
        return None;
    }
    let function = head.split_once(".entry").or_else(|| head.split_once(".func"));
    let text = match function {
        Some((_, rest)) => {
            let rest = rest.trim_start();
            // `.func (.param .b32 result) name(..)`
            let rest = match rest.strip_prefix('(') {
                Some(result) => result.split_once(')')?.1,
                None => rest,
            };
            rest.split(['(', '\n', ' ']).find(|word| !word.is_empty())?
        }
        None => head.split('[').next()?.split_whitespace().last()?,
    };
    Some(text.trim())
}

/// Whether two statements say the same, up to space.
fn same(first: &str, second: &str) -> bool {
    first.split_whitespace().eq(second.split_whitespace())
}

/// The sizes of an entry's parameters in bytes.
fn parameters(entry: &str) -> Vec<u64> {
    let list = head(entry).split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let list = list.map_or("", |(list, _)| list);
    let parameters = list.split(',').filter(|parameter| !parameter.trim().is_empty());
    parameters.map(size).collect()
}

/// An entry with one parameter more, behind its own.
fn with_record(statement: &str, entry: &str, is_only: bool) -> String {
    let parameter = format!(".param .u64 {entry}_record");
    let head = head(statement);
    match head.rfind(')') {
        Some(end) => {
            let (list, rest) = statement.split_at(end);
            let comma = if is_only { "" } else { "," };
            format!("{}{comma}\n\t{parameter}\n{rest}", list.trim_end())
        }
        None => format!("{head}({parameter})\n{}", &statement[head.len()..]),
    }
}

/// The size of `.param .align 4 .b8 name[12]` and the like.
fn size(parameter: &str) -> u64 {
    let bits = parameter.split_whitespace().find_map(|word| {
        let digits = word.strip_prefix(['.'])?.strip_prefix(['u', 's', 'b', 'f'])?;
        digits.parse::<u64>().ok()
    });
    let count = parameter.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let count = count.and_then(|(count, _)| count.trim().parse::<u64>().ok()).unwrap_or(1);
    bits.unwrap_or(0) / 8 * count
}

/// A text with another word in place of every one that is `name`.
pub(crate) fn with_name(text: &str, name: &str, other: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(name) {
        let (before, after) = (&rest[..place], &rest[place + name.len()..]);
        result.push_str(before);
        let is_word = !before.ends_with(is_letter) && !after.starts_with(is_letter);
        result.push_str(if is_word { other } else { name });
        rest = after;
    }
    result.push_str(rest);
    result
}

/// The version of PTX that a text is in.
fn version(text: &str) -> Option<(u32, u32)> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".version"))?;
    let (major, minor) = line.split("//").next()?.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A text in a version at least.
fn with_version(text: &str, least: Option<(u32, u32)>) -> String {
    match (version(text), least) {
        (Some(own), Some(least)) if own < least => text.replacen(
            &format!(".version {}.{}", own.0, own.1),
            &format!(".version {}.{}", least.0, least.1),
            1,
        ),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "//\n.version 7.0\n.target sm_75\n.address_size 64\n\
        .visible .global .align 4 .b8 table[8] = {1, 2};\n\
        .func (.param .b32 r) half(.param .b32 x)\n{ { ret; } }\n\
        \t// .globl\tfirst\n\
        .visible .entry first(\n.param .u64 .ptr .align 1 first_param_0,\n.param .u32 first_param_1\n)\n\
        .maxntid 32\n{\n // one }\n ret;\n}\n\
        .visible .entry second()\n{ ret; }\n";

    #[test]
    fn statements_end_where_they_end_and_have_names() {
        let names: Vec<_> = statements(OWN).into_iter().map(name).collect();
        let expected =
            [None, None, None, Some("table"), Some("half"), Some("first"), Some("second")];
        assert_eq!(names, expected);
        assert_eq!(parameters(statements(OWN)[5]), [8, 4]);
        assert_eq!(size(".param .align 4 .b8 name[12]"), 12);
    }

    /// Acceptance: S3.10.
    #[test]
    fn an_entry_comes_with_what_it_needs_and_everything_else_stays() {
        let other = ".version 8.1\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n\
            .func (.param .b32 r) half(.param .b32 x)\n{ { ret; } }\n\
            .visible .global .align 4 .b8 table[8] = {3, 4};\n\
            .global .align 4 .b8 mine[4];\n\
            .visible .entry first(.param .u64 p, .param .f32 q)\n{\n.loc 1 2 3\n .local .b8 d[8];\n ld table; st mine; my.table; exit;\n}\n";
        let text = replace(OWN, other, "first", false).unwrap();
        let expected = OWN.replace("7.0", "8.1");
        let (before, after) =
            (expected.find(".visible .entry first").unwrap(), OWN.find(".visible .entry second"));
        let expected = format!(
            "{}.visible .global .align 4 .b8 table_override[8] = {{3, 4}};\n.global .align 4 .b8 mine[4];\n\
             .visible .entry first(.param .u64 p, .param .f32 q)\n{{\n .local .b8 d[8];\n ld table_override; st mine; \
             my.table_override; exit;\n}}\n{}",
            &expected[..before],
            &OWN[after.unwrap()..]
        );
        assert_eq!(text, expected);
    }

    /// Acceptance: S3.10.
    #[test]
    fn other_entries_and_other_parameters_are_refused() {
        let other = ".visible .entry third(.param .u64 a)\n{ ret; }";
        assert_eq!(
            replace(OWN, other, "first", true).unwrap_err(),
            "it has no entry `first`, only: `third`"
        );
        let other = other.replace("third", "first");
        assert_eq!(
            replace(OWN, &other, "first", true).unwrap_err(),
            "its parameters have (8) bytes, and those of the kernel (8, 4)"
        );
        assert_eq!(replace(OWN, "", "first", true).unwrap_err(), "it has no entry `first`");
    }

    /// The PTX of nvcc for a kernel in Rust that can panic: nvcc knows of no record.
    #[test]
    fn an_entry_without_the_record_gets_one() {
        let own = ".visible .entry f(.param .u32 a, .param .u64 record)\n{ ret; }";
        let other = ".visible .entry f(\n\t.param .u32 f_param_0\n)\n.maxntid 32\n{ exit; }";
        let text = replace(own, other, "f", true).unwrap();
        let expected = ".visible .entry f(\n\t.param .u32 f_param_0,\n\t.param .u64 f_record\n)\n.maxntid 32\n{ exit; }";
        assert_eq!(text, expected);
        let refused = replace(own, other, "f", false).unwrap_err();
        assert_eq!(refused, "its parameters have (4) bytes, and those of the kernel (4, 8)");
        let own = ".visible .entry f(.param .u64 record)\n{ ret; }";
        for (other, expected) in [
            (
                ".visible .entry f()\n{ exit; }",
                ".visible .entry f(\n\t.param .u64 f_record\n)\n{ exit; }",
            ),
            (
                ".visible .entry f\n{ exit; }",
                ".visible .entry f\n(.param .u64 f_record)\n{ exit; }",
            ),
        ] {
            assert_eq!(replace(own, other, "f", true).unwrap(), expected);
            assert_eq!(parameters(statements(expected)[0]), [8]);
        }
    }
}
