//! Finds the tools that the compiler uses.

use crate::{env::World, error::Error, manifest::Package};
use kernelmill_artifact::Target;
use kernelmill_compiler::Toolchain;
use std::{
    env::{consts::EXE_SUFFIX, split_paths},
    path::{Path, PathBuf},
    process::Command,
};
use walkdir::WalkDir;

/// Finds the toolchain for these targets. Tools that no target needs are not looked for, so that
/// installing one changes nothing for them.
///
/// # Errors
///
/// [`Error::Toolchain`] where rustc cannot be asked.
pub(crate) fn find(
    world: &World,
    package: &Package,
    targets: &[Target],
) -> Result<Toolchain, Error> {
    let rustc_version = ask(&package.rustc, &["-vV"])?;
    let sysroot = ask(&package.rustc, &["--print", "sysroot"])?;
    let needs_ptxas = targets.iter().any(|target| matches!(target, Target::Cubin(_)));
    let ptxas = if needs_ptxas { find_ptxas(world, package) } else { None };
    let ptxas_version = match &ptxas {
        Some(ptxas) => ask(ptxas, &["--version"])?,
        None => String::new(),
    };
    Ok(Toolchain {
        rustc: package.rustc.clone(),
        rustc_version,
        sysroot: PathBuf::from(sysroot.trim()),
        host: package.target.clone(),
        llvm: world.path("KERNELMILL_LLVM"),
        ptxas,
        ptxas_version,
        scratch: package.out_dir.join("kernelmill"),
    })
}

/// What a tool prints.
fn ask(program: &Path, arguments: &[&str]) -> Result<String, Error> {
    let failed = |why: String| {
        Error::Toolchain(format!("`{} {}` {why}", program.display(), arguments.join(" ")))
    };
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("failed:\n{}", String::from_utf8_lossy(&output.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// ptxas: the setting, `PATH`, the folders that CUDA's own variables name, and what
/// `cargo kernelmill toolchain install` and `cargo xtask setup` put into `target/toolchains`.
fn find_ptxas(world: &World, package: &Package) -> Option<PathBuf> {
    if let Some(set) = world.path("KERNELMILL_PTXAS") {
        return Some(set);
    }
    let name = format!("ptxas{EXE_SUFFIX}");
    let on_path = world.variable("PATH").and_then(|path| {
        split_paths(&path).map(|folder| folder.join(&name)).find(|path| path.is_file())
    });
    let in_cuda = || {
        ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"]
            .iter()
            .filter_map(|variable| world.path(variable))
            .map(|folder| folder.join("bin").join(&name))
            .find(|path| path.is_file())
    };
    let usual = || Some(Path::new("/usr/local/cuda/bin").join(&name)).filter(|path| path.is_file());
    on_path.or_else(in_cuda).or_else(|| installed(package, &name)).or_else(usual)
}

/// `**/bin/<name>` in a `target/toolchains`, or a `toolchains` in the build folder, on the way up
/// from the build folder and from the package. The first in the order of names, so that the same
/// machine gives the same tool.
fn installed(package: &Package, name: &str) -> Option<PathBuf> {
    let folders = package
        .out_dir
        .ancestors()
        .map(|folder| folder.join("toolchains"))
        .chain(package.root.ancestors().map(|folder| folder.join("target").join("toolchains")));
    folders.filter(|folder| folder.is_dir()).find_map(|folder| {
        let walk = WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
        walk.map(walkdir::DirEntry::into_path)
            .find(|path| path.ends_with(Path::new("bin").join(name)) && path.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cargo::Cargo, test_support::Project};

    fn found(project: &Project) -> Option<String> {
        let world = World::fixed(project.variables.clone(), Cargo::to(Box::new(std::io::sink())));
        let package = Package::read(&world).unwrap();
        let path = find_ptxas(&world, &package)?;
        Some(crate::paths::relative(&project.folder.path, &path))
    }

    #[test]
    fn ptxas_is_found_in_the_setting_the_path_cuda_and_up_the_tree() {
        let name = format!("bin/ptxas{EXE_SUFFIX}");
        let mut project = Project::new("", &[]);
        let wheel = format!("target/toolchains/b/nvidia/cu13/{name}");
        project.write(&wheel, "");
        assert_eq!(found(&project), Some(wheel), "beside the workspace");
        let nearer = format!("app/target/toolchains/a/{name}");
        project.write(&nearer, "");
        assert_eq!(found(&project), Some(nearer), "in the build folder");
        let folder = |name: &str| project.folder.path.join(name).into_os_string();
        let (cuda, path) = (folder("cuda"), folder("tools/bin"));
        project.write(&format!("cuda/{name}"), "");
        project.write(&format!("tools/{name}"), "");
        project.variables.insert("CUDA_PATH".into(), cuda);
        assert_eq!(found(&project), Some(format!("cuda/{name}")));
        project.variables.insert("PATH".into(), path);
        assert_eq!(found(&project), Some(format!("tools/{name}")));
        let set = project.folder.path.join("mine").into_os_string();
        project.variables.insert("KERNELMILL_PTXAS".into(), set);
        assert_eq!(found(&project).as_deref(), Some("mine"));
    }
}
