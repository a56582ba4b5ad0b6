//! One kernel: what it accesses, and the checks that it gets.

use std::collections::BTreeSet;

use kernelmill_compiler::plugin::{
    Kernel, Task,
    ir::{ModuleExt, Place, Type, Value},
    source_name,
};

use crate::{
    access::{self, Access},
    bounds,
    memory::{Memories, Root},
    options::Options,
    races::Races,
    shadow::Shadows,
};

/// An access, and what its pointer can come from.
pub(crate) type Rooted<'c> = (Access<'c>, Vec<Root<'c>>);

/// An operation of kernelmill's that takes nothing and gives 32 bits, or nothing.
pub(crate) fn operation<'c>(task: &Task<'_, 'c>, name: &str) -> Value<'c> {
    let gives_nothing = ["barrier", "fence_block"].contains(&name);
    let result =
        if gives_nothing { Type::void(task.context()) } else { Type::int(task.context(), 32) };
    let function = task.module().declare(&format!("__kernelmill_{name}"), result.function(&[]));
    if name == "barrier" {
        function.add_attribute(task.context(), Place::Function, "convergent", 0);
    }
    function
}

/// The accesses of a kernel, with where their pointers come from.
pub(crate) fn accesses<'c>(task: &Task<'_, 'c>, kernel: &Kernel<'c>) -> Vec<Rooted<'c>> {
    let memories = Memories::new(task, kernel);
    let instructions = kernel.function.instructions().into_iter();
    let found = instructions.flat_map(|at| access::of(task, at));
    found.map(|access| (access, memories.roots(access.pointer))).collect()
}

/// Puts the checks into a kernel, and notes what is not checked.
pub(crate) fn instrument<'c>(
    task: &Task<'_, 'c>,
    options: Options,
    kernel: &Kernel<'c>,
    accesses: Vec<Rooted<'c>>,
    shadows: &Shadows<'c>,
) {
    let apart = functions_apart(kernel);
    let races = Races::new(task, options, kernel, (shadows, &accesses), !apart.is_empty());
    let mut memories = Memories::new(task, kernel);
    let (mut checked, mut unknown) = (0, given_away(kernel, &memories));
    for (access, roots) in &accesses {
        if is_trivial(access, roots) {
            continue;
        }
        let is_unknown = roots.is_empty() || roots.contains(&Root::Unknown);
        if is_unknown {
            unknown.insert(line(access.at));
        }
        if options.bounds && roots.iter().any(|root| *root != Root::Unknown) {
            let (name, element) = described(kernel, roots, access);
            let memory = memories.of(access.pointer);
            bounds::check(task, access, memory, &name, element);
            checked += usize::from(!is_unknown);
        }
        match roots.as_slice() {
            [Root::Shared(array)] => races.check(access, Some(*array)),
            [Root::Dynamic] => races.check(access, None),
            _ => {}
        }
    }
    if options.bounds {
        task.note(&kernel.name, &format!("{checked} accesses checked"));
        note_unchecked(task, kernel, &unknown);
    }
    for name in apart {
        task.note(
            &kernel.name,
            &format!("`{name}` is not checked: it is recursive, called by address, or assembly"),
        );
    }
    races.note(&accesses);
}

/// The lines at which functions of libraries are given memory that is checked elsewhere.
fn given_away<'c>(kernel: &Kernel<'c>, memories: &Memories<'_, 'c>) -> BTreeSet<(String, u32)> {
    let is_ours = |name: &str| {
        let known = ["llvm.", "__kernelmill_", "memcpy", "memmove", "memset"];
        known.iter().any(|start| name.starts_with(start))
    };
    let is_checked = |argument: &Value<'c>| {
        let of_others =
            |root: &Root<'c>| matches!(root, Root::Buffer(_) | Root::Shared(_) | Root::Dynamic);
        argument.ty().is_pointer() && memories.roots(*argument).iter().any(of_others)
    };
    let is_away = |call: &Value<'c>| {
        let library = call.called_function().filter(|it| it.is_declaration());
        library.is_some_and(|it| !is_ours(&it.name())) && call.arguments().iter().any(is_checked)
    };
    kernel.function.calls().into_iter().filter(is_away).map(line).collect()
}

fn note_unchecked(task: &Task<'_, '_>, kernel: &Kernel<'_>, unknown: &BTreeSet<(String, u32)>) {
    if unknown.is_empty() {
        return;
    }
    let places: Vec<_> = unknown.iter().map(|(file, line)| format!("{file}:{line}")).collect();
    let places = places.join(", ");
    let text =
        format!("accesses are not checked, of memory of unknown size or in libraries: {places}");
    task.note(&kernel.name, &text);
}

/// The file and the line that an instruction is of.
pub(crate) fn line(at: Value<'_>) -> (String, u32) {
    (at.debug_file().unwrap_or_default(), at.debug_line())
}

/// Whether an access is one of a whole variable by its own name.
fn is_trivial<'c>(access: &Access<'c>, roots: &[Root<'c>]) -> bool {
    matches!(roots, [Root::Variable(variable)] if *variable == access.pointer)
}

/// What the shared memory that the launch asks for is called.
pub(crate) const DYNAMIC: &str = "the dynamic shared memory";

/// What memory is called in an error, and the size of its elements.
fn described<'c>(kernel: &Kernel<'c>, roots: &[Root<'c>], access: &Access<'c>) -> (String, u64) {
    match roots {
        [Root::Buffer(index)] => {
            let buffer = &kernel.buffers[*index];
            (format!("`{}`", buffer.name), buffer.element)
        }
        [Root::Shared(global)] => (format!("the shared array{}", quoted(*global)), access.element),
        [Root::Variable(variable)] => {
            (format!("the variable{}", quoted(*variable)), access.element)
        }
        [Root::Dynamic] => (DYNAMIC.to_owned(), access.element),
        [Root::Call(_)] => ("the allocation".to_owned(), access.element),
        _ => ("the memory".to_owned(), access.element),
    }
}

/// The name of a variable in the source, in front of it a space; nothing where it has none.
pub(crate) fn quoted(variable: Value<'_>) -> String {
    let name = variable.name();
    let path = source_name(name.trim_end_matches(".shared"));
    let name = path.rsplit("::").next().unwrap_or(&path);
    if name.is_empty() { String::new() } else { format!(" `{name}`") }
}

/// The functions that a kernel calls that are no part of it, and are not known: those of the source
/// that could not be inlined, those it calls by address, and assembly.
fn functions_apart(kernel: &Kernel<'_>) -> BTreeSet<String> {
    let calls = kernel.function.calls().into_iter();
    let apart = calls.filter_map(|call| match call.called_function() {
        Some(function) if function.is_declaration() => None,
        Some(function) => Some(source_name(&function.name())),
        None if call.inline_assembly().is_some() => Some("assembly".to_owned()),
        None => Some("a function that is called by address".to_owned()),
    });
    apart.collect()
}
