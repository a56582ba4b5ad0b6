//! The files for continuous integration that `docs/src/guide/ci.md` shows: they are YAML, and each command in them exists.
//!
//! That `cargo kernelmill` has the subcommands and options is tested beside it, in `build-helpers/cli/tests/commands.rs`.

use crate::workspace::Workspace;
use yaml_rust2::{Yaml, YamlLoader};

/// The commands of each file, in their order.
fn commands(page: &str) -> Vec<Vec<String>> {
    let blocks = page.split("\n```yaml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    blocks
        .map(|text| {
            let file = YamlLoader::load_from_str(text).expect("it is YAML");
            assert_eq!(file.len(), 1, "one document");
            let mut found = Vec::new();
            collect(&file[0], &mut found);
            found
        })
        .collect()
}

/// The lines of `run:` of a step, and of `script:` of a job.
fn collect(value: &Yaml, found: &mut Vec<String>) {
    match value {
        Yaml::Hash(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    (Some("run"), Yaml::String(lines)) => {
                        found.extend(lines.lines().map(str::to_owned));
                    }
                    (Some("script"), Yaml::Array(lines)) => {
                        found.extend(lines.iter().map(|line| line.as_str().unwrap().to_owned()));
                    }
                    _ => collect(value, found),
                }
            }
        }
        Yaml::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Why a line is none that the documentation has, with the settings of `variables`.
fn fault(line: &str, variables: &str) -> Option<String> {
    let mut rest = line;
    // `NAME=value` before a command, and `export NAME="$(command)"`.
    let exported = rest.strip_prefix("export ").and_then(|it| it.split_once("=\"$("));
    if let Some((_, command)) = exported {
        rest = command.strip_suffix(")\"")?;
    } else {
        while let Some((name, value)) = rest.split_once('=') {
            if !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
                break;
            }
            if !variables.contains(&format!("`{name}`")) && !variables.contains(&format!("{name}="))
            {
                return Some(format!("the settings have no variable `{name}`"));
            }
            rest = value.split_once(' ')?.1;
        }
    }
    let words: Vec<_> = rest.split(' ').collect();
    match &*words {
        ["cargo", "test" | "build"] | ["cargo", "kernelmill", _, ..] => None,
        [
            "cargo",
            "install",
            "--git",
            "https://github.com/kernelmill/kernelmill",
            "--locked",
            "cargo-kernelmill",
        ] => None,
        _ => Some(format!("`{rest}` is no command that the book has")),
    }
}

#[test]
fn the_files_of_the_page_are_yaml_with_commands_that_exist() {
    let workspace = Workspace::open().unwrap();
    let commands = commands(&workspace.read("docs/src/guide/ci.md").unwrap());
    let counts: Vec<_> = commands.iter().map(Vec::len).collect();
    assert_eq!(counts, [7, 6], "GitHub's and GitLab's: {commands:#?}");
    let mut variables = workspace.read("docs/src/reference/settings.md").unwrap();
    variables += &workspace.read("docs/src/guide/targets.md").unwrap();
    let faults: Vec<_> =
        commands.iter().flatten().filter_map(|line| fault(line, &variables)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    // What is installed is this workspace's.
    let name = workspace.read("build-helpers/cli/Cargo.toml").unwrap();
    let repository = workspace.read("Cargo.toml").unwrap();
    assert!(name.contains("name = \"cargo-kernelmill\"\n"));
    assert!(repository.contains("repository = \"https://github.com/kernelmill/kernelmill\"\n"));
}

#[test]
fn other_commands_are_faults() {
    let fault = |line| fault(line, "`KERNELMILL_DEVICE`");
    for line in [
        "cargo test",
        "KERNELMILL_DEVICE=cpu cargo test",
        "export A=\"$(cargo kernelmill test-driver path)\"",
    ] {
        assert_eq!(fault(line), None, "{line}");
    }
    for line in [
        "cargo tests",
        "KERNELMILL_DEVICES=cpu cargo test",
        "cargo install kernelmill",
        "export A=\"$(ls)\"",
    ] {
        assert!(fault(line).is_some(), "{line}");
    }
}
