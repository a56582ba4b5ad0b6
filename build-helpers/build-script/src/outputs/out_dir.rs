//! Artifacts in `OUT_DIR`: each binary as a plain file, and the bindings in `kernels.rs`.

use super::bindings::{embedded::Embedded, model::Interface, render::render};
use crate::{
    base::{error::Error, files::write_if_changed, naming},
    compile::binary::Binary,
    discovery::source::Source,
    settings::package::Package,
};
use kernelmill_artifact::ArtifactKind;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The list of the files that a build wrote, for the next one to remove those it no longer writes.
const LIST: &str = "kernelmill-files.txt";
/// The generated bindings.
const BINDINGS: &str = "kernels.rs";

/// The ending of the files with the lowering strategies on the CPU, for `cargo kernelmill inspect`.
const ROADS: &str = "roads.txt";

/// The files that are needed further on.
#[derive(Debug)]
pub(crate) struct Files {
    /// The objects to link, absolute.
    pub(crate) objects: Vec<PathBuf>,
}

/// Writes everything. Files whose content is there already are left alone.
pub(crate) fn write(
    package: &Package,
    sources: &[Source],
    binaries: &[Binary],
    interface: &Interface,
) -> Result<Files, Error> {
    let displays: Vec<_> = sources.iter().map(|source| source.display.as_str()).collect();
    let stems = naming::file_stems(&displays);
    let (mut names, mut objects, mut embedded) = (BTreeSet::new(), Vec::new(), Vec::new());
    for binary in binaries {
        let artifact = &binary.artifact;
        let target = artifact.target.to_string();
        let (stem, extension) = (&stems[binary.source], artifact.kind.extension());
        let name = format!("{stem}.{}.{extension}", naming::target(&target));
        let path = package.out_dir.join(&name);
        write_if_changed(&path, &artifact.bytes)?;
        if artifact.kind == ArtifactKind::Object {
            objects.push(path);
        }
        if let Some(text) = roads(binary) {
            let name = format!("{stem}.{}.{ROADS}", naming::target(&target));
            write_if_changed(&package.out_dir.join(&name), text.as_bytes())?;
            names.insert(name);
        }
        embedded.push(Embedded {
            binary,
            target,
            file: name.clone(),
            source: displays[binary.source],
        });
        names.insert(name);
    }
    let text = render(&package.name, interface, &embedded)?;
    write_if_changed(&package.out_dir.join(BINDINGS), text.as_bytes())?;
    remove_old(&package.out_dir, &names);
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    write_if_changed(&package.out_dir.join(LIST), list.as_bytes())?;
    Ok(Files { objects })
}

/// A line for each kernel: its symbol, and its lowering strategy on the CPU with the reason.
fn roads(binary: &Binary) -> Option<String> {
    let kernels = binary.artifact.kernels.iter();
    let lines = kernels.filter_map(|kernel| Some((&kernel.name, kernel.strategy.as_ref()?)));
    let text: String = lines.map(|(name, road)| format!("{name}: {road}\n")).collect();
    (!text.is_empty()).then_some(text)
}

/// Removes the files of the last build that are not of this one. What cannot be removed harms
/// nothing: nothing names it.
fn remove_old(folder: &Path, names: &BTreeSet<String>) {
    let list = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    for name in list.lines().filter(|name| !names.contains(*name) && !name.contains(['/', '\\'])) {
        let _ = fs::remove_file(folder.join(name));
    }
}
