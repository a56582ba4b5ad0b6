//! Finds the files that the setting `host-files` names.

use crate::{
    env::World,
    error::Error,
    manifest::Package,
    paths,
    pipeline::watch,
    report::Report,
    settings::Settings,
    source::{Source, SourceKind, read_bytes},
};
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
    world: &World,
    package: &Package,
    settings: &Settings,
) -> Result<Vec<Source>, Error> {
    let mut report = Report::default();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for glob in &settings.host_files {
        let glob = glob.relative_to(&package.root);
        let folder = paths::normal(&package.root.join(glob.folder()));
        if glob.has_wildcard() && folder != package.root {
            watch(world, package, &folder);
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
                found.insert(display, entry.into_path());
                matches += 1;
            }
        }
        if matches == 0 {
            report.plain(
                format!("no file matches `{glob}`, which is named in `host-files`"),
                "write a path or a pattern relative to Cargo.toml, for example `src/launch/*.cu`",
            );
        }
    }
    let read = |(display, path): (String, PathBuf)| {
        let bytes = read_bytes(&path, &display, &mut report)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(Source {
            path,
            kind: SourceKind::Cuda,
            signatures: Some(Vec::new()),
            weight: bytes.len() as u64,
            texts: vec![(display.clone(), text.into())],
            display,
        })
    };
    let files: Vec<_> = found.into_iter().filter_map(read).collect();
    report.into_result(Error::Sources)?;
    Ok(files)
}
