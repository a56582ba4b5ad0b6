//! Everything of this workspace that is not `cargo build`: `cargo xtask test` and its friends.
//!
//! Each command is a module; [`workspace`] knows where things lie and which tools are there.

mod aarch64;
mod bench;
mod bless;
mod book;
mod examples;
mod first_command;
mod gpu;
mod layers;
mod setup;
mod test;
mod test_driver;
mod toolchains;
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
    Test(test::Options),
    /// Installs what the tests need and stops.
    Setup,
    /// Measures and writes a table into benches/results.
    Bench(bench::Options),
    /// Builds a bundle that tests and times every kernel on a machine with an NVIDIA GPU.
    Gpu(gpu::Options),
    /// Rewrites the expected output of snapshot tests.
    Bless,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let workspace = Workspace::open()?;
    match arguments.command {
        Command::Test(options) => test::run(&workspace, &options),
        Command::Setup => setup::run(&workspace).map(drop),
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Gpu(options) => gpu::run(&workspace, &options),
        Command::Bless => bless::run(&workspace),
    }
}
