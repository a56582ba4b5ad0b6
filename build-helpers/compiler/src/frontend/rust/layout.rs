//! Sizes and alignments as rustc compiled them, against those the signatures were read with.

use kernelmill_artifact::{Parameter, ParameterKind, Signature, TensorMapData};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

use crate::{
    Error, base::names::LAYOUT_PREFIX, error::LayoutMismatch, passes::parameters::layout_entries,
};

/// Compares the layouts in compiled modules with those in the signatures. LLVM must be open.
pub(crate) fn check(modules: &[Vec<u8>], signatures: &[Signature]) -> Result<(), Error> {
    let context = Context::create();
    for bitcode in modules {
        let module = parse_bitcode(&context, bitcode, "layouts")?;
        for signature in signatures {
            let name = format!("{LAYOUT_PREFIX}{}", signature.symbol);
            let Some(layout) = module.global(&name).and_then(|global| global.initializer()) else {
                continue;
            };
            compare(signature, &layout_entries(layout))?;
        }
    }
    Ok(())
}

/// Compares the parameters of one kernel with its layout static. Those without bytes are not in the
/// signature.
fn compare(signature: &Signature, entries: &[(u64, u64)]) -> Result<(), Error> {
    let mut with_bytes = entries.iter().copied().filter(|(size, _)| *size > 0);
    for parameter in signature.parameters.iter() {
        let written = layout(parameter);
        let compiled = with_bytes.next().unwrap_or_default();
        if compiled != written {
            return Err(Error::Layout(Box::new(LayoutMismatch {
                file: signature.file.to_string(),
                line: signature.line,
                kernel: signature.name.to_string(),
                parameter: parameter.name.to_string(),
                compiled,
                written,
            })));
        }
    }
    Ok(())
}

/// Size and alignment of what crosses: of the value, of an element, or of a tensor map.
fn layout(parameter: &Parameter) -> (u64, u64) {
    match &parameter.kind {
        ParameterKind::Value(ty)
        | ParameterKind::Slice { element: ty, .. }
        | ParameterKind::Pointer { element: ty, .. } => (ty.size(), ty.align()),
        // No kernel in Rust takes it: what crosses is a length.
        ParameterKind::Shared { .. } => (8, 8),
        ParameterKind::TensorMap { .. } => (TensorMapData::BYTES, TensorMapData::ALIGN),
    }
}
