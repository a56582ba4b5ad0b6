//! Signatures of kernels from the debug information in their compiled code.
//!
//! Debug information says what a kernel's parameters are in C++, whatever macros, templates and
//! headers they come from; the compiled code says which functions are kernels, how many bytes a
//! parameter takes and what blocks a kernel is made for. nvcc and clang differ in what they write:
//!
//! - nvcc writes DWARF 2, with the names of types and without their namespaces, and says no
//!   alignment. It names every field, and neither constructors nor what an `enum` is made of.
//! - clang writes namespaces, alignments, methods and underlying types.
//!
//! What is read here is the same from both.
//!
//! | in C++ | on the host |
//! | --- | --- |
//! | `bool`, integers, `float`, `double` | the Rust scalar of that size |
//! | `size_t`, `ptrdiff_t` | `usize`, `isize`, where the function names them so |
//! | `half`, `__nv_bfloat16` | `half::f16`, `half::bf16` |
//! | `const T*`, `T*` | elements that are read, elements that are written |
//! | `void*` | elements that are bytes |
//! | a pointer behind a pointer or in a struct | `u64`, a device address |
//! | `kernelmill::DeviceFn<float(float)>` | `DeviceFn<fn(f32) -> f32>` |
//! | a struct of such values, `float4` and its kin | a `#[repr(C)]` struct with the same fields |
//! | an `enum` | a struct around its integer, with a constant for each value |
//!
//! References, unions, bit fields, classes with constructors or virtual functions, and structs
//! that are only declared are obstacles; the other kernels of the file are not affected.

mod classes;
mod debug;
mod enums;
mod layout;
mod names;
mod ptx;
mod resolve;
mod types;

pub use resolve::{Clash, is_same_kernel, resolve_names};

pub use crate::diagnostic::SignatureError;

use super::source::CudaKernel;
use crate::base::names::EXPORTED;
use debug::{Debug, Node, NodeId};
use gimli::constants as dw;
use kernelmill_artifact::{DeviceFunction, Dimension, Parameter, Safety, Signature};
use ptx::{Entry, Ptx};
use std::collections::HashMap;
use types::{Refusal, Types};

/// Reads the kernels of a file from PTX with debug information, in the order of the source.
///
/// `display` is the file as people know it; kernels of headers have the header's path as the
/// compiler knows it.
///
/// # Errors
///
/// [`SignatureError`] where there is no debug information or it is damaged. A kernel whose
/// parameters cannot cross is no error: its [obstacles](CudaKernel::obstacles) say why.
pub fn read(ptx: &str, display: &str) -> Result<Vec<CudaKernel>, SignatureError> {
    Ok(find(ptx, display)?.into_iter().map(|found| found.kernel).collect())
}

/// As [`read`], for a compiler whose debug information does not say which classes have constructors,
/// which nvcc's does not. `compile` gets C++ to put behind the source, and compiles both as the source
/// was compiled; it is called where a kernel has a struct that it matters for. Where it gives
/// nothing, nothing is lost but the answer.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_with_classes(
    ptx: &str,
    display: &str,
    compile: impl FnOnce(&str) -> Option<String>,
) -> Result<Vec<CudaKernel>, SignatureError> {
    let mut found = find(ptx, display)?;
    if let Some(probe) = classes::probe(&found)
        && let Some(answer) = compile(&probe)
    {
        classes::apply(&mut found, &answer);
    }
    Ok(found.into_iter().map(|found| found.kernel).collect())
}

/// Reads the functions that the host can give to kernels from PTX with debug information, in the order
/// of the source. Their package is left empty.
///
/// # Errors
///
/// [`SignatureError`] where the debug information is damaged, and
/// [`SignatureError::Functions`] with every function that takes or returns what it cannot.
pub fn read_functions(ptx: &str, display: &str) -> Result<Vec<DeviceFunction>, SignatureError> {
    let malformed = |reason: String| SignatureError::Malformed { file: display.to_owned(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    let debug = Debug::read(&ptx.sections).map_err(|error| malformed(error.to_string()))?;
    let functions = Reader::new(&ptx, &debug, display).device_functions();
    functions.map_err(SignatureError::Functions)
}

/// A kernel, and the types of its parameters as C++ writes them.
struct Found {
    kernel: CudaKernel,
    types: Vec<String>,
}

fn find(ptx: &str, display: &str) -> Result<Vec<Found>, SignatureError> {
    let file = || display.to_owned();
    let malformed = |reason: String| SignatureError::Malformed { file: file(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    if ptx.entries.is_empty() {
        return Ok(Vec::new());
    }
    if ptx.sections.get(".debug_info").is_empty() {
        return Err(SignatureError::NoDebugInformation { file: file() });
    }
    let debug = Debug::read(&ptx.sections).map_err(|error| malformed(error.to_string()))?;
    Ok(Reader::new(&ptx, &debug, display).kernels())
}

/// The full name in C++ of a function with this name in compiled code.
///
/// ```
/// use kernelmill_compiler::frontend::cuda::signature::full_name;
/// assert_eq!(full_name("_ZN7filters5scaleIfEEvT_Pf"), "filters::scale<float>(float, float*)");
/// assert_eq!(full_name("saxpy"), "saxpy");
/// ```
#[must_use]
pub fn full_name(symbol: &str) -> String {
    names::function(symbol).full
}

/// Whether people may mean a function by a name: its name in C++ with or without its parameters,
/// spaces aside, or its name in compiled code.
///
/// ```
/// use kernelmill_compiler::frontend::cuda::signature::is_named;
/// let symbol = "_ZN7filters5scaleIfLi2EEEvT_Pf";
/// assert!(is_named(symbol, "filters::scale<float,2>"));
/// assert!(is_named(symbol, "filters::scale<float, 2>(float, float*)"));
/// assert!(!is_named(symbol, "scale<float, 2>"));
/// ```
#[must_use]
pub fn is_named(symbol: &str, name: &str) -> bool {
    let without_spaces = |text: &str| text.replace(' ', "");
    let (full, name) = (without_spaces(&full_name(symbol)), without_spaces(name));
    symbol == name
        || full.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

struct Reader<'a> {
    ptx: &'a Ptx,
    display: &'a str,
    functions: HashMap<&'a str, NodeId>,
    types: Types<'a>,
    debug: &'a Debug,
}

/// Where a kernel stands in the source, for sorting: those of the main file come first.
type Order = (bool, u64, u32);

/// What is wrong with a parameter, as a sentence.
fn cannot_cross(parameter: &str, ty: &str, refusal: &Refusal) -> String {
    let Refusal { reason, help } = refusal;
    format!(
        "the parameter `{parameter}` of type `{ty}` cannot cross from host to device, because its \
         type {reason}; {help}"
    )
}

impl<'a> Reader<'a> {
    fn new(ptx: &'a Ptx, debug: &'a Debug, display: &'a str) -> Self {
        Self { ptx, display, functions: debug.functions(), types: Types::new(debug), debug }
    }

    /// The functions that the host can give, or what is wrong with any of them.
    fn device_functions(&self) -> Result<Vec<DeviceFunction>, Vec<String>> {
        let (mut functions, mut faults) = (Vec::new(), Vec::new());
        for (symbol, id) in &self.functions {
            let Some(name) = symbol.strip_prefix(EXPORTED) else { continue };
            let node = self.debug.node(*id);
            let (order, file, line) = self.place(Some(node));
            match self.types.function(node) {
                Ok(ty) => {
                    let name = name.to_owned().into();
                    let file = file.into();
                    let function = DeviceFunction { package: "".into(), name, ty, file, line };
                    functions.push((order, function));
                }
                Err(Refusal { reason, help }) => {
                    let text =
                        format!("{file}:{line}: the device function `{name}` {reason}; {help}");
                    faults.push((order, text));
                }
            }
        }
        functions.sort_by_key(|(order, _)| *order);
        faults.sort();
        if faults.is_empty() {
            Ok(functions.into_iter().map(|(_, function)| function).collect())
        } else {
            Err(faults.into_iter().map(|(_, fault)| fault).collect())
        }
    }

    fn kernels(&self) -> Vec<Found> {
        let all = || self.ptx.entries.iter().map(|entry| self.kernel(entry)).collect::<Vec<_>>();
        let mut kernels = all();
        while self.types.learnt() {
            kernels = all();
        }
        kernels.sort_by_key(|(order, _)| *order);
        kernels.into_iter().map(|(_, found)| found).collect()
    }

    fn kernel(&self, entry: &Entry) -> (Order, Found) {
        let name = names::function(&entry.symbol);
        let node = self.functions.get(entry.symbol.as_str()).map(|id| self.debug.node(*id));
        let (order, file, line) = self.place(node);
        let mut signature = Signature {
            name: names::identifier(&name.plain).into(),
            symbol: entry.symbol.clone().into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: entry.limits,
            parameters: Vec::new().into(),
            file: file.into(),
            line,
        };
        let subject = format!("the kernel `{}`", name.full);
        let (mut obstacles, mut types) = (Vec::new(), Vec::new());
        let parameters = node.map(|node| {
            let children = node.children.iter().map(|id| self.debug.node(*id));
            children.filter(|it| it.tag == dw::DW_TAG_formal_parameter).collect::<Vec<_>>()
        });
        match parameters {
            Some(parameters) if parameters.len() == entry.parameters.len() => {
                let qualified = name.parameters.as_deref().unwrap_or_default();
                let read = parameters.iter().enumerate().map(|(index, parameter)| {
                    let qualified = qualified.get(index).map(String::as_str);
                    let ty = self.debug.said(parameter, |node| node.ty);
                    types.push(qualified.map_or_else(|| self.types.spell(ty), str::to_owned));
                    self.parameter(&signature.name, entry, index, parameter, qualified)
                });
                let read: Vec<_> = read.collect();
                let mut good = Vec::new();
                for parameter in read {
                    match parameter {
                        Ok(parameter) => good.push(parameter),
                        Err(text) => obstacles.push(format!("{subject}: {text}")),
                    }
                }
                signature.parameters = good.into();
            }
            _ => obstacles.push(format!(
                "{subject} has {} parameters, which its debug information does not describe: \
                 compile it without options that remove debug information",
                entry.parameters.len()
            )),
        }
        let kernel = CudaKernel { signature, full_name: name.full, obstacles };
        (order, Found { kernel, types })
    }

    /// One parameter, or why it cannot cross.
    fn parameter(
        &self,
        kernel: &str,
        entry: &Entry,
        index: usize,
        parameter: &Node,
        qualified: Option<&str>,
    ) -> Result<Parameter, String> {
        let name = self.debug.said(parameter, |node| node.name.as_deref());
        let name = name.map_or_else(|| format!("argument_{index}"), str::to_owned);
        let ty = self.debug.said(parameter, |node| node.ty);
        let slot = entry.parameters.get(index).copied();
        let hint = format!("{kernel}_{name}");
        // nvcc's debug information takes a pointer to a member for an integer.
        let kind = if qualified.is_some_and(|text| text.contains("::*")) {
            types::refuse("points to a member", "pass an offset")
        } else {
            self.types.parameter(ty, slot, &hint)
        };
        match kind {
            Ok(kind) => Ok(Parameter { name: name.into(), kind }),
            Err(refusal) => {
                let spelled = qualified.map_or_else(|| self.types.spell(ty), str::to_owned);
                Err(cannot_cross(&name, &spelled, &refusal))
            }
        }
    }

    /// Where a kernel is defined: its order, the file and the line.
    fn place(&self, node: Option<&Node>) -> (Order, String, u32) {
        let said =
            |what: fn(&Node) -> Option<u64>| node.and_then(|node| self.debug.said(node, what));
        let line = said(|node| node.line).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        let number = said(|node| node.file).unwrap_or(0);
        match self.ptx.files.get(&number) {
            Some(path) if !self.debug.main_files.contains(path) => {
                ((true, number, line), path.clone(), line)
            }
            _ => ((false, 0, line), self.display.to_owned(), line),
        }
    }
}
