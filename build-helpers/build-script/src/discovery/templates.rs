//! Templates of C++ kernels whose instances the settings list: which source declares one.
//!
//! Who instantiates a template has to name it in the source that has it, so it is looked for in the texts, before any of
//! them is compiled. A compiler reads them for good; a template that only macros write is not found here, and is taken
//! to be in the source that has its name.

use super::{
    includes::Included,
    source::{Source, SourceKind},
    template::{ListedInstance, Template},
};
use crate::{
    base::{paths, report::Report},
    settings::{
        contract::Origin,
        kernel::{KernelSettings, is_generic},
        layer::RuleText,
        package::Package,
        resolved::Settings,
    },
};
use kernelmill_artifact::Signature;
use kernelmill_compiler::frontend::{
    cuda::signature::{generic_kernel, template_name},
    generic::GenericKernel,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// The names that Rust has for numbers, with those of C++.
const NUMBERS: [(&str, &str); 15] = [
    ("f16", "__half"),
    ("bf16", "__nv_bfloat16"),
    ("f32", "float"),
    ("f64", "double"),
    ("i8", "signed char"),
    ("i16", "short"),
    ("i32", "int"),
    ("i64", "long"),
    ("isize", "long"),
    ("u8", "unsigned char"),
    ("u16", "unsigned short"),
    ("u32", "unsigned int"),
    ("u64", "unsigned long"),
    ("usize", "unsigned long"),
    ("i128", "__int128"),
];

/// A kernel as a text declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declaration {
    /// With its namespaces.
    name: String,
    /// The names of a template's parameters; `None` for what is no template.
    parameters: Option<Vec<String>>,
    /// The place of its name among the tokens.
    token: usize,
}

impl Declaration {
    /// Whether this is its name, with its namespaces or without.
    fn is_called(&self, name: &str) -> bool {
        let before = self.name.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    }
}

/// The texts of a source.
struct Texts {
    own: Vec<Declaration>,
    /// With the files.
    included: Vec<(String, Declaration)>,
    words: BTreeSet<String>,
}

/// Gives each source the templates of which the settings list instances.
pub(super) fn attach(
    package: &Package,
    settings: &Settings,
    sources: &mut [Source],
    report: &mut Report,
) {
    let listed: Vec<_> =
        settings.kernels.iter().filter(|(_, said)| !said.instances.is_empty()).collect();
    let is_rust = |key: &str| {
        let generics = || sources.iter().flat_map(|source| &source.generics);
        generics().any(|it| is_generic(key, &it.name, &it.file))
    };
    let listed: Vec<_> = listed.into_iter().filter(|(key, _)| !is_rust(key)).collect();
    if listed.is_empty() {
        return;
    }
    let folders: Vec<_> =
        settings.includes.iter().map(|it| paths::normal(&package.root.join(it))).collect();
    let texts: Vec<_> = sources
        .iter()
        .map(|source| match source.kind {
            SourceKind::Cuda | SourceKind::Hip => Some(Texts::of(source, &package.root, &folders)),
            _ => None,
        })
        .collect();
    for (key, said) in listed {
        let in_cpp: Vec<_> = sources.iter().zip(&texts).enumerate().collect();
        let in_cpp = in_cpp.into_iter().filter_map(|(index, (source, texts))| {
            Some((index, &*source.display, texts.as_ref()?))
        });
        let found = declared(&in_cpp.collect::<Vec<_>>(), key);
        for (index, name, parameters) in found {
            let Some(texts) = &texts[index] else { continue };
            let instances = instances(key, said, &texts.words, report);
            let source = &mut sources[index];
            let keyed = instances.iter().map(|it| (name.clone(), it.arguments.clone()));
            source.instances.extend(keyed);
            // The settings may name it with its namespaces in one place and without in another.
            match source.templates.iter_mut().find(|it| it.name == name) {
                Some(known) => known.instances.extend(instances),
                None => {
                    let key = key.clone();
                    source.templates.push(Template { key, name, parameters, instances });
                }
            }
        }
    }
}

/// Where a template is declared.
pub(super) struct Place {
    pub(super) file: String,
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
}

/// The templates of kernels that the sources in C++ and the files that they include declare.
pub(super) fn places(package: &Package, settings: &Settings, sources: &[Source]) -> Vec<Place> {
    let folders: Vec<_> =
        settings.includes.iter().map(|it| paths::normal(&package.root.join(it))).collect();
    let mut found: Vec<Place> = Vec::new();
    let in_cpp = sources.iter().filter(|it| matches!(it.kind, SourceKind::Cuda | SourceKind::Hip));
    for source in in_cpp {
        let mut texts = vec![(source.display.to_string(), source.text().to_owned())];
        let included = Included::by(&source.path, source.text(), &folders).files.into_iter();
        texts.extend(
            included.map(|(path, text)| (paths::relative(&package.root, &path), text.to_string())),
        );
        for (file, text) in texts {
            let tokens = tokens(&text);
            for Declaration { name, parameters, token } in declarations(&tokens) {
                let Some(parameters) = parameters else { continue };
                let at = tokens[token].as_ptr() as usize - text.as_ptr() as usize;
                let line = text[..at].matches('\n').count() + 1;
                let is_known = |it: &Place| it.file == file && it.name == name;
                if !found.iter().any(is_known) {
                    found.push(Place { file: file.clone(), line, name, parameters });
                }
            }
        }
    }
    found
}

/// Whether the text of a source in C++ declares a template with this name.
pub(crate) fn declares(source: &Source, key: &str) -> bool {
    let is_cpp = matches!(source.kind, SourceKind::Cuda | SourceKind::Hip);
    let is_it = |it: &Declaration| it.parameters.is_some() && it.is_called(key);
    is_cpp && declarations(&tokens(source.text())).iter().any(is_it)
}

/// The names of the templates that the texts of the sources declare, without their namespaces.
pub(crate) fn names(sources: &[Source]) -> impl Iterator<Item = String> {
    let in_cpp = sources.iter().filter(|it| matches!(it.kind, SourceKind::Cuda | SourceKind::Hip));
    let all = in_cpp.flat_map(|source| declarations(&tokens(source.text())));
    all.filter(|it| it.parameters.is_some())
        .map(|it| it.name.rsplit("::").next().unwrap_or(&it.name).to_owned())
}

/// The names of the parameters of the template that a kernel is an instance of, as its source declares it; none of any
/// other kernel.
pub(crate) fn parameters(sources: &[Source], kernel: &Signature) -> Vec<String> {
    let Some(name) = template_name(&kernel.symbol) else { return Vec::new() };
    let own = sources.iter().filter(|it| *it.display == *kernel.file);
    let mut all = own.flat_map(|source| declarations(&tokens(source.text())));
    all.find(|it| it.name == name).and_then(|it| it.parameters).unwrap_or_default()
}

/// The generic kernels of a source whose templates have instances that the settings list, of its kernels as a compiler
/// has read them. All instances of a template are in it, those of the source too.
pub(crate) fn generics(templates: &[Template], kernels: &[Signature]) -> Vec<GenericKernel> {
    let generic = |template: &Template| {
        let is_own = |kernel: &&Signature| {
            template_name(&kernel.symbol).is_some_and(|name| name == template.name)
        };
        let own: Vec<_> = kernels.iter().filter(is_own).collect();
        generic_kernel(&template.parameters, &own)
    };
    templates.iter().filter_map(generic).collect()
}

/// The sources that declare a template of this name, with its full name and its parameters: those whose own text does,
/// or else the first that includes it. A kernel that is no template has no instances. The name may have the file before
/// it that declares the template.
fn declared(sources: &[(usize, &str, &Texts)], key: &str) -> Vec<(usize, String, Vec<String>)> {
    let of_file = key.split_once("::").filter(|(file, _)| {
        let has = |(_, display, texts): &(usize, &str, &Texts)| {
            display == file || texts.included.iter().any(|(included, _)| included == file)
        };
        sources.iter().any(has)
    });
    let (file, name) = of_file.map_or((None, key), |(file, name)| (Some(file), name));
    let is_it = |it: &Declaration| it.is_called(name);
    let is_in = |declared: &str| file.is_none_or(|file| file == declared);
    let mut found = Vec::new();
    let mut is_kernel = false;
    for (index, display, texts) in sources {
        for it in texts.own.iter().filter(|it| is_in(display) && is_it(it)) {
            match &it.parameters {
                Some(parameters) => found.push((*index, it.name.clone(), parameters.clone())),
                None => is_kernel = true,
            }
        }
    }
    if found.is_empty() {
        let included = sources.iter().flat_map(|(index, _, texts)| {
            let declared = texts.included.iter().filter(|(file, it)| is_in(file) && is_it(it));
            declared.filter_map(|(_, it)| Some((*index, it.name.clone(), it.parameters.clone()?)))
        });
        found.extend(included.take(1));
    }
    // Overloads are declared several times.
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    found.dedup_by(|one, first| (one.0, &one.1) == (first.0, &first.1));
    if found.is_empty() && !is_kernel {
        let last = name.rsplit("::").next().unwrap_or(name).trim();
        let has_word = |(_, display, texts): &&(usize, &str, &Texts)| {
            is_in(display) && texts.words.contains(last)
        };
        let by_word = sources.iter().find(has_word);
        found.extend(by_word.map(|(index, ..)| (*index, name.to_owned(), Vec::new())));
    }
    found
}

/// The instances that the settings list, each once; what is no list of arguments is reported.
fn instances(
    key: &str,
    said: &KernelSettings,
    words: &BTreeSet<String>,
    report: &mut Report,
) -> Vec<ListedInstance> {
    let mut known: Vec<ListedInstance> = Vec::new();
    for RuleText { text, origin } in &said.instances {
        if !is_list(text) {
            let message = format!(
                "the instance `{text}` of the template `{key}` is not a list of template arguments"
            );
            let help = "write the template's arguments as in C++, `\"float, 16\"`; where several templates have this name, write \
                        the types of the parameters too, `\"<float, 16>(float *, int)\"`";
            said.report_instance(origin.as_ref(), message, help, report);
            continue;
        }
        let arguments = in_cpp(text, words);
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        if known.iter().any(|it| squeezed(&it.arguments) == squeezed(&arguments)) {
            let message = format!("the instance `{text}` of the template `{key}` is listed twice");
            said.report_instance(origin.as_ref(), message, "remove one of the two", report);
            continue;
        }
        let place = origin.as_ref().map(|Origin { place, .. }| (place.file.clone(), place.line));
        known.push(ListedInstance { arguments, written: text.clone(), place });
    }
    known
}

/// Whether a text may be arguments of a template: one line, with brackets that close.
fn is_list(text: &str) -> bool {
    let mut open = Vec::new();
    for letter in text.chars() {
        // Between brackets that are not those of a template it may be a comparison.
        let is_angle = open.iter().all(|it| *it == '<');
        match letter {
            '\n' | '\r' | ';' | '"' | '\\' | '#' => return false,
            '(' | '[' | '{' => open.push(letter),
            '<' if is_angle => open.push(letter),
            ')' | ']' | '}' => {
                let opening = match letter {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(opening) {
                    return false;
                }
            }
            '>' if is_angle && open.pop().is_none() => return false,
            _ => {}
        }
    }
    open.is_empty() && !text.trim().is_empty()
}

/// The arguments with the numbers of Rust as those of C++, where the source has no type of their name.
fn in_cpp(text: &str, words: &BTreeSet<String>) -> String {
    let mut result = String::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = match end {
            0 => rest.split_at(first.len_utf8()),
            end => rest.split_at(end),
        };
        let number = NUMBERS.iter().find(|(name, _)| *name == word);
        let is_member = result.trim_end().ends_with("::");
        match number.filter(|_| !words.contains(word) && !is_member) {
            Some((_, cpp)) => result.push_str(cpp),
            None => result.push_str(word),
        }
        rest = after;
    }
    result
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

impl Texts {
    fn of(source: &Source, root: &Path, folders: &[PathBuf]) -> Self {
        let tokens = tokens(source.text());
        let mut words: BTreeSet<_> = tokens.iter().map(|it| (*it).to_owned()).collect();
        let own = declarations(&tokens);
        let mut included = Vec::new();
        for (path, text) in Included::by(&source.path, source.text(), folders).files {
            let tokens = self::tokens(&text);
            words.extend(tokens.iter().map(|it| (*it).to_owned()));
            let file = paths::relative(root, &path);
            included.extend(declarations(&tokens).into_iter().map(|it| (file.clone(), it)));
        }
        Self { own, included, words }
    }
}

/// The words, numbers and signs of a text in C++, without comments, texts and lines of the preprocessor.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut is_at_start = true;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") || first == '#' && is_at_start {
            end_of_line(rest)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |at| at + 4)
        } else if first == '"' || first == '\'' {
            end_of_literal(rest, first)
        } else if first.is_whitespace() {
            is_at_start |= first == '\n';
            first.len_utf8()
        } else {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            // What separates digits begins no text: `1'000`.
            let digits = &rest[..end];
            let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
            let end = match end {
                0 => first.len_utf8(),
                end if is_number && rest[end..].starts_with('\'') => {
                    rest.find(|c| !is_of_word(c) && c != '\'').unwrap_or(rest.len())
                }
                end => end,
            };
            let token = &rest[..end];
            is_at_start = false;
            if token == "R" && rest[end..].starts_with('"') {
                end + end_of_raw(&rest[end..])
            } else {
                tokens.push(token);
                end
            }
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    tokens
}

/// The end of a line that no backslash continues.
fn end_of_line(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            // The end itself starts a line.
            return end - usize::from(line.ends_with('\n'));
        }
    }
    end
}

fn end_of_literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            letter if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The end of `"delimiter( .. )delimiter"`.
fn end_of_raw(text: &str) -> usize {
    let Some(open) = text.find('(') else { return text.len() };
    let end = format!("){}\"", &text[1..open]);
    text[open..].find(&end).map_or(text.len(), |at| open + at + end.len())
}

/// The kernels that are declared.
fn declarations(tokens: &[&str]) -> Vec<Declaration> {
    let mut found = Vec::new();
    // What each open brace belongs to: a namespace has a name.
    let mut scopes: Vec<Option<String>> = Vec::new();
    let mut parameters: Option<Vec<String>> = None;
    let mut is_kernel = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let mut next = at + 1;
        match *token {
            "namespace" => {
                let mut names = Vec::new();
                while let Some(token) = tokens.get(next) {
                    next += 1;
                    match *token {
                        "{" => {
                            scopes.push(Some(names.join("::")).filter(|it| !it.is_empty()));
                            break;
                        }
                        "=" | ";" => break,
                        word if word.starts_with(is_of_word) && word != "inline" => {
                            names.push(word)
                        }
                        _ => {}
                    }
                }
            }
            "template" if tokens.get(next) == Some(&"<") => {
                let (list, end) = template_parameters(&tokens[next..]);
                parameters = Some(list);
                next += end;
            }
            "__global__" => is_kernel = true,
            "{" => {
                scopes.push(None);
                (parameters, is_kernel) = (None, false);
            }
            "}" => {
                scopes.pop();
                (parameters, is_kernel) = (None, false);
            }
            ";" => (parameters, is_kernel) = (None, false),
            "(" if is_kernel => {
                let name = tokens[at - 1];
                let end = at + end_of_brackets(&tokens[at..]);
                // `__launch_bounds__(256)`, and a macro before the name.
                let is_name = name.starts_with(is_of_word) && !name.starts_with("__");
                let is_behind =
                    tokens.get(end).is_some_and(|it| matches!(*it, "{" | ";" | "__attribute__"));
                if is_name && is_behind {
                    let scopes = scopes.iter().flatten().map(String::as_str);
                    let name = scopes.chain([name]).collect::<Vec<_>>().join("::");
                    let parameters = parameters.clone().filter(|list| !list.is_empty());
                    found.push(Declaration { name, parameters, token: at - 1 });
                }
                next = end;
            }
            _ => {}
        }
        at = next;
    }
    found
}

/// The place behind the bracket that closes the first one.
fn end_of_brackets(tokens: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The names of a template's parameters, of tokens that begin with `<`, and the place behind them. With one that has no
/// name, and with a pack, there are none that fit, and the names are made up.
fn template_parameters(tokens: &[&str]) -> (Vec<String>, usize) {
    let (mut names, mut last, mut is_default) = (Vec::new(), None, false);
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "<" | "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ">" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    names.extend(last);
                    return (names, at + 1);
                }
            }
            "," if depth == 1 => {
                names.push(last.take().unwrap_or_default());
                is_default = false;
            }
            "=" if depth == 1 => is_default = true,
            word if depth == 1 && !is_default && word.starts_with(is_of_word) => {
                last = Some(word.to_owned());
            }
            _ => {}
        }
    }
    (names, tokens.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Option<Vec<String>>)> {
        let declared = declarations(&tokens(text)).into_iter();
        declared.map(|it| (it.name, it.parameters)).collect()
    }

    #[test]
    fn kernels_are_found_with_namespaces_and_parameters() {
        let text = "
#define KERNEL(name) __global__ void name() { \\
}
// template <class T> __global__ void commented(T *) {}
/* __global__ void other() {} */ const char *text = \"__global__ void quoted() {}\";
const char *raw = R\"x(__global__ void raw() {} \" )x\"; int big = 1'000;
namespace a { inline namespace b { namespace {
template <typename T, int N = sizeof(T) * 2, Mode mode = Mode::A, template <class> class F>
static __global__ __launch_bounds__(N, 2) void scale(const T *x) { if (x) { N(1); } }
} } template <class T> __global__ void BOUNDS(256) again(T *x); }
namespace c::d { struct S { int x; }; template <bool B> __global__ void nested() {} }
namespace e = c::d;
__global__ void plain(float *x) {}
template <> __global__ void special<float>(float *x) {}
template __global__ void explicit_one<float>(float *);
template <class T> __device__ T helper(T x) { return x; }
extern \"C\" __global__ void c(int n) { helper(n); }
";
        let list =
            |names: &[&str]| Some(names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let expected = [
            ("a::b::scale", list(&["T", "N", "mode", "F"])),
            ("a::again", list(&["T"])),
            ("c::d::nested", list(&["B"])),
            ("plain", None),
            ("c", None),
        ];
        let expected = expected.map(|(name, parameters)| (name.to_owned(), parameters));
        assert_eq!(found(text), expected);
    }

    #[test]
    fn numbers_of_rust_are_those_of_cpp_unless_the_source_has_the_name() {
        let words = BTreeSet::from(["u32".to_owned()]);
        assert_eq!(
            in_cpp(" f32, Pair<u8,u32>, ns::f64, 3", &words),
            "float, Pair<unsigned char,u32>, ns::f64, 3"
        );
    }

    #[test]
    fn a_list_has_one_line_and_brackets_that_close() {
        for list in ["float", "Pair<int>, (1 > 2)", "<float>(float *, int)", "decltype(a->b)"] {
            assert!(is_list(list), "{list}");
        }
        for other in ["", " ", "float;", "float>", "float)", "(float", "a\nb", "a\\", "#x", "\"\""]
        {
            assert!(!is_list(other), "{other}");
        }
    }
}
