//! Sizes and alignments as rustc compiled them, against those the signatures were read with.

use kernelmill_artifact::{Parameter, ParameterKind, Signature, TensorMapData};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

use crate::{
    Error, base::names::LAYOUT_PREFIX, error::LayoutMismatch, passes::parameters::layout_entries,
};

/// Compares the layouts in compiled modules with those in the signatures; the error has every parameter whose layouts
/// differ. LLVM must be open.
pub(crate) fn check(modules: &[Vec<u8>], signatures: &[Signature]) -> Result<(), Error> {
    let context = Context::create();
    let mut mismatches = Vec::new();
    for bitcode in modules {
        let module = parse_bitcode(&context, bitcode, "layouts")?;
        for signature in signatures {
            let name = format!("{LAYOUT_PREFIX}{}", signature.symbol);
            let Some(layout) = module.global(&name).and_then(|global| global.initializer()) else {
                continue;
            };
            mismatches.extend(compare(signature, &layout_entries(layout)));
        }
    }
    if mismatches.is_empty() { Ok(()) } else { Err(Error::Layout(mismatches)) }
}

/// The parameters of one kernel that differ from its layout static. Those without bytes are not in the signature.
fn compare(signature: &Signature, entries: &[(u64, u64)]) -> Vec<LayoutMismatch> {
    let mut with_bytes = entries.iter().copied().filter(|(size, _)| *size > 0);
    let mismatch = |parameter: &Parameter| {
        let (compiled, written) = (with_bytes.next().unwrap_or_default(), layout(parameter));
        (compiled != written).then(|| LayoutMismatch {
            file: signature.file.to_string(),
            line: signature.line,
            kernel: signature.name.to_string(),
            parameter: parameter.name.to_string(),
            compiled,
            written,
        })
    };
    signature.parameters.iter().filter_map(mismatch).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Scalar, ValueType};

    #[test]
    fn every_parameter_of_another_layout_is_told() {
        static PARAMETERS: [Parameter; 3] = [
            Parameter::borrowed("a", ParameterKind::Value(ValueType::Scalar(Scalar::F32))),
            Parameter::borrowed("b", ParameterKind::Value(ValueType::Scalar(Scalar::F64))),
            Parameter::borrowed("c", ParameterKind::Value(ValueType::Scalar(Scalar::U8))),
        ];
        let signature = Signature::borrowed("k", &PARAMETERS);
        let names = |entries: &[(u64, u64)]| {
            let mismatches = compare(&signature, entries);
            mismatches.into_iter().map(|it| it.parameter).collect::<Vec<_>>()
        };
        // What has no bytes is not a parameter.
        assert!(names(&[(4, 4), (0, 1), (8, 8), (1, 1)]).is_empty());
        assert_eq!(names(&[(8, 8), (8, 8), (2, 2)]), ["a", "c"]);
        assert_eq!(names(&[(4, 4)]), ["b", "c"]);
        let text = Error::Layout(compare(&signature, &[(8, 8), (4, 4), (1, 1)])).to_string();
        assert_eq!(text.matches("of kernel `k` has size and alignment").count(), 2, "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
