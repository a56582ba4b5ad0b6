//! Source discovery: the kernel sources of a package, in folders, by patterns and by name.

use super::{
    candidate::{Candidate, read_if_small, report_special},
    cfgs,
    crate_modules::{self, CrateModules},
    host_files,
    includes::Headers,
    kernel_module,
    language::Language,
    place::place_of,
    read::read,
    source::{Source, SourceKind},
    templates,
};
use crate::{
    base::{error::Error, paths, report::Report},
    settings::{
        contract::Origin,
        layer::RuleText,
        origin::Value,
        package::Package,
        resolved::{DEFAULT_FOLDER, Settings},
        variants::VariantSettings,
    },
};
use kernelmill_artifact::Signature;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{
    diagnostic::Diagnostic,
    frontend::{
        cuda::signature::is_same_kernel,
        rust::signature::{Cfgs, ListedInstances},
    },
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

/// Files and folders that are looked at in a folder of kernels: a link may lead to all of a disk.
const MOST_PATHS: usize = 200_000;

const REMOVE: &str = "remove it, or leave it out with `exclude`";

/// The sources of a build.
#[derive(Debug)]
pub(crate) struct Found {
    /// By their paths.
    pub(crate) sources: Vec<Source>,
    /// The folders and files whose change means that the sources have to be found again.
    pub(crate) watched: Vec<PathBuf>,
}

/// The variants that attributes list, by the file and the symbol of each kernel.
fn variants_of(sources: &[Source]) -> BTreeMap<(String, String), Vec<VariantSettings>> {
    let mut variants: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for source in sources {
        for listed in &source.variants {
            let file = &listed.place.file;
            let text = source.texts.iter().find(|(display, _)| display == file);
            let text = text.map(|(_, text)| text.clone()).unwrap_or_default();
            let variant = VariantSettings::of_source(listed, text);
            variants.entry((file.clone(), listed.symbol.clone())).or_default().push(variant);
        }
    }
    variants
}

/// Finds and reads every source; those that can be read, and everything that is wrong with any.
pub(crate) fn find(package: &Package, settings: &mut Settings) -> (Found, Report) {
    let mut report = Report::default();
    let CrateModules { modules, watched } = crate_modules::find(package, settings, &mut report);
    let mut search = Search {
        package,
        settings,
        has_modules: !modules.is_empty() || !report.is_empty(),
        candidates: BTreeMap::new(),
        watched,
        report,
    };
    search.look();
    let headers = search.headers();
    let Search { candidates, mut watched, mut report, .. } = search;
    for path in &headers.special {
        report_special(&paths::relative(&package.root, path), &mut report);
    }
    let listed = listed_instances(settings, &mut report);
    let kernel_files = candidates.values().map(|it| paths::normal(&it.path)).collect();
    let mut sources: Vec<_> = candidates
        .into_values()
        .filter_map(|candidate| {
            let cfgs = cfgs::of_file(package, settings, &candidate.display);
            read(candidate, &cfgs, &listed, &headers, &mut watched, &mut report)
        })
        .collect();
    let mut reader = kernel_module::Reader {
        root: &package.root,
        cfgs: &Cfgs::new(cfgs::of(package, settings)),
        listed: &listed,
        kernel_files: &kernel_files,
        watched: &mut watched,
        report: &mut report,
    };
    sources.extend(modules.iter().filter_map(|module| reader.read(module)));
    for function in sources.iter_mut().flat_map(|source| &mut source.functions) {
        function.package = package.name.clone().into();
    }
    templates::attach(package, settings, &mut sources, &mut report);
    settings.generics = sources.iter().flat_map(instances_by_name).collect();
    settings.variants_of_sources = variants_of(&sources);
    for kernels in sources.iter_mut().filter_map(|source| source.signatures.as_mut()) {
        settings.limit(kernels, &mut report);
    }
    check_declared(&sources, settings, &mut report);
    let paths = sources.iter().filter_map(|source| source.path_of_settings().map(str::to_owned));
    settings.sources.check(&paths.collect::<Vec<_>>(), &mut report);
    check_names(&sources, &mut report);
    let is_empty = sources.iter().all(|source| !source.is_any() && !source.has_functions());
    if is_empty && report.is_empty() && settings.host_files.is_empty() {
        no_kernels(package, settings, &sources, &mut report);
    }
    (Found { sources, watched }, report)
}

/// The instances that the settings list; the report is given the texts of the settings.
fn listed_instances(settings: &Settings, report: &mut Report) -> Vec<ListedInstances> {
    let one = |(key, RuleText { text, origin }): (&String, &RuleText)| {
        if let Some(Origin { place, file }) = origin {
            report.add_text(&place.file, file.clone());
        }
        let place = origin.as_ref().map(|origin| origin.place.clone());
        ListedInstances { key: key.clone(), instances: vec![(text.clone(), place)] }
    };
    settings.instances().map(one).collect()
}

/// The names of the generic kernels of a source, by the files and symbols of their instances.
fn instances_by_name(source: &Source) -> Vec<((String, String), String)> {
    let of = |kernel: &Signature| {
        let generic = source.generics.iter().find(|generic| generic.has(kernel))?;
        Some(((kernel.file.to_string(), kernel.symbol.to_string()), generic.name.clone()))
    };
    source.kernels().iter().filter_map(of).collect()
}

/// The languages of the files that look like sources, without reading what is in their kernels.
pub(crate) fn languages(package: &Package, settings: &Settings) -> Vec<Language> {
    let (candidates, watched, report) = (BTreeMap::new(), Vec::new(), Report::default());
    let has_modules = crate_modules::is_likely(package, settings);
    let mut search = Search { package, settings, has_modules, candidates, watched, report };
    search.look();
    let headers = search.headers();
    let mut found = Vec::new();
    if has_modules {
        found.push(Language::Rust);
    }
    for candidate in search.candidates.values().filter(|it| it.path.is_file()) {
        let Some(language) = Language::of(&candidate.path) else { continue };
        let bytes = read_if_small(&candidate.path).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let is_source = || {
            language.may_hold_kernel(&text)
                || language.has_includes()
                    && headers.may_bring_kernel(language, &candidate.path, &text, &mut Vec::new())
        };
        if !found.contains(&language) && is_source() {
            found.push(language);
        }
    }
    found
}

/// Checks the kernels of all sources once all of them are known.
///
/// # Errors
///
/// [`Error::Sources`] where two have one name, or there is none.
pub(crate) fn check_kernels(
    package: &Package,
    sources: &[Source],
    settings: &Settings,
) -> Result<(), Error> {
    let mut report = Report::default();
    check_declared(sources, settings, &mut report);
    check_names(sources, &mut report);
    let is_empty = sources.iter().all(|source| !source.is_any() && !source.has_functions());
    if is_empty && settings.host_files.is_empty() {
        no_kernels(package, settings, sources, &mut report);
    }
    report.into_result(Error::Sources)
}

struct Search<'a> {
    package: &'a Package,
    settings: &'a Settings,
    /// Whether kernels are in the crate's own source, so that there need not be a folder of them.
    has_modules: bool,
    candidates: BTreeMap<String, Candidate>,
    watched: Vec<PathBuf>,
    report: Report,
}

impl Search<'_> {
    /// What the files in C and C++ among the candidates include.
    fn headers(&self) -> Headers {
        let files = self.candidates.values().map(|candidate| candidate.path.as_path());
        let files = files.filter(|path| Language::of(path).is_some_and(Language::has_includes));
        let folder = |folder: &String| paths::normal(&self.package.root.join(folder));
        Headers::new(files, self.settings.includes.iter().map(folder).collect())
    }

    fn look(&mut self) {
        for folder in &self.settings.source_dirs {
            let setting = Value { key: "source-dir", text: folder };
            self.folder(folder, setting, &|_| true);
        }
        for glob in &self.settings.source_globs {
            let written = glob.to_string();
            let setting = Value { key: "source-glob", text: &written };
            let glob = glob.relative_to(&self.package.root);
            self.folder(&glob.folder(), setting, &|display| glob.matches(display));
        }
        for file in &self.settings.source_files {
            self.file(file);
        }
        for folder in &self.settings.includes {
            let path = paths::normal(&self.package.root.join(folder));
            if path.is_dir() {
                self.watched.push(path);
            } else {
                let message = format!("there is no folder `{folder}` to look for headers in");
                let help = "write its path relative to Cargo.toml";
                let setting = Value { key: "include", text: folder };
                setting.report(Code::MissingFile, self.package, message, help, &mut self.report);
            }
        }
    }

    fn folder(&mut self, folder: &str, setting: Value<'_>, wanted: &dyn Fn(&str) -> bool) {
        let path = paths::normal(&self.package.root.join(folder));
        let is_default = folder == DEFAULT_FOLDER;
        let has_others = self.has_modules || !self.settings.host_files.is_empty();
        if is_default && has_others && !path.is_dir() {
            return;
        }
        if !path.is_dir() {
            let message = format!("there is no folder `{folder}` to look for kernels in");
            let help = "put a kernel there, for example `kernels/saxpy.rs`, or name another folder with \
                        `source-dir`";
            setting.report(Code::NoKernels, self.package, message, help, &mut self.report);
            return;
        }
        if let Some(around) = self.around(&path, folder, setting) {
            let message = format!(
                "`{around}` contains the package, and all of it would be searched for kernels"
            );
            let help = "name the folders of kernels, or single files with `source-files`";
            setting.report(Code::SettingValue, self.package, message, help, &mut self.report);
            return;
        }
        self.watched.push(path.clone());
        let own = self.package.root.canonicalize();
        let mut looked_at = 0;
        let mut walk = WalkDir::new(&path).sort_by_file_name().follow_links(true).into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unreadable(folder, &error);
                    continue;
                }
            };
            let display = paths::relative(&self.package.root, entry.path());
            looked_at += 1;
            if looked_at > MOST_PATHS {
                let message = format!(
                    "`{folder}` has more than {MOST_PATHS} files and folders; the search stopped at `{display}`"
                );
                self.report.plain(Code::LargeSource, message, "name the folders of kernels with `source-dir`, or leave some out with `exclude`");
                return;
            }
            let is_hidden =
                entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
            let is_folder = entry.file_type().is_dir();
            if is_hidden || self.is_excluded(&display) || self.is_written_by_cargo(entry.path()) {
                if is_folder {
                    walk.skip_current_dir();
                }
            } else if is_folder {
                let leads_to =
                    entry.path_is_symlink().then(|| entry.path().canonicalize().ok()).flatten();
                if leads_to.is_some_and(|it| own.as_ref().is_ok_and(|own| own.starts_with(it))) {
                    walk.skip_current_dir();
                    let message =
                        format!("`{display}` is a link to a folder that contains the package");
                    self.report.plain(Code::UnreadableFile, message, REMOVE);
                    continue;
                }
                if entry.path() != self.package.root && entry.path().join("Cargo.toml").is_file() {
                    walk.skip_current_dir();
                    self.add_named(entry.path(), SourceKind::Package);
                }
            } else if Language::of(Path::new(&display)).is_some()
                && wanted(&display)
                && !host_files::is_named(self.package, self.settings, &display)
            {
                self.add_named(entry.path(), SourceKind::File);
            }
        }
    }

    /// The name of a folder that has too much in it to be looked through: that of the whole disk, and one that the
    /// package lies in where all files in it would be sources. Links are for whoever walks.
    fn around<'n>(&self, path: &Path, folder: &'n str, setting: Value<'_>) -> Option<&'n str> {
        let (own, real) = (self.package.root.canonicalize().ok()?, path.canonicalize().ok()?);
        let is_around = own != real && own.starts_with(&real) && !path.is_symlink();
        match real.parent() {
            None => Some("/"),
            Some(_) => (is_around && setting.key == "source-dir").then_some(folder),
        }
    }

    /// Adds what is found in a folder. Messages, keys and compilers have its name as a text, so one that is not UTF-8
    /// is reported.
    fn add_named(&mut self, path: &Path, kind: SourceKind) {
        let name = path.strip_prefix(&self.package.root).unwrap_or(path);
        if name.to_str().is_some() {
            self.add(path, kind, false);
            return;
        }
        let message = format!("the name of {name:?} is not UTF-8");
        let help = "give it and its folders other names, or leave it out with `exclude`";
        self.report.plain(Code::UnreadableFile, message, help);
    }

    /// Reports what a folder has that cannot be looked at, a link to nothing or to itself among others. What
    /// is hidden or excluded is not looked at.
    fn unreadable(&mut self, folder: &str, error: &walkdir::Error) {
        let Some(path) = error.path() else {
            self.report.message(
                Code::UnreadableFile,
                format!("cannot read the folder `{folder}`: {error}"),
            );
            return;
        };
        let display = paths::relative(&self.package.root, path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || self.is_excluded(&display) {
            return;
        }
        let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
        let is_missing =
            error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let why = match error.loop_ancestor() {
            Some(_) => "is a link to a folder that contains it".to_owned(),
            None if is_link && is_missing => "is a link to a file that does not exist".to_owned(),
            None => format!("cannot be read: {error}"),
        };
        self.report.plain(Code::UnreadableFile, format!("`{display}` {why}"), REMOVE);
    }

    fn file(&mut self, name: &str) {
        let path = paths::normal(&self.package.root.join(name));
        if path.is_dir() && path.join("Cargo.toml").is_file() {
            self.watched.push(path.clone());
            self.add(&path, SourceKind::Package, true);
        } else if path.is_file() {
            self.watched.push(path.clone());
            self.add(&path, SourceKind::File, true);
        } else {
            let message = format!("there is no file `{name}`, which is named as a kernel source");
            let setting = Value { key: "source-files", text: name };
            let help = "write its path relative to Cargo.toml";
            setting.report(Code::MissingFile, self.package, message, help, &mut self.report);
        }
    }

    /// Adds a path; one that is found twice is one source.
    fn add(&mut self, path: &Path, kind: SourceKind, is_named: bool) {
        let display = paths::relative(&self.package.root, path);
        let candidate = Candidate { path: path.to_owned(), display, kind, is_named };
        let known = self.candidates.entry(candidate.display.clone()).or_insert(candidate);
        known.is_named |= is_named;
    }

    fn is_excluded(&self, display: &str) -> bool {
        self.settings
            .excludes
            .iter()
            .any(|glob| glob.relative_to(&self.package.root).excludes(display))
    }

    /// Whether a path is in a build folder, where copies of sources may lie.
    fn is_written_by_cargo(&self, path: &Path) -> bool {
        self.package.out_dir.starts_with(path) && path != self.package.root
            || path.join("CACHEDIR.TAG").is_file()
    }
}

/// Reports parameters that are declared of kernels whose sources say them.
fn check_declared(sources: &[Source], settings: &Settings, report: &mut Report) {
    for source in sources.iter().filter(|source| !source.kind.may_be_declared()) {
        settings.check_declared(source.kernels(), report);
    }
}

/// Reports kernels of one name: all become methods of one `Kernels`.
fn check_names(sources: &[Source], report: &mut Report) {
    let mut first: BTreeMap<&str, (&Source, &Signature)> = BTreeMap::new();
    for source in sources {
        for signature in source.kernels() {
            let Some(&(other_source, other)) = first.get(signature.name()) else {
                first.insert(signature.name(), (source, signature));
                continue;
            };
            if is_same_kernel(other, signature) {
                continue;
            }
            let name = signature.name();
            for (display, text) in source.texts.iter().chain(&other_source.texts) {
                report.add_text(display, text.clone());
            }
            let diagnostic = Diagnostic::error(
                Code::SameName,
                place_of(source, signature),
                format!("two kernels are named `{name}`"),
            );
            report.diagnostic(
                diagnostic
                    .kernel(name)
                    .label(place_of(other_source, other), "the first one")
                    .help("rename one of them: all kernels of a package are methods of one type"),
            );
        }
    }
}

/// Reports that there are none. A source in C++ is there where its compiler has found none in it.
fn no_kernels(package: &Package, settings: &Settings, sources: &[Source], report: &mut Report) {
    let mut looked: Vec<String> =
        settings.source_dirs.iter().map(|folder| format!("the folder `{folder}`")).collect();
    looked.extend(settings.source_globs.iter().map(|glob| format!("`{glob}`")));
    looked.extend(settings.source_files.iter().map(|file| format!("`{file}`")));
    let looked = looked.join(", ");
    let templates = templates::places(package, settings, sources);
    let Some(first) = templates.first() else {
        let is_cpp = |it: &&Source| matches!(it.kind, SourceKind::Cuda | SourceKind::Hip);
        let help = match sources.iter().find(is_cpp) {
            Some(source) => format!(
                "nothing in `{}` is a kernel: mark a function with `__global__`, and move a kernel out of an `#if` that \
                 leaves it out",
                source.display
            ),
            None => {
                "mark a function with `#[kernel]`, for example in `kernels/saxpy.rs`".to_owned()
            }
        };
        report.plain(Code::NoKernels, format!("no kernels found in {looked}"), help);
        return;
    };
    let mut message = format!("no kernels found in {looked}: these templates have no instances");
    for templates::Place { file, line, name, parameters } in &templates {
        message += &format!("\n  {file}:{line}: `{name}`, a template of {}", parameters.join(", "));
    }
    let name = first.name.rsplit("::").next().unwrap_or(&first.name);
    let help = format!(
        "list in Cargo.toml what each is instantiated for, with a value for each parameter, as in\n    \
         [package.metadata.kernelmill.kernels.{name}]\n    instances = [\"float, 16\"]"
    );
    report.plain(Code::NoKernels, message, help);
}

#[cfg(test)]
mod tests;
