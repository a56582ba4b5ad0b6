//! `cargo kernelmill`: what kernels a package has, what they compile to, and whether this machine
//! can build them.
//!
//! - `new PATH`: a package with a kernel.
//! - `list`: the kernels of a package with their signatures and binaries.
//! - `inspect KERNEL`: what a kernel was compiled to, as text; for the CPU its lowering strategy.
//! - `diff REVISION`: what has become of each kernel's code since a revision.
//! - `report`: the registers, spills, stack and other memory that each kernel takes.
//! - `test-driver path`: a fake CUDA driver for tests on machines without a GPU.
//! - `store stats | verify | clear | gc`: the store of compiled kernels that all packages of a user share.
//! - `toolchain install | list | remove`: NVIDIA's compiler and its tools, for this user alone.
//! - `doctor`: the tools that kernelmill uses, and the command that installs what is missing.

mod assembly;
mod diff;
mod doctor;
mod inspect;
mod list;
mod new;
mod package;
mod report;
mod store;
mod test_driver;
mod toolchain;
mod tools;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;

/// What `cargo kernelmill ...` is called as: cargo passes its own name for it first.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Kernelmill(Arguments),
}

/// What kernels a package has, what they compile to, and whether this machine can build them.
#[derive(Args)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes a package with a kernel that builds, runs and has a test.
    New(new::Options),
    /// Lists the kernels of a package with their signatures and binaries.
    List(list::Options),
    /// Prints what a kernel was compiled to.
    Inspect(inspect::Options),
    /// Prints the registers, stack and shared memory that each kernel takes on NVIDIA GPUs.
    Report(report::Options),
    /// Compares each kernel's code with that of a revision.
    Diff(diff::Options),
    /// A fake CUDA driver, for tests on machines without a GPU.
    #[command(subcommand)]
    TestDriver(test_driver::Action),
    /// The store of compiled kernels that all packages of a user share.
    #[command(subcommand)]
    Store(store::Action),
    /// Installs, lists and removes tools that kernelmill uses, for this user alone.
    #[command(subcommand)]
    Toolchain(toolchain::Action),
    /// Says which tools are there, and how to get those that are not.
    Doctor(doctor::Options),
}

fn main() -> anyhow::Result<ExitCode> {
    let Cargo::Kernelmill(arguments) = Cargo::parse();
    match arguments.command {
        Command::New(options) => new::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Diff(options) => diff::run(&options).map(|()| ExitCode::SUCCESS),
        Command::List(options) => list::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Inspect(options) => inspect::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Report(options) => report::run(&options).map(|()| ExitCode::SUCCESS),
        Command::TestDriver(action) => test_driver::run(&action).map(|()| ExitCode::SUCCESS),
        Command::Store(action) => store::run(&action),
        Command::Toolchain(action) => toolchain::run(&action).map(|()| ExitCode::SUCCESS),
        Command::Doctor(options) => doctor::run(&options),
    }
}
