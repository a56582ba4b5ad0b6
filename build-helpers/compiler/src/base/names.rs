//! Reserved symbols: the interface between the compiler, `kernelmill_device`, and what the attribute
//! `#[kernel]` generates. Every name starts with [`PREFIX`].

/// The start of every reserved name.
pub(crate) const PREFIX: &str = "__kernelmill_";

/// The start of a shim's name: the function `extern "C" fn __kernelmill_entry_NAME` that `#[kernel]`
/// generates for each kernel.
pub(crate) const SHIM_PREFIX: &str = "__kernelmill_entry_";

/// The end of the name of a shim in whose place another with other parameters is, which calls it.
pub(crate) const WRAPPED: &str = "_wrapped";

/// The start of a layout's name: the static that `#[kernel]` generates, with size and alignment of each
/// parameter.
pub(crate) const LAYOUT_PREFIX: &str = "__kernelmill_layout_";

/// The start of a deferred reference: what follows is the name of an external device function.
pub(crate) const DEFERRED: &str = "__kernelmill_deferred_";

/// The start of the symbol of a function marked `#[device_fn]`.
pub(crate) const EXPORTED: &str = "__kernelmill_exported_";

/// `fn(id: u64) -> *const ()` of the device crate: the function of a function table that has this number.
pub(crate) const FUNCTION: &str = "__kernelmill_function";

/// The start of a mathematical function's name in the device crate.
pub(crate) const MATH_PREFIX: &str = "__kernelmill_math_";

/// The barrier of a block.
pub(crate) const BARRIER: &str = "__kernelmill_barrier";

/// On [`BARRIER`]: warps may wait at different calls, which open together, as PTX has it.
pub(crate) const OF_WARPS: &str = "kernelmill-barrier-of-warps";

/// C's `printf`, as kernels in CUDA C++ call it. Each target has its own function for it.
pub(crate) const PRINT: &str = "__kernelmill_printf";

/// The function that returns the address of the memory that kernels print to.
pub(crate) const PRINT_MEMORY: &str = "__kernelmill_print_memory_address";

/// The attribute of a kernel that prints to that memory.
pub(crate) const PRINTS: &str = "kernelmill-prints";

/// `fn(number: u32, values: *const u64, count: usize, texts: u64)` of the device crate: sends the values of a line.
pub(crate) const PRINT_VALUES: &str = "__kernelmill_print_values";

/// The function that returns the address of the table of source locations.
pub(crate) const LOCATION_BASE: &str = "__kernelmill_location_base";

/// The function that returns the address of the record that a panic fills.
pub(crate) const PANIC_RECORD: &str = "__kernelmill_panic_record";

/// The attribute of a kernel that says which of its parameters is the address of that record.
pub(crate) const PANIC_RECORD_PARAMETER: &str = "kernelmill-panic-record";

/// The functions of the device crate that give the address of dynamic shared memory, and its bytes.
pub(crate) const DYNAMIC_SHARED: [&str; 2] =
    ["__kernelmill_dynamic_shared", "__kernelmill_dynamic_shared_bytes"];

/// The attribute of a kernel that says from which of its parameters on it is given both, where launches pass them.
pub(crate) const DYNAMIC_SHARED_PARAMETERS: &str = "kernelmill-dynamic-shared";

/// The attribute of a kernel that says which of its parameters is the address of its variables' memory, where launches pass
/// that.
pub(crate) const PROGRAM_MEMORY_PARAMETER: &str = "kernelmill-program-memory";

/// `fn()` of the device crate: the barrier of the grid.
pub(crate) const GRID_BARRIER: &str = "__kernelmill_grid_barrier";

/// The function that returns the address of what the blocks of a cooperative launch synchronise by.
pub(crate) const GRID_WORKSPACE: &str = "__kernelmill_grid_workspace";

/// The attribute of a kernel that needs a cooperative launch: it is given the address of that in the place of the panic
/// record's.
pub(crate) const COOPERATIVE: &str = "kernelmill-cooperative";

/// The start of the name of the function that stands for launch state from the stage of a plugin on until the state is
/// a parameter.
pub(crate) const STATE: &str = "__kernelmill_state_";

/// The attribute of a function of the host program, which the program's linker resolves.
pub(crate) const IMPORT: &str = "kernelmill-import";

/// `fn(kind: u32, a: u64, b: u64, location: usize) -> !` of the device crate.
pub(crate) const PANIC: &str = "__kernelmill_panic";
/// `fn(fmt::Arguments, &Location) -> !` of the device crate.
pub(crate) const PANIC_FMT: &str = "__kernelmill_panic_fmt";
/// `fn(kind: u32, values: *const u64, count: usize, location: usize) -> !` of the device crate.
pub(crate) const PANIC_VALUES: &str = "__kernelmill_panic_values";
/// `fn(kind: u32, values: *const u64, count: usize, texts: u64, location: usize) -> !` of the device
/// crate.
pub(crate) const PANIC_PARTS: &str = "__kernelmill_panic_parts";
/// `fn() -> !` of the device crate.
pub(crate) const PANIC_SILENT: &str = "__kernelmill_panic_silent";
/// `fn(text: *const u8, length: usize, location: usize) -> !` of the device crate.
pub(crate) const PANIC_TEXT: &str = "__kernelmill_panic_text";

/// `fn(array: *const u8)` of the device crate: marks where a block array changes its phase, behind the barrier.
pub(crate) const PHASE: &str = "__kernelmill_phase";

/// Whether this is the name of a function that records a panic.
pub(crate) fn is_panic(name: &str) -> bool {
    [PANIC, PANIC_FMT, PANIC_TEXT, PANIC_VALUES, PANIC_PARTS, PANIC_SILENT].contains(&name)
}
