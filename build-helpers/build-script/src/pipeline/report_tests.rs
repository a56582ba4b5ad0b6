//! What builds say: to Cargo, in the log, the trace, the summary and the manifest.

use crate::{
    manifest::{self, Access, BinaryKind, Manifest, ManifestError, ParameterKind},
    test_support::{Project, SAXPY},
};
use std::fs;

const TWO_TARGETS: &str = "targets = [\"compute_75\", \"gfx942\"]\n";

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
    expected.push(format!("cargo::rustc-env=KERNELMILL_BINDINGS={}/kernels.rs", out.display()));
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
