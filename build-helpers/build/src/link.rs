//! Puts objects into static libraries that are linked into whatever the package builds.

use crate::{env::World, error::Error, manifest::Package, naming};
use std::path::PathBuf;

/// Puts the objects of CPU kernels into one static library, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Toolchain`] where there is no archiver.
pub(crate) fn objects(world: &World, package: &Package, objects: &[PathBuf]) -> Result<(), Error> {
    if objects.is_empty() {
        return Ok(());
    }
    let name = naming::identifier(&format!("{} {}", package.name, package.major));
    archive(world, package, &format!("kernelmill_{name}"), objects)
}

/// Puts objects into a static library of this name, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Toolchain`] where there is no archiver.
pub(crate) fn archive(
    world: &World,
    package: &Package,
    name: &str,
    objects: &[PathBuf],
) -> Result<(), Error> {
    let mut archive = cc::Build::new();
    archive
        .cargo_metadata(false)
        .cargo_warnings(false)
        .target(&package.target)
        .host(&package.target)
        .out_dir(&package.out_dir)
        .opt_level(0);
    archive.objects(objects).try_compile(name).map_err(|error| {
        Error::Toolchain(format!("the objects of `{name}` cannot be put into a library: {error}"))
    })?;
    let file = if package.target.contains("msvc") {
        format!("{name}.lib")
    } else {
        format!("lib{name}.a")
    };
    world.cargo.link(&package.out_dir, name, &package.out_dir.join(file));
    Ok(())
}
