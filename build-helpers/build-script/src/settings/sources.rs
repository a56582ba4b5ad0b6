//! Settings of single sources: `[sources."kernels/*.cl"]`, by patterns of their paths.
//!
//! What every source is compiled with comes first, then what patterns with wildcards say, in the order of their texts, and
//! then what is said of the one path; the last value of a macro holds. They are for files: a package of kernels has
//! features and settings of its own, and so has the crate that a module of kernels is in.

use super::{contract::Origin, layer::SourceLayer, located::report_at};
use crate::base::{glob::Glob, report::Report};
use kernelmill_artifact::target::nearest;
use kernelmill_compiler::diagnostic::Code;
use std::{collections::BTreeMap, path::Path};

/// The keys of such a table.
pub(super) const SOURCE_KEYS: [&str; 2] = ["define", "arguments"];

/// What is said of the sources that match a pattern.
#[derive(Debug)]
pub(crate) struct SourceSettings {
    pattern: Glob,
    pub(super) defines: BTreeMap<String, String>,
    pub(super) arguments: Vec<String>,
    origin: Option<Origin>,
}

impl SourceSettings {
    /// What a layer says of the sources of a pattern.
    pub(crate) fn of(pattern: Glob, layer: SourceLayer) -> Self {
        let SourceLayer { defines, arguments, origin } = layer;
        Self {
            pattern,
            defines: defines.unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
            origin,
        }
    }
}

/// What is said of single sources, in the order in which it holds.
#[derive(Debug, Default)]
pub(crate) struct SourcesSettings(Vec<SourceSettings>);

impl SourcesSettings {
    /// Of the patterns in the order of their texts.
    pub(crate) fn new(mut all: Vec<SourceSettings>) -> Self {
        all.sort_by_key(|it| !it.pattern.has_wildcard());
        Self(all)
    }

    /// Has absolute patterns compared with paths from the package's root.
    pub(super) fn relative_to(&mut self, root: &Path) {
        self.0.iter_mut().for_each(|it| it.pattern = it.pattern.relative_to(root));
    }

    fn about(&self, path: &str) -> impl Iterator<Item = &SourceSettings> {
        self.0.iter().filter(move |it| it.pattern.matches(path))
    }

    /// The macros of the file with this path from the package's root.
    pub(crate) fn defines_of(&self, path: &str) -> impl Iterator<Item = (&String, &String)> {
        self.about(path).flat_map(|it| &it.defines)
    }

    /// The arguments of its compiler, as they are written.
    pub(crate) fn arguments_of(&self, path: &str) -> impl Iterator<Item = &str> {
        self.about(path).flat_map(|it| it.arguments.iter().map(String::as_str))
    }

    /// Reports patterns that none of these paths of sources matches.
    pub(crate) fn check(&self, paths: &[String], report: &mut Report) {
        for said in &self.0 {
            if paths.iter().any(|path| said.pattern.matches(path)) {
                continue;
            }
            let pattern = said.pattern.to_string();
            let message = format!("no kernel source matches `{pattern}` in the setting `sources`");
            let help = match nearest(&pattern, paths.iter().cloned()) {
                Some(nearest) => format!("the nearest is `{nearest}`"),
                None => "remove it: the package has no kernel source".to_owned(),
            };
            report_at(Code::NoKernelSource, said.origin.as_ref(), message, &help, report);
        }
    }
}
