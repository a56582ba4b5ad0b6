//! Device libraries: those that the settings name, and the toolkit's own; their files, and the linker.
//!
//! Guarantees that only sources with something undefined depend on them: see [`without_libraries`].

use crate::{
    base::{environment::BuildEnvironment, error::Error, paths, report::Report},
    settings::{origin::Value, package::Package, resolved::Settings},
    store::dependency_record::Inputs,
    toolchain::{FOLDERS_OF_LIBRARIES, Search, find_tool, no_nvlink},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{Config, DeviceLibrary, DeviceLink, Params};
use std::path::{Path, PathBuf};

/// The toolkit's run-time library of devices, which is looked at without a setting.
const OF_TOOLKIT: &str = "cudadevrt";

/// Finds the libraries, and nvlink where a target is a cubin; `None` where there are none.
///
/// # Errors
///
/// [`Error::Sources`] with every library that is not there, and where nvlink is needed and is not.
pub(crate) fn find(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
    search: &Search<'_>,
    inputs: &Inputs<'_>,
) -> Result<Option<DeviceLink>, Error> {
    let has_cubins = settings.targets.iter().any(|target| matches!(target, Target::Cubin(_)));
    let nvlink = if has_cubins { find_tool(search, "nvlink") } else { None };
    let toolkit = nvlink.as_deref().and_then(Path::parent).and_then(Path::parent);
    let is_named = settings.device_libraries.iter().any(|name| name == OF_TOOLKIT);
    let own =
        toolkit.filter(|_| !is_named).and_then(|it| locate(&package.root, Some(it), OF_TOOLKIT));
    if settings.device_libraries.is_empty() && own.is_none() {
        return Ok(None);
    }
    let mut report = Report::default();
    if has_cubins && nvlink.is_none() {
        no_nvlink(search, &mut report);
    }
    let mut libraries = Vec::new();
    for name in &settings.device_libraries {
        let found = locate(&package.root, toolkit, name);
        let library =
            |(path, digest)| DeviceLibrary { name: name.clone(), is_named: true, path, digest };
        match found.and_then(|path| Some((inputs.digest(&path)?.to_string(), path))) {
            Some((digest, path)) => {
                package.watch(environment, &path);
                libraries.push(library((path, digest)));
            }
            // Other targets are linked with none, and only say the names.
            None if !has_cubins => libraries.push(library((PathBuf::new(), String::new()))),
            None => {
                let message = format!("the device library `{name}` was not found");
                let help = not_there(&package.root, toolkit, name);
                let setting = Value { key: "device-libraries", text: name };
                setting.report(Code::DeviceLibrary, package, message, &help, &mut report);
            }
        }
    }
    report.into_result(Error::Sources)?;
    if let Some(path) = own
        && let Some(digest) = inputs.digest(&path)
    {
        package.watch(environment, &path);
        let (name, digest) = (OF_TOOLKIT.to_owned(), digest.to_string());
        libraries.push(DeviceLibrary { name, is_named: false, path, digest });
    }
    let version = match &nvlink {
        Some(nvlink) => {
            environment.cargo.watch(nvlink);
            search.ask(nvlink, &["--version"])?
        }
        None => String::new(),
    };
    Ok(Some(DeviceLink { nvlink, version, libraries }))
}

/// Whether a name is one of the toolkit's libraries, `cudadevrt`, and no path.
fn is_of_toolkit(name: &str) -> bool {
    !name.contains(['/', '\\', '.'])
}

fn locate(root: &Path, toolkit: Option<&Path>, name: &str) -> Option<PathBuf> {
    if !is_of_toolkit(name) {
        return Some(paths::normal(&root.join(name))).filter(|path| path.is_file());
    }
    let files = [format!("lib{name}.a"), format!("{name}.lib")];
    let folders = FOLDERS_OF_LIBRARIES.iter().map(|folder| toolkit.map(|it| it.join(folder)));
    let in_folder = |folder: PathBuf| files.clone().map(|file| folder.join(file));
    folders.flatten().flat_map(in_folder).find(|path| path.is_file())
}

fn not_there(root: &Path, toolkit: Option<&Path>, name: &str) -> String {
    match toolkit {
        Some(toolkit) if is_of_toolkit(name) => format!(
            "there is no lib{name}.a in the folders {} of {}; a file of yours is named by its path, \
             `lib/{name}.a`",
            FOLDERS_OF_LIBRARIES.join(", "),
            toolkit.display()
        ),
        _ => format!("there is no file {}", paths::normal(&root.join(name)).display()),
    }
}

/// A configuration without libraries of device code.
pub(crate) fn without_libraries(config: &Config) -> Config {
    let params = Params { device_link: None, ..config.params.clone() };
    Config { params, ..config.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::{temporary_folder, write_file};

    #[test]
    fn a_name_is_a_library_of_the_toolkit_and_a_path_a_file_of_the_package() {
        let folder = temporary_folder();
        let (root, toolkit) = (folder.path().join("app"), folder.path().join("cuda"));
        for file in ["app/lib/a.a", "app/cudadevrt", "cuda/lib64/libcudadevrt.a"] {
            write_file(&folder, file, "");
        }
        let locate = |name| locate(&root, Some(&toolkit), name);
        assert_eq!(locate("cudadevrt"), Some(toolkit.join("lib64/libcudadevrt.a")));
        assert_eq!(locate("./cudadevrt"), Some(root.join("cudadevrt")));
        assert_eq!(locate("../app/lib/a.a"), Some(root.join("lib/a.a")));
        assert_eq!(locate("lib/b.a"), None);
        assert_eq!(locate("other"), None);
        assert_eq!(super::locate(&root, None, "cudadevrt"), None);
    }
}
