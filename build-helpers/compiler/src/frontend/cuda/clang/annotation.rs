//! What kernels in CUDA C++ say of their launches, where clang has no attribute for it: the headers
//! make annotations of it.

use kernelmill_artifact::LaunchLimits;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
};

/// The list of annotations: each a function, a text, a file, a line and the address of arguments.
const LIST: &str = "llvm.global.annotations";

/// The limits in a module's annotations, by the symbols of the functions they are of.
pub(super) fn limits(module: &Module<'_>) -> Vec<(String, LaunchLimits)> {
    let list = module.global(LIST).and_then(|list| list.initializer());
    let entries = list.into_iter().flat_map(Value::operands);
    entries.filter_map(entry).collect()
}

fn entry(entry: Value<'_>) -> Option<(String, LaunchLimits)> {
    let fields = entry.operands();
    let function = root(*fields.first()?);
    let text = root(*fields.get(1)?).initializer()?.as_bytes()?;
    let arguments = root(*fields.get(4)?);
    let numbers: Vec<u32> = arguments
        .is_global()
        .then(|| arguments.initializer())??
        .operands()
        .into_iter()
        .filter_map(|number| u32::try_from(number.as_u64()?).ok())
        .collect();
    let limits = match (text.strip_suffix(b"\0").unwrap_or(text), &*numbers) {
        (b"kernelmill.maxnreg", &[max_registers]) => {
            LaunchLimits { max_registers, ..LaunchLimits::NONE }
        }
        (b"kernelmill.cluster", &[x, y, z]) => {
            LaunchLimits { cluster: [x, y, z], ..LaunchLimits::NONE }
        }
        _ => return None,
    };
    Some((function.name(), limits))
}

/// The global or function behind casts.
fn root(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while value.is_constant_expression() {
        value = value.operand(0);
    }
    value
}
