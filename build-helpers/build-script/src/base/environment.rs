//! The build environment. This is the only module that reads environment variables.
//!
//! What the user can set is read by [`BuildEnvironment::variable`], which tells Cargo to run the build
//! script again when it changes. What Cargo itself sets for a build script ([`BuildEnvironment::given`])
//! needs no such line: Cargo knows.

use super::{
    cargo::Cargo,
    error::Error,
    progress::{self, Progress},
    trace::{Sinks, Step, Trace},
};
use kernelmill_artifact::{Target, TraceFile};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
    time::Instant,
};

/// The file for traces.
const TRACE: &str = "KERNELMILL_TRACE";

/// The environment of a build script: its variables, and Cargo, which reads its directives.
pub(crate) struct BuildEnvironment {
    variables: Variables,
    pub(crate) cargo: Cargo,
    trace: Trace,
}

enum Variables {
    Process,
    /// The process's, save for these, which Cargo sets for build scripts.
    Outside(BTreeMap<&'static str, OsString>),
    #[cfg(test)]
    Fixed(BTreeMap<String, OsString>),
}

impl BuildEnvironment {
    /// The build script's own process.
    pub(crate) fn process() -> Self {
        Self { variables: Variables::Process, cargo: Cargo::stdout(), trace: Trace::default() }
    }

    /// A process that is no build script, with what Cargo would have set for one. Nothing is
    /// printed for Cargo.
    pub(crate) fn outside(given: BTreeMap<&'static str, OsString>) -> Self {
        let cargo = Cargo::to(Box::new(std::io::sink()));
        Self { variables: Variables::Outside(given), cargo, trace: Trace::default() }
    }

    /// A build environment with exactly these variables.
    #[cfg(test)]
    pub(crate) fn fixed(variables: BTreeMap<String, OsString>, cargo: Cargo) -> Self {
        Self { variables: Variables::Fixed(variables), cargo, trace: Trace::default() }
    }

    /// A variable that the user may set; an empty one counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.cargo.watch_variable(name);
        self.read(name).filter(|value| !value.is_empty())
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.variable(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// A variable on which nothing that is built depends, so that Cargo does not watch it; an empty one counts as
    /// not set.
    pub(crate) fn unwatched(&self, name: &str) -> Option<String> {
        let value = self.read(name).filter(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    }

    /// A variable that the user may set, as a path.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from)
    }

    /// Whether a variable is set to anything but `0` or `false`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value != "0" && value != "false")
    }

    /// A variable that a kernel's source reads, as it is.
    pub(crate) fn raw(&self, name: &str) -> Option<OsString> {
        self.cargo.watch_variable(name);
        self.read(name)
    }

    /// A variable that Cargo sets for build scripts.
    ///
    /// # Errors
    ///
    /// [`Error::NotInBuildScript`] where it is not set.
    pub(crate) fn given(&self, name: &'static str) -> Result<String, Error> {
        let value = self.read(name).ok_or(Error::NotInBuildScript { variable: name })?;
        Ok(value.to_string_lossy().into_owned())
    }

    /// What the build scripts of the packages that this one depends on say under a key: Cargo gives
    /// it on as `DEP_` and the name in their `links`, and runs this one again when it changes.
    pub(crate) fn of_dependencies(&self, key: &str) -> Vec<PathBuf> {
        let is_it = |name: &String| name.starts_with("DEP_") && name.ends_with(key);
        let names = self.names().into_iter().filter_map(|name| name.into_string().ok());
        let mut names: Vec<_> = names.filter(is_it).collect();
        names.sort();
        names.iter().filter_map(|name| self.read(name)).map(PathBuf::from).collect()
    }

    /// The name in the package's `links`, under which dependents learn what its build script says.
    pub(crate) fn links(&self) -> Option<OsString> {
        self.read("CARGO_MANIFEST_LINKS")
    }

    /// `PATH`. Cargo is not told to watch it: a terminal's and an editor's differ and name the same tools, and
    /// each would undo the other's build. Whoever finds a tool has Cargo watch the tool.
    pub(crate) fn search_path(&self) -> Option<OsString> {
        self.read("PATH")
    }

    /// The names of all variables, for those who start another Cargo and must not hand them on.
    pub(crate) fn names(&self) -> Vec<OsString> {
        match &self.variables {
            #[expect(clippy::disallowed_methods, reason = "this is the one door")]
            Variables::Process | Variables::Outside(_) => {
                std::env::vars_os().map(|(name, _)| name).collect()
            }
            #[cfg(test)]
            Variables::Fixed(fixed) => fixed.keys().map(OsString::from).collect(),
        }
    }

    /// Begins a step of the build's trace; `None` where nothing is traced.
    pub(crate) fn step(
        &self,
        category: &'static str,
        name: impl Into<String>,
        arguments: &[(&'static str, &dyn Display)],
    ) -> Option<Step<'_>> {
        self.trace.step(|| self.open_sinks(), (category, name.into()), arguments)
    }

    /// Says that something was in the store, which was looked for from `start` on.
    pub(crate) fn stored(&self, name: &str, start: Instant, arguments: &[(&str, &str)]) {
        self.trace.stored(|| self.open_sinks(), name, start, arguments);
    }

    /// Says how many units the build has.
    pub(crate) fn planned(&self, units: usize) {
        if let Some(progress) = self.trace.progress(|| self.open_sinks()) {
            progress.planned(units);
        }
    }

    /// Says that a unit is done which was begun at `start`.
    pub(crate) fn unit_done(
        &self,
        source: &str,
        target: &Target,
        (is_stored, start): (bool, Instant),
    ) {
        if is_stored {
            let target = target.to_string();
            self.stored(source, start, &[("target", &target)]);
        }
        if let Some(progress) = self.trace.progress(|| self.open_sinks()) {
            progress.done(source, target, is_stored);
        }
    }

    /// Shows lines that the user asked for to somebody who does not run `cargo build -vv`. Where the progress is
    /// turned off, so is this.
    pub(crate) fn show(&self, lines: &[String]) {
        let value = self.unwatched(progress::VARIABLE).unwrap_or_else(|| "auto".to_owned());
        if value != "never" {
            let terminal = progress::terminal(Some(&value)).ok().flatten();
            progress::show(lines, terminal, |line| self.cargo.warn(&line));
        }
    }

    fn open_sinks(&self) -> Sinks {
        Sinks { file: self.open_trace(), progress: self.open_progress() }
    }

    /// Opens what the progress is told to. Nothing that is built depends on it.
    fn open_progress(&self) -> Option<Progress> {
        let value = self.unwatched(progress::VARIABLE);
        let terminal = progress::terminal(value.as_deref()).unwrap_or_else(|expected| {
            let value = value.unwrap_or_default();
            self.cargo.warn(&format!(
                "{} is `{value}`: write {expected}; no progress is shown",
                progress::VARIABLE
            ));
            None
        });
        let package = self.given("CARGO_PKG_NAME").unwrap_or_default();
        let file = self.unwatched(progress::FILE);
        let file = file.and_then(|it| TraceFile::append(Path::new(&it), &package).ok());
        Progress::new(file, terminal)
    }

    /// Opens the file for the trace, by a path from the package's root.
    fn open_trace(&self) -> Option<TraceFile> {
        let written = self.path(TRACE)?;
        let root = self.given("CARGO_MANIFEST_DIR").unwrap_or_default();
        let package = self.given("CARGO_PKG_NAME").unwrap_or_default();
        let path = Path::new(&root).join(&written);
        let opened = TraceFile::append(&path, &format!("build of {package}"));
        let warn = |error| {
            self.cargo.warn(&format!(
                "{TRACE} is `{}`, which cannot be written: {error}; the build is not traced",
                written.display()
            ));
        };
        opened.map_err(warn).ok()
    }

    fn read(&self, name: &str) -> Option<OsString> {
        match &self.variables {
            #[expect(clippy::disallowed_methods, reason = "this is the one door")]
            Variables::Process => std::env::var_os(name),
            #[expect(clippy::disallowed_methods, reason = "this is the one door")]
            Variables::Outside(given) => {
                given.get(name).cloned().or_else(|| std::env::var_os(name))
            }
            #[cfg(test)]
            Variables::Fixed(fixed) => fixed.get(name).cloned(),
        }
    }
}
