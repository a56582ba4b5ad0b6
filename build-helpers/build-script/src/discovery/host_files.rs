//! Host files: the files that the setting `host-files` names.

use super::{
    candidate::read_bytes,
    source::{Source, SourceKind},
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, paths, report::Report},
    settings::{origin::Value, package::Package, resolved::Settings},
};
use kernelmill_compiler::diagnostic::Code;
use std::{collections::BTreeMap, path::PathBuf};
use walkdir::WalkDir;

/// Whether a path, relative to the package, is a host file: then it is no kernel source.
pub(crate) fn is_named(package: &Package, settings: &Settings, display: &str) -> bool {
    settings.host_files.iter().any(|glob| glob.relative_to(&package.root).matches(display))
}

/// Finds and reads the host files, and tells Cargo to watch where they are looked for.
///
/// # Errors
///
/// [`Error::Sources`] with every pattern that matches no file, and every file that cannot be read.
pub(crate) fn find(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
) -> Result<Vec<Source>, Error> {
    let mut report = Report::default();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for glob in &settings.host_files {
        let written = glob.to_string();
        let glob = glob.relative_to(&package.root);
        let folder = paths::normal(&package.root.join(glob.folder()));
        if glob.has_wildcard() && folder != package.root {
            package.watch(environment, &folder);
        }
        let mut matches = 0;
        let walk = WalkDir::new(&folder).sort_by_file_name().follow_links(true).into_iter();
        let walk = walk.filter_entry(|entry| {
            let is_hidden =
                entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
            !is_hidden && !entry.path().join("CACHEDIR.TAG").is_file()
        });
        for entry in walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let display = paths::relative(&package.root, entry.path());
            if glob.matches(&display) {
                // The package's own folder cannot be watched: Cargo builds into it.
                let parent = entry.path().parent().filter(|parent| *parent != package.root);
                if let Some(parent) = parent.filter(|_| glob.has_wildcard()) {
                    package.watch(environment, parent);
                }
                found.insert(display, entry.into_path());
                matches += 1;
            }
        }
        if matches == 0 {
            let message = format!("no file matches `{glob}`, which is named in `host-files`");
            let help =
                "write a path or a pattern relative to Cargo.toml, for example `src/launch/*.cu`";
            let setting = Value { key: "host-files", text: &written };
            setting.report(Code::MissingFile, package, message, help, &mut report);
        }
    }
    let read = |(display, path): (String, PathBuf)| {
        let bytes = read_bytes(&path, &display, &mut report)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(Source {
            path,
            kind: SourceKind::Cuda,
            signatures: Some(Vec::new()),
            functions: Vec::new(),
            generics: Vec::new(),
            instances: Vec::new(),
            templates: Vec::new(),
            weight: bytes.len() as u64,
            texts: vec![(display.clone(), text.into())],
            states: Vec::new(),
            variables: Vec::new(),
            module: None,
            defines: BTreeMap::new(),
            defined: Vec::new(),
            warnings: Vec::new(),
            variants: Vec::new(),
            display,
            overrides: Vec::new(),
        })
    };
    let files: Vec<_> = found.into_iter().filter_map(read).collect();
    report.into_result(Error::Sources)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::cargo::Cargo,
        discovery::sources,
        settings::resolve,
        test_support::{Project, Shared},
    };

    /// The host files of a project, its other sources, and what was printed for Cargo.
    fn found(project: &Project) -> Result<(Vec<String>, Vec<String>, String), Error> {
        let written = Shared::default();
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(written.clone())),
        );
        let package = Package::read(&environment)?;
        let mut settings = resolve::read(&environment, &package, project.builder.clone())?;
        let hosts = find(&environment, &package, &settings)?;
        let sources = sources::find(&package, &mut settings).0.sources;
        let displays = |files: Vec<Source>| files.into_iter().map(|file| file.display).collect();
        let lines = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        Ok((displays(hosts), displays(sources), lines))
    }

    const KERNEL: &str = "__global__ void k() {}\n";

    #[test]
    fn a_host_file_is_no_kernel_source_and_exclude_does_not_touch_it() {
        let files = ["kernels/k.cu", "kernels/host/a.cu", "kernels/host/b.cu", "kernels/old.cu"];
        let metadata = "host-files = [\"kernels/host/*.cu\", \"kernels/host/a.cu\"]\n\
                        exclude = [\"old.cu\", \"b.cu\"]\n";
        let project = Project::new(metadata, &files.map(|name| (name, KERNEL)));
        let (hosts, sources, lines) = found(&project).unwrap();
        assert_eq!(hosts, ["kernels/host/a.cu", "kernels/host/b.cu"]);
        assert_eq!(sources, ["kernels/k.cu"]);
        assert!(lines.contains("cargo::rerun-if-changed=kernels/host\n"), "{lines}");
    }

    #[test]
    fn a_package_may_have_host_files_alone() {
        let files = [
            ("a.cu", KERNEL),
            ("src/b.cu", KERNEL),
            ("target/CACHEDIR.TAG", ""),
            ("target/b.cu", KERNEL),
        ];
        let project = Project::new("host-files = \"**/*.cu\"\n", &files);
        let (hosts, sources, lines) = found(&project).unwrap();
        assert_eq!(hosts, ["a.cu", "src/b.cu"]);
        assert!(sources.is_empty(), "{sources:?}");
        assert!(!lines.contains("rerun-if-changed=\n"), "not the whole package: {lines}");
        assert!(lines.contains("rerun-if-changed=src\n"), "{lines}");
    }

    #[test]
    fn every_pattern_without_a_file_is_reported() {
        let project = Project::new("host-files = [\"no.cu\", \"src/*.cuh\"]\n", &[]);
        let text = found(&project).unwrap_err().to_string();
        assert_eq!(text.matches("error[KM0021]: no file matches `").count(), 2, "{text}");
        let project = Project::new("host-files = 3\nrdc = \"yes\"\nnvcc = \"\"\n", &[]);
        let text = found(&project).unwrap_err().to_string();
        for line in ["`host-files` cannot be 3", "`rdc` cannot be \"yes\"", "`nvcc` cannot be \"\""]
        {
            assert!(text.contains(line), "{text}");
        }
    }
}
