//! Static libraries of objects, which are linked into whatever the package builds. Those of ELF objects are written by
//! [`elf_archive`], others by the machine's archiver.

use super::elf_archive::{self, Member};
use crate::{
    base::{environment::BuildEnvironment, error::Error, files::write_if_changed, naming},
    settings::package::Package,
};
use kernelmill_store::digest;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Puts the objects of CPU kernels into one static library, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Tool`] where there is no archiver for objects that are not in ELF.
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
/// [`Error::Tool`] where there is no archiver for objects that are not in ELF.
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
    let folder = package.out_dir.join(format!("kernelmill/{name}.tmp"));
    let made = folder.join(&file);
    let file = package.out_dir.join(file);
    let list = package.out_dir.join(format!("kernelmill/{name}.txt"));
    let known = fs::read_to_string(&list).ok();
    if known.is_none() || known != contents(&file, objects) {
        // A library that is only half written when a build is stopped must not look whole.
        if list.exists() {
            fs::remove_file(&list).map_err(Error::io("remove", &list))?;
        }
        make(package, (&folder, &made), name, objects)?;
        fs::rename(&made, &file).map_err(Error::io("write", &file))?;
        // Where it cannot be removed now, the next build does.
        let _ = fs::remove_dir_all(&folder);
        write_if_changed(&list, contents(&file, objects).unwrap_or_default().as_bytes())?;
    }
    environment.cargo.link(&package.out_dir, name, &file);
    Ok(())
}

/// The digests of a library and of the objects that it is made of, with their paths, a file a line; `None`
/// where one of them cannot be read. Times of modification decide nothing: clocks are changed, and
/// backups restore files with their old times.
fn contents(library: &Path, objects: &[PathBuf]) -> Option<String> {
    let line = |path: &Path| {
        // Who reads a pipe waits without end.
        let content =
            path.is_file().then(|| fs::read(path).ok()).flatten().map(|it| digest(&it))?;
        Some(format!("{content} {}\n", path.display()))
    };
    std::iter::once(library).chain(objects.iter().map(PathBuf::as_path)).map(line).collect()
}

/// Makes a library. An archiver that is killed leaves files of names that nobody knows, so the folder is a
/// temporary one.
fn make(
    package: &Package,
    (folder, made): (&Path, &Path),
    name: &str,
    objects: &[PathBuf],
) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::io("remove", folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    if let Some(library) = of_elf_objects(objects) {
        return fs::write(made, library).map_err(Error::io("write", made));
    }
    let mut archive = cc::Build::new();
    archive
        .cargo_metadata(false)
        .cargo_warnings(false)
        .target(&package.target)
        .host(&package.target)
        .out_dir(folder)
        .opt_level(0);
    archive.objects(objects).try_compile(name).map_err(|error| {
        Error::Tool(format!(
            "the archiver cannot make the static library `{name}` of the compiled objects: {error}; \
             install `ar`, or set the environment variable AR to one"
        ))
    })
}

/// The library of objects that are all in ELF; `None` where one is not, or cannot be read.
fn of_elf_objects(objects: &[PathBuf]) -> Option<Vec<u8>> {
    let contents: Option<Vec<_>> = objects.iter().map(|path| fs::read(path).ok()).collect();
    let contents = contents?;
    let name = |path: &PathBuf| Some(path.file_name()?.to_str()?.to_owned());
    let names: Option<Vec<_>> = objects.iter().map(name).collect();
    let names = names?;
    let members = names.iter().zip(&contents).map(|(name, content)| Member { name, content });
    elf_archive::write(&members.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::cargo::Cargo, test_support::Project};

    /// The bytes of a library of one object in the project, after another build.
    fn built(project: &Project) -> Vec<u8> {
        let environment = project.environment(&crate::test_support::Shared::default());
        let package = Package::read(&environment).unwrap();
        let object = package.root.join("a.o");
        archive(&environment, &package, "host", &[object]).unwrap();
        fs::read(package.out_dir.join("libhost.a")).unwrap()
    }

    #[test]
    fn content_decides_whether_a_library_is_made_again_and_no_time_does() {
        use std::time::{Duration, SystemTime};
        let project = Project::new("", &[("a.o", "first"), ("target/out/kernelmill/none", "")]);
        let library = project.out().join("libhost.a");
        let contains = |bytes: &[u8], text: &str| {
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let set_time = |path: &Path, time| {
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        };
        let day = Duration::from_secs(86_400);
        assert!(contains(&built(&project), "first"));
        // The clock was a day ahead when the library was made.
        set_time(&library, SystemTime::now() + day);
        project.write("app/a.o", "later");
        assert!(contains(&built(&project), "later"), "the object of before is kept");
        // An object is restored with its old time.
        project.write("app/a.o", "third");
        set_time(&project.folder.path().join("app/a.o"), SystemTime::now() - day);
        assert!(contains(&built(&project), "third"));
        // A library that is not what was made is made again.
        fs::write(&library, "damaged").unwrap();
        assert!(contains(&built(&project), "third"));
        // Nothing is made where nothing changed.
        set_time(&library, SystemTime::now() - day);
        let before = fs::metadata(&library).unwrap().modified().unwrap();
        built(&project);
        assert_eq!(fs::metadata(&library).unwrap().modified().unwrap(), before);
    }

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
        assert!(failed.to_string().contains("cannot make the static library `host`"), "{failed}");
        assert!(!list.exists(), "what is left of the library would be taken for whole");
    }
}
