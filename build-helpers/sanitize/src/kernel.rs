//! Instrumentation of one kernel: chooses a check for each access, and notes what is not checked.

use std::collections::BTreeSet;

use kernelmill_compiler::plugin::{Kernel, Task, ir::Value, source_name};

use crate::{
    access::Access,
    bounds,
    memory::{Memories, Root, RootedAccess},
    names::{DYNAMIC, line, quoted},
    options::Options,
    races::Races,
    shadow::Shadows,
};

/// Adds the checks to a kernel, and notes the accesses and functions that are not checked.
pub(crate) fn instrument<'c>(
    task: &Task<'_, 'c>,
    options: Options,
    kernel: &Kernel<'c>,
    accesses: Vec<RootedAccess<'c>>,
    shadows: &Shadows<'c>,
) {
    let unchecked = unchecked_functions(kernel);
    let races = Races::new(task, options, kernel, shadows, &accesses, !unchecked.is_empty());
    let mut memories = Memories::new(task, kernel);
    let (mut checked, mut unknown) = (0, escapes_to_libraries(kernel, &memories));
    for RootedAccess { access, roots } in &accesses {
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
    for name in unchecked {
        task.note(
            &kernel.name,
            &format!("`{name}` is not checked: it is recursive, called by address, or assembly"),
        );
    }
    races.note(&accesses);
}

/// The lines at which library functions are passed memory whose accesses are otherwise checked.
fn escapes_to_libraries<'c>(
    kernel: &Kernel<'c>,
    memories: &Memories<'_, 'c>,
) -> BTreeSet<(String, u32)> {
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
        format!("accesses to memory of unknown size or in libraries are not checked: {places}");
    task.note(&kernel.name, &text);
}

/// Whether an access is one of a whole variable by its own address, which is always in bounds.
fn is_trivial<'c>(access: &Access<'c>, roots: &[Root<'c>]) -> bool {
    matches!(roots, [Root::Variable(variable)] if *variable == access.pointer)
}

/// The description of memory in an error, and the size of its elements.
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

/// The functions that a kernel calls and that are not instrumented: those of the source that could not
/// be inlined, those called by address, and assembly.
fn unchecked_functions(kernel: &Kernel<'_>) -> BTreeSet<String> {
    let calls = kernel.function.calls().into_iter();
    let unchecked = calls.filter_map(|call| match call.called_function() {
        Some(function) if function.is_declaration() => None,
        Some(function) => Some(source_name(&function.name())),
        None if call.inline_assembly().is_some() => Some("assembly".to_owned()),
        None => Some("a function that is called by address".to_owned()),
    });
    unchecked.collect()
}
