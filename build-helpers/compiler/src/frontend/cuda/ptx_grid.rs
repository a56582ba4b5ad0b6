//! Barriers of the grid in PTX that nvcc or a person wrote: which kernels need a cooperative launch.
//!
//! The headers of CUDA take the address of the memory that the driver gives to a cooperative launch from the environment
//! registers 1 and 2 (`cooperative_groups/details/driver_abi.h`), and nothing else does
//! ([PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/), `%envreg<32>`).

use std::collections::HashMap;

/// Where a kernel reads the high half of the address.
const REGISTER: &str = "%envreg1";

/// What is known of a function.
#[derive(Default)]
struct Function {
    is_kernel: bool,
    waits: bool,
    /// The words of its body, among them the functions that it calls.
    words: Vec<String>,
}

/// The kernels that wait for other blocks, themselves or in functions that they call, by their symbols and sorted.
pub(crate) fn cooperative_kernels(ptx: &str) -> Vec<String> {
    if !ptx.contains(REGISTER) {
        return Vec::new();
    }
    let mut functions = functions(ptx);
    loop {
        let waiting: Vec<_> =
            functions.iter().filter(|(_, it)| it.waits).map(|(name, _)| name.clone()).collect();
        let calls_one = |it: &Function| it.words.iter().any(|word| waiting.contains(word));
        let found = functions.values_mut().filter(|it| !it.waits && calls_one(it));
        if found.map(|it| it.waits = true).count() == 0 {
            break;
        }
    }
    let kernels = functions.into_iter().filter(|(_, it)| it.is_kernel && it.waits);
    let mut kernels: Vec<_> = kernels.map(|(name, _)| name).collect();
    kernels.sort();
    kernels
}

/// The functions with a body, by their symbols.
fn functions(ptx: &str) -> HashMap<String, Function> {
    let mut functions: HashMap<String, Function> = HashMap::new();
    let (mut current, mut depth) = (None::<String>, 0_usize);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_$%".contains(letter);
    for line in ptx.lines() {
        let code = line.split("//").next().unwrap_or_default();
        if depth == 0
            && let Some((name, is_kernel)) = begun(code)
        {
            functions.entry(name.clone()).or_default().is_kernel = is_kernel;
            current = Some(name);
        }
        if let Some(function) = current.as_ref().and_then(|name| functions.get_mut(name)) {
            let words = code.split(|letter| !is_part(letter)).filter(|word| !word.is_empty());
            for word in words {
                function.waits |= word == REGISTER;
                function.words.push(word.to_owned());
            }
        }
        depth += code.matches('{').count();
        depth = depth.saturating_sub(code.matches('}').count());
        let is_over = code.contains('}') || code.trim_end().ends_with(';');
        if depth == 0 && is_over {
            current = None;
        }
    }
    functions
}

/// The function that a line begins, and whether it is a kernel.
fn begun(code: &str) -> Option<(String, bool)> {
    let after = |mark: &str| code.split_once(mark).map(|(_, rest)| rest.trim_start());
    let (rest, is_kernel) = match after(".entry") {
        Some(rest) => (rest, true),
        None => (after(".func")?, false),
    };
    // What a function returns comes before its name.
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let name = rest.split(['(', ' ', '\t', '\n', ';', '{']).next()?;
    (!name.is_empty()).then(|| (name.to_owned(), is_kernel))
}

#[cfg(test)]
mod tests {
    use super::cooperative_kernels;

    #[test]
    fn kernels_wait_by_themselves_or_in_functions() {
        let ptx = "\
.version 9.0
.func  (.param .b32 r) meet(
\t.param .b32 x
)
;
.visible .entry direct(
\t.param .u64 p
)
{
\tmov.u32 %r4, %envreg2;
\t{ mov.u32 %r5, %envreg1; }
\tret;
}
.visible .entry through()
.maxntid 32
{
\tcall.uni (retval0), outer, (param0);
}
.func outer() { call.uni meet; }
.func  (.param .b32 r) meet(
\t.param .b32 x
)
{
\tmov.u32 %r5, %envreg1;
}
.visible .entry other()
{
\t// %envreg1
\tmov.u32 %r5, %envreg10;
}
";
        assert_eq!(cooperative_kernels(ptx), ["direct", "through"]);
        assert!(cooperative_kernels(&ptx.replace("%envreg1;", "%tid.x;")).is_empty());
    }
}
