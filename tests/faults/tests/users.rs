//! A second user of the machine: does not read or write the first one's store and files, and no tool or folder that
//! the second one has planted is used.
//!
//! The second user is a number that nobody has, so only root can start processes of it. Elsewhere the tests say
//! what they could not do, and pass.

use faults::{Fixture, Outputs, References, copy, count, entries, files, remove};
use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The second user, and a third one. They have no account and no group but their own.
const SECOND: u32 = 54_321;
const THIRD: u32 = 54_322;

/// A fixture of root's in a folder that everybody can write to, as `/tmp` is; `None` after a line that says why.
fn shared_fixture() -> Option<Fixture> {
    let fixture = Fixture::new(env!("CARGO_BIN_EXE_faults"))?;
    if fixture.folder().metadata().expect("a folder").uid() != 0 {
        println!("skipped: only root can start processes of a second user");
        count("skipped without the rights of root", 0, 0);
        return None;
    }
    set_mode(fixture.folder(), 0o1777);
    Some(fixture)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode can be set");
}

/// Runs a shell script as another user.
fn run_as(user: u32, script: &str, arguments: &[&Path]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).args(arguments).uid(user).gid(user).current_dir("/");
    command.output().expect("a shell of another user")
}

#[track_caller]
fn succeeds_as(user: u32, script: &str, arguments: &[&Path]) {
    let output = run_as(user, script, arguments);
    assert!(output.status.success(), "{script}: {output:?}");
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> Outputs {
    files(folder).into_iter().map(|it| (it.clone(), fs::read(it).expect("a file"))).collect()
}

#[test]
fn a_second_user_reads_and_writes_nothing_of_the_first() {
    let Some(fixture) = shared_fixture() else { return };
    // Whatever the first user's mask is, the store is the first user's alone.
    let mut build = fixture.command_of("sh", &["-c", "umask 000; exec \"$@\"", "sh"]);
    let output = build.output().expect("a build");
    assert!(output.status.success(), "{output:?}");
    let store = fixture.cache().join("kernelmill");
    let before = contents(&store);
    assert!(before.len() > 5, "{}", before.len());
    let attempts = [
        "cat \"$1\"",
        "echo more >>\"$1\"",
        "rm -f \"$1\"",
        "mv \"$1\" \"$1.moved\"",
        "cp /dev/null \"$1.new\"",
        "ls \"$(dirname \"$1\")\"",
        "chmod 666 \"$1\"",
        "ln -s /etc/passwd \"$1.link\"",
    ];
    let found = entries(&store);
    for entry in &found {
        for script in attempts {
            let output = run_as(SECOND, script, &[entry]);
            assert!(!output.status.success(), "{script} {}: {output:?}", entry.display());
        }
    }
    assert!(contents(&store) == before, "the store has changed");
    for path in std::iter::once(store.clone()).chain(files(&store)) {
        let mode = path.metadata().expect("a file").mode();
        assert_eq!(mode & 0o077, 0, "{} has the mode {mode:o}", path.display());
    }
    // With the usual mask, neither does the second user change the outputs.
    fixture.clear();
    assert_eq!(fixture.build().code, Some(0));
    let before = contents(&fixture.out());
    for path in before.keys() {
        for script in ["echo more >>\"$1\"", "rm -f \"$1\"", "mv \"$1\" \"$1.moved\""] {
            assert!(!run_as(SECOND, script, &[path]).status.success(), "{}", path.display());
        }
    }
    assert!(contents(&fixture.out()) == before, "the outputs have changed");
    let tried = found.len() * attempts.len() + before.len() * 3;
    count("reads and writes by the second user", tried as u64, 0);
}

/// Names of tools that a build starts.
const TOOLS: [&str; 12] = [
    "nvcc",
    "ptxas",
    "nvlink",
    "fatbinary",
    "cicc",
    "clang",
    "clang-22",
    "rustc",
    "cargo",
    "ar",
    "cc",
    "rust-lld",
];

/// Plants tools in folders of the second user's: each leaves a mark when it is run.
fn plant(folders: &[PathBuf], mark: &Path) {
    for folder in folders {
        for tool in TOOLS {
            let script = "mkdir -p \"$1\" && printf '#!/bin/sh\\necho \"$0\" >>%s\\n' \"$3\" >\"$1/$2\" \
                          && chmod 755 \"$1/$2\"";
            succeeds_as(SECOND, script, &[folder, Path::new(tool), mark]);
        }
    }
}

#[test]
fn no_tool_that_a_second_user_planted_is_run() {
    let Some(fixture) = shared_fixture() else { return };
    let references = References::of(&fixture);
    fixture.clear();
    fixture.set_variant(0);
    let (mark, shared) = (fixture.folder().join("mark"), fixture.folder());
    // The first user was careless: everybody can write here.
    let open = [
        fixture.package().join("target/toolchains"),
        fixture.cache().join("kernelmill/toolchains"),
    ];
    for folder in &open {
        fs::create_dir_all(folder).expect("a folder");
        set_mode(folder, 0o777);
    }
    set_mode(&fixture.cache().join("kernelmill"), 0o755);
    let below = open.iter().map(|folder| folder.join("cuda-99.9/bin"));
    let beside =
        ["toolchains/cuda/bin", "target/toolchains/cuda/bin", "bin", "cuda/bin", ".cargo/bin"];
    let folders: Vec<_> = beside.iter().map(|name| shared.join(name)).chain(below).collect();
    plant(&folders, &mark);
    for has_own_tools in [false, true] {
        remove(&fixture.out());
        let mut command = fixture.command_of("timeout", &["60"]);
        if !has_own_tools {
            for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
                command.env_remove(name);
            }
        }
        let built = faults::Built::new(&command.output().expect("a build"));
        assert!(!mark.exists(), "run: {:?}", fs::read_to_string(&mark));
        if has_own_tools {
            assert_eq!(built.code, Some(0), "{}", built.messages);
            references.compare(0, &fixture.outputs());
        } else {
            let told =
                built.messages.contains("is not used, because other users could have replaced it");
            assert!(told || built.code == Some(0), "{}", built.messages);
        }
    }
    // That the marks work: the first user runs one by name.
    let planted = folders[0].join("nvcc");
    assert!(Command::new(planted).status().expect("the planted tool runs").success());
    assert!(mark.exists());
    count("planted tools", (folders.len() * TOOLS.len()) as u64, 0);
}

#[test]
fn the_store_of_another_user_is_refused_and_left_alone() {
    let Some(fixture) = shared_fixture() else { return };
    let references = References::of(&fixture);
    let theirs = fixture.folder().join("theirs");
    copy(&references.store(1), &theirs.join("kernelmill"));
    let all = files(&theirs)
        .into_iter()
        .flat_map(|path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>());
    for path in all.filter(|path| path.starts_with(&theirs)) {
        chown(&path, Some(SECOND), Some(SECOND)).expect("root gives files away");
    }
    let before = contents(&theirs);
    // The first user, root, with the second one's folder: `sudo` that keeps HOME.
    remove(&fixture.out());
    fixture.set_variant(0);
    let mut command = fixture.command();
    let built =
        faults::Built::new(&command.env("XDG_CACHE_HOME", &theirs).output().expect("a build"));
    assert_eq!(built.code, Some(1), "{}", built.messages);
    assert!(
        built.messages.contains(&format!("it belongs to the user {SECOND}")),
        "{}",
        built.messages
    );
    // A third user.
    let program = fixture.folder().join("program");
    fs::copy(env!("CARGO_BIN_EXE_faults"), &program).expect("a program");
    set_mode(&program, 0o755);
    set_mode(&theirs, 0o755);
    set_mode(&theirs.join("kernelmill"), 0o755);
    let script = "XDG_CACHE_HOME=\"$1\" exec \"$2\" verify";
    let output = run_as(THIRD, script, &[&theirs, &program]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = run_as(SECOND, script, &[&theirs, &program]);
    assert!(output.status.success(), "it is the second one's own: {output:?}");
    assert!(contents(&theirs) == before, "the second user's store has changed");
}

#[test]
fn a_link_that_a_second_user_planted_is_not_followed() {
    let Some(fixture) = shared_fixture() else { return };
    let precious = fixture.folder().join("precious");
    fs::create_dir_all(&precious).expect("a folder");
    let store = fixture.folder().join("store");
    succeeds_as(SECOND, "ln -s \"$1\" \"$2\"", &[&precious, &store]);
    // Where the system itself follows no such links (`fs.protected_symlinks`), a folder without the sticky bit.
    for mode in [0o1777, 0o777] {
        set_mode(fixture.folder(), mode);
        remove(&fixture.out());
        let mut command = fixture.command();
        let output = command.env("KERNELMILL_CACHE_DIR", &store).output().expect("a build");
        let built = faults::Built::new(&output);
        assert_eq!(files(&precious), [] as [PathBuf; 0], "{}", built.messages);
        assert_eq!(built.code, Some(1), "{}", built.messages);
        assert!(
            built.messages.contains(&format!("it is a link of the user {SECOND}")),
            "{}",
            built.messages
        );
    }
    // The first user's own link is followed.
    remove(&store);
    symlink(&precious, &store).expect("a link");
    let mut command = fixture.command();
    let output = command.env("KERNELMILL_CACHE_DIR", &store).output().expect("a build");
    assert!(output.status.success(), "{output:?}");
    assert!(!files(&precious).is_empty());
}
