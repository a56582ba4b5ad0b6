//! Everything of this workspace that is not `cargo build`: `cargo xtask test` and its friends.
//!
//! Each command is a module: [`ci`] has the stages of `test`. Below them, [`workspace`] knows where things
//! lie, and the others build what several commands need.

mod acceptance;
mod bare;
mod bench;
mod bless;
mod ci;
mod fake_driver;
mod gpu;
mod intel_opencl;
mod layers;
mod newcomer;
mod one_build;
mod random_cuda;
mod rust;
mod setup;
mod soak;
mod taplo;
mod targets;
mod workspace;

use clap::{Parser, Subcommand};
use workspace::Workspace;

/// Everything of this workspace that is not `cargo build`.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Installs what the tests need, then runs every check and every test.
    Test(ci::Options),
    /// Installs what the tests need and stops.
    Setup(setup::Options),
    /// Measures and writes a table into benches/results.
    Bench(bench::Options),
    /// Does the steps of the README and of the book's first pages in an empty home folder.
    Newcomer,
    /// Builds a bundle that tests and times every kernel on a machine with an NVIDIA GPU.
    Gpu(gpu::Options),
    /// Runs the tests of faults and the fuzzers at length, and writes `benches/results/reliability.md`.
    Soak(soak::Options),
    /// Rewrites the expected output of snapshot tests.
    Bless(bless::Options),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let workspace = Workspace::open()?;
    match arguments.command {
        Command::Test(options) => ci::run(&workspace, &options),
        Command::Setup(options) => setup::run_with(&workspace, &options),
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Newcomer => newcomer::run(&workspace),
        Command::Gpu(options) => gpu::run(&workspace, &options),
        Command::Soak(options) => soak::run(&workspace, &options),
        Command::Bless(options) => bless::run(&workspace, &options),
    }
}
