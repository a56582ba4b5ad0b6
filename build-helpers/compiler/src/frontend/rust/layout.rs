//! Sizes and alignments as rustc compiled them, against those the signatures were read with.

use kernelmill_artifact::{Parameter, ParameterKind, Signature, ValueType};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

use crate::{Error, error::LayoutMismatch};

/// The static that the attribute `#[kernel]` adds: size and alignment of each parameter.
pub(crate) const LAYOUT_PREFIX: &str = "__kernelmill_layout_";

/// Compares the layouts in compiled modules with those in the signatures. LLVM must be open.
pub(crate) fn check(modules: &[Vec<u8>], signatures: &[Signature]) -> Result<(), Error> {
    let context = Context::create();
    for bitcode in modules {
        let module = parse_bitcode(&context, bitcode, "layouts")?;
        for signature in signatures {
            let name = format!("{LAYOUT_PREFIX}{}", signature.name);
            let Some(layout) = module.global(&name).and_then(|global| global.initializer()) else {
                continue;
            };
            let bytes = layout.as_bytes().map_or_else(
                // An array of zeros only, or of no elements, is no string in LLVM.
                || vec![0; 16 * signature.parameters.len()],
                <[u8]>::to_vec,
            );
            compare(signature, &bytes)?;
        }
    }
    Ok(())
}

/// Compares the parameters of one kernel with its layout static.
fn compare(signature: &Signature, bytes: &[u8]) -> Result<(), Error> {
    let number = |index: usize| {
        let bytes = bytes.get(8 * index..8 * index + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    };
    for (index, parameter) in signature.parameters.iter().enumerate() {
        let ty = crossing_type(parameter);
        let compiled = (number(2 * index), number(2 * index + 1));
        if compiled != (ty.size(), ty.align()) {
            return Err(Error::Layout(Box::new(LayoutMismatch {
                file: signature.file.to_string(),
                line: signature.line,
                kernel: signature.name.to_string(),
                parameter: parameter.name.to_string(),
                compiled,
                written: (ty.size(), ty.align()),
            })));
        }
    }
    Ok(())
}

/// The type whose bytes cross: of the value, or of an element.
fn crossing_type(parameter: &Parameter) -> &ValueType {
    match &parameter.kind {
        ParameterKind::Value(ty)
        | ParameterKind::Slice { element: ty, .. }
        | ParameterKind::Pointer { element: ty, .. } => ty,
    }
}
