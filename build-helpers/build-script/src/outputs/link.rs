//! Static libraries of objects, which are linked into whatever the package builds.

use crate::{
    base::{environment::BuildEnvironment, error::Error, files::write_if_changed, naming},
    settings::package::Package,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Puts the objects of CPU kernels into one static library, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Toolchain`] where there is no archiver.
pub(crate) fn objects(
    environment: &BuildEnvironment,
    package: &Package,
    objects: &[PathBuf],
) -> Result<(), Error> {
    if objects.is_empty() {
        return Ok(());
    }
    let name = naming::identifier(&format!("{} {}", package.name, package.major));
    archive(environment, package, &format!("kernelmill_{name}"), objects)
}

/// Puts objects into a static library of this name, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Toolchain`] where there is no archiver.
pub(crate) fn archive(
    environment: &BuildEnvironment,
    package: &Package,
    name: &str,
    objects: &[PathBuf],
) -> Result<(), Error> {
    let file = if package.target.contains("msvc") {
        format!("{name}.lib")
    } else {
        format!("lib{name}.a")
    };
    let file = package.out_dir.join(file);
    // What it was made of, to see that an object is gone.
    let list = package.out_dir.join(format!("kernelmill/{name}.txt"));
    let names: String = objects.iter().map(|path| format!("{}\n", path.display())).collect();
    let is_current =
        fs::read_to_string(&list).is_ok_and(|made_of| made_of == names) && is_newer(&file, objects);
    if !is_current {
        // A library that is only half written when a build is stopped must not look whole.
        if list.exists() {
            fs::remove_file(&list).map_err(Error::io("remove", &list))?;
        }
        make(package, name, objects)?;
        write_if_changed(&list, names.as_bytes())?;
    }
    environment.cargo.link(&package.out_dir, name, &file);
    Ok(())
}

/// Whether a file is there and was written after all of these.
fn is_newer(file: &Path, objects: &[PathBuf]) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    modified(file).is_some_and(|time| {
        objects.iter().all(|object| modified(object).is_some_and(|object| object < time))
    })
}

fn make(package: &Package, name: &str, objects: &[PathBuf]) -> Result<(), Error> {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::cargo::Cargo, test_support::Project};

    #[test]
    fn a_library_that_could_not_be_made_whole_is_made_again() {
        let project = Project::new("", &[("a.o", "one"), ("target/out/kernelmill/none", "")]);
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(std::io::sink())),
        );
        let package = Package::read(&environment).unwrap();
        let object = package.root.join("a.o");
        let list = package.out_dir.join("kernelmill/host.txt");
        archive(&environment, &package, "host", std::slice::from_ref(&object)).unwrap();
        assert!(list.is_file() && package.out_dir.join("libhost.a").is_file());
        let missing = package.root.join("missing.o");
        let failed = archive(&environment, &package, "host", &[object, missing]).unwrap_err();
        assert!(failed.to_string().contains("cannot be put into a library"), "{failed}");
        assert!(!list.exists(), "what is left of the library would be taken for whole");
    }
}
