//! `cargo kernelmill schema`: the JSON schema of the settings, for editors.

use anyhow::Result;
use kernelmill_build::SETTINGS_SCHEMA;
use serde_json::{Value, json};

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
pub(crate) fn run(options: &Options) -> Result<()> {
    match options.manifest {
        true => println!("{:#}", of_manifest()?),
        false => print!("{SETTINGS_SCHEMA}"),
    }
    Ok(())
}

/// The schema of a `Cargo.toml`: that of the settings, where its tables of metadata have them. Its references stay what they are, as
/// its definitions are those of the settings.
fn of_manifest() -> Result<Value> {
    let mut settings: Value = serde_json::from_str(SETTINGS_SCHEMA)?;
    let schema = settings["$schema"].take();
    let mut definitions = settings["definitions"].take();
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|_, rule| !rule.is_null());
    }
    definitions["settings"] = settings;
    let own = json!({ "$ref": "#/definitions/settings" });
    let table = json!({ "properties": { "metadata": { "properties": { "kernelmill": own } } } });
    Ok(json!({
        "$schema": schema,
        "title": "The settings of kernelmill in Cargo.toml",
        "type": "object",
        "properties": { "package": table, "workspace": table },
        "definitions": definitions,
    }))
}
