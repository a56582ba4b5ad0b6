//! The Cargo that runs the build script: what it was told of networks and lock files.
//!
//! Cargo hands `--offline`, `--locked` and `--frozen` to nobody. Its command line is what there is to learn of them,
//! and it is the parent of the build script. Where the system does not show that, only the variable
//! `CARGO_NET_OFFLINE` and configuration files count, which a Cargo that is started reads itself.

/// The options that a Cargo must have which is started for this build.
const OPTIONS: [&str; 3] = ["--offline", "--locked", "--frozen"];

/// Those of the options that the Cargo above was given.
pub(super) fn options() -> Vec<&'static str> {
    parents_arguments().map(|arguments| among(&arguments)).unwrap_or_default()
}

fn among(arguments: &[String]) -> Vec<&'static str> {
    // What comes after `--` is for the program that Cargo runs.
    let own = || arguments.iter().take_while(|argument| *argument != "--");
    OPTIONS.into_iter().filter(|option| own().any(|argument| argument == option)).collect()
}

#[cfg(target_os = "linux")]
fn parents_arguments() -> Option<Vec<String>> {
    let parent = std::os::unix::process::parent_id();
    let line = std::fs::read(format!("/proc/{parent}/cmdline")).ok()?;
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
        let found = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            among(&words)
        };
        assert_eq!(found("cargo build --locked -v --offline"), ["--offline", "--locked"]);
        assert_eq!(found("cargo --frozen test"), ["--frozen"]);
        assert!(found("cargo run -- --offline").is_empty());
        assert!(found("cargo build").is_empty());
    }
}
