//! Artifacts in `OUT_DIR`: each binary as a plain file, and the bindings in `kernels.rs`.

use super::bindings::{
    embedded::{Build, Embedded},
    model::Interface,
    render::render,
    tuned,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, files::write_if_changed, naming},
    compile::binary::Binary as Compiled,
    discovery::source::Source,
    manifest,
    settings::{package::Package, resolved::Settings, variants::VariantParameters},
    tuning::Choice,
};
use kernelmill_artifact::{ArtifactKind, LaunchLimits};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The generated bindings.
const BINDINGS: &str = "kernels.rs";
/// The variable with their path, by which `include_kernels!` finds them.
const BINDINGS_VARIABLE: &str = "KERNELMILL_BINDINGS";

/// Writes the binaries and the bindings. Files whose content is there already are left alone. With what they are it gives
/// a warning for each tuned launch that is left out.
pub(crate) fn write<'a>(
    (package, settings): (&Package, &Settings),
    sources: &'a [Source],
    binaries: &'a [Compiled],
    (interface, tuned): (&Interface, &[Choice]),
) -> Result<(Vec<Embedded<'a>>, Vec<String>), Error> {
    let displays: Vec<_> = sources.iter().map(|source| source.display.as_str()).collect();
    let stems = naming::file_stems(&displays);
    let mut placed: Vec<Embedded<'a>> = Vec::new();
    for binary in binaries {
        let builds = builds(binary, &sources[binary.source], interface, settings);
        if let Some(same) = placed.iter_mut().find(|other| has_same_code(other.binary, binary)) {
            same.builds.extend(builds);
            continue;
        }
        let (target, kind) = (binary.artifact.target.to_string(), binary.artifact.kind);
        let stem = &stems[binary.source];
        let part = binary.variant_name().or_else(|| binary.overridden.clone());
        let part = part.map_or_else(String::new, |name| format!(".{name}"));
        let file = format!("{stem}.{}{part}.{}", naming::target(&target), kind.extension());
        placed.push(Embedded {
            binary,
            file,
            source: &sources[binary.source].display,
            target,
            builds,
        });
    }
    for Embedded { binary, file, .. } in &placed {
        write_if_changed(&package.out_dir.join(file), &binary.artifact.bytes)?;
    }
    let (tuned, warnings) = tuned::resolve(tuned, interface, &placed);
    let text = render(&package.name, interface, &placed, &tuned);
    write_if_changed(&package.out_dir.join(BINDINGS), text.as_bytes())?;
    let names: BTreeSet<_> = placed.iter().map(|placed| placed.file.as_str()).collect();
    remove_old(&package.out_dir, &names);
    Ok((placed, warnings))
}

/// The kernels of a binary. Where all launches have the same code, their variants with the same macros are among them.
fn builds<'a>(
    binary: &'a Compiled,
    source: &Source,
    interface: &Interface,
    settings: &Settings,
) -> Vec<Build<'a>> {
    let target = &binary.artifact.target;
    let own = binary.variant.as_ref();
    let defines = own.map(|variant| &variant.defines).filter(|defines| !defines.is_empty());
    let mut builds = Vec::new();
    for kernel in &binary.artifact.kernels {
        let known = interface.index_of(binary.source, &kernel.name);
        let known = known.map(|index| &interface.kernels[index].signature);
        let limits = known.map_or(LaunchLimits::NONE, |known| {
            let mut defined = source.with_defines(defines).kernels().iter();
            let defined = defined.find(|it| defines.is_some() && it.symbol == known.symbol);
            defined.unwrap_or(known).limits
        });
        let build =
            |said: &VariantParameters| Build { kernel, variant: Some(said.of_kernel(limits)) };
        if own.is_none() {
            builds.push(Build { kernel, variant: None });
        }
        if let Some(known) = known {
            let listed = settings.variants(known, target);
            builds
                .extend(listed.iter().filter(|it| it.code_for(target).as_ref() == own).map(build));
        }
    }
    builds
}

/// Has `include_kernels!` find the bindings.
pub(crate) fn tell(environment: &BuildEnvironment, package: &Package) {
    environment.cargo.set_variable(BINDINGS_VARIABLE, &package.out_dir.join(BINDINGS));
}

/// Whether a binary is a variant with the code of another.
fn has_same_code(one: &Compiled, variant: &Compiled) -> bool {
    let (own, other) = (&one.artifact, &variant.artifact);
    variant.variant.is_some()
        && one.source == variant.source
        && own.target == other.target
        && own.bytes == other.bytes
        && (&own.locations, &own.messages) == (&other.locations, &other.messages)
        && own.relocations == other.relocations
        && own.variables.is_empty()
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
