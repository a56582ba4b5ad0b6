//! What a package's sources have for kernels of other packages, as bytes.

use kernelmill_artifact::{DeviceFunction, Target};

use super::Architecture;
use crate::{
    base::bytes::{Reader, Writer},
    frontend::cuda::{device_function, read_device_function},
    job::{Lowered, Symbols},
};

/// A source with functions for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedSource {
    /// The package that has it.
    pub package: String,
    /// The source as people know it, relative to its package.
    pub display: String,
    /// The functions that others can name.
    pub symbols: Symbols,
    /// Those that the host can give to kernels.
    pub functions: Vec<DeviceFunction>,
    /// As the front end left it, and as it is for architectures that the source asked for.
    pub lowered: Vec<(Option<Architecture>, Lowered)>,
}

/// What marks the bytes, with the version of their form.
const START: &str = "kernelmill exports 4";

/// Sources as bytes, with what made them.
#[must_use]
pub fn write(version: &str, sources: &[ExportedSource]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(START);
    writer.text(version);
    writer.number(sources.len() as u64);
    for source in sources {
        writer.text(&source.package);
        writer.text(&source.display);
        writer.bytes(&source.symbols.to_bytes());
        writer.number(source.functions.len() as u64);
        source.functions.iter().for_each(|function| device_function(&mut writer, function));
        writer.number(source.lowered.len() as u64);
        for (architecture, lowered) in &source.lowered {
            writer.text(&architecture.as_ref().map_or_else(String::new, ToString::to_string));
            writer.bytes(&lowered.to_bytes());
        }
    }
    writer.finish()
}

/// Reads what [`write()`] wrote, and by which version; `None` where it is not that.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(String, Vec<ExportedSource>)> {
    let mut reader = Reader::new(bytes);
    if reader.text()? != START {
        return None;
    }
    let version = reader.text()?;
    let sources = reader.list(|reader| {
        Some(ExportedSource {
            package: reader.text()?,
            display: reader.text()?,
            symbols: Symbols::from_bytes(reader.bytes()?)?,
            functions: reader.list(read_device_function)?,
            lowered: reader.list(|reader| {
                let architecture = reader.text()?;
                let architecture = match architecture.as_str() {
                    "" => None,
                    text => Some(Architecture::of(&text.parse::<Target>().ok()?)?),
                };
                Some((architecture, Lowered::from_bytes(reader.bytes()?)?))
            })?,
        })
    })?;
    reader.end()?;
    Some((version, sources))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{FunctionType, Safety, Scalar, ValueType};

    #[test]
    fn sources_read_back_and_damaged_ones_do_not() {
        let float = ValueType::Scalar(Scalar::F32);
        let parameters = Vec::new().into();
        let callback = FunctionType { safety: Safety::Unsafe, parameters, result: None };
        let ty = FunctionType {
            safety: Safety::Safe,
            parameters: vec![float.clone(), ValueType::Function(callback.into())].into(),
            result: Some(float),
        };
        let function = DeviceFunction {
            package: "colors".into(),
            name: "shade".into(),
            ty,
            file: "kernels/shade.rs".into(),
            line: 4,
        };
        let lowered = Lowered { modules: vec![b"BC".to_vec()], ..Lowered::default() };
        let of = |target: &str| Architecture::of(&target.parse().unwrap());
        let source = ExportedSource {
            package: "colors".to_owned(),
            display: "kernels/shade.rs".to_owned(),
            symbols: Symbols {
                defines: vec!["shade".to_owned()],
                defers: Vec::new(),
                externals: Vec::new(),
                reaches: [("shade".to_owned(), vec!["__kernelmill_seed".to_owned()])].into(),
            },
            functions: vec![function],
            lowered: [None, of("sm_90a"), of("gfx942")].map(|it| (it, lowered.clone())).into(),
        };
        let bytes = write("rustc 1", std::slice::from_ref(&source));
        assert_eq!(read(&bytes), Some(("rustc 1".to_owned(), vec![source])));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "cut at {length}");
        }
    }
}
