//! clang, which compiles CUDA C++ and HIP to bitcode.

use super::search::Search;
use crate::base::error::Error;
use kernelmill_store::can_execute;
use std::{collections::BTreeSet, path::PathBuf};

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
    let best = best(candidates(search).into_iter().map(|path| look_at(search, path)), llvm)?;
    if let Some(clang) = &best {
        search.environment.cargo.watch(&clang.program);
    }
    Ok(best)
}

/// The best of those that were looked at.
fn best(
    looked_at: impl Iterator<Item = Result<Clang, String>>,
    llvm: Option<u32>,
) -> Result<Option<Clang>, Error> {
    let mut limited = None;
    let usable = looked_at.filter_map(|looked_at| match looked_at {
        Ok(clang) => Some(clang),
        Err(why) => {
            // What is not usable is as good as absent: nobody asked for it. But a limit hides a clang that is there.
            if limited.is_none() && why.contains("RLIMIT_") {
                limited = Some(why);
            }
            None
        }
    });
    let limit = llvm.unwrap_or(u32::MAX);
    let order = |clang: &Clang| match clang.major <= limit {
        true => (0, limit - clang.major),
        false => (1, clang.major),
    };
    match (usable.min_by_key(order), limited) {
        (None, Some(why)) => Err(Error::Tool(why)),
        (best, _) => Ok(best),
    }
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

    #[test]
    fn a_limit_that_hides_clang_is_told_where_no_other_is_usable() {
        let project = Project::new("", &[]);
        let full = "echo 'error: cannot open shared object: Too many open files' >&2";
        let limited = script(&project, "tools/clang-21", &format!("#!/bin/sh\n{full}\nexit 127\n"));
        let broken = script(&project, "tools/clang-20", "#!/bin/sh\nexit 1\n");
        let usable = script(&project, "tools/clang-19", "#!/bin/sh\necho 'clang version 19.1.0'\n");
        let found = |programs: &[&String]| {
            searched(&project, |search| {
                best(programs.iter().map(|it| look_at(search, it.into())), Some(22))
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
