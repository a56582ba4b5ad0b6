//! What a build offers its program: kernels and structs, checked to fit into one type.

use crate::{error::Error, report::Report, settings::Settings, source::Source};
use kernelmill_artifact::{
    Parameter, ParameterKind, Signature, StructLayout, ValueType, target::nearest,
};
use std::collections::BTreeMap;

/// The kernels and structs of a build.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Every kernel, by source.
    pub(crate) kernels: Vec<Signature>,
    /// For each kernel its source's place among the sources.
    origins: Vec<usize>,
    /// Every struct in a signature, by name.
    pub(crate) structs: Vec<Struct>,
}

/// A struct in a signature.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) layout: StructLayout,
    /// The user's own type to use for it.
    pub(crate) mapped_to: Option<String>,
}

/// The most arguments that a launch has; a slice counts as two.
const MAX_ARGUMENTS: usize = 64;
/// The functions that every `Kernels` has.
const FIXED: [&str; 2] = ["load", "signatures"];
/// The functions that `Kernels` has where no kernel has their name.
const HELPERS: [&str; 3] = ["embedded", "chosen", "device"];

impl Interface {
    /// Collects the interface of some sources.
    ///
    /// # Errors
    ///
    /// [`Error::Sources`] where names clash or a kernel has too many parameters.
    pub(crate) fn of(sources: &[Source], settings: &Settings) -> Result<Self, Error> {
        let mut report = Report::default();
        let mut structs = BTreeMap::new();
        let kernels: Vec<Signature> = sources.iter().flat_map(Source::kernels).cloned().collect();
        for kernel in &kernels {
            let place = format!("{}:{}", kernel.file, kernel.line);
            if FIXED.contains(&kernel.name()) {
                report.plain(
                    format!("{place}: a kernel cannot be named `{}`", kernel.name),
                    format!("rename it: `Kernels::{}` is there already", kernel.name),
                );
            }
            let arguments: usize = kernel.parameters.iter().map(arguments).sum();
            if arguments > MAX_ARGUMENTS {
                report.plain(
                    format!(
                        "{place}: the kernel `{}` has {arguments} arguments (a slice counts as \
                         two), more than {MAX_ARGUMENTS}",
                        kernel.name
                    ),
                    "put values into a `#[repr(C)]` struct",
                );
            }
            for parameter in kernel.parameters.iter() {
                collect(crossing(parameter), &place, &mut structs, &mut report);
            }
        }
        check_types(settings, &structs, &mut report);
        report.into_result(Error::Sources)?;
        let structs = structs.into_values().map(|(layout, _)| Struct {
            mapped_to: settings.types.get(&*layout.name).cloned(),
            layout,
        });
        let origins = sources.iter().enumerate();
        let origins =
            origins.flat_map(|(index, source)| source.kernels().iter().map(move |_| index));
        Ok(Self { structs: structs.collect(), kernels, origins: origins.collect() })
    }

    /// The place of a source's kernel among all kernels.
    pub(super) fn index_of(
        &self,
        source: usize,
        is_wanted: impl Fn(&Signature) -> bool,
    ) -> Option<usize> {
        let mut kernels = self.kernels.iter().zip(&self.origins);
        kernels.position(|(kernel, origin)| *origin == source && is_wanted(kernel))
    }

    /// The functions that `Kernels` can have besides those of the kernels.
    pub(super) fn helpers(&self) -> Vec<&'static str> {
        let is_free = |name: &&str| self.kernels.iter().all(|kernel| kernel.name() != *name);
        HELPERS.into_iter().filter(is_free).collect()
    }
}

/// Arguments at the level of the device.
fn arguments(parameter: &Parameter) -> usize {
    match parameter.kind {
        ParameterKind::Slice { .. } => 2,
        ParameterKind::Value(_) | ParameterKind::Pointer { .. } => 1,
    }
}

/// The type whose bytes cross.
pub(super) fn crossing(parameter: &Parameter) -> &ValueType {
    match &parameter.kind {
        ParameterKind::Value(ty)
        | ParameterKind::Slice { element: ty, .. }
        | ParameterKind::Pointer { element: ty, .. } => ty,
    }
}

type Structs = BTreeMap<String, (StructLayout, String)>;

fn collect(ty: &ValueType, place: &str, structs: &mut Structs, report: &mut Report) {
    let layout = match ty {
        ValueType::Scalar(_) => return,
        ValueType::Enum(_) => return,
        ValueType::Array(element, _) => return collect(element, place, structs, report),
        ValueType::Struct(layout) => layout,
    };
    layout.fields.iter().for_each(|field| collect(&field.ty, place, structs, report));
    let name = &layout.name;
    if name == "Kernels" {
        report.message(format!(
            "{place}: a struct in a signature cannot be named `Kernels`: that is the type of the \
             generated wrappers; rename it"
        ));
    }
    match structs.get(&**name) {
        Some((known, first)) if known != &**layout => report.message(format!(
            "{place}: the struct `{name}` is not the `{name}` of {first}; both would be \
             `kernels::{name}`: rename one of them, or give both the same fields"
        )),
        Some(_) => {}
        None => {
            structs.insert(name.to_string(), ((**layout).clone(), place.to_owned()));
        }
    }
}

/// Reports types that are given for structs that no signature has.
fn check_types(settings: &Settings, structs: &Structs, report: &mut Report) {
    for (name, path) in settings.types.iter().filter(|(name, _)| !structs.contains_key(*name)) {
        let help = match nearest(name, structs.keys().cloned()) {
            Some(nearest) => format!("the nearest is `{nearest}`"),
            None => "remove it: no signature has a struct".to_owned(),
        };
        report.plain(
            format!("`types` gives `{path}` for `{name}`, a struct that no kernel's signature has"),
            help,
        );
    }
}
