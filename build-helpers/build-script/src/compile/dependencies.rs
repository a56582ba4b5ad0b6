//! Exports: functions of a package for the kernels of packages that depend on it.
//!
//! The build script of a package with `links` in its `Cargo.toml` leaves the bitcode of its sources
//! with such functions in its `OUT_DIR`, and tells Cargo where. Cargo tells the build scripts of those
//! that depend on it directly, which hand on what they got.

use super::{
    compiler::Failure,
    front_end::{Front, FrontEnd},
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, files::write_if_changed, report::Report},
    discovery::source::{Source, SourceKind},
    settings::package::Package,
};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{
    Symbols, exported, exported_by,
    exports::{self, ExportedSource},
};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// The file in `OUT_DIR`.
const FILE: &str = "kernelmill-exports.bin";
/// What Cargo tells dependents under: `DEP_NAME_KERNELMILL_EXPORTS`.
const KEY: &str = "kernelmill_exports";
const VARIABLE: &str = "_KERNELMILL_EXPORTS";

/// Refuses a package whose sources have functions only, where nobody can learn of them.
///
/// # Errors
///
/// [`Error::Sources`] with what to write.
pub(crate) fn check_links(
    environment: &BuildEnvironment,
    package: &Package,
    sources: &[Source],
) -> Result<(), Error> {
    let mut report = Report::default();
    let has_only = !sources.is_empty() && sources.iter().all(Source::has_functions);
    if has_only && environment.links().is_none() {
        let names: Vec<_> = sources.iter().map(|source| format!("`{}`", source.display)).collect();
        report.plain(
            Code::Dependency,
            format!(
                "no kernel was found in {}, and packages that depend on this one cannot call the functions there",
                names.join(", ")
            ),
            format!(
                "mark a function with `#[kernel]`, or add `links = \"{}\"` to the `[package]` of \
                 Cargo.toml: then packages that depend on this one can call the functions",
                package.name
            ),
        );
    }
    report.into_result(Error::Sources)
}

/// What the packages that one depends on have for it.
#[derive(Default)]
pub(crate) struct Dependencies {
    sources: Vec<(PathBuf, ExportedSource)>,
    /// What has made each file.
    versions: Vec<(PathBuf, String)>,
}

impl Dependencies {
    /// Reads what build scripts have told of.
    ///
    /// # Errors
    ///
    /// [`Error::Sources`] with every file that cannot be read.
    pub(crate) fn read(environment: &BuildEnvironment) -> Result<Self, Error> {
        let (mut found, mut report) = (Self::default(), Report::default());
        for path in environment.of_dependencies(VARIABLE) {
            let read = fs::read(&path).ok().and_then(|bytes| exports::read(&bytes));
            let Some((version, sources)) = read else {
                report.plain(
                    Code::Dependency,
                    format!("`{}`, which a dependency exports, cannot be read", path.display()),
                    "use the same version of kernelmill-build in all packages, and build again",
                );
                continue;
            };
            environment.cargo.watch(&path);
            for source in sources {
                if found.sources.iter().all(|(_, known)| *known != source) {
                    found.sources.push((path.clone(), source));
                }
            }
            found.versions.push((path, version));
        }
        report.into_result(Error::Sources)?;
        Ok(found)
    }

    /// Adds the sources, with their fronts, after those of the package.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (Source, Option<Front>)> {
        self.sources.iter().map(|(path, exported)| {
            let front = Front::given(path, &exported.symbols, exported.lowered.clone());
            let source = Source {
                path: path.clone(),
                display: format!("{} of the package `{}`", exported.display, exported.package),
                kind: SourceKind::File,
                signatures: Some(Vec::new()),
                functions: exported.functions.clone(),
                generics: Vec::new(),
                instances: Vec::new(),
                templates: Vec::new(),
                weight: 0,
                texts: Vec::new(),
                overrides: Vec::new(),
                states: Vec::new(),
                variables: Vec::new(),
                module: None,
                defines: BTreeMap::new(),
                defined: Vec::new(),
                warnings: Vec::new(),
                variants: Vec::new(),
            };
            (source, front)
        })
    }

    /// Refuses bitcode of another compiler than this one.
    ///
    /// # Errors
    ///
    /// [`Error::Sources`] with every file that another one has made.
    pub(crate) fn check_version(&self, own: &str) -> Result<(), Error> {
        let mut report = Report::default();
        for (path, version) in self.versions.iter().filter(|(_, version)| version != own) {
            report.plain(
                Code::Dependency,
                format!(
                    "`{}`, which a dependency exports, was made by {version}, and this is {own}",
                    path.display()
                ),
                "use the same version of kernelmill-build in all packages, and build again",
            );
        }
        report.into_result(Error::Sources)
    }

    /// Writes what a package has for others, and what it got itself, and tells Cargo where. Without
    /// binaries only the functions that the host can give are told, as their types are needed then.
    pub(crate) fn write(
        &self,
        environment: &BuildEnvironment,
        package: &Package,
        sources: &[Source],
        exported: Option<Exported>,
    ) -> Result<(), Error> {
        let signatures = || {
            let sources = sources.iter().filter(|source| !source.functions.is_empty());
            let sources = sources.map(|source| of_source(package, source)).collect();
            Exported { version: String::new(), sources }
        };
        let Exported { version, mut sources } = exported.unwrap_or_else(signatures);
        sources.extend(self.sources.iter().map(|(_, source)| source.clone()));
        let path = package.out_dir.join(FILE);
        write_if_changed(&path, &exports::write(&version, &sources))?;
        environment.cargo.tell_dependents(KEY, &path);
        Ok(())
    }
}

/// What a package has for others.
pub(crate) struct Exported {
    /// What has made it.
    version: String,
    sources: Vec<ExportedSource>,
}

impl Exported {
    /// Those sources that have functions for others.
    pub(crate) fn new<'a>(
        front_end: &FrontEnd<'_>,
        package: &Package,
        own: impl Iterator<Item = (&'a Source, &'a Front)>,
    ) -> Result<Self, Error> {
        let mut sources = Vec::new();
        for (source, front) in own.filter(|(_, front)| !front.symbols.defines.is_empty()) {
            let lowered = front.all().map(|front| {
                let mut lowered = (*front_end.lowered(source, front)?).clone();
                front_end.compiler.qualify(&mut lowered, &package.name)?;
                Ok((front.architecture().cloned(), lowered))
            });
            let internal = |error: Failure| Error::Internal(error.to_string());
            let lowered = lowered.collect::<Result<Vec<_>, _>>().map_err(internal)?;
            let mut symbols = front.symbols.clone();
            for function in &source.functions {
                let own = exported(&function.name);
                let own = symbols.defines.iter_mut().filter(|name| **name == own);
                own.for_each(|name| *name = exported_by(&package.name, &function.name));
            }
            symbols.defines.sort();
            sources.push(ExportedSource { symbols, lowered, ..of_source(package, source) });
        }
        Ok(Self { version: front_end.version.clone(), sources })
    }
}

/// A source as others know it, without its code.
fn of_source(package: &Package, source: &Source) -> ExportedSource {
    ExportedSource {
        package: package.name.clone(),
        display: source.display.clone(),
        symbols: Symbols::default(),
        functions: source.functions.clone(),
        lowered: Vec::new(),
    }
}
