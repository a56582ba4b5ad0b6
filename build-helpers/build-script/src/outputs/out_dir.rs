//! Artifacts in `OUT_DIR`: each binary as a plain file, and the bindings in `kernels.rs`.

use super::bindings::{embedded::Embedded, model::Interface, render::render};
use crate::{
    base::{error::Error, files::write_if_changed, naming},
    compile::binary::Binary as Compiled,
    discovery::source::Source,
    manifest,
    settings::package::Package,
};
use kernelmill_artifact::ArtifactKind;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The generated bindings.
const BINDINGS: &str = "kernels.rs";

/// Writes the binaries and the bindings. Files whose content is there already are left alone.
pub(crate) fn write<'a>(
    package: &Package,
    sources: &'a [Source],
    binaries: &'a [Compiled],
    interface: &Interface,
) -> Result<Vec<Embedded<'a>>, Error> {
    let displays: Vec<_> = sources.iter().map(|source| source.display.as_str()).collect();
    let stems = naming::file_stems(&displays);
    let place = |binary: &'a Compiled| {
        let (target, kind) = (binary.artifact.target.to_string(), binary.artifact.kind);
        let stem = &stems[binary.source];
        let file = format!("{stem}.{}.{}", naming::target(&target), kind.extension());
        Embedded { binary, file, source: &sources[binary.source].display, target }
    };
    let placed: Vec<_> = binaries.iter().map(place).collect();
    for Embedded { binary, file, .. } in &placed {
        write_if_changed(&package.out_dir.join(file), &binary.artifact.bytes)?;
    }
    let text = render(&package.name, interface, &placed);
    write_if_changed(&package.out_dir.join(BINDINGS), text.as_bytes())?;
    let names: BTreeSet<_> = placed.iter().map(|placed| placed.file.as_str()).collect();
    remove_old(&package.out_dir, &names);
    Ok(placed)
}

/// The objects to link, absolute.
pub(crate) fn objects(package: &Package, placed: &[Embedded<'_>]) -> Vec<PathBuf> {
    let is_object = |it: &&Embedded<'_>| it.binary.artifact.kind == ArtifactKind::Object;
    placed.iter().filter(is_object).map(|it| package.out_dir.join(&it.file)).collect()
}

/// Removes the binaries of the last build, as its manifest lists them, that are not of this one. What
/// cannot be removed harms nothing: nothing names it.
fn remove_old(folder: &Path, names: &BTreeSet<&str>) {
    for file in manifest::binary_files(folder).unwrap_or_default() {
        if !names.contains(&*file) && !file.contains(['/', '\\']) {
            let _ = fs::remove_file(folder.join(file));
        }
    }
}
