//! What builds take from the store and compile again: keys, damaged entries, other checkouts.

use crate::{
    settings::layer::{Layer, TargetName},
    test_support::{Project, SAXPY, files},
};
use std::fs;

const TWO_TARGETS: &str = "targets = [\"compute_75\", \"gfx942\"]\n";

#[test]
fn each_pair_is_compiled_once_and_then_found() {
    let mut project = Project::new(
        TWO_TARGETS,
        &[
            ("kernels/saxpy.rs", SAXPY),
            ("kernels/fill.rs", "#[kernel] fn fill(mut out: DisjointSlice<f32>) {}"),
            ("kernels/helper.rs", "pub fn helper() {}"),
        ],
    );
    assert_eq!(project.counts(), (4, 0));
    assert_eq!(project.counts(), (0, 4));
    fs::remove_dir_all(project.out()).unwrap();
    assert_eq!(project.counts(), (0, 4), "after `cargo clean`");
    assert_eq!(
        project.outputs(),
        [
            "fill.compute_75.ptx",
            "fill.gfx942.hsaco",
            "kernelmill.json",
            "kernels.rs",
            "saxpy.compute_75.ptx",
            "saxpy.gfx942.hsaco",
        ]
    );
    project.set("KERNELMILL_TARGETS", "compute_75;gfx942,sm_90");
    assert_eq!(project.counts(), (2, 4), "one more target");
    project.write("app/kernels/saxpy.rs", &format!("{SAXPY}// changed\n"));
    assert_eq!(project.counts(), (3, 3), "one source changed");
    project.write("app/kernels/saxpy.rs", SAXPY);
    assert_eq!(project.counts(), (0, 6), "and changed back");
}

#[test]
fn included_modules_are_part_of_the_key_and_touching_is_not() {
    let text = format!("mod helper;\n{SAXPY}");
    let helper = "pub fn twice() {}";
    let files = [("kernels/saxpy.rs", text.as_str()), ("kernels/helper.rs", helper)];
    let project = Project::new(TWO_TARGETS, &files);
    assert_eq!(project.counts(), (2, 0));
    project.write("app/kernels/helper.rs", helper);
    assert_eq!(project.counts(), (0, 2), "touched");
    project.write("app/kernels/helper.rs", "pub fn thrice() {}");
    assert_eq!(project.counts(), (2, 0), "changed");
    project.write("app/kernels/helper.rs", helper);
    assert_eq!(project.counts(), (0, 2), "changed back");
}

#[test]
fn options_edition_and_definitions_are_part_of_the_key() {
    let mut project = Project::new(TWO_TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    assert_eq!(project.counts(), (2, 0));
    project.builder.fma = Some(false);
    assert_eq!(project.counts(), (2, 0));
    project.builder.defines = Some([("TILE".to_owned(), "32".to_owned())].into());
    assert_eq!(project.counts(), (2, 0));
    project.builder.arguments = Some(vec!["-Awarnings".to_owned()]);
    assert_eq!(project.counts(), (2, 0));
    project.builder = Layer::default();
    assert_eq!(project.counts(), (0, 2));
}

#[test]
fn no_path_of_a_checkout_is_in_a_key() {
    let sources = [("kernels/saxpy.rs", SAXPY)];
    let first = Project::new("targets = [\"cpu\", \"sm_90\"]", &sources);
    let mut second = Project::new("targets = [\"cpu\", \"sm_90\"]", &sources);
    second.variables.insert("XDG_CACHE_HOME".into(), first.variables["XDG_CACHE_HOME"].clone());
    assert_eq!(first.counts(), (2, 0));
    assert_eq!(second.counts(), (0, 2));
    let bindings =
        |project: &Project| fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    assert_eq!(bindings(&first), bindings(&second));
    assert!(!bindings(&first).contains(&*first.folder.path().to_string_lossy()));
}

#[test]
fn no_entry_is_taken_for_another() {
    let fill = "#[kernel] fn fill(mut out: DisjointSlice<f32>) {}";
    let files_of = [("kernels/saxpy.rs", SAXPY), ("kernels/fill.rs", fill)];
    let project = Project::new(TWO_TARGETS, &files_of);
    assert_eq!(project.counts(), (4, 0));
    let binaries = |project: &Project| {
        let names = project.outputs().into_iter().filter(|name| !name.ends_with(".json"));
        names.map(|name| fs::read(project.out().join(name)).unwrap()).collect::<Vec<_>>()
    };
    let expected = binaries(&project);
    let entries = files(&project.folder.path().join("cache/kernelmill"));
    let content: Vec<_> = entries.iter().map(|entry| fs::read(entry).unwrap()).collect();
    for first in 0..entries.len() {
        for second in 0..first {
            fs::write(&entries[first], &content[second]).unwrap();
            fs::write(&entries[second], &content[first]).unwrap();
            fs::remove_dir_all(project.out()).unwrap();
            let (compiled, cached) = project.counts();
            assert_eq!(compiled + cached, 4);
            assert_eq!(binaries(&project), expected, "{first} and {second} were swapped");
            for entry in [first, second] {
                fs::write(&entries[entry], &content[entry]).unwrap();
            }
        }
    }
}

#[test]
fn damaged_entries_of_every_kind_are_made_again() {
    let project = Project::new(TWO_TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    assert_eq!(project.counts(), (2, 0));
    let cache = project.folder.path().join("cache/kernelmill");
    let entries = files(&cache);
    assert_eq!(entries.len(), 5, "front, lowered, symbols, two artifacts: {entries:?}");
    for (index, entry) in entries.iter().enumerate() {
        let mut bytes = fs::read(entry).unwrap();
        if index % 2 == 0 {
            bytes.truncate(bytes.len() / 2);
        } else {
            let last = bytes.len() - 1;
            bytes[last] ^= 0x40;
        }
        fs::write(entry, bytes).unwrap();
    }
    assert_eq!(project.counts(), (2, 0));
    assert_eq!(project.counts(), (0, 2));
}

#[test]
fn an_unwritable_store_is_a_warning() {
    let mut project = Project::new("targets = \"sm_90\"", &[("kernels/saxpy.rs", SAXPY)]);
    project.write("blocked", "a file");
    let blocked = project.folder.path().join("blocked");
    project.variables.insert("KERNELMILL_CACHE_DIR".into(), blocked.into());
    let outcome = project.build();
    assert_eq!(outcome.result.unwrap().compiled, 1);
    let warnings: Vec<_> =
        outcome.lines.iter().filter(|line| line.starts_with("cargo::warning=")).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    project.set("KERNELMILL_CACHE", "off");
    let outcome = project.build();
    assert!(!outcome.lines.iter().any(|line| line.starts_with("cargo::warning=")));
}

/// Check 1 of the survey: what each change compiles again. The front end has a key of its own, and so
/// has what is made of its result.
/// Acceptance: S0.3, C1.
#[test]
fn check_01_a_change_of_the_name_alone_shares_the_front_end() {
    let mut project = Project::new(TWO_TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    assert_eq!((project.counts(), project.stored("lowered")), ((2, 0), 1));
    let fronts = project.stored("front");
    project.builder.options = Some([("name".to_owned(), "renamed".to_owned())].into());
    assert_eq!(project.counts(), (2, 0), "another artifact");
    assert_eq!((project.stored("front"), project.stored("lowered")), (fronts, 1));
    assert_eq!(project.stored("artifact"), 4);
}

/// Acceptance: S0.3, C1.
#[test]
fn check_01_a_fresh_configuration_that_is_equal_hits() {
    let sources = [("kernels/saxpy.rs", SAXPY)];
    let first = Project::new("targets = [\"compute_75\"]\noptions = { opt-level = 2 }", &sources);
    assert_eq!(first.counts(), (1, 0));
    let mut second = Project::new("", &sources);
    second.variables.insert("XDG_CACHE_HOME".into(), first.variables["XDG_CACHE_HOME"].clone());
    let target = TargetName { text: "75-virtual".into(), origin: String::new() };
    second.builder.targets = Some(vec![target]);
    second.builder.optimization = Some(2);
    assert_eq!(second.counts(), (0, 1), "the same, said in another way");
}

/// Acceptance: S0.3, C1.
#[test]
fn check_01_an_edit_of_a_function_that_is_called_misses_and_an_unrelated_one_hits() {
    let text = format!("mod helper;\n{SAXPY}");
    let sources = [
        ("kernels/saxpy.rs", text.as_str()),
        ("kernels/helper.rs", "pub fn twice() {}"),
        ("kernels/other.rs", "pub fn unused() {}"),
        ("kernels/fill.rs", "#[kernel] fn fill(mut out: DisjointSlice<f32>) {}"),
    ];
    let project = Project::new(TWO_TARGETS, &sources);
    assert_eq!(project.counts(), (4, 0));
    project.write("app/kernels/helper.rs", "pub fn thrice() {}");
    assert_eq!(project.counts(), (2, 2), "in a callee; the other source hits");
    project.write("app/kernels/helper.rs", "pub fn thrice() {}\n// note: a comment\n");
    assert_eq!(project.counts(), (0, 4), "of a comment: the front end runs, and nothing after it");
    project.write("app/kernels/other.rs", "pub fn still_unused() {}");
    assert_eq!(project.counts(), (0, 4), "of a file that nothing includes");
}

/// Acceptance: S0.3, C1.
#[test]
fn check_01_a_feature_of_the_target_is_in_the_key() {
    let mut project = Project::new("targets = [\"sm_90\"]", &[("kernels/saxpy.rs", SAXPY)]);
    assert_eq!(project.counts(), (1, 0));
    for (target, expected) in
        [("sm_90a", (1, 0)), ("gfx90a", (1, 0)), ("gfx90a:xnack+", (1, 0)), ("sm_90", (0, 1))]
    {
        project.set("KERNELMILL_TARGETS", target);
        assert_eq!(project.counts(), expected, "{target}");
    }
}

/// Acceptance: S1.9.
#[test]
fn a_function_that_is_named_rebuilds_those_who_name_it_and_nobody_else() {
    let function = |name: &str, body: &str| {
        format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}() {{ {body} }}\n")
    };
    let kernel = |name: &str, body: &str| format!("#[kernel]\npub fn {name}() {{ {body} }}\n");
    let project = Project::new(
        TWO_TARGETS,
        &[
            ("kernels/parent.rs", &kernel("parent", "deferred!(child)")),
            ("kernels/child.rs", &function("child", "deferred!(leaf)")),
            ("kernels/leaf.rs", &function("leaf", "deferred!(child)")),
            ("kernels/other.rs", &kernel("other", "")),
            ("kernels/unused.rs", &function("unused", "")),
        ],
    );
    assert_eq!(project.counts(), (4, 0), "two kernels for two targets");
    project.write("app/kernels/leaf.rs", &function("leaf", "1; deferred!(child)"));
    assert_eq!(project.counts(), (2, 2), "a leaf, however far");
    project.write("app/kernels/unused.rs", &function("unused", "1"));
    assert_eq!(project.counts(), (0, 4), "one that nobody names");
    project.write("app/kernels/child.rs", &function("child", "deferred!(nothing)"));
    assert_eq!(project.counts(), (2, 2));
    project.write("app/kernels/leaf.rs", &function("leaf", "2"));
    assert_eq!(project.counts(), (0, 4), "nobody names it any more");
    let names = project.outputs();
    assert!(!names.iter().any(|name| name.contains("child")), "{names:?}");
}

/// Acceptance: S1.9.
#[test]
fn a_function_that_kernels_can_be_given_rebuilds_those_that_take_its_type() {
    let kernel = |name: &str, parameter: &str| {
        format!("#[kernel]\npub fn {name}(f: {parameter}, mut y: DisjointSlice<f32>) {{}}\n")
    };
    let function = |name: &str, body: &str| {
        format!("#[device_fn] pub fn {name}(x: f32) -> f32 {{ {body} }}\n")
    };
    let project = Project::new(
        TWO_TARGETS,
        &[
            ("kernels/apply.rs", &kernel("apply", "DeviceFn<fn(f32) -> f32>")),
            ("kernels/other.rs", &kernel("other", "u32")),
            ("kernels/square.rs", &function("square", "x * x")),
        ],
    );
    assert_eq!(project.counts(), (4, 0), "two kernels for two targets");
    project.write("app/kernels/square.rs", &function("square", "-x"));
    assert_eq!(project.counts(), (2, 2), "an edited function");
    project.write("app/kernels/halve.rs", &function("halve", "0.5 * x"));
    assert_eq!(project.counts(), (2, 2), "one more");
    project.write("app/kernels/count.rs", "#[device_fn] pub fn count(x: u32) -> u32 { x }\n");
    assert_eq!(project.counts(), (0, 4), "one of another type");
    project.write("app/kernels/apply.rs", &kernel("apply", "DeviceFn<fn(u32) -> u64>"));
    let expected = "\
error[KM0046]: kernel `apply` takes a `DeviceFn<fn(u32) -> u64>`, and no device function has that type
 --> kernels/apply.rs:2:8
  |
2 | pub fn apply(f: DeviceFn<fn(u32) -> u64>, mut y: DisjointSlice<f32>) {}
  |        ^^^^^
  |
  = help: write a `#[device_fn]` of that type; the nearest is `count: fn(u32) -> u32` of kernels/count.rs";
    assert_eq!(project.error(), expected);
    project.write("app/kernels/count.rs", "#[device_fn] pub fn square(x: u32) -> u64 { 0 }\n");
    let expected = "\
error[KM0027]: two device functions are named `square`
 --> kernels/square.rs:1:21
  |
1 | #[device_fn] pub fn square(x: f32) -> f32 { -x }
  |                     ^^^^^^
  |
  = note: kernels/count.rs:1:21: the first one
  = help: rename one of them: `Kernels::functions()` has all under their names";
    assert_eq!(project.error(), expected);
}
