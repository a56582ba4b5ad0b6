//! Type identity: the types of parameters as rustc has resolved them, compared with those that were
//! read from source text, before bindings are written from the latter.
//!
//! Text alone cannot tell which of two aliases a `#[cfg(..)]` keeps, or what a macro defines. rustc
//! can: its full debug information describes the parameters of every entry point that `#[kernel]` and
//! `#[device_fn]` generate, down to the fields of structs, private ones too. The front end has rustc
//! write it for the same source as text of LLVM, which takes about 50 ms and changes no code.
//!
//! - `debug_info` reads that text: [Source Level Debugging with LLVM].
//! - `compare` walks a type that was read and its description side by side.
//!
//! [Source Level Debugging with LLVM]: https://llvm.org/docs/SourceLevelDebugging.html

mod compare;
mod debug_info;

use kernelmill_artifact::{
    Access, DeviceFunction, Parameter, ParameterKind, Signature, ValueType, symbol,
};

use self::{
    compare::{Compared, Comparison, Mismatch, TensorMap, quoted},
    debug_info::{DebugInfo, NodeId},
};
use crate::{
    Error,
    base::names::{EXPORTED, SHIM_PREFIX},
    error::{HiddenKernel, TypeMismatch},
};

/// Compares the types in signatures with those in the debug information of the same source, as
/// rustc writes it into a module in LLVM's textual form with `-C debuginfo=full`.
///
/// Kernels and functions that the module does not have are passed over.
///
/// # Errors
///
/// [`Error::Types`] with every kernel and function that has a parameter of another type.
pub fn check_types(
    module: &str,
    signatures: &[Signature],
    functions: &[DeviceFunction],
) -> Result<(), Error> {
    let debug = DebugInfo::read(module);
    let kernels = signatures.iter().filter_map(|signature| kernel(&debug, signature));
    let functions = functions.iter().filter_map(|function| device_function(&debug, function));
    let mismatches: Vec<_> = kernels.chain(functions).collect();
    if mismatches.is_empty() { Ok(()) } else { Err(Error::Types(mismatches)) }
}

/// Looks in the debug information of a source for kernels that have no signature: those that macros of other crates write,
/// which no text of the source has.
///
/// # Errors
///
/// [`Error::HiddenKernels`] with every such kernel.
pub fn check_all_read(
    module: &str,
    signatures: &[Signature],
    source_name: &str,
) -> Result<(), Error> {
    let debug = DebugInfo::read(module);
    let mut hidden = Vec::new();
    for name in debug.names() {
        let Some(kernel) = name.strip_prefix(SHIM_PREFIX) else { continue };
        if signatures.iter().all(|signature| signature.symbol != kernel) {
            hidden.push(HiddenKernel {
                source_name: source_name.to_owned(),
                kernel: kernel.to_owned(),
                place: debug.place(name),
            });
        }
    }
    hidden.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    if hidden.is_empty() { Ok(()) } else { Err(Error::HiddenKernels(hidden)) }
}

/// The first parameter of a kernel that has another type.
fn kernel(debug: &DebugInfo<'_>, signature: &Signature) -> Option<TypeMismatch> {
    let entry = debug.subprogram(&format!("{SHIM_PREFIX}{}", signature.symbol))?;
    let (_, types) = debug.function_type(entry);
    let parameters = EntryParameters { debug, types, next: 0 };
    let (parameter, mismatch) = parameters.compare(signature.parameters()).err()?;
    Some(TypeMismatch {
        file: signature.file.to_string(),
        line: signature.line,
        what: format!("kernel `{}`", signature.name),
        part: mismatch.part(&format!("parameter `{parameter}`")),
        compiled: mismatch.compiled,
        read: mismatch.read,
    })
}

/// The first difference between the type of a function that the host can give and its description.
fn device_function(debug: &DebugInfo<'_>, function: &DeviceFunction) -> Option<TypeMismatch> {
    let entry = debug.subprogram(&format!("{EXPORTED}{}", symbol(&function.name)))?;
    let mismatch = Comparison { debug }.function(&function.ty, entry).err()?;
    Some(TypeMismatch {
        file: function.file.to_string(),
        line: function.line,
        what: format!("device function `{}`", function.name),
        part: mismatch.part("a parameter or the result"),
        compiled: mismatch.compiled,
        read: mismatch.read,
    })
}

/// What an entry point has for a slice: an address, what lies there, and whether a length follows.
struct Slice {
    ty: NodeId,
    pointee: NodeId,
    is_length: bool,
}

/// The parameters of an entry point, which are taken one after the other.
struct EntryParameters<'a> {
    debug: &'a DebugInfo<'a>,
    types: Vec<Option<NodeId>>,
    next: usize,
}

impl EntryParameters<'_> {
    /// Compares them with the parameters of a signature; an error has the name of one of those.
    fn compare(mut self, parameters: &[Parameter]) -> Result<(), (String, Mismatch)> {
        for parameter in parameters {
            self.one(&parameter.kind).map_err(|mismatch| (parameter.name.to_string(), mismatch))?;
        }
        self.skip_empty();
        match self.take() {
            None => Ok(()),
            Some(more) => {
                let compiled = self.debug.spell(Some(more));
                Err((
                    "…".to_owned(),
                    Mismatch::new("no such parameter".to_owned(), quoted(&compiled)),
                ))
            }
        }
    }

    fn one(&mut self, kind: &ParameterKind) -> Compared {
        self.skip_empty();
        let comparison = Comparison { debug: self.debug };
        let Some(ty) = self.take() else {
            return Err(Mismatch::new(quoted(&kind.to_string()), "no such parameter".to_owned()));
        };
        let pointee = self.debug.pointee(ty);
        match (kind, pointee) {
            (ParameterKind::Value(value), _) => comparison.value(value, pointee.unwrap_or(ty)),
            (ParameterKind::Slice { element, access }, Some(pointee)) => {
                let is_length = self.take().is_some_and(|it| self.debug.is_basic(it, "usize"));
                let compiled = Slice { ty, pointee, is_length };
                self.slice(kind, element, *access, compiled)
            }
            (ParameterKind::TensorMap { element, rank, access }, Some(pointee)) => comparison
                .tensor_map(kind, TensorMap { element, rank: *rank, access: *access }, pointee),
            (kind, _) => Err(Mismatch::of_types(kind, &self.debug.spell(Some(ty)))),
        }
    }

    /// Compares a slice. Elements that are written lie behind a mutable pointer or are atomics.
    fn slice(
        &self,
        kind: &ParameterKind,
        element: &ValueType,
        access: Access,
        compiled: Slice,
    ) -> Compared {
        let is_written = access == Access::Write;
        let is_mutable = self.debug.name(compiled.ty).starts_with("*mut ");
        let atomic = self.debug.atomic(compiled.pointee).filter(|_| is_written);
        if compiled.is_length && atomic.is_some_and(|it| *element == ValueType::Scalar(it)) {
            return Ok(());
        }
        if compiled.is_length && is_mutable == is_written {
            return Comparison { debug: self.debug }.value(element, compiled.pointee);
        }
        let name = self.debug.spell(Some(compiled.pointee));
        let compiled = match (compiled.is_length, is_mutable) {
            (true, false) => format!("&[{name}]"),
            (true, true) => format!("DisjointSlice<{name}>"),
            (false, _) => name,
        };
        Err(Mismatch::of_types(kind, &compiled))
    }

    fn take(&mut self) -> Option<NodeId> {
        let ty = self.types.get(self.next).copied().flatten();
        self.next += 1;
        ty
    }

    /// Passes over addresses of values without bytes that everybody can make, which no signature has.
    fn skip_empty(&mut self) {
        let is_empty = |it| self.debug.size(it) == 0 && self.debug.is_open(it);
        while let Some(Some(ty)) = self.types.get(self.next)
            && self.debug.pointee(*ty).is_some_and(is_empty)
        {
            self.next += 1;
        }
    }
}
