//! Reader of a CUDA program, as far as its text tells: kernels, launches, host code.

use super::{
    declared::{Declared, declared},
    text::{closing, line_of, opening, split, words},
};
use kernelmill_build::code_of;
use std::ops::Range;

/// What a program has.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) kernels: Vec<Kernel>,
    pub(super) launches: Vec<Launch>,
    /// Code of the host: its name, and where it stands.
    pub(super) host: Vec<(String, Range<usize>)>,
    /// The names of variables in `__constant__` memory.
    pub(super) constants: Vec<String>,
    /// Variables outside of functions.
    pub(super) globals: Vec<Declared>,
    /// What launches kernels and is not read: its line, and what it is.
    pub(super) unread: Vec<(usize, &'static str)>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// The namespaces around it.
    pub(super) spaces: Vec<String>,
    /// The byte of its file that it begins at.
    pub(super) at: usize,
    /// The names of its template parameters.
    pub(super) template: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: String,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its type, or that of the elements of a pointer.
    pub(super) ty: String,
    pub(super) is_pointer: bool,
    pub(super) is_const: bool,
}

/// A launch, with `<<<..>>>` or by a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) kernel: String,
    /// The index of the file that it is in.
    pub(super) source: usize,
    pub(super) line: usize,
    /// The byte in that file.
    pub(super) at: usize,
    pub(super) template: Vec<String>,
    pub(super) configuration: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// What the parameters of the host template around it are, by name.
    pub(super) types: Vec<(String, String)>,
}

impl Program {
    pub(super) fn read(text: &str) -> Self {
        let code = code_of(text, false);
        let mut program = Self::default();
        let (mut start, mut at) = (0, 0);
        let mut spaces = Vec::new();
        while let Some(sign) = code.as_bytes().get(at) {
            match sign {
                b';' => {
                    program.declaration(&code, start..at + 1);
                    (start, at) = (at + 1, at + 1);
                }
                b'{' => {
                    let head = code[start..at].trim();
                    let is_open = head.starts_with("namespace") || head == "extern";
                    let end = closing(&code, at).unwrap_or(code.len() - 1);
                    if is_open {
                        let name = words(head).last().copied().unwrap_or_default();
                        spaces.push(if name == "extern" { "" } else { name });
                        (start, at) = (at + 1, at + 1);
                    } else if is_function(head) {
                        let begin = start + code[start..].len() - code[start..].trim_start().len();
                        program.function(&code, begin..end + 1, at, &spaces);
                        (start, at) = (end + 1, end + 1);
                    } else {
                        at = end + 1;
                    }
                }
                b'}' => {
                    spaces.pop();
                    (start, at) = (at + 1, at + 1);
                }
                _ => at += 1,
            }
        }
        program.launches = launches(&code);
        program.calls(&code);
        program.launches = program.instantiated(&code);
        program.macros(text, &code);
        program
    }

    /// The launches, with those of a host template once for each way in which the program calls it.
    fn instantiated(&self, code: &str) -> Vec<Launch> {
        let mut whole = Vec::new();
        for launch in &self.launches {
            let host = self.host.iter().find(|(_, range)| {
                let lines = line_of(code, range.start)..=line_of(code, range.end);
                lines.contains(&launch.line)
            });
            let names = host.and_then(|(_, range)| template_of(&code[range.clone()]));
            let (Some((function, _)), Some(names)) = (host, names) else {
                whole.push(launch.clone());
                continue;
            };
            for (at, _) in code.match_indices(&format!("{function}<")) {
                let open = at + function.len();
                let Some(close) = closing(code, open) else { continue };
                let given = split(&code[open + 1..close]);
                let written = |it: &String| {
                    let place = names.iter().position(|name| name == it);
                    place.and_then(|place| given.get(place)).unwrap_or(it).clone()
                };
                let template = launch.template.iter().map(written).collect();
                let types = names.iter().cloned().zip(given.iter().cloned()).collect();
                whole.push(Launch { template, types, ..launch.clone() });
            }
            if whole.last().is_none_or(|it| it.line != launch.line) {
                whole.push(launch.clone());
            }
        }
        whole
    }

    /// Launches by calls of the run time.
    fn calls(&mut self, code: &str) {
        for (at, name) in code.match_indices("cudaLaunch") {
            let name = words(&code[at..]).first().copied().unwrap_or(name);
            let call = code[at + name.len()..].trim_start();
            let launch = match name {
                "cudaLaunchKernel" => call_of(call, &code[..at]),
                "cudaLaunchCooperativeKernel" | "cudaLaunchKernelEx" | "cudaLaunchKernelExC" => {
                    None
                }
                _ => continue,
            };
            let line = line_of(code, at);
            match launch {
                Some(launch) => self.launches.push(Launch { line, at, ..launch }),
                None => self.unread.push((line, "a call of the run time that launches a kernel")),
            }
        }
    }

    /// Launches in macros.
    fn macros(&mut self, text: &str, code: &str) {
        let places = ["<<<", "cudaLaunchKernel"].into_iter().flat_map(|it| text.match_indices(it));
        for (at, _) in places.filter(|(at, sign)| !code[*at..].starts_with(sign)) {
            let is_continued = |line: &&str| line.trim_end().ends_with('\\');
            let before: Vec<_> = text[..at].split('\n').collect();
            let own = before.iter().rev().skip(1).take_while(|line| is_continued(line)).count();
            let first = before[before.len() - 1 - own].trim_start();
            let is_comment = before[before.len() - 1].contains("//");
            if !is_comment
                && first.strip_prefix('#').is_some_and(|it| it.trim_start().starts_with("define"))
            {
                self.unread.push((line_of(text, at), "a macro that launches a kernel"));
            }
        }
    }

    fn declaration(&mut self, code: &str, range: Range<usize>) {
        let item = code[range.clone()].trim();
        let begin = range.end - code[range.clone()].trim_start().len();
        if item.contains("__constant__") {
            let named = item.split(['=', '[', ';']).next().unwrap_or_default();
            self.constants.extend(words(named).last().map(|it| (*it).to_owned()));
            return;
        }
        self.globals.extend(declared(item.trim_end_matches(';'), line_of(code, begin)));
        if item.starts_with("using namespace")
            || item.contains("std::")
            || self.instantiates_host_code(item)
        {
            self.host.push((item.trim_end_matches(';').to_owned(), begin..range.end));
        }
    }

    /// Whether an item is `template void f<float>(..);` of a function of the host.
    fn instantiates_host_code(&self, item: &str) -> bool {
        let Some(rest) = item.strip_prefix("template").map(str::trim_start) else { return false };
        let named = rest.split(['<', '(']).next().unwrap_or_default();
        let is_it = |name: &&str| self.host.iter().any(|(host, _)| host == name);
        !rest.starts_with('<') && words(named).last().is_some_and(is_it)
    }

    fn function(&mut self, code: &str, range: Range<usize>, brace: usize, spaces: &[&str]) {
        let head = code[range.start..brace].trim();
        let body = code[brace..range.end].to_owned();
        if head.contains("__global__") {
            let spaces = spaces.iter().filter(|it| !it.is_empty());
            let spaces = spaces.map(|it| (*it).to_owned()).collect();
            let read = kernel(head, body);
            self.kernels.extend(read.map(|it| Kernel { spaces, at: range.start, ..it }));
        } else if !head.contains("__device__") && !words(head).contains(&"constexpr") {
            let name = head.split('(').next().and_then(|it| words(it).last().copied());
            self.host.push((name.unwrap_or(head).to_owned(), range));
        }
    }
}

/// Whether what stands before a block is the head of a function.
fn is_function(head: &str) -> bool {
    let head = &without_attributes(head);
    head.contains('(') && !head.starts_with("typedef") && !outside(head, '=')
}

/// A head without `alignas(..)` and the like, whose brackets are no list of parameters.
fn without_attributes(head: &str) -> String {
    let mut head = head.to_owned();
    for name in ["alignas", "__align__", "__attribute__", "__declspec", "__launch_bounds__"] {
        while let Some(at) = head.find(name) {
            let open = at + head[at..].find('(').unwrap_or_default();
            let end =
                closing(&head, open).filter(|_| open > at).map_or(at + name.len(), |it| it + 1);
            head.replace_range(at..end, "");
        }
    }
    head
}

/// Whether a sign stands outside of all brackets, as that of an initial value does.
fn outside(text: &str, sign: char) -> bool {
    let mut depth = 0_i32;
    text.chars().any(|c| {
        depth += i32::from("([<".contains(c)) - i32::from(")]>".contains(c));
        c == sign && depth == 0
    })
}

/// The names of the template parameters that a head begins with.
fn template_of(head: &str) -> Option<Vec<String>> {
    let rest = head.strip_prefix("template")?;
    let open = rest.find('<')?;
    let close = closing(rest, open)?;
    let names = split(&rest[open + 1..close]).into_iter().filter_map(|it| {
        let named = it.split('=').next()?;
        words(named).last().map(|name| (*name).to_owned())
    });
    Some(names.collect())
}

fn kernel(head: &str, body: String) -> Option<Kernel> {
    let template = template_of(head).unwrap_or_default();
    let close = head.rfind(')')?;
    let open = opening(head, close)?;
    let name = words(&head[..open]).last().map(|it| (*it).to_owned())?;
    let parameters = split(&head[open + 1..close]).into_iter().filter_map(|it| parameter(&it));
    let parameters = parameters.collect();
    Some(Kernel { name, spaces: Vec::new(), at: 0, template, parameters, body })
}

pub(super) fn parameter(text: &str) -> Option<Parameter> {
    let is_array = text.contains('[');
    let text = text.split(['[', '=']).next()?;
    let words = words(text);
    let (name, ty) = words.split_last()?;
    let left_out = ["const", "__restrict__", "__restrict", "restrict", "volatile", "struct"];
    let ty: Vec<_> = ty.iter().copied().filter(|word| !left_out.contains(word)).collect();
    // After the asterisk it is the pointer that does not change.
    let pointed = text.split('*').next().unwrap_or_default();
    let is_const = self::words(pointed).contains(&"const");
    let is_pointer = is_array || text.contains('*');
    Some(Parameter { name: (*name).to_owned(), ty: ty.join(" "), is_pointer, is_const })
}

fn launches(code: &str) -> Vec<Launch> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("<<<") {
        let before = code[..at].trim_end();
        let (before, template) = match before.strip_suffix('>') {
            Some(_) => match opening(before, before.len() - 1) {
                Some(open) => {
                    (before[..open].trim_end(), split(&before[open + 1..before.len() - 1]))
                }
                None => continue,
            },
            None => (before, Vec::new()),
        };
        let (Some(kernel), Some(end)) = (words(before).last().copied(), code[at..].find(">>>"))
        else {
            continue;
        };
        let configuration = split(&code[at + 3..at + end]);
        let rest = &code[at + end + 3..];
        let open = rest.find('(').unwrap_or_default();
        let Some(close) = closing(rest, open) else { continue };
        found.push(Launch {
            kernel: kernel.to_owned(),
            source: 0,
            line: line_of(code, at),
            at,
            template,
            configuration,
            arguments: split(&rest[open + 1..close]),
            types: Vec::new(),
        });
    }
    found
}

/// What `cudaLaunchKernel` launches, whose arguments are listed in an array before the call.
fn call_of(call: &str, before: &str) -> Option<Launch> {
    let close = call.starts_with('(').then(|| closing(call, 0)).flatten()?;
    let [function, grid, block, array, rest @ ..] = &split(&call[1..close])[..] else {
        return None;
    };
    let function = function.trim_end_matches(')').trim_end();
    let (name, template) = match function.strip_suffix('>') {
        Some(inner) => {
            let open = opening(function, inner.len())?;
            (&function[..open], split(&inner[open + 1..]))
        }
        None => (function, Vec::new()),
    };
    let declared = before.rmatch_indices(array.as_str()).find_map(|(at, _)| {
        let rest = before[at + array.len()..].trim_start().strip_prefix('[')?;
        let list = rest[rest.find(']')? + 1..].trim_start().strip_prefix('=')?.trim_start();
        let end = list.starts_with('{').then(|| closing(list, 0)).flatten()?;
        Some(split(&list[1..end]))
    })?;
    let pointed = declared.iter().map(|it| Some(it.split_once('&')?.1.trim().to_owned()));
    let shared = rest.first().cloned();
    Some(Launch {
        kernel: (*words(name).last()?).to_owned(),
        source: 0,
        line: 0,
        at: 0,
        template,
        configuration: [grid.clone(), block.clone()].into_iter().chain(shared).collect(),
        arguments: pointed.collect::<Option<_>>()?,
        types: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <vector>\n#define CHECK(x) do { x; } while (0)\nusing namespace std;\n\
        struct P { int n; };\n__constant__ float table[4] = {1, 2};\n__device__ float f(float x) { return x; }\n\
        // __global__ void no(int n) {}\n__global__ void later(int n);\n\
        template <typename T, int N = 3>\n__global__ void __launch_bounds__(256) k(const T *__restrict__ in, P p, float out[], int *const last) { if (1) { } }\n\
        int main() {\n    k<float, 4><<<dim3(1, 2), N>>>(in, P{1}, out);\n}\n";

    #[test]
    fn kernels_launches_and_host_code_are_told_apart() {
        let Program { kernels, launches, host, constants, .. } = Program::read(TEXT);
        assert_eq!(constants, ["table"]);
        let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!(
            (kernel.name.as_str(), &kernel.template[..]),
            ("k", &["T".into(), "N".into()][..])
        );
        let parameters: Vec<_> = kernel
            .parameters
            .iter()
            .map(|it| (it.ty.as_str(), it.name.as_str(), it.is_pointer, it.is_const))
            .collect();
        let expected = [
            ("T", "in", true, true),
            ("P", "p", false, false),
            ("float", "out", true, false),
            ("int", "last", true, false),
        ];
        assert_eq!(parameters, expected);
        let expected = Launch {
            kernel: "k".into(),
            source: 0,
            line: 12,
            at: TEXT.find("<<<").unwrap(),
            template: vec!["float".into(), "4".into()],
            configuration: vec!["dim3(1, 2)".into(), "N".into()],
            arguments: vec!["in".into(), "P{1}".into(), "out".into()],
            types: Vec::new(),
        };
        assert_eq!(launches, [expected]);
        let host: Vec<_> =
            host.iter().map(|(name, at)| (&**name, &TEXT[at.clone()][..5])).collect();
        assert_eq!(host, [("using namespace std", "using"), ("main", "int m")]);
    }

    #[test]
    fn a_type_with_attributes_is_no_function() {
        let text = "template <int N> struct alignas(N * 4) P { int a[N]; };\nstruct __align__(16) Q { int a; };\n\
            struct R f(int a) { return R(); }\nclass __attribute__((packed)) S { int a; };\n";
        let host: Vec<_> = Program::read(text).host.into_iter().map(|(name, _)| name).collect();
        // A function that gives a structure is one.
        assert_eq!(host, ["f"]);
    }

    #[test]
    fn a_launch_of_a_host_template_is_one_for_each_of_its_calls() {
        let program = Program::read(
            "template <typename T> void run(T *x) {\n    k<T, 2><<<1, 2>>>(x);\n}\n\
             template __global__ void k<char, 1>(char *);\ntemplate void run<int>(int *x);\nint main() { run<float>(a); run<int>(b); }\n",
        );
        let templates: Vec<_> = program.launches.iter().map(|it| it.template.join(", ")).collect();
        assert_eq!(templates, ["int, 2", "float, 2", "int, 2"]);
        assert_eq!(program.launches[1].types, [("T".to_owned(), "float".to_owned())]);
        // Without its function an instantiation of the host's is an error.
        let host: Vec<_> = program.host.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(host, ["run", "template void run<int>(int *x)", "main"]);
    }
}
