//! Kernels as bytes, for entries of a store.

use std::borrow::Cow;

use kernelmill_artifact::{
    Access, DeviceFunction, Dimension, EnumLayout, Field, FunctionType, LaunchLimits, Parameter,
    ParameterKind, Safety, Scalar, Signature, StructLayout, ValueType, VariableDeclaration,
    Variant,
};

use super::{
    clang::{CudaLowered, Scope, UnsupportedFeature},
    source::{CudaKernel, UnsupportedParameter},
};
use crate::{
    base::bytes::{Reader, Writer},
    diagnostic::Frame,
};

/// Kernels and variables, and the weight of their source, as bytes.
pub(super) fn write(
    kernels: &[CudaKernel],
    variables: &[VariableDeclaration],
    weight: u64,
) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.number(weight);
    write_kernels(&mut writer, kernels);
    write_variables(&mut writer, variables);
    writer.finish()
}

/// Each is stored as its place here.
const SCOPES: [Scope; 4] = [Scope::NotNvidia, Scope::NotAmd, Scope::Everywhere, Scope::Unlinked];

/// What is known of a source that clang has compiled, as bytes, without its bitcode.
pub(super) fn write_facts(facts: &CudaLowered) -> Vec<u8> {
    let mut writer = Writer::default();
    write_kernels(&mut writer, &facts.kernels);
    write_variables(&mut writer, &facts.variables);
    writer.number(facts.functions.len() as u64);
    facts.functions.iter().for_each(|function| device_function(&mut writer, function));
    writer.number(facts.unsupported.len() as u64);
    for feature in &facts.unsupported {
        for text in [&feature.symbol, &feature.file, &feature.reason] {
            writer.text(text);
        }
        writer.number(feature.line.into());
        let scope = SCOPES.iter().position(|scope| *scope == feature.scope).unwrap_or_default();
        writer.number(scope as u64);
        writer.number(feature.frames.len() as u64);
        for frame in &feature.frames {
            writer.text(&frame.function);
            writer.text(&frame.file);
            writer.number(frame.line.into());
            writer.number(frame.library.into());
        }
    }
    writer.finish()
}

/// Reads what [`write_facts`] wrote; `None` where it is not that.
pub(super) fn read_facts(bytes: &[u8]) -> Option<CudaLowered> {
    let mut reader = Reader::new(bytes);
    let kernels = read_kernels(&mut reader)?;
    let variables = reader.list(read_variable)?;
    let functions = reader.list(read_device_function)?;
    let unsupported = reader.list(|reader| {
        let [symbol, file, reason] = [reader.text()?, reader.text()?, reader.text()?];
        let line = small(reader)?;
        let scope = *SCOPES.get(usize::try_from(reader.number()?).ok()?)?;
        let frames = reader.list(|reader| {
            let (function, file, line) = (reader.text()?, reader.text()?, small(reader)?);
            Some(Frame { function, file, line, library: reader.number()? != 0 })
        })?;
        Some(UnsupportedFeature { symbol, file, line, reason, scope, frames })
    })?;
    reader.end()?;
    Some(CudaLowered { kernels, variables, unsupported, functions, ..CudaLowered::default() })
}

impl CudaLowered {
    /// All but the bitcode as bytes for a store; that is stored by itself.
    #[must_use]
    pub fn facts_to_bytes(&self) -> Vec<u8> {
        write_facts(self)
    }

    /// Reads what [`CudaLowered::facts_to_bytes`] wrote, with no bitcode; `None` where it is not that.
    #[must_use]
    pub fn facts_from_bytes(bytes: &[u8]) -> Option<Self> {
        read_facts(bytes)
    }
}

/// A function that the host can give.
pub(crate) fn device_function(writer: &mut Writer, function: &DeviceFunction) {
    for text in [&function.package, &function.name, &function.file] {
        writer.text(text);
    }
    writer.number(function.line.into());
    function_type(writer, &function.ty);
}

/// Reads what [`device_function`] wrote.
pub(crate) fn read_device_function(reader: &mut Reader<'_>) -> Option<DeviceFunction> {
    let [package, name, file] = [reader.text()?, reader.text()?, reader.text()?];
    let line = small(reader)?;
    let ty = read_function_type(reader)?;
    Some(DeviceFunction { package: package.into(), name: name.into(), ty, file: file.into(), line })
}

fn write_kernels(writer: &mut Writer, kernels: &[CudaKernel]) {
    writer.number(kernels.len() as u64);
    for kernel in kernels {
        signature(writer, &kernel.signature);
        writer.text(&kernel.full_name);
        writer.number(kernel.unsupported.len() as u64);
        for UnsupportedParameter { parameter, message, help } in &kernel.unsupported {
            // No parameter has an empty name.
            for text in [parameter.as_deref().unwrap_or_default(), message, help] {
                writer.text(text);
            }
        }
    }
}

/// Reads what [`write()`] wrote; `None` where it is not that.
pub(super) fn read(bytes: &[u8]) -> Option<(Vec<CudaKernel>, Vec<VariableDeclaration>, u64)> {
    let mut reader = Reader::new(bytes);
    let weight = reader.number()?;
    let kernels = read_kernels(&mut reader)?;
    let variables = reader.list(read_variable)?;
    reader.end()?;
    Some((kernels, variables, weight))
}

fn write_variables(writer: &mut Writer, variables: &[VariableDeclaration]) {
    writer.number(variables.len() as u64);
    for VariableDeclaration { name, symbol, ty, file, line } in variables {
        for text in [name, symbol, file] {
            writer.text(text);
        }
        writer.number((*line).into());
        value(writer, ty);
    }
}

fn read_variable(reader: &mut Reader<'_>) -> Option<VariableDeclaration> {
    let [name, symbol, file] = [reader.text()?, reader.text()?, reader.text()?].map(Cow::Owned);
    let line = small(reader)?;
    Some(VariableDeclaration { name, symbol, ty: read_value(reader)?, file, line })
}

fn read_kernels(reader: &mut Reader<'_>) -> Option<Vec<CudaKernel>> {
    reader.list(|reader| {
        Some(CudaKernel {
            signature: read_signature(reader)?,
            full_name: reader.text()?,
            unsupported: reader.list(read_unsupported)?,
        })
    })
}

fn read_unsupported(reader: &mut Reader<'_>) -> Option<UnsupportedParameter> {
    let [parameter, message, help] = [reader.text()?, reader.text()?, reader.text()?];
    let parameter = Some(parameter).filter(|it| !it.is_empty());
    Some(UnsupportedParameter { parameter, message, help })
}

fn signature(writer: &mut Writer, signature: &Signature) {
    for text in [&signature.name, &signature.symbol, &signature.file] {
        writer.text(text);
    }
    writer.number(signature.line.into());
    writer.number(signature.dimension as u64);
    writer.number((signature.safety == Safety::Unsafe).into());
    writer.number(signature.limits.max_block_threads.into());
    let LaunchLimits { block, cluster, min_blocks, max_registers, .. } = signature.limits;
    let numbers = block.into_iter().chain(cluster).chain([min_blocks, max_registers]);
    numbers.for_each(|number| writer.number(number.into()));
    writer.number(signature.parameters.len() as u64);
    for parameter in signature.parameters.iter() {
        writer.text(&parameter.name);
        match &parameter.kind {
            ParameterKind::Value(ty) => {
                writer.number(0);
                value(writer, ty);
            }
            ParameterKind::Slice { element, access } => memory(writer, 1, element, *access),
            ParameterKind::Pointer { element, access } => memory(writer, 2, element, *access),
            ParameterKind::TensorMap { element, rank, access } => {
                memory(writer, 3, element, *access);
                writer.number(u64::from(*rank));
            }
            ParameterKind::Shared { element } => {
                writer.number(4);
                value(writer, element);
            }
        }
    }
}

fn memory(writer: &mut Writer, kind: u64, element: &ValueType, access: Access) {
    writer.number(kind);
    writer.number((access == Access::Write).into());
    value(writer, element);
}

fn value(writer: &mut Writer, ty: &ValueType) {
    match ty {
        ValueType::Scalar(scalar) => {
            writer.number(0);
            writer.text(scalar.name());
        }
        ValueType::Array(element, length) => {
            writer.number(1);
            writer.number(*length);
            value(writer, element);
        }
        ValueType::Function(ty) => {
            writer.number(4);
            function_type(writer, ty);
        }
        ValueType::Enum(layout) => {
            writer.number(3);
            enumeration(writer, layout);
        }
        ValueType::Struct(layout) => {
            writer.number(2);
            writer.text(&layout.name);
            writer.number(layout.size);
            writer.number(layout.align);
            writer.number(layout.fields.len() as u64);
            for field in layout.fields.iter() {
                writer.text(&field.name);
                writer.number(field.offset);
                writer.number(field.public.into());
                value(writer, &field.ty);
            }
        }
    }
}

fn function_type(writer: &mut Writer, ty: &FunctionType) {
    writer.number((ty.safety == Safety::Unsafe).into());
    for part in [&*ty.parameters, ty.result.as_slice()] {
        writer.number(part.len() as u64);
        part.iter().for_each(|ty| value(writer, ty));
    }
}

fn enumeration(writer: &mut Writer, layout: &EnumLayout) {
    writer.text(&layout.name);
    writer.text(layout.scalar.name());
    writer.number(layout.variants.len() as u64);
    for variant in layout.variants.iter() {
        writer.text(&variant.name);
        writer.bytes(&variant.value.to_le_bytes());
    }
}

fn read_function_type(reader: &mut Reader<'_>) -> Option<FunctionType> {
    let safety = read_safety(reader)?;
    let parameters = reader.list(read_value)?.into();
    let mut result = reader.list(read_value)?;
    (result.len() <= 1).then(|| FunctionType { safety, parameters, result: result.pop() })
}

fn read_safety(reader: &mut Reader<'_>) -> Option<Safety> {
    Some(if reader.number()? == 0 { Safety::Safe } else { Safety::Unsafe })
}

fn read_enumeration(reader: &mut Reader<'_>) -> Option<EnumLayout> {
    let name = reader.text()?.into();
    let scalar = Scalar::from_name(&reader.text()?)?;
    let variants = reader.list(|reader| {
        let name = reader.text()?.into();
        let value = i128::from_le_bytes(reader.bytes()?.try_into().ok()?);
        Some(Variant { name, value })
    })?;
    // Those of C++ may have any value.
    Some(EnumLayout { name, scalar, variants: variants.into(), exhaustive: false })
}

fn read_signature(reader: &mut Reader<'_>) -> Option<Signature> {
    let [name, symbol, file] = [reader.text()?, reader.text()?, reader.text()?].map(Cow::Owned);
    let line = small(reader)?;
    let dimension = match reader.number()? {
        0 => Dimension::Any,
        1 => Dimension::One,
        2 => Dimension::Two,
        3 => Dimension::Three,
        _ => return None,
    };
    let safety = read_safety(reader)?;
    let max_block_threads = small(reader)?;
    let mut sizes = || Some([small(reader)?, small(reader)?, small(reader)?]);
    let (block, cluster) = (sizes()?, sizes()?);
    let (min_blocks, max_registers) = (small(reader)?, small(reader)?);
    let limits = LaunchLimits {
        max_block_threads,
        block,
        min_blocks,
        max_registers,
        cluster,
        // The settings alone say it.
        ..LaunchLimits::NONE
    };
    let parameters = reader.list(read_parameter)?.into();
    Some(Signature { name, symbol, dimension, safety, limits, parameters, file, line })
}

fn read_parameter(reader: &mut Reader<'_>) -> Option<Parameter> {
    let name = reader.text()?.into();
    let kind = match reader.number()? {
        0 => ParameterKind::Value(read_value(reader)?),
        kind @ 1..=3 => {
            let access = if reader.number()? == 0 { Access::Read } else { Access::Write };
            let element = read_value(reader)?;
            match kind {
                1 => ParameterKind::Slice { element, access },
                2 => ParameterKind::Pointer { element, access },
                _ => {
                    let rank = u32::try_from(reader.number()?).ok()?;
                    ParameterKind::TensorMap { element, rank, access }
                }
            }
        }
        4 => ParameterKind::Shared { element: read_value(reader)? },
        _ => return None,
    };
    Some(Parameter { name, kind })
}

fn read_value(reader: &mut Reader<'_>) -> Option<ValueType> {
    Some(match reader.number()? {
        0 => ValueType::Scalar(Scalar::from_name(&reader.text()?)?),
        1 => {
            let length = reader.number()?;
            ValueType::Array(read_value(reader)?.into(), length)
        }
        2 => {
            let name = reader.text()?.into();
            let (size, align) = (reader.number()?, reader.number()?);
            let fields = reader.list(|reader| {
                let name = reader.text()?.into();
                let offset = reader.number()?;
                let public = reader.number()? != 0;
                Some(Field { name, offset, public, ty: read_value(reader)? })
            })?;
            ValueType::Struct(StructLayout { name, size, align, fields: fields.into() }.into())
        }
        3 => ValueType::Enum(read_enumeration(reader)?.into()),
        4 => ValueType::Function(read_function_type(reader)?.into()),
        _ => return None,
    })
}

fn small(reader: &mut Reader<'_>) -> Option<u32> {
    reader.number()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_read_back_and_damaged_ones_do_not() {
        let float = || ValueType::Scalar(Scalar::F32);
        let fields = vec![
            Field { name: "scale".into(), ty: float(), offset: 0, public: true },
            Field {
                name: "bias".into(),
                ty: ValueType::Array(float().into(), 3),
                offset: 4,
                public: false,
            },
        ];
        let variants = vec![Variant { name: "A".into(), value: -1 }];
        let mode = EnumLayout {
            name: "Mode".into(),
            scalar: Scalar::I32,
            variants: variants.into(),
            exhaustive: false,
        };
        let layout = StructLayout { name: "P".into(), size: 16, align: 4, fields: fields.into() };
        let parameter = |name: &'static str, kind| Parameter { name: name.into(), kind };
        let kernel = CudaKernel {
            signature: Signature {
                name: "scale_float".into(),
                symbol: "_Z5scaleIfEv1PPKfPf".into(),
                dimension: Dimension::Any,
                safety: Safety::Unsafe,
                limits: LaunchLimits {
                    max_block_threads: 128,
                    block: [1, 2, 3],
                    min_blocks: 4,
                    max_registers: 64,
                    cluster: [2, 1, 1],
                    ..LaunchLimits::NONE
                },
                parameters: vec![
                    parameter("p", ParameterKind::Value(ValueType::Struct(layout.into()))),
                    parameter(
                        "x",
                        ParameterKind::Pointer { element: float(), access: Access::Read },
                    ),
                    parameter("tile", ParameterKind::Shared { element: float() }),
                    parameter("mode", ParameterKind::Value(ValueType::Enum(mode.into()))),
                    parameter(
                        "y",
                        ParameterKind::Slice { element: float(), access: Access::Write },
                    ),
                ]
                .into(),
                file: "kernels/scale.cu".into(),
                line: 3,
            },
            full_name: "scale<float>(P, float const*, float*)".to_owned(),
            unsupported: [None, Some("x".to_owned())]
                .map(|parameter| UnsupportedParameter {
                    parameter,
                    message: "none".to_owned(),
                    help: "write one".to_owned(),
                })
                .into(),
        };
        let kernels = vec![kernel];
        let variables = vec![VariableDeclaration {
            name: "coefficients".into(),
            symbol: "_ZN6filter12coefficientsE".into(),
            ty: ValueType::Array(float().into(), 9),
            file: "kernels/scale.cu".into(),
            line: 2,
        }];
        let bytes = write(&kernels, &variables, 7);
        assert_eq!(read(&bytes), Some((kernels, variables.clone(), 7)));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "cut at {length}");
        }
        let unsupported = vec![UnsupportedFeature {
            symbol: "f".to_owned(),
            file: "a.cu".to_owned(),
            line: 3,
            reason: "inline PTX".to_owned(),
            scope: Scope::Unlinked,
            frames: vec![Frame {
                function: "f()".to_owned(),
                file: "a.cu".to_owned(),
                line: 3,
                library: false,
            }],
        }];
        let functions = vec![DeviceFunction {
            package: "".into(),
            name: "square".into(),
            ty: FunctionType {
                safety: Safety::Unsafe,
                parameters: Vec::new().into(),
                result: None,
            },
            file: "a.cu".into(),
            line: 5,
        }];
        let facts = CudaLowered { variables, unsupported, functions, ..CudaLowered::default() };
        let bytes = write_facts(&facts);
        assert_eq!(read_facts(&bytes), Some(facts));
        assert_eq!(read_facts(&bytes[..bytes.len() - 1]), None);
    }
}
