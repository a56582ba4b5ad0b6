//! The buffers of a function in Rust: one for each pointer that the host's function allocates and passes to kernels.

use super::{
    expression::Expression,
    host::Host,
    names::identifier,
    scope::Scope,
    text::{line_of, split, words},
};

/// A buffer.
pub(super) struct Buffer {
    /// The pointer of the program; none of an argument that is none.
    pointer: Option<String>,
    pub(super) name: String,
    element: String,
    pub(super) is_mutable: bool,
    /// The statements that make it, without `let` and its name.
    comments: Vec<String>,
    value: String,
    /// Whether the program copies it to the host.
    pub(super) is_result: bool,
}

impl Buffer {
    fn text(&self) -> String {
        let comments: String = self.comments.iter().map(|it| format!("    {it}\n")).collect();
        let mutable = if self.is_mutable { "mut " } else { "" };
        format!("{comments}    let {mutable}{} = {};\n", self.name, self.value)
    }
}

/// A pointer that a launch passes.
pub(super) struct Passed<'a> {
    /// The kernel's parameter.
    pub(super) parameter: &'a str,
    pub(super) given: Option<&'a str>,
    pub(super) element: String,
    pub(super) is_mutable: bool,
}

/// The buffers of a function.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) all: Vec<Buffer>,
    /// The arrays of the host that they begin with.
    arrays: Vec<Array>,
}

/// An array of the host.
struct Array {
    name: String,
    element: String,
    rust: String,
    /// Its declaration.
    text: String,
}

impl Buffers {
    /// The declarations: arrays first, so that their values can be written in one place.
    pub(super) fn text(&self) -> String {
        let arrays = self.arrays.iter().map(|it| it.text.clone());
        arrays.chain(self.all.iter().map(Buffer::text)).collect()
    }

    /// The place of the buffer for a pointer; `used` are those of the same launch, with whether it writes them.
    pub(super) fn of(
        &mut self,
        passed: &Passed<'_>,
        used: &[(usize, bool)],
        scope: &mut Scope<'_>,
    ) -> usize {
        let pointer = passed.given.and_then(pointer);
        let known = self.all.iter().position(|it| {
            pointer.is_some() && it.pointer.as_deref() == pointer && it.element == passed.element
        });
        let conflict = known.and_then(|known| used.iter().find(|(place, _)| *place == known));
        let is_conflict = conflict.is_some_and(|(_, written)| *written || passed.is_mutable);
        if let Some(known) = known.filter(|_| !is_conflict) {
            self.all[known].is_mutable |= passed.is_mutable;
            return known;
        }
        let mut buffer = self.new_buffer(passed, pointer.filter(|_| !is_conflict), scope);
        if is_conflict {
            buffer.comments.push(format!(
                "// TODO: the program passes `{}` twice in a launch that writes it, which safe Rust has no arguments for.",
                passed.given.unwrap_or_default()
            ));
        }
        self.all.push(buffer);
        self.all.len() - 1
    }

    /// The buffer of a pointer.
    fn named(&self, text: &str) -> Option<&Buffer> {
        let name = pointer(text);
        self.all.iter().find(|it| name.is_some() && it.pointer.as_deref() == name)
    }

    /// Whether a statement of the host is done: it copies an array that its buffer begins with, or declares a pointer.
    pub(super) fn is_done(&self, statement: &str) -> bool {
        if let Some(arguments) = arguments(statement, "cudaMemcpy") {
            let [to, from, _, kind] = &arguments[..] else { return false };
            let is_upload = self.named(to).is_some_and(|it| it.value.starts_with("device.upload"));
            return is_upload && kind.ends_with("HostToDevice") && pointer(from).is_some();
        }
        let declared = super::declared::declared(statement, 0);
        !declared.is_empty()
            && declared.iter().all(|it| {
                !it.is_single
                    && it.value.as_deref().is_none_or(|it| ["NULL", "nullptr", "0"].contains(&it))
                    && self.named(&it.name).is_some()
            })
    }

    /// What a statement of the host is in Rust.
    pub(super) fn in_rust(&self, statement: &str) -> Option<String> {
        if let Some(arguments) = arguments(statement, "cudaMemset") {
            let [to, value, _] = &arguments[..] else { return None };
            let name = &self.named(to)?.name;
            return (value == "0").then(|| format!("{name}.fill_zeros(&stream)?;"));
        }
        if let Some(arguments) = arguments(statement, "swap") {
            let [a, b] = &arguments[..] else { return None };
            let (a, b) = (&self.named(a)?.name, &self.named(b)?.name);
            return Some(format!("std::mem::swap(&mut {a}, &mut {b});"));
        }
        let arguments = arguments(statement, "cudaMemcpy")?;
        let [to, from, _, kind] = &arguments[..] else { return None };
        let local = |text: &str| identifier(text, &mut std::collections::BTreeSet::new());
        let one = |text: &str| {
            text.strip_prefix('&').map(str::trim).filter(|it| words(it) == [*it]).map(local)
        };
        if kind.ends_with("DeviceToHost") {
            let name = &self.named(from)?.name;
            return match one(to) {
                Some(to) => Some(format!("{to} = {name}.download()?[0];")),
                None => Some(format!("{} = {name}.download()?;", local(pointer(to)?))),
            };
        }
        let name = &self.named(to)?.name;
        if kind.ends_with("DeviceToDevice") {
            return Some(format!(
                "{name}.copy_from_buffer(&stream, &{})?;",
                self.named(from)?.name
            ));
        }
        match one(from) {
            Some(from) => Some(format!("{name}.copy_from(&[{from}])?;")),
            None => Some(format!("{name}.copy_from(&{})?;", local(pointer(from)?))),
        }
    }

    fn new_buffer(
        &mut self,
        passed: &Passed<'_>,
        pointer: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Buffer {
        let Passed { parameter, given, element, is_mutable } = passed;
        let (mut comments, mut is_result) = (Vec::new(), false);
        let allocation = pointer.and_then(|pointer| allocation(scope, pointer));
        let length = allocation.as_ref().and_then(|it| {
            let size = it.size.as_deref().filter(|_| it.is_own || !has_variables(scope, it))?;
            length(scope, size, element)
        });
        let what = match given {
            Some(given) => format!("`{parameter}`: the program passes `{given}`"),
            None => format!("`{parameter}`"),
        };
        let of = allocation.as_ref().map_or(String::new(), |it| format!(", of `{}`", it.text));
        let filled = length.is_none();
        let length =
            length.unwrap_or_else(|| format!("fill_in({:?})", format!("elements of {what}{of}")));
        if let Some(Allocation { text, line: Some(line), .. }) = &allocation {
            comments.push(format!("// Line {line}: {text}."));
        }
        let copies = scope.host.zip(pointer).map(|(host, pointer)| copies(host, pointer));
        let (mut value, mut array) = (format!("device.zeros::<{element}>({length})?"), None);
        if let Some(Copies { to_device, is_read }) = copies {
            is_result = is_read;
            array = to_device;
        }
        if let Some((array, line)) = array {
            let is_it = |it: &&Array| it.name == array && it.element == *element;
            let rust = match self.arrays.iter().find(is_it) {
                Some(known) => known.rust.clone(),
                None => {
                    let rust = identifier(&array, &mut scope.taken);
                    let what = format!("`{array}`, which line {line} copies to the device");
                    let fill = match filled {
                        true => format!("fill_in({what:?})"),
                        false => format!("fill_in_values({length}, {what:?})"),
                    };
                    self.arrays.push(Array {
                        text: format!("    let {rust}: Vec<{element}> = {fill};\n"),
                        name: array,
                        element: element.clone(),
                        rust: rust.clone(),
                    });
                    rust
                }
            };
            value = format!("device.upload(&{rust})?");
        }
        Buffer {
            pointer: pointer.map(str::to_owned),
            name: identifier(pointer.unwrap_or(parameter), &mut scope.taken),
            element: element.clone(),
            is_mutable: *is_mutable,
            comments,
            value,
            is_result,
        }
    }
}

/// The arguments of a call in a statement.
fn arguments(statement: &str, function: &str) -> Option<Vec<String>> {
    let (_, rest) = statement.split_once(function)?;
    let rest = rest.trim_start();
    let close = rest.starts_with('(').then(|| super::text::closing(rest, 0)).flatten()?;
    Some(split(&rest[1..close]))
}

/// The pointer that an argument of a launch is, without a cast.
fn pointer(given: &str) -> Option<&str> {
    let name = match given.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((ty, rest)) if ty.ends_with('*') => rest.trim(),
        _ => given,
    };
    let name = name.strip_suffix(".data()").unwrap_or(name);
    let is_none = ["NULL", "nullptr"].contains(&name) || name.starts_with(|c: char| c.is_numeric());
    (words(name) == [name] && !is_none).then_some(name)
}

/// The call that allocates what a pointer points to.
struct Allocation {
    text: String,
    /// Of the host's function that launches.
    line: Option<usize>,
    is_own: bool,
    size: Option<String>,
}

fn allocation(scope: &Scope<'_>, name: &str) -> Option<Allocation> {
    let own = scope.host.into_iter();
    let others = scope.port.hosts.iter().filter(|it| {
        scope.host.is_none_or(|own| (own.source, own.range.start) != (it.source, it.range.start))
    });
    own.map(|it| (it, true)).chain(others.map(|it| (it, false))).find_map(|(host, is_own)| {
        let calls = host.code.match_indices("cudaMalloc");
        calls.into_iter().find_map(|(at, _)| {
            let call = host.code[at..].split(';').next()?;
            let open = call.find('(')?;
            let close = super::text::closing(call, open)?;
            let arguments = split(&call[open + 1..close]);
            if !words(arguments.first()?).contains(&name) {
                return None;
            }
            let plain = ["cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost"];
            let is_plain = plain.contains(&call[..open].trim());
            let text = call[..=close].split_whitespace().collect::<Vec<_>>().join(" ");
            let line = is_own.then(|| host.first_line + line_of(&host.code, at) - 1);
            let size = arguments.get(1).filter(|_| is_plain).cloned();
            Some(Allocation { text, line, is_own, size })
        })
    })
}

/// Whether the size of an allocation in another function has names that mean something else here.
fn has_variables(scope: &Scope<'_>, allocation: &Allocation) -> bool {
    let size = allocation.size.as_deref().unwrap_or_default();
    let text = size.replace("sizeof", "");
    let names = words(&text).into_iter().filter(|it| {
        let is_known = super::names::rust_type(it).is_some() || scope.port.is_type(it);
        !is_known && !it.starts_with(|c: char| c.is_ascii_digit())
    });
    let mut names = names.filter(|it| super::names::rust_type(&scope.port.aliased(it)).is_none());
    names.any(|it| scope.port.number_of(it, None, 0).is_none())
}

/// How many elements an allocation of so many bytes has.
fn length(scope: &mut Scope<'_>, bytes: &str, element: &str) -> Option<String> {
    let mut read = Expression::read(bytes, &|name| scope.port.macros.function(name))?;
    // Of `size_t bytes = n * sizeof(float)` it is `n`.
    if let Expression::Name(name) = &read
        && let Some((host, variable)) = scope.host.and_then(|it| Some((it, it.variable(name)?)))
        && let Ok(value) = host.value(variable)
        && let Some(product) = Expression::read(&value, &|name| scope.port.macros.function(name))
        && matches!(product, Expression::Binary("*", ..) | Expression::SizeOf(_))
    {
        read = product;
    }
    let mut factors = Vec::new();
    flatten(&read, &mut factors);
    let size = factors.iter().position(|it| match it {
        Expression::SizeOf(ty) => expression_type(scope, ty).as_deref() == Some(element),
        _ => false,
    });
    let Some(size) = size else {
        let bytes = scope.written(&read, "usize")?;
        let is_name = bytes.chars().all(super::names::is_word);
        let bytes = if is_name { bytes } else { format!("({bytes})") };
        return Some(format!("{bytes} / size_of::<{element}>()"));
    };
    factors.remove(size);
    let product = factors.into_iter().reduce(|a, b| Expression::Binary("*", a.into(), b.into()));
    scope.written(&product.unwrap_or(Expression::Integer(1)), "usize")
}

fn expression_type(scope: &mut Scope<'_>, ty: &str) -> Option<String> {
    super::expression::Names::ty(scope, ty)
}

/// The factors of a product.
fn flatten(it: &Expression, factors: &mut Vec<Expression>) {
    match it {
        Expression::Binary("*", a, b) => {
            flatten(a, factors);
            flatten(b, factors);
        }
        other => factors.push(other.clone()),
    }
}

/// The copies between the host and what a pointer points to.
struct Copies {
    /// The array that is copied to it first, with the line.
    to_device: Option<(String, usize)>,
    is_read: bool,
}

fn copies(host: &Host, pointer: &str) -> Copies {
    let mut found = Copies { to_device: None, is_read: false };
    for (at, arguments) in host.calls("cudaMemcpy").chain(host.calls("cudaMemcpyAsync")) {
        let [to, from, _, kind, ..] = &arguments[..] else { continue };
        if kind.ends_with("HostToDevice") && self::pointer(to) == Some(pointer) {
            let array = self::pointer(from).map(str::to_owned);
            let line = host.first_line + line_of(&host.code, at) - 1;
            found.to_device = found.to_device.or(array.map(|array| (array, line)));
        }
        found.is_read |= kind.ends_with("DeviceToHost") && self::pointer(from) == Some(pointer);
    }
    found
}
