//! `cargo kernelmill schema`: the JSON schema of the settings, for editors.

use kernelmill_build::{SETTINGS_SCHEMA, manifest_schema};

/// Which schema.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print the schema of a `Cargo.toml` instead, which checks the tables of settings in it and nothing else.
    #[arg(long)]
    manifest: bool,
    /// Print JSON, which a schema is: the same as without it.
    #[arg(long)]
    #[expect(dead_code, reason = "every command takes it, and this one prints JSON anyway")]
    json: bool,
}

/// Prints the schema.
pub(crate) fn run(options: &Options) {
    match options.manifest {
        true => println!("{}", manifest_schema()),
        false => print!("{SETTINGS_SCHEMA}"),
    }
}
