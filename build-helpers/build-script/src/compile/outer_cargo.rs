//! The Cargo that runs the build script: what it was told of networks and lock files.
//!
//! Cargo hands `--offline`, `--locked` and `--frozen` to nobody. Its command line is what there is to learn of them,
//! and it is the parent of the build script. Where the system does not show that, only the variable
//! `CARGO_NET_OFFLINE` and configuration files count, which a Cargo that is started reads itself. Options in an alias of
//! Cargo's configuration are on no command line, and are not found.

use std::{
    fs,
    path::{Path, PathBuf},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The options that a Cargo must have which is started for this build.
const OPTIONS: [&str; 3] = ["--offline", "--locked", "--frozen"];

/// Those of the options that the Cargo above was given.
pub(super) fn options() -> Vec<&'static str> {
    parents_arguments().map(|arguments| among(&arguments, &parents_folder())).unwrap_or_default()
}

fn among(arguments: &[String], folder: &Path) -> Vec<&'static str> {
    // What comes after `--` is for the program that Cargo runs.
    let own = || arguments.iter().take_while(|argument| *argument != "--");
    let values = || own().zip(arguments.iter().skip(1)).filter(|(option, _)| *option == "--config");
    let values = || values().map(|(_, value)| &**value);
    let joined = || own().filter_map(|argument| argument.strip_prefix("--config="));
    let is_offline = values().chain(joined()).any(|value| is_offline(value, folder));
    let has = |option: &str| {
        own().any(|argument| argument == option) || option == "--offline" && is_offline
    };
    OPTIONS.into_iter().filter(|option| has(option)).collect()
}

/// Whether a value of `--config` says that Cargo is offline: `net.offline=true`, or the name of a file that does, from
/// the folder that Cargo was started in.
fn is_offline(value: &str, folder: &Path) -> bool {
    let path = folder.join(value);
    let text = match path.is_file() {
        true => fs::read_to_string(path).unwrap_or_default(),
        false => value.to_owned(),
    };
    let Ok(table) = DeTable::parse(&text) else { return false };
    let net = table.get_ref().get("net").map(Spanned::get_ref);
    let offline = match net {
        Some(DeValue::Table(net)) => net.get("offline").map(Spanned::get_ref),
        _ => None,
    };
    matches!(offline, Some(DeValue::Boolean(true)))
}

/// The folder that the parent was started in; where the system does not say, the package's.
fn parents_folder() -> PathBuf {
    #[cfg(target_os = "linux")]
    if let Ok(folder) = fs::read_link(format!("/proc/{}/cwd", std::os::unix::process::parent_id()))
    {
        return folder;
    }
    PathBuf::new()
}

#[cfg(target_os = "linux")]
fn parents_arguments() -> Option<Vec<String>> {
    let parent = std::os::unix::process::parent_id();
    let line = fs::read(format!("/proc/{parent}/cmdline")).ok()?;
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn parents_arguments() -> Option<Vec<String>> {
    let parent = std::os::unix::process::parent_id().to_string();
    let output =
        std::process::Command::new("ps").args(["-ww", "-o", "args=", "-p", &parent]).output();
    let line = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
    Some(line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(not(unix))]
fn parents_arguments() -> Option<Vec<String>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_cargo_are_found_and_not_those_of_what_it_runs() {
        let folder = test_support::temporary_folder();
        test_support::write_file(&folder, "c.toml", "[net]\noffline = true\n");
        let found = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            among(&words, folder.path())
        };
        assert_eq!(found("cargo build --locked -v --offline"), ["--offline", "--locked"]);
        assert_eq!(found("cargo --frozen test"), ["--frozen"]);
        assert!(found("cargo run -- --offline").is_empty());
        assert!(found("cargo build").is_empty());
        assert_eq!(found("cargo build --config net.offline=true"), ["--offline"]);
        assert_eq!(
            found("cargo --config=net={offline=true} build --locked"),
            ["--offline", "--locked"]
        );
        assert!(found("cargo build --config net.offline=false --config net.retry=2").is_empty());
        assert!(found("cargo run -- --config net.offline=true").is_empty());
        assert_eq!(found("cargo build --config c.toml"), ["--offline"]);
        assert!(found("cargo build --config d.toml").is_empty());
    }
}
