//! Static shared memory in PTX that nvcc wrote. nvcc assembles cubins, and ptxas refuses there what a block cannot
//! have; PTX is assembled by the driver, where one kernel too large takes the whole file down.
//!
//! nvcc declares an array inside of the kernel that uses it, and at module level where several functions do
//! ([PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/), `.shared`).

use std::collections::HashMap;

/// An array of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedArray {
    pub(crate) symbol: String,
    pub(crate) bytes: u64,
}

/// The arrays that each kernel declares or names, by the symbol of the kernel.
pub(crate) fn of_kernels(ptx: &str) -> HashMap<String, Vec<SharedArray>> {
    let mut of_module: Vec<SharedArray> = Vec::new();
    let mut kernels: HashMap<String, Vec<SharedArray>> = HashMap::new();
    let mut scope = Scope::Module;
    for line in ptx.lines() {
        let code = line.trim_start();
        scope = match scope {
            Scope::Module => match entry(code) {
                Some(name) => Scope::Kernel(name.to_owned()),
                None if code.contains(".func ") && !code.ends_with(';') => Scope::Function,
                None => {
                    of_module.extend(declared(code));
                    Scope::Module
                }
            },
            Scope::Kernel(_) | Scope::Function if line.starts_with('}') => Scope::Module,
            Scope::Function => Scope::Function,
            Scope::Kernel(name) => {
                let arrays = kernels.entry(name.clone()).or_default();
                arrays.extend(declared(code));
                let named = of_module.iter().filter(|array| names(code, &array.symbol));
                let new: Vec<_> = named.filter(|array| !arrays.contains(array)).cloned().collect();
                arrays.extend(new);
                Scope::Kernel(name)
            }
        };
    }
    kernels
}

/// Where a line stands.
enum Scope {
    Module,
    Function,
    /// The body of a kernel, by its symbol.
    Kernel(String),
}

/// The kernel that a line begins.
fn entry(code: &str) -> Option<&str> {
    let (_, rest) = code.split_once(".entry ")?;
    rest.trim_start().split(['(', ' ', '\t']).next().filter(|name| !name.is_empty())
}

/// The array that a line declares: `.shared .align 4 .b8 name[64];`. Dynamic shared memory has no size.
fn declared(code: &str) -> Option<SharedArray> {
    let rest = code.strip_prefix(".shared")?.strip_suffix(';')?;
    let (types, name) = rest.rsplit_once(|letter: char| letter.is_ascii_whitespace())?;
    let element: u64 =
        types.rsplit_once('.')?.1.trim_start_matches(char::is_alphabetic).parse().ok()?;
    let (symbol, count) = match name.split_once('[') {
        Some((symbol, count)) => (symbol, count.strip_suffix(']')?.parse().ok()?),
        None => (name, 1_u64),
    };
    Some(SharedArray { symbol: symbol.to_owned(), bytes: count.checked_mul(element / 8)? })
}

/// Whether a line has a symbol in it.
fn names(code: &str, symbol: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$';
    code.split(|letter| !is_part(letter)).any(|word| word == symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_belong_to_the_kernels_that_declare_or_name_them() {
        let ptx = "\
.version 9.0
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 both[1024];
.shared .align 8 .u64 word;
.func  (.param .b32 r) helper(
\t.param .b32 x
)
{
\tmov.u64 %rd1, both;
}
.visible .entry first(
\t.param .u64 p
)
{
\t.shared .align 1 .b8 _ZZ1kPiiE1a[4294967296];
\tmov.u64 %rd1, both;
\tst.shared.u64 [both+8], %rd1;
}
.visible .entry second()
.maxntid 32
{
\tmov.u64 %rd1, word;
\tmov.u64 %rd1, both_and_more;
}
.entry third()
{
}
";
        let array = |symbol: &str, bytes| SharedArray { symbol: symbol.to_owned(), bytes };
        let found = of_kernels(ptx);
        assert_eq!(found["first"], [array("_ZZ1kPiiE1a", 1 << 32), array("both", 1024)]);
        assert_eq!(found["second"], [array("word", 8)]);
        assert!(found.get("third").is_none_or(Vec::is_empty));
        assert_eq!(found.len() - usize::from(found.contains_key("third")), 2);
    }
}
