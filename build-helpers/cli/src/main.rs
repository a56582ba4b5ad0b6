//! `cargo kernelmill`: what kernels a package has, what they compile to, and whether this machine
//! can build them.
//!
//! - `new PATH`: a package with a kernel.
//! - `build`: builds a package, with bars, and says what took long.
//! - `list`: the kernels of a package with their signatures and binaries.
//! - `inspect KERNEL`: what a kernel was compiled to, as text; for the CPU its lowering strategy.
//! - `diff BEFORE [NOW]`: what changed of each kernel between two revisions or builds.
//! - `report`: the registers, spills, stack and other memory that each kernel takes.
//! - `tune KERNEL`: times the block sizes and builds of a kernel, and writes the fastest to a file that builds embed.
//! - `test-driver path`: a fake CUDA driver for tests on machines without a GPU.
//! - `store stats | verify | clear | gc`: the store of compiled kernels that all packages of a user share.
//! - `toolchain install | list | remove`: NVIDIA's compiler and its tools, for this user alone.
//! - `doctor`: the tools that kernelmill uses, and the command that installs what is missing.
//! - `explain [CODE]`: why an error of the build or of a program occurs, and how to correct it.
//! - `schema`: the JSON schema of the settings, for editors.
//! - `completions SHELL` and `man FOLDER`: what shells and `man` read of these commands.

mod assembly;
mod build;
mod diff;
mod doctor;
mod explain;
mod inspect;
mod list;
mod new;
mod package;
mod pages;
mod report;
mod schema;
mod store;
mod test_driver;
mod toolchain;
mod tools;
mod tune;

use clap::{CommandFactory as _, Parser, Subcommand};
use std::{env, ffi::OsString, process::ExitCode};

/// What kernels a package has, what they compile to, and whether this machine can build them.
#[derive(Parser)]
#[command(name = "cargo-kernelmill", bin_name = "cargo kernelmill", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes a package with a kernel that builds, runs and has a test.
    New(new::Options),
    /// Builds a package, shows the progress of its kernels, and says what took long.
    Build(build::Options),
    /// Lists the kernels of a package with their signatures and binaries.
    List(list::Options),
    /// Prints what a kernel was compiled to.
    Inspect(inspect::Options),
    /// Prints the registers, stack and shared memory that each kernel takes, as text, JSON or a page of HTML.
    Report(report::Options),
    /// Compares the resources and code of each kernel with those of a revision or of another build.
    Diff(diff::Options),
    /// Times the block sizes and builds of a kernel, and keeps the fastest for the next build.
    Tune(tune::Options),
    /// A fake CUDA driver, for tests on machines without a GPU.
    #[command(subcommand)]
    TestDriver(test_driver::Action),
    /// The store of compiled kernels that all packages of a user share.
    #[command(subcommand)]
    Store(store::Action),
    /// Installs, lists and removes tools that kernelmill uses, for this user alone.
    #[command(subcommand)]
    Toolchain(toolchain::Action),
    /// Says which tools are installed, and how to install those that are missing.
    Doctor(doctor::Options),
    /// Explains an error of a build or of a program by its code, or lists all codes.
    Explain(explain::Options),
    /// Prints the JSON schema of `kernelmill.toml`, or of the tables in `Cargo.toml`, for editors.
    Schema(schema::Options),
    /// Prints the completions of these commands for a shell.
    Completions(pages::Completions),
    /// Writes a manual page for each command.
    Man(pages::Man),
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse_from(arguments()).command {
        Command::New(options) => new::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Build(options) => build::run(&options),
        Command::Diff(options) => diff::run(&options),
        Command::List(options) => list::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Inspect(options) => inspect::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Report(options) => report::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Tune(options) => tune::run(&options).map(|()| ExitCode::SUCCESS),
        Command::TestDriver(action) => test_driver::run(&action).map(|()| ExitCode::SUCCESS),
        Command::Store(action) => store::run(&action),
        Command::Toolchain(action) => toolchain::run(&action).map(|()| ExitCode::SUCCESS),
        Command::Doctor(options) => doctor::run(&options),
        Command::Explain(options) => explain::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Schema(options) => {
            schema::run(&options);
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions(options) => {
            pages::completions(&options, Arguments::command());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(options) => {
            pages::man(&options, Arguments::command()).map(|()| ExitCode::SUCCESS)
        }
    }
}

/// The arguments of the program. Cargo passes its own name for the command, `kernelmill`, before them.
fn arguments() -> impl Iterator<Item = OsString> {
    let mut arguments: Vec<OsString> = env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "kernelmill") {
        arguments.remove(1);
    }
    arguments.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of the tree that have none below them and do not take `--json`, by their paths.
    fn without_json(command: &clap::Command, path: &str, found: &mut Vec<String>) -> usize {
        let below: Vec<_> = command.get_subcommands().collect();
        if below.is_empty() {
            let takes = command.get_arguments().any(|it| it.get_long() == Some("json"));
            found.extend((!takes).then(|| path.to_owned()));
            return 1;
        }
        let count =
            |it: &&clap::Command| without_json(it, &format!("{path} {}", it.get_name()), found);
        below.iter().map(count).sum()
    }

    #[test]
    fn every_command_of_the_tree_prints_json() {
        let mut found = Vec::new();
        let count = without_json(&Arguments::command(), "cargo kernelmill", &mut found);
        assert!(found.is_empty(), "{found:?}");
        assert!(count >= 20, "{count} commands");
    }
}
