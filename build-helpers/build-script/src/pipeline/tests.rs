//! Builds as a whole: findings, wrappers, files that are written and removed.

use crate::{
    settings::layer::TargetName,
    test_support::{Project, SAXPY, Shared},
};
use std::fs;

const TWO_TARGETS: &str = "targets = [\"compute_75\", \"gfx942\"]\n";

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
        assert!(!text.contains("pub fn compile("), "{text}");
    }
    // What calls it is compiled too.
    let mut project =
        Project::new("targets = [\"cpu\", \"bitcode_cpu\"]", &[("kernels/saxpy.rs", SAXPY)]);
    project.set("KERNELMILL_SKIP_BUILD", "1");
    project.build().result.unwrap();
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    assert!(text.contains("artifacts: &[]") && text.contains("pub fn compile("), "{text}");
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
    let fill = "__global__ void fill(float *x) { *x = 1; }";
    let files = [("kernels/fill.cu", fill), ("kernels/saxpy.rs", SAXPY)];
    let mut project = Project::new("", &files);
    project.write("app/kernelmill.toml", settings);
    project.set("PATH", "/nonexistent");
    project.set("DOCS_RS", "1");
    let outcome = project.build();
    outcome.result.unwrap();
    let warning = outcome.lines.iter().find(|line| line.contains("have no wrappers in this build"));
    assert!(warning.is_some(), "{:?}", outcome.lines);
    // Nobody sees warnings of docs.rs: the documentation of the bindings says it.
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    let (_, documentation) =
        text.split_once("/// # Kernels without wrappers\n").expect("a section");
    let (documentation, _) = documentation.split_once("pub struct Kernels {").unwrap();
    assert!(documentation.contains("/// ```text\n/// kernels/fill.cu: "), "{documentation}");
    assert!(!documentation.contains("saxpy") && text.contains("pub fn saxpy("), "{text}");
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
    let unread = "note: `kernels/fill.cu` has not been read: its errors are told when its compiler can be used";
    check(&findings(&project), &[&starts[..], &[unread]].concat());
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
    check(
        &findings(&project),
        &[&starts[..4], &[named], &starts[4..5], &starts[6..], &[unread]].concat(),
    );
    // Of tools alone too.
    for name in ["bad.rs", "headless.ptx", "latin.ptx"] {
        fs::remove_file(project.folder.path().join("app/kernels").join(name)).unwrap();
    }
    project.write("app/Cargo.toml", &app(&metadata.replace(wrong, "")));
    project.set("KERNELMILL_CACHE", "off");
    check(&findings(&project), &[starts[5], starts[6], unread]);
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
    // And beside another file whose kernel cannot be read.
    project.write("app/kernels/bad.rs", bad);
    has_both(&findings(&project), &[starts[1], starts[6]]);
    // What clang finds is told beside a missing ptxas too.
    let Some(clang) = test_support::tool::clang() else { return };
    for name in ["bad.rs", "unknown.rs"] {
        fs::remove_file(project.folder.path().join("app/kernels").join(name)).unwrap();
    }
    project.set("KERNELMILL_CLANG", &clang.display().to_string());
    project.write("app/Cargo.toml", &app("targets = [\"sm_90\"]\ncuda-compiler = \"clang\"\n"));
    project.write("app/kernels/fill.cu", "__global__ void fill(float *out) { *out = none; }\n");
    let of_clang = "error[KM0080]: use of undeclared identifier 'none'";
    check(&findings(&project)[..2], &[starts[6], of_clang]);
}
