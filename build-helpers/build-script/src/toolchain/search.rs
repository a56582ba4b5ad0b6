//! The search for tools: its places, and what was found there.

use crate::{
    base::{environment::BuildEnvironment, error::Error, paths},
    settings::{choices::ArgumentsOf, package::Package, resolved::Settings},
    store::location::{store_of_user_if_any, user_folder},
};
use cargo_metadata::MetadataCommand;
use kernelmill_store::{Store, can_execute, who_else_can_change};
use std::{
    cmp::Reverse,
    env::{consts::EXE_SUFFIX, split_paths},
    fs,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

/// The variables that name the folder of a CUDA installation, in the order in which they count.
pub(crate) const CUDA_VARIABLES: [&str; 4] =
    ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
/// Where CUDA's own installer puts it.
const USUAL_CUDA: &str = "/usr/local/cuda";
/// How deep below a `toolchains` folder a `bin` may lie: `cuda-13.5/nvidia/cu13/bin/nvcc`.
const DEPTH: usize = 5;
/// Folders of CUDA with thousands of files and no program.
const NO_PROGRAMS: [&str; 5] = ["include", "lib", "lib64", "cccl", "nvvm"];

/// The places where a build, or another program, looks for tools.
pub(crate) struct Search<'w> {
    pub(super) environment: &'w BuildEnvironment,
    /// What paths in the settings start from.
    root: PathBuf,
    /// The folders `toolchains` of the workspace's own target folder. No folder above is looked at: others
    /// may write there.
    own: Vec<PathBuf>,
    /// The setting `nvcc`.
    pub(super) nvcc: Option<String>,
    /// The setting `clang`.
    pub(super) clang: Option<String>,
    /// Further arguments of compilers; some of them choose the host compiler.
    pub(super) arguments: Vec<String>,
    /// What tools have said of themselves.
    pub(super) memory: Store,
}

impl<'w> Search<'w> {
    /// The places of a package's build.
    pub(crate) fn of_build(
        environment: &'w BuildEnvironment,
        package: &Package,
        settings: &Settings,
    ) -> Self {
        Self {
            environment,
            root: package.root.clone(),
            own: own_folders(&package.out_dir, &package.target, &package.root),
            nvcc: settings.nvcc.clone(),
            clang: settings.clang.clone(),
            arguments: settings.arguments_for(ArgumentsOf::Cuda),
            memory: store_of_user_if_any(environment),
        }
    }

    /// The places of a program that works in a folder and has no settings but those of the
    /// environment.
    pub(crate) fn of_folder(
        environment: &'w BuildEnvironment,
        folder: &Path,
        target: &Path,
    ) -> Self {
        Self {
            environment,
            root: folder.to_path_buf(),
            own: vec![target.join("toolchains")],
            nvcc: environment.text("KERNELMILL_NVCC"),
            clang: environment.text("KERNELMILL_CLANG"),
            arguments: Vec::new(),
            memory: store_of_user_if_any(environment),
        }
    }

    /// A program that somebody has named: a path, or a name on `PATH`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] where there is no such file; `origin` is who named it.
    pub(super) fn named(&self, text: &str, origin: &str) -> Result<PathBuf, Error> {
        let is_path = text.contains(['/', '\\']);
        let mut files: Vec<_> = if is_path {
            let names = [text.to_owned(), format!("{text}{EXE_SUFFIX}")];
            let paths = names.iter().map(|text| paths::normal(&self.root.join(text)));
            paths.filter(|path| path.is_file()).collect()
        } else {
            self.files_on_path(text)
        };
        files.dedup();
        let why = match (&*files, is_path) {
            ([], true) => "there is no such file".to_owned(),
            ([], false) => "it is not on PATH".to_owned(),
            _ => format!("the user may not execute {}", list(&files)),
        };
        let program = files.into_iter().find(|path| can_execute(path));
        program.ok_or_else(|| Error::Tool(format!("{origin} names `{text}`, but {why}")))
    }

    /// The first program of this name on `PATH`. What the user may not execute is passed over, as shells do.
    pub(super) fn on_path(&self, name: &str) -> Option<PathBuf> {
        self.files_on_path(name).into_iter().find(|path| can_execute(path))
    }

    /// Every file of this name on `PATH`.
    fn files_on_path(&self, name: &str) -> Vec<PathBuf> {
        let Some(path) = self.environment.search_path() else { return Vec::new() };
        let file = format!("{name}{EXE_SUFFIX}");
        split_paths(&path).map(|folder| folder.join(&file)).filter(|path| path.is_file()).collect()
    }

    /// A program of CUDA's: in the folders that CUDA's variables name, on `PATH`, among the tools
    /// that are installed for kernelmill, in the usual place.
    pub(super) fn in_cuda(&self, name: &str) -> Option<PathBuf> {
        let file = format!("{name}{EXE_SUFFIX}");
        let is_there = |path: &PathBuf| can_execute(path);
        // All of them are asked for, so that Cargo watches all.
        let homes = CUDA_VARIABLES.map(|variable| self.environment.path(variable));
        let in_home = || {
            let homes = homes.into_iter().flatten();
            homes.map(|folder| folder.join("bin").join(&file)).find(is_there)
        };
        let usual = || Some(Path::new(USUAL_CUDA).join("bin").join(&file)).filter(is_there);
        in_home()
            .or_else(|| self.on_path(name))
            .or_else(|| self.installed(name).into_iter().next())
            .or_else(usual)
    }

    /// Every program of this name among the tools that are installed for kernelmill.
    pub(super) fn installed(&self, name: &str) -> Vec<PathBuf> {
        let file = format!("{name}{EXE_SUFFIX}");
        let found = |folder: PathBuf| inside(&folder, &file).filter(|it| self.is_safe(&folder, it));
        self.installed_folders().into_iter().filter_map(found).collect()
    }

    /// The folders of installed tools: those of the user, newest version first, then those of the
    /// workspace.
    fn installed_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.user_folder().map(|folder| versions(&folder)).unwrap_or_default();
        folders.extend(self.own.iter().cloned());
        folders.retain(|folder| folder.is_dir());
        folders
    }

    /// Whether nobody but the user and root can change an installed program, in its folder and those up to
    /// `folder`; where a link leads elsewhere, there too. One that others can change is warned of, and not used.
    fn is_safe(&self, folder: &Path, program: &Path) -> bool {
        let real = program.canonicalize().ok();
        let own = folder.canonicalize().ok();
        let is_elsewhere =
            real != own.and_then(|own| Some(own.join(program.strip_prefix(folder).ok()?)));
        let behind_links = real.iter().filter(|_| is_elsewhere).flat_map(|real| real.ancestors());
        let places = program.ancestors().take_while(|place| place.starts_with(folder));
        let places = places.chain(behind_links.filter(|place| !keeps_owners_apart(place)));
        let unsafe_place =
            places.filter_map(|place| Some((place, who_else_can_change(place).ok()??))).next();
        if let Some((place, why)) = &unsafe_place {
            let (program, place) = (program.display(), place.display());
            self.environment.cargo.warn(&format_args!(
                "{program} is not used, because other users could have replaced it: {place}: {why}; remove their permission \
                 to write with `chmod -R go-w`"
            ));
        }
        unsafe_place.is_none()
    }

    /// Where a program that was found is from, for people.
    pub(super) fn origin(&self, program: &Path) -> String {
        if let Some(name) = self.configured_by(program) {
            return name.to_owned();
        }
        let name = program.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_on_path = self.on_path(name).is_some_and(|path| path == program);
        let is_users = self.user_folder().is_some_and(|folder| program.starts_with(folder));
        let is_own = self.own.iter().any(|folder| program.starts_with(folder));
        let place = match (is_on_path, is_users, is_own) {
            (true, _, _) => "PATH",
            (_, true, _) => "cargo kernelmill toolchain",
            (_, _, true) => "target/toolchains",
            _ => "its usual place",
        };
        place.to_owned()
    }

    /// The setting or variable that names a program or its folder.
    fn configured_by(&self, program: &Path) -> Option<&'static str> {
        let environment = self.environment;
        let variable = |name: &'static str| (name, environment.text(name));
        let named = [
            ("the setting `nvcc`", self.nvcc.clone()),
            ("the setting `clang`", self.clang.clone()),
            variable("KERNELMILL_PTXAS"),
            variable("NVCC"),
            variable("CLANG"),
        ];
        let is_it = |text: &String| self.named(text, "").is_ok_and(|path| path == program);
        let by_name = named.iter().find(|entry| entry.1.as_ref().is_some_and(is_it));
        by_name.map(|entry| entry.0).or_else(|| {
            CUDA_VARIABLES.into_iter().find(|name| {
                let folder = environment.path(name);
                folder.is_some_and(|folder| program.starts_with(folder.join("bin")))
            })
        })
    }

    /// Where `cargo kernelmill toolchain install` puts tools.
    pub(crate) fn user_folder(&self) -> Option<PathBuf> {
        user_folder(self.environment).ok().map(|folder| folder.join("toolchains"))
    }

    /// The files of these names that were passed over because the user may not execute them, as a clause; empty
    /// where there are none.
    pub(super) fn passed_over(&self, names: &[impl AsRef<str>]) -> String {
        let homes = CUDA_VARIABLES.iter().filter_map(|variable| self.environment.path(variable));
        let folders: Vec<_> = homes.chain([USUAL_CUDA.into()]).map(|it| it.join("bin")).collect();
        let of_name = |name: &str| {
            let file = format!("{name}{EXE_SUFFIX}");
            let mut files = self.files_on_path(name);
            files.extend(folders.iter().map(|folder| folder.join(&file)).filter(|it| it.is_file()));
            files
        };
        let mut files: Vec<_> = names.iter().flat_map(|name| of_name(name.as_ref())).collect();
        files.retain(|path| !can_execute(path));
        files.dedup();
        match files.is_empty() {
            true => String::new(),
            false => format!("; skipped, because the user may not execute them: {}", list(&files)),
        }
    }

    /// Where a program of CUDA's was looked for, as a sentence goes on after "it is": for people
    /// who wonder why it was not found.
    pub(super) fn places(&self, name: &str) -> String {
        let set: Vec<_> = CUDA_VARIABLES
            .iter()
            .filter_map(|name| Some((name, self.environment.text(name)?)))
            .map(|(name, folder)| format!("not in the folder bin of {name}={folder}"))
            .collect();
        let homes = if set.is_empty() {
            format!("{} and {} are not set", CUDA_VARIABLES[..3].join(", "), CUDA_VARIABLES[3])
        } else {
            set.join(", ")
        };
        let user = self
            .user_folder()
            .map_or_else(String::new, |folder| format!(", not installed in {}", folder.display()));
        format!(
            "{homes}; not on PATH{user}, not in the workspace's target/toolchains, not in {USUAL_CUDA}/bin{}",
            self.passed_over(&[name])
        )
    }
}

/// Paths, for people.
fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Whether a folder is root's and lets users change their own entries alone, as `/tmp` does.
#[cfg(unix)]
fn keeps_owners_apart(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const STICKY: u32 = 0o1000;
    fs::metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.uid() == 0 && data.mode() & STICKY != 0)
}

/// Whether a folder lets users change their own entries alone.
#[cfg(not(unix))]
fn keeps_owners_apart(_: &Path) -> bool {
    false
}

/// The folders `toolchains` of a build: in Cargo's target folder, of which `OUT_DIR` tells, and in that of
/// the package.
fn own_folders(out_dir: &Path, triple: &str, root: &Path) -> Vec<PathBuf> {
    let own = root.join("target");
    let mut folders: Vec<_> =
        cargos_folder(out_dir, triple).map(Path::to_path_buf).into_iter().collect();
    if !folders.contains(&own) {
        folders.push(own);
    }
    folders.into_iter().map(|folder| folder.join("toolchains")).collect()
}

/// `<target>` of `<target>/<profile>/build/<package>/out`, or, where a triple is named, of
/// `<target>/<triple>/<profile>/build/<package>/out`.
fn cargos_folder<'p>(out_dir: &'p Path, triple: &str) -> Option<&'p Path> {
    let build = out_dir.ancestors().find(|folder| folder.ends_with("build"))?;
    let folder = build.parent()?.parent()?;
    if folder.file_name().is_some_and(|name| name == triple) {
        folder.parent()
    } else {
        Some(folder)
    }
}

/// The target folder of the workspace that a folder is in, as Cargo says; without one, `target` there.
pub(super) fn target_folder(environment: &BuildEnvironment, folder: &Path) -> PathBuf {
    let cargo = environment.given("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = MetadataCommand::new()
        .cargo_path(cargo)
        .current_dir(folder)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec();
    match metadata {
        Ok(metadata) => metadata.target_directory.into_std_path_buf(),
        Err(_) => folder.join("target"),
    }
}

/// The folders in a folder, later versions first: `cuda-13.10` before `cuda-13.5`.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_none_or(|extension| extension != "part"));
    found.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.split(|letter: char| !letter.is_ascii_digit());
        let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
        (Reverse(numbers), name)
    });
    found
}

/// `**/bin/<file>` in a folder of installed tools. The first in the order of names, so that the
/// same machine gives the same tool.
fn inside(folder: &Path, file: &str) -> Option<PathBuf> {
    let walk = WalkDir::new(folder).max_depth(DEPTH).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        !NO_PROGRAMS.contains(&&*name) && !name.ends_with(".dist-info") && !name.ends_with(".part")
    });
    walk.filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .find(|path| path.ends_with(Path::new("bin").join(file)) && can_execute(path))
}
