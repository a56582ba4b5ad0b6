//! clang, which compiles CUDA C++ and HIP to bitcode.

use super::search::Search;
use crate::base::error::Error;
use kernelmill_store::can_execute;
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The versions that are looked for by name, `clang-22`.
const NAMED: std::ops::RangeInclusive<u32> = 14..=25;
/// Folders where packages put a clang that is not on `PATH`; `{}` is the version.
const USUAL: [&str; 2] = ["/opt/homebrew/opt/llvm/bin/clang", "/usr/local/opt/llvm/bin/clang"];
/// The variables that clang reads, which are part of what it makes. `PATH` changes nothing.
const VARIABLES: [&str; 4] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"];

/// clang.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clang {
    /// The program, as it is to be started.
    pub program: PathBuf,
    /// What it prints for `--version`, without the folder that it is installed in.
    pub version: String,
    /// For clang 22.1.8: 22.
    pub major: u32,
    /// The variables that it reads, with the values they have; `None` is not set. Cargo watches
    /// them.
    pub variables: Vec<(String, Option<String>)>,
}

/// Finds clang: the setting `clang` (`KERNELMILL_CLANG`), `CLANG`, and then of `clang` and
/// `clang-14` to `clang-25` on `PATH`, of those installed for kernelmill and in the usual places,
/// the newest that is not newer than `llvm`, which has to read what it makes; or, where all are
/// newer, the oldest. Apple's own clang has no back ends for GPUs and is passed over.
///
/// # Errors
///
/// [`Error::Tool`] where the clang that is named does not exist or is none, and where each that is there
/// reached a limit of the process when it was asked for its version.
pub(crate) fn find_clang(search: &Search<'_>, llvm: Option<u32>) -> Result<Option<Clang>, Error> {
    let named = match &search.clang {
        Some(set) => Some((set.clone(), "the setting `clang` (or KERNELMILL_CLANG)")),
        None => search.environment.text("CLANG").map(|set| (set, "the environment variable CLANG")),
    };
    if let Some((text, origin)) = named {
        let program = search.named(&text, origin)?;
        return look_at(search, program.clone()).map(Some).map_err(|why| {
            Error::Tool(format!("{origin} names {}, but {why}", program.display()))
        });
    }
    let best = best(candidates(search), |path| look_at(search, path), llvm)?;
    if let Some(clang) = &best {
        search.environment.cargo.watch(&clang.program);
    }
    Ok(best)
}

/// The best of these programs. Those whose names say a version that is worse than one that was found are not started.
fn best(
    mut programs: Vec<PathBuf>,
    look_at: impl Fn(PathBuf) -> Result<Clang, String>,
    llvm: Option<u32>,
) -> Result<Option<Clang>, Error> {
    let limit = llvm.unwrap_or(u32::MAX);
    let order = |major: u32| match major <= limit {
        true => (0, limit - major),
        false => (1, major),
    };
    // Those whose names say nothing may be the best.
    let promised = |path: &PathBuf| version_in_name(path).map_or((0, 0), order);
    programs.sort_by_key(promised);
    let (mut best, mut limited) = (None::<Clang>, None);
    for program in programs {
        if best.as_ref().is_some_and(|best| order(best.major) <= promised(&program)) {
            break;
        }
        match look_at(program) {
            Ok(clang)
                if best.as_ref().is_some_and(|best| order(best.major) <= order(clang.major)) => {}
            Ok(clang) => best = Some(clang),
            // What is not usable is as good as absent: nobody asked for it. But a limit hides a clang that is there.
            Err(why) if limited.is_none() && why.contains("RLIMIT_") => limited = Some(why),
            Err(_) => {}
        }
    }
    match (best, limited) {
        (None, Some(why)) => Err(Error::Tool(why)),
        (best, _) => Ok(best),
    }
}

/// The version that the name of a program or of its file says: 22 for `clang-22` and `/usr/lib/llvm-22/bin/clang`.
fn version_in_name(program: &Path) -> Option<u32> {
    let file = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let after = |name: &OsStr, start: &str| name.to_str()?.strip_prefix(start)?.parse().ok();
    let folder = |path: &Path| after(path.parent()?.parent()?.file_name()?, "llvm-");
    [program, &file]
        .into_iter()
        .find_map(|path| after(path.file_name()?, "clang-").or_else(|| folder(path)))
}

/// The names of clang on `PATH`.
pub(super) fn names() -> Vec<String> {
    let numbered = NAMED.rev().map(|major| format!("clang-{major}"));
    std::iter::once("clang".to_owned()).chain(numbered).collect()
}

/// Every clang that is there, the one called `clang` first.
fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    let mut found: Vec<_> = names().iter().filter_map(|name| search.on_path(name)).collect();
    found.extend(search.installed("clang"));
    found.extend(NAMED.rev().map(|major| format!("/usr/lib/llvm-{major}/bin/clang").into()));
    found.extend(USUAL.iter().map(PathBuf::from));
    let mut files = BTreeSet::new();
    // One clang has several names, and is asked once: where a name leads to a file that is called clang too, and to none
    // that starts others by the name that it is called by.
    found.retain(|path| {
        let file = path.canonicalize().ok().filter(|file| {
            file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("clang"))
        });
        can_execute(path) && file.is_none_or(|file| files.insert(file))
    });
    found
}

fn look_at(search: &Search<'_>, program: PathBuf) -> Result<Clang, String> {
    let said = search.ask(&program, &["--version"]).map_err(|error| error.to_string())?;
    if said.contains("Apple") {
        return Err("Apple's clang has no back ends for GPUs".to_owned());
    }
    let major = major(&said).ok_or("its output for `--version` is not that of clang")?;
    let lines = said.lines().filter(|line| !line.starts_with("InstalledDir:"));
    let version = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    let variables = VARIABLES.map(|name| {
        let value = search.environment.raw(name);
        (name.to_owned(), value.map(|value| value.to_string_lossy().into_owned()))
    });
    Ok(Clang { program, version, major, variables: variables.into() })
}

/// `Debian clang version 22.1.8 (1~deb12u1)`.
fn major(version: &str) -> Option<u32> {
    let (_, rest) = version.split_once("clang version ")?;
    rest.split('.').next()?.parse().ok()
}

/// The command that installs clang with this machine's package manager.
pub(crate) fn install_command(search: &Search<'_>, llvm: Option<u32>) -> String {
    let version = llvm.map_or_else(String::new, |major| format!("-{major}"));
    let managers = [
        ("apt-get", format!("apt-get install clang{version}")),
        ("dnf", "dnf install clang".to_owned()),
        ("pacman", "pacman -S clang".to_owned()),
        ("zypper", "zypper install clang".to_owned()),
        ("brew", "brew install llvm".to_owned()),
        ("winget", "winget install LLVM.LLVM".to_owned()),
    ];
    let usual = managers[0].1.clone();
    let found = managers.into_iter().find(|(program, _)| search.on_path(program).is_some());
    found.map_or(usual, |(_, command)| command)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{
        test_support::Project,
        toolchain::tests::{script, searched},
    };
    use std::cell::RefCell;

    /// A file that is called something else may do something else by each name, as ccache does.
    #[test]
    fn a_clang_with_several_names_is_asked_once() {
        let mut project = Project::new("", &[]);
        script(&project, "tools/clang-22", "#!/bin/sh\necho 'clang version 22.1.0'\n");
        script(&project, "tools/cache", "#!/bin/sh\necho \"clang version ${0##*clang-}.1.0\"\n");
        let tools = project.folder.path().join("tools");
        for (name, file) in [("clang", "clang-22"), ("clang-21", "cache"), ("clang-20", "cache")] {
            std::os::unix::fs::symlink(file, tools.join(name)).unwrap();
        }
        project.set("PATH", tools.to_str().unwrap());
        let there = |search: &Search<'_>| {
            let own = candidates(search).into_iter().filter(|it| it.starts_with(&tools));
            own.map(|it| it.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let found = searched(&project, |search| (there(search), find_clang(search, Some(20)))).0;
        assert_eq!(found.0, ["clang", "clang-21", "clang-20"]);
        assert_eq!(found.1.unwrap().unwrap().program, tools.join("clang-20"));
    }

    /// What a name promises is believed where it is worse than what was found.
    #[test]
    fn a_clang_that_cannot_be_the_best_is_not_started() {
        let project = Project::new("", &[]);
        let asked = |programs: &[(&str, u32)], llvm| {
            let programs = programs.iter();
            let paths = programs.clone().map(|(name, _)| script(&project, name, "").into());
            let asked = RefCell::new(Vec::new());
            let found = best(
                paths.collect(),
                |path: PathBuf| {
                    let place =
                        programs.clone().position(|(name, _)| path.ends_with(name)).unwrap();
                    asked.borrow_mut().push(place);
                    let version = String::new();
                    Ok(Clang {
                        program: path,
                        version,
                        major: programs.as_slice()[place].1,
                        variables: vec![],
                    })
                },
                llvm,
            );
            (found.unwrap().unwrap().major, asked.into_inner())
        };
        let plain = [("a/clang-15", 15), ("a/clang-22", 22), ("a/llvm-19/bin/clang", 19)];
        assert_eq!(asked(&plain, Some(23)), (22, vec![1]));
        assert_eq!(asked(&plain, Some(20)), (19, vec![2]));
        assert_eq!(asked(&plain, Some(14)), (15, vec![0]));
        // One whose name says nothing is asked first, and a name that lies goes on to the next.
        assert_eq!(asked(&[("b/clang-22", 22), ("b/clang", 23)], Some(23)), (23, vec![1]));
        assert_eq!(asked(&[("c/clang-22", 16), ("c/clang-21", 21)], Some(23)), (21, vec![0, 1]));
    }

    #[test]
    fn a_limit_that_hides_clang_is_told_where_no_other_is_usable() {
        let project = Project::new("", &[]);
        let full = "echo 'error: cannot open shared object: Too many open files' >&2";
        let limited = script(&project, "tools/clang-21", &format!("#!/bin/sh\n{full}\nexit 127\n"));
        let broken = script(&project, "tools/clang-20", "#!/bin/sh\nexit 1\n");
        let usable = script(&project, "tools/clang-19", "#!/bin/sh\necho 'clang version 19.1.0'\n");
        let found = |programs: &[&String]| {
            searched(&project, |search| {
                let programs = programs.iter().map(PathBuf::from).collect();
                best(programs, |it| look_at(search, it), Some(22))
            })
            .0
        };
        let error = found(&[&broken, &limited]).unwrap_err().to_string();
        let why = "clang-21 --version` failed: the process has reached its limit of open files (RLIMIT_NOFILE, `ulimit -n`)";
        assert!(error.ends_with(why), "{error}");
        assert_eq!(found(&[&limited, &usable]).unwrap().unwrap().major, 19);
        assert_eq!(found(&[&broken]).unwrap(), None);
    }
}
