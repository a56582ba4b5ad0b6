//! Names of memory and source locations, as messages show them.

use kernelmill_compiler::plugin::{ir::Value, source_name};

/// The description of the dynamic shared memory.
pub(crate) const DYNAMIC: &str = "the dynamic shared memory";

/// The source file and line of an instruction.
pub(crate) fn line(at: Value<'_>) -> (String, u32) {
    (at.debug_file().unwrap_or_default(), at.debug_line())
}

/// The name of a variable in the source with a space in front; empty where it has none.
pub(crate) fn quoted(variable: Value<'_>) -> String {
    let name = variable.name();
    let path = source_name(name.trim_end_matches(".shared"));
    let name = path.rsplit("::").next().unwrap_or(&path);
    if name.is_empty() { String::new() } else { format!(" `{name}`") }
}
