//! Programs and tests with the features that all packages have together, so that nothing is compiled twice.
//!
//! `cargo build --package X` chooses the features of what `X` depends on for `X` alone, and compiles all of that again
//! where they differ from what a build of the workspace has. Here a target is named and the whole workspace is selected:
//! Cargo compiles what the target needs, with the features of all (`tests/one-build` has more of it).

use crate::workspace::{Workspace, find_program};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Artifact, Message, TargetKind};
use std::{collections::BTreeMap, path::PathBuf};
use xshell::Cmd;

/// The library that must not be compiled twice: nothing takes longer.
const LARGEST: &str = "kernelmill_compiler";

/// A build of one program of the workspace, unoptimised.
pub(crate) fn build<'w>(workspace: &'w Workspace, program: &str) -> Cmd<'w> {
    workspace.cargo(&["build", "--workspace", "--bin", program])
}

/// Where such a build leaves its program.
pub(crate) fn path(workspace: &Workspace, program: &str) -> PathBuf {
    workspace.target.join("debug").join(program)
}

/// Tests of one package, as they were built with all others.
pub(crate) struct Tests<'t> {
    /// The name of the package.
    pub(crate) package: &'t str,
    /// Whether the tests of its library are among them.
    pub(crate) library: bool,
    /// The files of `tests/` that are.
    pub(crate) files: &'t [&'t str],
    /// A part of their names; all have the empty one.
    pub(crate) named: &'t str,
}

impl Tests<'_> {
    /// The call of cargo that runs them: by nextest, or, where it is not installed, with a build of their own.
    pub(crate) fn command<'w>(&self, workspace: &'w Workspace, options: &[&str]) -> Cmd<'w> {
        let Self { package, library, files, named } = self;
        if find_program("cargo-nextest").is_none() {
            let command = workspace.cargo(&["test"]).args(options).args(["--package", package]);
            let command = command.args(library.then_some("--lib"));
            return command.args(files.iter().flat_map(|file| ["--test", file])).arg(named);
        }
        let binaries = library.then(|| String::from("kind(=lib)"));
        let binaries = binaries.into_iter().chain(files.iter().map(|it| format!("binary(={it})")));
        let binaries = binaries.collect::<Vec<_>>().join(" | ");
        let filter = format!("package(={package}) & ({binaries}) & test(/{named}/)");
        workspace.cargo(&["nextest", "run", "--workspace"]).args(options).args(["-E", &filter])
    }
}

/// Builds all tests and says which libraries were compiled more than once; an error where the largest was.
///
/// # Errors
///
/// Where cargo fails, or [`LARGEST`] was compiled twice.
pub(crate) fn all_tests(workspace: &Workspace) -> Result<()> {
    let options = ["--no-run", "--message-format", "json-render-diagnostics"];
    let printed = workspace.cargo(&["test", "--workspace"]).args(options).read()?;
    // The features of each file of a library.
    let mut libraries = BTreeMap::<_, BTreeMap<_, _>>::new();
    for message in Message::parse_stream(printed.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message.context("what cargo prints")?
            && is_library(&artifact)
        {
            let builds = libraries.entry((artifact.package_id.repr, artifact.target.name));
            builds.or_default().insert(artifact.filenames, artifact.features);
        }
    }
    let mut is_largest_twice = false;
    for ((package, name), builds) in libraries.iter().filter(|(_, builds)| builds.len() > 1) {
        let features: Vec<_> = builds.values().collect();
        println!("built {} times: {package}, with features {features:?}", builds.len());
        is_largest_twice |= name == LARGEST;
    }
    ensure!(
        !is_largest_twice,
        "the compiler of kernels was built twice, as features or profiles differ between build \
         scripts and the rest; name the features of all these in `tests/one-build/Cargo.toml`, in \
         both tables"
    );
    Ok(())
}

/// Whether it is a library for others, not its tests.
fn is_library(artifact: &Artifact) -> bool {
    !artifact.profile.test && artifact.target.kind.contains(&TargetKind::Lib)
}
