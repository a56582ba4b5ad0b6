//! `cargo xtask test`: every check and every test, with nothing skipped.

mod blocks;
mod book;
mod cross_builds;
mod dependencies;
mod examples;
mod first_command;
mod named_tests;
#[cfg(test)]
mod pipelines;
mod soundness;
mod tasks;
mod test_driver;
mod toolchains;

use crate::{
    acceptance, layers, one_build, rust, setup,
    workspace::{Workspace, find_program, stage},
};
use anyhow::Result;
use clap::ValueEnum;
use xshell::Cmd;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run one stage only.
    #[arg(long, value_enum)]
    only: Option<Stage>,
}

/// A part of the tests, in the order in which failures are cheapest to find.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Installs what the tests need.
    SetUp,
    /// Formatting.
    Format,
    /// Modules that import downwards only, packages that are called as their folders.
    Layers,
    /// Points of the acceptance table, each with its tests or the reason why it has none.
    Acceptance,
    /// Licences and sources of dependencies, by `deny.toml`.
    Dependencies,
    /// Links of the documentation, and the book of `docs/`.
    Book,
    /// Lints.
    Clippy,
    /// Every test, documentation tests among them.
    Tests,
    /// Documentation without a warning.
    Documentation,
    /// Each example on the CPU.
    Examples,
    /// Every kernel as PTX on the fake CUDA driver, and each example.
    TestDriver,
    /// Random programs, and the run time's tests under Miri and the sanitizers.
    Soundness,
    /// Examples on the oldest Rust and on beta, every kernel where LLVM is another; tests of the compiler on nightly, as
    /// information.
    Toolchains,
    /// Code for other hosts, and every kernel for aarch64 and Windows on emulated machines.
    CrossBuilds,
    /// The first command of the README, with rustup and a C linker only.
    FirstCommand,
}

impl Stage {
    fn title(self) -> &'static str {
        match self {
            Self::SetUp => "set-up",
            Self::Format => "format",
            Self::Layers => "layers of modules",
            Self::Acceptance => "acceptance table",
            Self::Dependencies => "licences and sources of dependencies",
            Self::Book => "links of the documentation, and the book",
            Self::Clippy => "clippy",
            Self::Tests => "tests",
            Self::Documentation => "documentation",
            Self::Examples => "examples on the CPU",
            Self::TestDriver => "every kernel as PTX on the fake CUDA driver",
            Self::Soundness => "the run time under Miri and the sanitizers",
            Self::Toolchains => "examples and every kernel on other Rust toolchains",
            Self::CrossBuilds => "code for other hosts, and every kernel on emulated ones",
            Self::FirstCommand => "the first command with rustup and a C linker only",
        }
    }

    fn run(self, workspace: &Workspace) -> Result<()> {
        match self {
            Self::SetUp => setup::run(workspace),
            Self::Format => Ok(workspace.cargo(&["fmt", "--all", "--check"]).run()?),
            Self::Layers => layers::run(workspace),
            Self::Acceptance => acceptance::run(workspace),
            Self::Dependencies => dependencies::run(workspace),
            Self::Book => book::run(workspace),
            Self::Clippy => clippy(workspace),
            Self::Tests => all_tests(workspace),
            Self::Documentation => documentation(workspace),
            Self::Examples => examples::run_all(workspace, None),
            Self::TestDriver => test_driver::run(workspace),
            Self::Soundness => soundness::run(workspace),
            Self::Toolchains => toolchains::run(workspace),
            Self::CrossBuilds => cross_builds::run(workspace),
            Self::FirstCommand => first_command::run(workspace),
        }
    }
}

/// Runs every stage, or the one that is asked for.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    for found in Stage::value_variants() {
        if options.only.is_none_or(|only| only == *found) {
            stage(found.title(), || found.run(workspace))?;
        }
    }
    if options.only.is_none() {
        println!("\nevery check and every test passed");
    }
    Ok(())
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let features = ["--features", "random-cuda-suite/kernels,fluid/window"];
    let clippy = workspace.cargo(&["clippy", "--workspace", "--all-targets"]).args(features);
    Ok(clippy.args(lints(workspace)?).run()?)
}

/// What makes a lint a failure, on the current stable Rust. Others have other lints, and what they find is shown.
fn lints(workspace: &Workspace) -> Result<&'static [&'static str]> {
    Ok(if rust::is_stable(workspace)? { &["--", "-D", "warnings"] } else { &[] })
}

/// A missing tool fails a test here; elsewhere the test says so and passes.
fn strict(command: Cmd<'_>) -> Cmd<'_> {
    command.env("KERNELMILL_REQUIRE_TOOLS", "1")
}

fn all_tests(workspace: &Workspace) -> Result<()> {
    without_cuda_cpp(workspace)?;
    one_build::all_tests(workspace)?;
    if find_program("cargo-nextest").is_some() {
        let arguments = ["nextest", "run", "--workspace", "--no-fail-fast"];
        strict(workspace.cargo(&arguments)).run()?;
        // nextest runs no documentation tests.
        return Ok(strict(workspace.cargo(&["test", "--workspace", "--doc"])).run()?);
    }
    Ok(strict(workspace.cargo(&["test", "--workspace", "--no-fail-fast"])).run()?)
}

/// kernelmill-build without the front end of CUDA C++: warnings of rustc, and the error for such a source.
fn without_cuda_cpp(workspace: &Workspace) -> Result<()> {
    let package = ["--package", "kernelmill-build", "--no-default-features", "--lib"];
    let test = workspace.cargo(&["test"]).args(package);
    let test = test.arg("cpp_without_its_front_end_names_the_feature");
    // An older Cargo takes no notice of it.
    Ok(strict(test).env("CARGO_BUILD_WARNINGS", "deny").run()?)
}

/// Of everything but tests, examples and benchmarks, which nobody reads as documentation.
fn documentation(workspace: &Workspace) -> Result<()> {
    let packages = workspace.packages().into_iter().filter(|package| {
        let path =
            package.manifest_path.strip_prefix(&workspace.root).unwrap_or(&package.manifest_path);
        // `one-build` has the features with which clippy has checked what packages depend on.
        *package.name != "one-build"
            && ["tests", "examples", "benches"].iter().any(|it| path.starts_with(it))
    });
    let excluded = packages.flat_map(|package| ["--exclude", package.name.as_str()]);
    let arguments =
        ["doc", "--workspace", "--no-deps", "--document-private-items", "--all-features"];
    let doc = workspace.cargo(&arguments).args(excluded).env("RUSTDOCFLAGS", "-D warnings");
    Ok(doc.run()?)
}
