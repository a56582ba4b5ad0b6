//! `cargo kernelmill store` on a store of its own.

use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Output},
};
use test_support::{temporary_folder, write_file};

fn store(cache: &Path, action: &str) -> Output {
    run(cache, &[action])
}

fn json(cache: &Path, action: &str) -> Value {
    let output = run(cache, &[action, "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"));
    command.args(["kernelmill", "store"]).args(arguments).env("XDG_CACHE_HOME", cache);
    for name in ["KERNELMILL_CACHE", "KERNELMILL_CACHE_DIR", "KERNELMILL_CACHE_SIZE"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn older_formats_are_counted_and_removed_damage_is_found_and_tools_stay() {
    let folder = temporary_folder();
    write_file(&folder, "kernelmill/v1/ab/old.artifact", "old format");
    write_file(&folder, "kernelmill/v3/ab/cd.artifact", "no entry");
    write_file(&folder, "kernelmill/toolchains/cuda-13.5/bin/nvcc", "tool");
    let stats = store(folder.path(), "stats");
    assert!(stats.status.success());
    let lines: Vec<_> = text(&stats)
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(lines[0].ends_with("kernelmill, at most 2.0 GiB"), "{lines:?}");
    assert_eq!(
        lines[1..],
        ["artifact 1 8 B", "all entries 1 8 B", "older formats 1 10 B", "temporary files 0 0 B",]
    );
    assert_eq!(text(&store(folder.path(), "gc")), "removed 1 files, 10 B\n");
    let verified = store(folder.path(), "verify");
    assert!(!verified.status.success(), "there was a damaged entry");
    assert!(
        text(&verified)
            .ends_with("cd.artifact\n0 entries are intact, 1 damaged ones were removed\n"),
        "{}",
        text(&verified)
    );
    assert_eq!(json(folder.path(), "verify"), json!({ "whole": 0, "removed": [] }));
    write_file(&folder, "kernelmill/v3/ab/cd.artifact", "no entry");
    assert_eq!(text(&store(folder.path(), "clear")), "removed 1 files, 8 B\n");
    for action in ["clear", "gc"] {
        assert_eq!(json(folder.path(), action), json!({ "files": 0, "bytes": 0 }));
    }
    assert!(folder.path().join("kernelmill/toolchains/cuda-13.5/bin/nvcc").is_file());
}
