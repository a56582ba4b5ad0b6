//! Modules in WGSL: parsed, validated, and with a value for each pipeline-overridable constant.

use naga::{
    Module, ShaderStage, Span,
    back::{PipelineConstants, pipeline_constants::process_overrides},
    front::wgsl,
    valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator},
};

use super::WgslSource;
use crate::Error;

/// A module that is valid, of compute entry points alone and without constants that wait for values.
pub(super) struct ValidModule {
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
}

/// Something that kernelmill cannot do, or does not accept, with a place in the source.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Fault {
    message: String,
    label: String,
    span: Span,
}

impl Fault {
    /// A fault; `label` is what stands at its place.
    pub(super) fn new(span: Span, label: &str, message: String) -> Self {
        Self { message, label: label.to_owned(), span }
    }

    /// The fault as naga writes its own: file, line, column, and the place with carets.
    fn render(self, source: &WgslSource) -> String {
        let (span, label) = (self.span, self.label.clone());
        let error = naga::WithSpan::new(self);
        error.with_span(span, label).emit_to_string_with_path(&source.text, &source.display)
    }
}

/// Several faults as one error.
pub(super) fn refuse(source: &WgslSource, faults: Vec<Fault>) -> Error {
    let texts: Vec<_> =
        faults.into_iter().map(|fault| fault.render(source).trim_end().to_owned()).collect();
    Error::Wgsl { text: texts.join("\n\n") }
}

impl ValidModule {
    /// Reads a source.
    ///
    /// # Errors
    ///
    /// [`Error::Wgsl`] for a text that is not WGSL, or not valid, and for constants without values.
    pub(super) fn read(source: &WgslSource) -> Result<Self, Error> {
        let WgslSource { display, text, .. } = source;
        let mut module = wgsl::parse_str(text)
            .map_err(|error| Error::Wgsl { text: error.emit_to_string_with_path(text, display) })?;
        // What is drawn is not compiled, and may need what no kernel does.
        module.entry_points.retain(|entry| entry.stage == ShaderStage::Compute);
        let info = validate(&module, source)?;
        let constants = constants(&module, source)?;
        let (module, info) = process_overrides(&module, &info, None, &constants)
            .map(|(module, info)| (module.into_owned(), info.into_owned()))
            .map_err(|error| Error::Wgsl {
                text: format!(
                    "{display}: error: the value of a pipeline-overridable constant is not valid: \
                               {error}"
                ),
            })?;
        Ok(Self { module, info })
    }
}

fn validate(module: &Module, source: &WgslSource) -> Result<ModuleInfo, Error> {
    let WgslSource { display, text, .. } = source;
    // What is beyond plain WGSL not every device has; `pack2x16float` and the like are plain.
    let capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    let validated = Validator::new(ValidationFlags::all(), capabilities).validate(module);
    validated.map_err(|mut error| {
        // naga names an entry point, and not where it is.
        if let ValidationError::EntryPoint { name, .. } = error.as_inner()
            && error.spans().len() == 0
        {
            let span = place(text, name);
            error = error.with_span(span, "this kernel");
        }
        let head = if error.spans().len() == 0 { format!("{display}: ") } else { String::new() };
        Error::Wgsl { text: head + &error.emit_to_string_with_path(text, display) }
    })
}

/// The values that the settings have for constants of a module, by naga's keys.
fn constants(module: &Module, source: &WgslSource) -> Result<PipelineConstants, Error> {
    let (mut constants, mut faults) = (PipelineConstants::default(), Vec::new());
    for (handle, constant) in module.overrides.iter() {
        let span = module.overrides.get_span(handle);
        let name = constant.name.as_deref().unwrap_or_default();
        let given = source.constants.iter().find(|(known, _)| known == name);
        match given.map(|(_, value)| (value, number(value))) {
            Some((_, Some(value))) => {
                let key = constant.id.map_or_else(|| name.to_owned(), |id| id.to_string());
                constants.insert(key, value);
            }
            Some((value, None)) => faults.push(Fault::new(
                span,
                "has a value in the settings",
                format!("`{value}` is not a value of the constant `{name}`: write a number"),
            )),
            None if constant.init.is_none() => faults.push(Fault::new(
                span,
                "has no value",
                format!(
                    "the constant `{name}` has no value when it is compiled: give it one here, or in the \
                     settings, `define = {{ {name} = 4 }}`"
                ),
            )),
            None => {}
        }
    }
    if faults.is_empty() { Ok(constants) } else { Err(refuse(source, faults)) }
}

/// The value of a text in the settings.
fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// The name of a function where it is defined, which naga does not keep.
pub(super) fn place(text: &str, name: &str) -> Span {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or(line);
        for (at, _) in code.match_indices(name) {
            let before = code[..at].trim_end();
            let is_function = before.strip_suffix("fn").is_some_and(|rest| {
                before.len() < at && !rest.ends_with(|letter: char| letter.is_alphanumeric())
            });
            let after = code[at + name.len()..].trim_start();
            if is_function && after.starts_with('(') {
                return Span::from(start + at..start + at + name.len());
            }
        }
        start += line.len();
    }
    Span::UNDEFINED
}
