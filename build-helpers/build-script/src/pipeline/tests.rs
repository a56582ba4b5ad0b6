use crate::{
    manifest::{self, Access, BinaryKind, Manifest, ManifestError, ParameterKind},
    settings::layer::{Layer, TargetName},
    test_support::{Project, SAXPY, Shared, files},
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
fn a_compiler_of_cuda_that_is_named_and_not_there_is_an_error() {
    let files = [("kernels/fill.cu", "__global__ void fill(float *x) { *x = 1; }")];
    let mut project = Project::new("targets = [\"compute_75\"]\n", &files);
    project.set("PATH", "/nonexistent");
    let mut said = |name: &str| {
        project.set("KERNELMILL_CUDA_COMPILER", name);
        project.build().result.unwrap_err().to_string()
    };
    let text = said("nvcc");
    let expected = "`kernels/fill.cu` for `compute_75` needs nvcc, and none was found";
    assert!(text.contains(expected), "clang is no way out: {text}");
    let text = said("gcc");
    assert!(text.contains("KERNELMILL_CUDA_COMPILER has the invalid value `gcc`"), "{text}");
    assert!(text.contains("write `auto`, `nvcc` or `clang`"), "{text}");
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

/// Acceptance: S3.14.
#[test]
fn every_error_of_every_unit_is_reported_and_rustcs_as_it_is() {
    let project = Project::new(
        TWO_TARGETS,
        &[
            ("kernels/a.rs", "// RUSTC_ERROR\n#[kernel] fn a() {}"),
            ("kernels/b.rs", "// UNIT_ERROR\n#[kernel] fn b() {}"),
            ("kernels/c.rs", "#[kernel] fn c() {}"),
            ("kernels/d.rs", "// RUSTC_ERROR\n#[kernel] fn d( {}"),
        ],
    );
    let expected = "\
error[E0001]: wrong
 --> kernels/a.rs:1:1

error[E0001]: wrong
 --> kernels/d.rs:1:1

error[KM0067]: kernels/b.rs, for compute_75: ptxas failed on b:
no compute_75

error[KM0067]: kernels/b.rs, for gfx942: ptxas failed on b:
no gfx942";
    assert_eq!(project.error(), expected);
}

#[test]
fn files_of_kernels_that_are_gone_are_removed_and_other_files_stay() {
    let project = Project::new(
        "targets = [\"sm_90\"]",
        &[("kernels/a/x.rs", "#[kernel] fn one() {}"), ("kernels/b/x.rs", "#[kernel] fn two() {}")],
    );
    project.write("app/target/out/mine.cubin", "of the build script");
    assert_eq!(project.counts(), (2, 0));
    let names = project.outputs();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names[2].starts_with("kernels_a_x_") && names[3].starts_with("kernels_b_x_"));
    fs::remove_dir_all(project.folder.path().join("app/kernels/b")).unwrap();
    assert_eq!(project.counts(), (0, 1));
    let names = ["kernelmill.json", "kernels.rs", "mine.cubin", "x.sm_90.cubin"];
    assert_eq!(project.outputs(), names);
}

#[test]
fn wrappers_without_binaries_need_no_compiler() {
    for name in ["KERNELMILL_SKIP_BUILD", "DOCS_RS"] {
        let mut project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
        project.set(name, "1");
        project.set("KERNELMILL_LOG", "summary");
        project.set("KERNELMILL_PROGRESS", "never");
        let outcome = project.build();
        assert_eq!(outcome.lines.last().unwrap(), "kernelmill: compiled 0 cached 0");
        assert_eq!(outcome.result.unwrap().kernels, ["saxpy"]);
        assert_eq!(project.outputs(), ["kernelmill.json", "kernels.rs"]);
        let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
        assert!(text.contains("artifacts: &[]") && text.contains("pub fn saxpy("));
    }
}

/// The wrapper of a kernel that reaches a getter has an argument more, with binaries and without, and those of other
/// kernels are as before.
///
/// Acceptance: S0.6, C10.
#[test]
fn wrappers_take_the_state_that_their_kernels_reach() {
    let text = "#[kernel] pub fn draw(x: u32, seed: u32) {}\n#[kernel] pub fn fill(x: u32) {}\n";
    let asking = format!("{text}// draw asks seed, and draw asks counter\n");
    let bindings = |text: &str, asks: bool, variables: &[&str]| {
        let mut project = Project::new("targets = \"compute_75\"", &[("kernels/a.rs", text)]);
        project.builder.plugins_ask_for_state = asks;
        variables.iter().for_each(|name| project.set(name, "1"));
        project.build().result.unwrap();
        fs::read_to_string(project.out().join("kernels.rs")).unwrap()
    };
    let wrapper = |text: &str, name: &str| {
        let start = text.find(&format!("pub fn {name}(")).unwrap();
        let text = text[start..].split(") ->").next().unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let built = bindings(&asking, true, &[]);
    let expected = "x: u32, seed: u32, counter: u64, argument_3: u64,";
    assert!(wrapper(&built, "draw").ends_with(expected), "{}", wrapper(&built, "draw"));
    assert!(wrapper(&built, "fill").ends_with("x: u32,"), "{}", wrapper(&built, "fill"));
    assert!(built.contains("/// `counter` is state of the launch, which a plugin"), "{built}");
    for variable in ["KERNELMILL_SKIP_BUILD", "DOCS_RS"] {
        let skipped = bindings(&asking, true, &[variable]);
        assert_eq!(wrapper(&skipped, "draw"), wrapper(&built, "draw"));
    }
    let (plain, with_plugin) = (bindings(text, false, &[]), bindings(text, true, &[]));
    assert_eq!(plain, with_plugin, "a plugin that no kernel asks changes nothing");
    assert!(!bindings(&asking, false, &[]).contains("counter: u64"));
}

#[test]
fn settings_of_kernels_that_nothing_can_read_are_no_error_without_binaries() {
    let settings =
        "types = { Point = \"crate::Point\" }\n[kernels.fill]\nrequires = [\"x.len >= 1\"]\n";
    let files = [("kernels/fill.cu", "__global__ void fill(float *x) { *x = 1; }")];
    let mut project = Project::new("", &files);
    project.write("app/kernelmill.toml", settings);
    project.set("PATH", "/nonexistent");
    project.set("DOCS_RS", "1");
    let outcome = project.build();
    outcome.result.unwrap();
    let warning = outcome.lines.iter().find(|line| line.contains("have no wrappers in this build"));
    assert!(warning.is_some(), "{:?}", outcome.lines);
}

#[test]
fn cargo_is_told_what_to_watch_and_link_and_nothing_of_the_build_folder() {
    let text = format!("mod helper;\n{SAXPY}");
    let mut project = Project::new(
        "targets = \"cpu\"",
        &[("kernels/saxpy.rs", &text), ("kernels/helper.rs", "")],
    );
    project.set("KERNELMILL_LOG", "summary");
    project.set("KERNELMILL_PROGRESS", "never");
    let outcome = project.build();
    outcome.result.unwrap();
    let out = project.out();
    let mut expected: Vec<String> = [
        "rerun-if-env-changed=KERNELMILL_TRACE",
        "rerun-if-changed=Cargo.toml",
        "rerun-if-env-changed=KERNELMILL_TARGETS",
        "rerun-if-env-changed=KERNELMILL_NVCC",
        "rerun-if-env-changed=KERNELMILL_CLANG",
        "rerun-if-env-changed=KERNELMILL_DEVICE_LIBRARIES",
        "rerun-if-env-changed=KERNELMILL_FMA",
        "rerun-if-env-changed=KERNELMILL_OPTIMIZATION",
        "rerun-if-env-changed=KERNELMILL_PANICS",
        "rerun-if-env-changed=KERNELMILL_MATH",
        "rerun-if-env-changed=KERNELMILL_CUDA_COMPILER",
        "rerun-if-env-changed=KERNELMILL_MAX_REGISTERS",
        "rerun-if-env-changed=KERNELMILL_DUMP",
        "rerun-if-env-changed=KERNELMILL_DUMP_DIR",
        "rerun-if-env-changed=KERNELMILL_SKIP_BUILD",
        "rerun-if-env-changed=DOCS_RS",
        "rerun-if-env-changed=KERNELMILL_CACHE_SIZE",
        "rerun-if-env-changed=KERNELMILL_CACHE",
        "rerun-if-env-changed=KERNELMILL_CACHE_DIR",
        "rerun-if-env-changed=XDG_CACHE_HOME",
        "rerun-if-changed=kernels",
        "rerun-if-changed=kernels/helper.rs",
        "rustc-check-cfg=cfg(kernelmill)",
        "rerun-if-env-changed=KERNELMILL_OVERRIDE_saxpy",
        "rerun-if-env-changed=RUSTC_BOOTSTRAP",
        "rerun-if-changed=kernels/saxpy.rs",
    ]
    .map(|line| format!("cargo::{line}"))
    .into();
    expected.push(format!("cargo::rustc-link-search=native={}", out.display()));
    let link = &outcome.lines[expected.len()];
    let name = link.strip_prefix("cargo::rustc-link-lib=static=").unwrap().to_owned();
    assert!(name.starts_with("kernelmill_app_0_1_"), "{name}");
    expected.push(link.clone());
    let archive = out.join(format!("lib{name}.a"));
    expected.push(format!("cargo::rustc-link-arg={}", archive.display()));
    expected.push("cargo::rerun-if-env-changed=KERNELMILL_LOG".to_owned());
    expected.push("kernelmill: compiled 1 cached 0".to_owned());
    assert_eq!(outcome.lines, expected);
    assert!(archive.is_file());
}

/// Settings that come into it later are those of its members, and Cargo notices them only then.
#[test]
fn the_manifest_of_a_workspace_is_watched_before_it_has_settings() {
    let project = Project::new("targets = \"cpu\"", &[("kernels/saxpy.rs", SAXPY)]);
    project.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n");
    let outcome = project.build();
    outcome.result.unwrap();
    let manifest = project.folder.path().join("Cargo.toml");
    let expected = format!("cargo::rerun-if-changed={}", manifest.display());
    assert!(outcome.lines.contains(&expected), "{:#?}", outcome.lines);
}

/// A build, and one whose binaries are in the store, in one file.
#[test]
fn the_steps_of_builds_are_in_their_trace() {
    let mut project = Project::new(TWO_TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    project.set("KERNELMILL_TRACE", "trace.json");
    let events = |project: &Project| {
        let text = fs::read_to_string(project.folder.path().join("app/trace.json")).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        events
    };
    assert_eq!(project.counts(), (2, 0));
    let of = |events: &[serde_json::Value], category: &str| {
        let found = events.iter().filter(|event| event["cat"] == category);
        found.map(|it| (it["name"].clone(), it["args"]["target"].clone())).collect::<Vec<_>>()
    };
    let first = events(&project);
    assert_eq!(first[0]["args"]["name"], "build of app");
    let steps = of(&first, "build").into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let expected = [
        "settings",
        "discovery",
        "search for tools and plan",
        "compilation",
        "outputs",
        "whole build",
    ];
    assert_eq!(steps, expected);
    assert_eq!(of(&first, "front end"), [("kernels/saxpy.rs".into(), serde_json::Value::Null)]);
    let mut units = of(&first, "compile");
    units.sort_by_key(|(_, target)| target.to_string());
    let unit = |target: &str| ("kernels/saxpy.rs".into(), target.into());
    assert_eq!(units, [unit("compute_75"), unit("gfx942")]);
    assert_eq!(project.counts(), (0, 2));
    let both = events(&project);
    assert_eq!(both[..first.len()], first, "the second build is added");
    assert_eq!(of(&both[first.len()..], "compile"), []);
    // What was in the store has an event of its own.
    assert_eq!(of(&first, "store"), []);
    let mut stored = of(&both[first.len()..], "store");
    stored.sort_by_key(|(_, target)| target.to_string());
    assert_eq!(stored, units);
    project.set("KERNELMILL_TRACE", "kernels/saxpy.rs");
    let lines = project.build().lines;
    let expected = "cargo::warning=KERNELMILL_TRACE is `kernels/saxpy.rs`, which cannot be written: it is not a \
                    trace that kernelmill wrote; the build is not traced";
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
}

#[test]
fn a_summary_says_what_plugins_say_of_kernels() {
    let text = format!("// NOTES\n{SAXPY}");
    let mut project = Project::new("targets = \"sm_90\"", &[("kernels/saxpy.rs", &text)]);
    project.set("KERNELMILL_LOG", "summary");
    project.set("KERNELMILL_PROGRESS", "never");
    for counts in ["compiled 1 cached 0", "compiled 0 cached 1"] {
        let outcome = project.build();
        let lines = &outcome.lines[outcome.lines.len() - 2..];
        let said = "kernelmill: saxpy for sm_90: count: 3 additions".to_owned();
        assert_eq!(lines, [said, format!("kernelmill: {counts}")]);
    }
}

#[test]
fn a_summary_is_shown_without_vv_unless_the_progress_is_turned_off() {
    for (progress, count) in [(None, 1), (Some("never"), 0)] {
        let mut project = Project::new("targets = \"cpu\"", &[("kernels/saxpy.rs", SAXPY)]);
        project.set("KERNELMILL_LOG", "summary");
        if let Some(progress) = progress {
            project.set("KERNELMILL_PROGRESS", progress);
        }
        // Of a run in the foreground of a terminal, that one shows it.
        let has_terminal = fs::File::options().append(true).open("/dev/tty").is_ok();
        let outcome = project.build();
        let warned =
            outcome.lines.iter().filter(|it| it.starts_with("cargo::warning=kernelmill: c"));
        let warned: Vec<_> = warned.collect();
        if !has_terminal || progress.is_some() {
            assert_eq!(warned.len(), count, "{warned:?}");
        }
        assert_eq!(outcome.lines.last().unwrap(), "kernelmill: compiled 1 cached 0");
    }
}

/// What the store has comes with its lowering strategy too.
#[test]
fn the_log_and_the_manifest_say_the_lowering_strategy_of_each_kernel() {
    let text = format!("// STRATEGIES\n{SAXPY}");
    let mut project =
        Project::new("targets = [\"cpu\", \"compute_75\"]", &[("kernels/saxpy.rs", &text)]);
    project.set("KERNELMILL_LOG", "summary");
    project.set("KERNELMILL_PROGRESS", "never");
    let strategy = "thread loop: no barriers, vector widths 8, 16";
    for counts in ["compiled 2 cached 0", "compiled 0 cached 2"] {
        let outcome = project.build();
        let lines = &outcome.lines[outcome.lines.len() - 2..];
        let expected =
            [format!("kernelmill: saxpy on the CPU: {strategy}"), format!("kernelmill: {counts}")];
        assert_eq!(lines, expected);
        let manifest = Manifest::read(&project.out()).unwrap();
        let kernel = manifest.kernel("saxpy").unwrap();
        let found: Vec<_> = manifest.compiled(kernel).collect();
        let targets: Vec<_> = found.iter().map(|(binary, _)| binary.target.as_str()).collect();
        assert_eq!(targets, ["cpu", "compute_75"]);
        let strategies = found.iter().map(|(_, compiled)| compiled.strategy.as_ref());
        let widths: Vec<_> = strategies.map(|it| it.map(|it| it.widths.clone())).collect();
        assert_eq!(widths, [Some(vec![8, 16]), None]);
    }
}

#[test]
fn the_manifest_has_every_fact_of_a_build() {
    let text = "//! A source.\n\n#[kernel]\npub fn scale(a: f32, mut y: DisjointSlice<f32>) {}\n";
    let project = Project::new("targets = [\"compute_75\"]", &[("kernels/scale.rs", text)]);
    assert_eq!(project.counts(), (1, 0));
    let manifest = Manifest::read(&project.out()).unwrap();
    assert_eq!((manifest.schema, &*manifest.package), (manifest::SCHEMA, "app"));
    let [kernel] = &*manifest.kernels else { panic!("{manifest:?}") };
    let place = (&*kernel.name, &*kernel.symbol, &*kernel.file, kernel.line);
    assert_eq!(place, ("scale", "scale", "kernels/scale.rs", 4));
    assert_eq!(kernel.signature, "fn scale(a: f32, y: DisjointSlice<f32>)");
    assert_eq!((kernel.safe, kernel.dimension), (true, 1));
    let parameters: Vec<_> =
        kernel.parameters.iter().map(|it| (&*it.name, it.kind, &*it.r#type, it.access)).collect();
    let expected = [
        ("a", ParameterKind::Value, "f32", None),
        ("y", ParameterKind::Slice, "f32", Some(Access::Write)),
    ];
    assert_eq!(parameters, expected);
    let [binary] = &*manifest.binaries else { panic!("{manifest:?}") };
    assert_eq!((&*binary.source, binary.kind), ("kernels/scale.rs", BinaryKind::Ptx));
    let file = fs::read(project.out().join(&binary.file)).unwrap();
    assert_eq!(binary.bytes, file.len() as u64);
    assert!(manifest.diagnostics.is_empty());
    let text = fs::read_to_string(project.out().join(manifest::FILE)).unwrap();
    assert_eq!(Manifest::parse(&text).unwrap(), manifest);
    let newer = text.replacen("\"schema\": 2", "\"schema\": 3", 1);
    let error = Manifest::parse(&newer).unwrap_err();
    assert!(matches!(error, ManifestError::Schema { found: 3 }), "{error}");
}

/// Acceptance: S3.8, C23.
#[test]
fn more_spills_than_are_allowed_are_a_warning_or_an_error() {
    let text = format!("// SPILLS\n{SAXPY}");
    let build = |settings: &str| {
        let targets = "targets = [\"cpu\", \"sm_90\", \"gfx942\"]";
        let settings = format!("{targets}\n{settings}");
        let project = Project::new(&settings, &[("kernels/saxpy.rs", &text)]);
        let outcomes = [project.build(), project.build()];
        let manifest = Manifest::read(&project.out()).ok();
        (outcomes, manifest)
    };
    let sm_90 = "kernels/saxpy.rs:3: kernel `saxpy` for sm_90 spills registers: each thread stores 24 \
                 bytes and loads 40 bytes, and `max-spills = 16` allows 16 bytes in all";
    let gfx942 = "kernels/saxpy.rs:3: kernel `saxpy` for gfx942 spills registers: each thread spills 3 \
                  of them, and `max-spills = 16` allows 16 bytes in all";
    let (outcomes, manifest) = build("max-spills = 16\n");
    for outcome in &outcomes {
        assert!(outcome.result.is_ok());
        for text in [sm_90, gfx942] {
            let expected = format!("cargo::warning={text}");
            let count = outcome.lines.iter().filter(|line| **line == expected).count();
            assert_eq!(count, 1, "{:?}", outcome.lines);
        }
    }
    let manifest = manifest.unwrap();
    let said = manifest.diagnostics.iter().map(|it| (&*it.message, it.target.as_deref()));
    let said: Vec<_> = said.collect();
    assert_eq!(said, [(sm_90, Some("sm_90")), (gfx942, Some("gfx942"))]);
    let (outcomes, manifest) = build("max-spills = 16\nexcess-spills = \"error\"\n");
    for outcome in &outcomes {
        let text = outcome.result.as_ref().unwrap_err().to_string();
        let (first, second) = text.split_once("\n\n").unwrap();
        assert!(
            first.starts_with(&format!("error[KM0089]: {sm_90}\n  help: let it have more")),
            "{text}"
        );
        assert!(second.starts_with(&format!("error[KM0089]: {gfx942}\n  help: ")), "{text}");
    }
    assert_eq!(manifest, None);
    for settings in ["", "max-spills = 64\n", "excess-spills = \"error\"\n"] {
        let (outcomes, _) = build(settings);
        let says = |line: &String| line.contains("spills");
        assert!(!outcomes.iter().any(|it| it.lines.iter().any(says)), "{settings}");
    }
}

#[test]
fn rows_whose_width_nobody_gives_are_warned_of_in_every_build() {
    let text = "#[kernel(dim = 2)] fn blur(mut out: DisjointSlice<u8, Index2D>) {}";
    let project = Project::new("targets = [\"cpu\"]", &[("kernels/blur.rs", text)]);
    for _ in 0..2 {
        let outcome = project.build();
        outcome.result.unwrap();
        let warnings = outcome.lines.iter().filter_map(|it| it.strip_prefix("cargo::warning="));
        let warnings: Vec<_> = warnings.collect();
        let [message, help] = warnings[..] else { panic!("{warnings:?}") };
        let expected =
            "kernels/blur.rs:1:37: warning[KM0043]: kernel `blur` has rows as wide as the launch";
        assert!(message.starts_with(expected), "{message}");
        assert!(help.contains("help: write `#[kernel(dim = 2, width = w)]`"), "{help}");
    }
}

#[test]
fn what_the_compiler_warns_of_is_shown_when_it_compiles_and_when_it_does_not() {
    let text = format!("// WARNED\n{SAXPY}");
    let project = Project::new("targets = [\"cpu\", \"sm_90\"]", &[("kernels/saxpy.rs", &text)]);
    for counts in [(2, 0), (0, 2)] {
        let outcome = project.build();
        let warnings = outcome.lines.iter().filter(|line| line.starts_with("cargo::warning="));
        let warnings: Vec<_> = warnings.collect();
        let expected = "cargo::warning=kernels/saxpy.rs: LLVM refuses its lines";
        assert_eq!(warnings, [expected], "once for both targets");
        let summary = outcome.result.unwrap();
        assert_eq!((summary.compiled, summary.cached), counts);
    }
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

/// Text for an OpenCL device's own compiler is no target of kernels in Rust.
///
/// Acceptance: S0.8, C18.
#[test]
fn targets_that_kernels_in_rust_cannot_reach_are_refused_before_any_work() {
    let mut project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    let origin = "the build script".to_owned();
    project.builder.targets = Some(vec![TargetName { text: "opencl-c cpu".into(), origin }]);
    let expected = "\
error[KM0060]: no source can be compiled for the target `opencl-c`: `kernels/saxpy.rs` is Rust
  help: remove the target, or write a kernel in OpenCL C";
    assert_eq!(project.error(), expected);
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

/// The comment stands first, and its example is no test of the user's crate.
#[test]
fn wrappers_have_the_comments_of_kernels() {
    let fill = "/// Sets all elements.\n///\n/// ```\n/// fill(y);\n/// ```\n#[kernel]\nfn fill(mut y: DisjointSlice<f32>) {}";
    let project = Project::new("targets = [\"compute_75\"]\n", &[("kernels/fill.rs", fill)]);
    project.build().result.unwrap();
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    let expected = "    /// Sets all elements.\n    ///\n    /// ```text\n    /// fill(y);\n    /// ```\n    ///\n    /// Launches the \
                    kernel `fill` of `kernels/fill.rs:7`:\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn types_of_wrappers_have_the_comments_of_those_of_kernels() {
    let types = "/// How to mix.\n#[derive(Clone, Copy)]\n#[repr(C)]\npub struct Mix {\n    /// Of the first, `0..1`.\n    pub share: f32,\n    pub mode: Mode,\n}\n\n\
                 /// A way.\n#[derive(Clone, Copy)]\n#[repr(u32)]\npub enum Mode {\n    /// One and one.\n    Add,\n    Keep,\n}\n";
    let mix =
        "mod types;\nuse types::Mix;\n#[kernel]\nfn mix(how: Mix, mut y: DisjointSlice<f32>) {}";
    let files = [("kernels/mix.rs", mix), ("kernels/types.rs", types)];
    let project = Project::new("targets = [\"compute_75\"]\n", &files);
    project.build().result.unwrap();
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    for expected in [
        "\n/// How to mix.\n///\n/// `Mix` of the kernels: 8 bytes",
        "{\n    /// Of the first, `0..1`.\n    pub share: f32,\n    /// `mode` of the kernels' struct.\n    pub mode: Mode,\n}",
        "\n/// A way.\n///\n/// `Mode` of the kernels.\n",
        "{\n    /// One and one.\n    Add = 0,\n    /// `Keep` of the kernels' enum.\n    Keep = 1,\n}",
    ] {
        assert!(text.contains(expected), "{expected}\nis not in\n{text}");
    }
}

/// Acceptance: S0.2.
#[test]
fn bindings_are_of_kernels() {
    let project = Project::new("options = { kernel = false }", &[("kernels/saxpy.rs", SAXPY)]);
    let message = project.error();
    let expected =
        "the option `kernel` cannot be `false` in a package, whose bindings launch kernels";
    assert!(message.contains(expected) && message.contains("Cargo.toml:7:"), "{message}");
}

/// Acceptance: S0.2.
#[test]
fn options_of_the_compiler_are_checked_before_any_work() {
    let metadata = "options = { opt-levle = 2, strip = 1, optimize = false }";
    let project = Project::new(metadata, &[("kernels/saxpy.rs", SAXPY)]);
    let expected = "\
error[KM0007]: there is no option `opt_levle`; the nearest is `opt_level`
 --> Cargo.toml:7:13
  |
7 | options = { opt-levle = 2, strip = 1, optimize = false }
  |             ^^^^^^^^^
  |
  = help: the documentation of `kernelmill_compiler::Options` lists the options and their values

error[KM0007]: the option `strip` cannot be `1`; write `true` or `false`
 --> Cargo.toml:7:28
  |
7 | options = { opt-levle = 2, strip = 1, optimize = false }
  |                            ^^^^^
  |
  = help: the documentation of `kernelmill_compiler::Options` lists the options and their values

error[KM0007]: a binary is made of a whole module, and these options leave out a part of it: `optimize`; set `opt_level` to 0 for one that is not optimised
 --> Cargo.toml:7:39
  |
7 | options = { opt-levle = 2, strip = 1, optimize = false }
  |                                       ^^^^^^^^
  |
  = help: the documentation of `kernelmill_compiler::Options` lists the options and their values";
    assert_eq!(project.error(), expected);
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

/// The build of a project by the compiler of its toolchain, which fails: its findings, the first lines of each.
fn findings(project: &Project) -> Vec<String> {
    let environment = project.environment(&Shared::default());
    let error = super::run(&environment, project.builder.clone(), &[]).unwrap_err();
    let text = error.rendered();
    text.split("\n\n").map(|it| it.lines().next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn all_that_is_wrong_before_anything_is_compiled_is_told_in_one_build_and_once() {
    let wrong = "targts = [\"cpu\"]\n";
    let metadata = format!("{wrong}targets = [\"sm_90\"]\ncuda-compiler = \"nvcc\"\n");
    let bad = "#[kernel]\npub fn bad(text: String) {}\n";
    let headless = ".version 8.0\n.address_size 64\n.visible .entry k() {}\n";
    let files = [("kernels/bad.rs", bad), ("kernels/headless.ptx", headless)];
    let mut project = Project::new(&metadata, &files);
    let latin = b"// caf\xe9\n.target sm_90\n.visible .entry l() {}\n";
    fs::write(project.folder.path().join("app/kernels/latin.ptx"), latin).unwrap();
    project.write("app/kernels/fill.cu", "__global__ void fill(float *out) {}\n");
    project.set("PATH", "/nonexistent");
    project.set("KERNELMILL_CACHE", "no");
    let starts = [
        "error[KM0001]: unknown key `targts`",
        "error[KM0040]: parameter `text` of kernel `bad` has type `String`",
        "error[KM0023]: `kernels/latin.ptx` is not UTF-8",
        "error[KM0121]: the environment variable KERNELMILL_CACHE is `no`",
        "kernels/headless.ptx: error[KM0082]: it has no `.target`",
        "error[KM0061]: `kernels/fill.cu` for `sm_90` needs nvcc, and none was found",
        "error[KM0061]: the target `sm_90` needs ptxas, and none was found",
    ];
    let check = |found: &[String], starts: &[&str]| {
        let is_it = found.iter().zip(starts).all(|(found, start)| found.starts_with(start));
        assert!(is_it && found.len() == starts.len(), "{found:#?}\nis not\n{starts:#?}");
    };
    check(&findings(&project), &starts);
    // A compiler that is named and is not there is looked for in two places, and told once.
    let app = |metadata: &str| {
        format!(
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\n[package.metadata.kernelmill]\n{metadata}"
        )
    };
    project.write(
        "app/Cargo.toml",
        &app(&metadata.replace("]\ncuda", ", \"spirv64\"]\nclang = \"no/clang\"\ncuda")),
    );
    let named = "error[KM0067]: the setting `clang` (or KERNELMILL_CLANG) names `no/clang`";
    check(&findings(&project), &[&starts[..4], &[named], &starts[4..5], &starts[6..]].concat());
    // Of tools alone too.
    for name in ["bad.rs", "headless.ptx", "latin.ptx"] {
        fs::remove_file(project.folder.path().join("app/kernels").join(name)).unwrap();
    }
    project.write("app/Cargo.toml", &app(&metadata.replace(wrong, "")));
    project.set("KERNELMILL_CACHE", "off");
    check(&findings(&project), &[starts[5], starts[6]]);
    // And what rustc finds in a kernel file, whichever of the tools is missing.
    project.write("app/kernels/unknown.rs", "#[kernel]\npub fn unknown(x: f32) {}\n");
    let of_rustc = "error: cannot find attribute `kernel` in this scope";
    let has_both = |found: &[String], starts: &[&str]| {
        check(&found[..starts.len()], starts);
        assert_eq!(found.iter().filter(|it| it.contains(of_rustc)).count(), 1, "{found:#?}");
    };
    has_both(&findings(&project), &[starts[5], starts[6]]);
    fs::remove_file(project.folder.path().join("app/kernels/fill.cu")).unwrap();
    has_both(&findings(&project), &[starts[6]]);
}
