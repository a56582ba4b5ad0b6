//! Functions of a CUDA program's host code that launch kernels: their variables, buffers and copies, as far as their text tells.

use super::{
    declared::{Declared, declared},
    names::is_word,
    program::{Parameter, parameter},
    text::{closing, line_of, opening, split},
};
use std::ops::Range;

/// A function of the host.
pub(super) struct Host {
    pub(super) name: String,
    /// The index of its file.
    pub(super) source: usize,
    /// Where it stands there.
    pub(super) range: Range<usize>,
    pub(super) first_line: usize,
    /// Its text without comments, from its head on.
    pub(super) code: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) variables: Vec<Declared>,
}

impl Host {
    pub(super) fn new(name: &str, source: usize, range: Range<usize>, code: &str) -> Self {
        let first = line_of(code, range.start);
        let code = code[range.clone()].to_owned();
        let open = code.find('{').unwrap_or(code.len());
        let head = code[..open].trim_end();
        let list = head.strip_suffix(')').and_then(|it| opening(head, it.len()));
        let parameters = list.map_or(Vec::new(), |open| split(&head[open + 1..head.len() - 1]));
        let mut variables = Vec::new();
        let (mut start, mut depth) = (open, 0_i32);
        for (at, sign) in code.char_indices().skip_while(|(at, _)| *at < open) {
            // A list of initial values ends no statement.
            let is_list = sign == '{' && code[start..at].trim_end().ends_with(['=', ']']);
            depth += i32::from(is_list || sign == '{' && depth > 0);
            if depth > 0 {
                depth -= i32::from(sign == '}');
            } else if [';', '{', '}'].contains(&sign) {
                let statement = code[start..at].trim();
                let inner = statement.strip_prefix("for").map(str::trim_start);
                let inner = inner.and_then(|it| it.strip_prefix('(')).unwrap_or(statement);
                let begin = at - code[start..at].trim_start().len();
                variables.extend(declared(inner, first + line_of(&code, begin) - 1));
                start = at + 1;
            }
        }
        Self {
            name: name.to_owned(),
            source,
            range,
            first_line: first,
            parameters: parameters.iter().filter_map(|it| parameter(it)).collect(),
            variables,
            code,
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Declared> {
        self.variables.iter().find(|it| it.name == name)
    }

    /// The line after that of its opening brace.
    pub(super) fn first_statement(&self) -> usize {
        let open = self.code.find('{').unwrap_or_default();
        self.first_line + line_of(&self.code, open)
    }

    /// The value of a variable that has one alone; what the text says of it otherwise.
    pub(super) fn value(&self, variable: &Declared) -> Result<String, String> {
        let is_twice = self.variables.iter().filter(|it| it.name == variable.name).count() > 1;
        let Declared { name, ty, value, line, .. } = variable;
        let assigned = assignments(&self.code, name);
        let said = |value: &str| format!("`{name}`: `{ty} {name} = {value}` in line {line}");
        match (&assigned[..], value) {
            _ if is_twice => Err(format!("`{name}`, which has several values")),
            ([] | [Some(_)], Some(value)) if !self.has_address(name) => {
                // Values between brackets are no assignments.
                match assigned.first().is_none_or(|it| it.as_ref() == Some(value)) {
                    true => Ok(value.clone()),
                    false => Err(format!("{}, and it may be changed later", said(value))),
                }
            }
            ([Some(value)], None) if !self.has_address(name) => Ok(value.clone()),
            (_, Some(value)) => Err(format!("{}, and it may be changed later", said(value))),
            _ => Err(format!("`{name}`, which line {line} declares")),
        }
    }

    /// Whether the address of a variable is taken, so that others may change it.
    fn has_address(&self, name: &str) -> bool {
        places(&self.code, name).any(|at| {
            let before = self.code[..at].trim_end();
            before.strip_suffix('&').is_some_and(|it| {
                !it.trim_end().ends_with(|c: char| is_word(c) || ")]&".contains(c))
            })
        })
    }

    /// The arguments of the calls of the run time with this name, with their lines.
    pub(super) fn calls(&self, name: &str) -> impl Iterator<Item = (usize, Vec<String>)> {
        self.code.match_indices(name).filter_map(move |(at, _)| {
            let rest = self.code[at + name.len()..].trim_start();
            // Of a template its arguments stand before.
            let template = rest.starts_with('<').then(|| closing(rest, 0)).flatten();
            let rest = &rest[template.map_or(0, |it| it + 1)..];
            let open = rest.len() - rest.trim_start().len();
            let close = rest[open..].starts_with('(').then(|| closing(rest, open)).flatten()?;
            Some((at, split(&rest[open + 1..close])))
        })
    }
}

/// Which argument of the command line a value is a number of, as in `atoi(argv[1])`.
pub(super) fn argument_of(value: &str) -> Option<usize> {
    let (function, rest) = value.split_once('(')?;
    let numbers = ["atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtod"];
    let is_number = numbers.contains(&function.trim().trim_start_matches("std::"));
    let place = rest.trim().strip_prefix("argv")?.trim_start().strip_prefix('[')?;
    let (place, rest) = place.split_once(']')?;
    let is_whole = is_number && rest.trim().starts_with([')', ',']) && rest.trim().ends_with(')');
    place.trim().parse().ok().filter(|_| is_whole && !rest.contains(['+', '-', '*', '/']))
}

/// What is assigned to a variable: values, or `None` for other changes.
pub(super) fn assignments(code: &str, name: &str) -> Vec<Option<String>> {
    let of = |at: usize| {
        let before = code[..at].trim_end();
        let after = code[at + name.len()..].trim_start();
        let is_step = ["++", "--"].iter().any(|it| before.ends_with(it) || after.starts_with(it));
        let compound = ["+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="];
        if is_step || compound.iter().any(|it| after.starts_with(it)) {
            return Some(None);
        }
        let value = after.strip_prefix('=').filter(|it| !it.starts_with('='))?;
        let mut depth = 0_i32;
        let end = value.find(|c: char| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            depth < 0 || depth == 0 && ";,".contains(c)
        });
        let value = value[..end.unwrap_or(value.len())].split_whitespace().collect::<Vec<_>>();
        Some(Some(value.join(" ")))
    };
    places(code, name).filter_map(of).collect()
}

/// Where a name stands, as a whole word that is no member of another.
fn places<'t>(code: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    code.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = &code[..*at];
        !before.ends_with(|c| is_word(c) || c == '.')
            && !before.ends_with("->")
            && !code[at + name.len()..].starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_function_are_read() {
        let code = "template <typename T>\nvoid run(const int n, T *out) {\n  const unsigned int rows = n / 2, *p, q[3] = {1, 2};\n\
            \x20 dim3 block(16, 8);\n  size_t bytes;\n  bytes = rows * sizeof(T);\n  int k = 0;\n  for (int i = 0; i < n; i++) k += q[i];\n  read(&n);\n  a * b == c;\n}\n";
        let host = Host::new("run", 0, 0..code.len(), code);
        let names: Vec<_> = host.parameters.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["n", "out"]);
        let read: Vec<_> = host
            .variables
            .iter()
            .map(|it| (&*it.ty, &*it.name, it.is_single, host.value(it).ok(), it.line))
            .collect();
        let some = |text: &str| Some(text.to_owned());
        let expected = [
            ("unsigned int", "rows", true, some("n / 2"), 3),
            ("unsigned int", "p", false, None, 3),
            ("unsigned int", "q", false, some("{1, 2}"), 3),
            ("dim3", "block", true, some("16, 8"), 4),
            ("size_t", "bytes", true, some("rows * sizeof(T)"), 5),
            ("int", "k", true, None, 7),
            ("int", "i", true, None, 8),
        ];
        assert_eq!(read, expected);
        assert!(host.has_address("n") && !host.has_address("rows"));
        let places =
            ["atoi(argv[2])", "strtol(argv[1], NULL, 10)", "atoi(argv[1]) * 2", "f(argv[1])"];
        assert_eq!(places.map(argument_of), [Some(2), Some(1), None, None]);
    }
}
