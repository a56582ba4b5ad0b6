//! Disks that are full, files that may not grow, and a store that cannot be written. A build is right or ends
//! with an error; with room again, the next one is right.

use faults::{Built, Fixture, References, VARIANTS, for_seeds, remove};
use std::{
    fs,
    path::{Path, PathBuf},
};
use test_support::{Random, tool};

/// Cases in CI.
const CASES: u64 = 6;

/// What makes the file system small or read-only, and how it is made large again. `$DISK` is the folder.
struct Limit {
    name: String,
    before: String,
    after: &'static str,
}

impl Limit {
    fn any(random: &mut Random) -> Self {
        let name = |size: usize, what: &str| format!("{size} bytes, {what}");
        match random.below(8) {
            0 => Self {
                name: "read-only".to_owned(),
                before: "mount --bind \"$DISK\" \"$DISK\" && mount -o remount,bind,ro \"$DISK\""
                    .to_owned(),
                after: "umount \"$DISK\"",
            },
            1 | 2 => {
                // In blocks of 1024 bytes. A signal would end compilers before they can say why.
                let blocks = random.below(200);
                Self {
                    name: name(blocks * 1_024, "the largest file"),
                    before: format!("trap '' XFSZ && ulimit -S -f {blocks}"),
                    after: "ulimit -S -f unlimited",
                }
            }
            _ => {
                let size = 4_096 << random.below(10);
                Self {
                    name: name(size, "the file system"),
                    before: format!("mount -t tmpfs -o size={size} none \"$DISK\""),
                    after: "mount -o remount,size=200m \"$DISK\"",
                }
            }
        }
    }
}

/// What became of two builds.
struct Builds {
    first: Built,
    second: Built,
    /// The folder with a copy of `OUT_DIR` after each.
    copies: PathBuf,
}

/// Builds with the limit, then without it, then checks the store.
const SCRIPT: &str = "\
eval \"$BEFORE\" || exit 99
\"$@\" 2>&1; printf '\\001code %s\\n' $?
eval \"$AFTER\" || exit 98
cp -a \"$OUT_DIR\" \"$COPIES/first\"
\"$@\" 2>&1; printf '\\001code %s\\n' $?
cp -a \"$OUT_DIR\" \"$COPIES/second\"
\"$1\" verify || exit 97
";

/// Builds twice; `None` after a line that says that this machine has no namespaces.
fn build_twice(fixture: &Fixture, disk: &Path, limit: &Limit) -> Option<Builds> {
    let copies = fixture.folder().join("copies");
    remove(&copies);
    fs::create_dir_all(&copies).expect("a folder");
    fs::create_dir_all(disk).expect("a folder");
    let shell = ["timeout", "--kill-after=5", "120", "bash", "-c", SCRIPT, "bash"];
    let arguments = [&["--map-root-user", "--mount"][..], &shell].concat();
    let mut command = fixture.command_of("unshare", &arguments);
    command.env("DISK", disk).env("COPIES", &copies);
    command.env("BEFORE", &limit.before).env("AFTER", limit.after);
    let output = command.output().ok().filter(|output| output.status.code() != Some(99));
    let output = tool::require("a namespace with file systems of its own", output)?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    // Each build's messages, and the code after them.
    let mut parts = text.split("\u{1}code ");
    let (first, middle) = (parts.next().expect("a text"), parts.next().expect("a code"));
    let (first_code, second) = middle.split_once('\n').expect("a line");
    let second_code = parts.next().and_then(|text| text.lines().next()).expect("a code");
    let code = |text: &str| Some(text.parse().expect("a code"));
    Some(Builds {
        first: Built::checked(code(first_code), first.to_owned()),
        second: Built::checked(code(second_code), second.to_owned()),
        copies,
    })
}

#[test]
fn a_build_without_room_is_right_or_says_so() {
    let Some(fixture) = Fixture::new(env!("CARGO_BIN_EXE_faults")) else { return };
    let references = References::of(&fixture);
    for_seeds("limited disks", CASES, |seed, random| {
        let variant = random.below(VARIANTS);
        fixture.set_variant(variant);
        fixture.clear();
        let limit = Limit::any(random);
        let (disk, name) = match random.below(2) {
            0 => (fixture.cache(), "the store"),
            _ => (fixture.out(), "OUT_DIR"),
        };
        println!("seed {seed}: {} for {name}", limit.name);
        let Some(builds) = build_twice(&fixture, &disk, &limit) else { return };
        let Builds { first, second, copies } = builds;
        if first.code == Some(0) {
            references.compare(variant, &Fixture::outputs_in(&copies.join("first")));
        } else {
            assert!(first.messages.contains("error"), "{}", first.messages);
            assert!(name == "OUT_DIR" || limit.name.contains("file"), "{}", first.messages);
        }
        assert_eq!(second.code, Some(0), "{}", second.messages);
        references.compare(variant, &Fixture::outputs_in(&copies.join("second")));
    });
}
