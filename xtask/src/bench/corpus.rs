//! Kernels of public suites on the CPU, as `benches/cpu-corpus` measures them.

use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// A suite of which the package compiles kernels. None of it is in this repository.
struct Suite {
    name: &'static str,
    url: &'static str,
    commit: &'static str,
    /// What is checked out, as patterns of `git sparse-checkout`.
    paths: &'static [&'static str],
}

const SUITES: [Suite; 3] = [
    Suite {
        name: "polybench",
        url: "https://github.com/sgrauerg/polybenchGpu",
        commit: "5584aaa7d0be810ff5eb0b61c49fb64ecc81ba4c",
        paths: &["/CUDA/", "/common/"],
    },
    Suite {
        name: "rodinia",
        url: "https://github.com/yuhc/gpu-rodinia",
        commit: "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4",
        paths: &["/cuda/**/*.cu", "/cuda/**/*.h", "/cuda/**/*.c"],
    },
    Suite {
        name: "hecbench",
        url: "https://github.com/zjin-lcf/HeCBench",
        commit: "f27000a5188f8ac79bd43fc95a1b3f890c18823d",
        paths: &["/src/*-cuda/**/*.cu", "/src/*-cuda/**/*.h", "/src/*-cuda/**/*.cpp"],
    },
];

/// Fetches the suites that `from` names no folder for (`SUITE=PATH`), and keeps what the benchmark prints.
pub(super) fn measure(workspace: &Workspace, from: &[String]) -> Result<String> {
    let run = ["run", "--release", "--package", "cpu-corpus", "--features", "kernels"];
    let run = workspace.cargo(&run).envs(suites(workspace, from)?);
    let printed = stage("measure", || Ok(run.read()?))?;
    ensure!(!printed.trim().is_empty(), "the benchmark printed nothing");
    let commit = cmd!(workspace.shell, "git rev-parse --short HEAD").quiet().read()?;
    Ok(format!("Commit {commit}.\n\n{printed}"))
}

/// Fetches the suites that `from` names no folder for, and gives the variables that name their folders.
pub(crate) fn suites(workspace: &Workspace, from: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let variable =
        |(suite, folder): (&str, PathBuf)| (format!("CORPUS_{}", suite.to_uppercase()), folder);
    Ok(folders(workspace, from)?.into_iter().map(variable).collect())
}

/// The folder of each suite: the one that `from` names, or a checkout.
pub(super) fn folders(
    workspace: &Workspace,
    from: &[String],
) -> Result<Vec<(&'static str, PathBuf)>> {
    let given = from.iter().map(|it| given(it)).collect::<Result<Vec<_>>>()?;
    let folder = |suite: &Suite| match given.iter().find(|(name, _)| *name == suite.name) {
        Some((_, folder)) => Ok(folder.clone()),
        None => stage(suite.name, || fetch(workspace, suite)),
    };
    SUITES.iter().map(|suite| Ok((suite.name, folder(suite)?))).collect()
}

/// The suite and the folder that an argument of `--from` names.
fn given(argument: &str) -> Result<(&str, PathBuf)> {
    let (name, folder) = argument.split_once('=').context("write `--from SUITE=PATH`")?;
    let names: Vec<_> = SUITES.iter().map(|it| it.name).collect();
    ensure!(names.contains(&name), "`{name}` is not a suite; the suites are {}", names.join(", "));
    let folder = Path::new(folder).canonicalize().with_context(|| format!("open {folder}"))?;
    Ok((name, folder))
}

/// Checks the suite out below the target folder, where it is not there yet.
fn fetch(workspace: &Workspace, suite: &Suite) -> Result<PathBuf> {
    let Suite { name, url, commit, paths } = *suite;
    let folder = workspace.target.join("corpus").join(name);
    let shell = &workspace.shell;
    let checked_out = folder.join(".complete");
    if std::fs::read_to_string(&checked_out).is_ok_and(|it| it == commit) {
        return Ok(folder);
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    cmd!(shell, "git init --quiet {folder}").run()?;
    cmd!(shell, "git -C {folder} remote add origin {url}").run()?;
    cmd!(shell, "git -C {folder} sparse-checkout set --no-cone {paths...}").run()?;
    let fetch = ["fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit];
    cmd!(shell, "git -C {folder} {fetch...}").run()?;
    cmd!(shell, "git -C {folder} checkout --quiet {commit}").run()?;
    std::fs::write(checked_out, commit)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::given;

    #[test]
    fn a_folder_is_given_for_a_suite_that_there_is() {
        let (name, folder) = given("rodinia=.").unwrap();
        assert_eq!(name, "rodinia");
        assert!(folder.is_absolute());
        assert!(given("rodinia").unwrap_err().to_string().contains("SUITE=PATH"));
        assert!(given("parboil=.").unwrap_err().to_string().contains("polybench, rodinia"));
    }
}
