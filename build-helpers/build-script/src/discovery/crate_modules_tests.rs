//! Modules of kernels in the crate's own source, from their text to what is built of them.

use crate::test_support::Project;
use std::fs;

const TARGET: &str = "targets = [\"sm_90\"]";

/// A module of kernels with one kernel of its name.
fn module(name: &str) -> String {
    format!("#[kernelmill::kernels]\nmod {name} {{\n    #[kernel]\n    pub fn {name}() {{}}\n}}\n")
}

fn kernels(project: &Project) -> Vec<String> {
    project.build().result.unwrap_or_else(|error| panic!("{error}")).kernels
}

fn project(files: &[(&str, &str)]) -> Project {
    Project::new(TARGET, files)
}

#[test]
fn modules_are_found_in_every_file_that_rustc_compiles() {
    let main = format!(
        "mod host;\nmod outer {{\n    pub mod below;\n    {}}}\nmod absent;\nfn main() {{}}\n",
        module("inner")
    );
    let kernels = kernels(&project(&[
        ("src/main.rs", &main),
        ("src/host.rs", &format!("#[path = \"elsewhere.rs\"]\nmod other;\n{}", module("host"))),
        ("src/elsewhere.rs", "#[kernelmill::kernels]\npub(crate) mod in_file;\n"),
        ("src/in_file.rs", "mod part;\n#[kernel] pub fn of_file() {}\n"),
        ("src/in_file/part.rs", "#[kernel] pub fn of_part() {}\n"),
        ("src/outer/below/mod.rs", &module("below")),
        ("src/not_a_module.rs", &module("lost")),
        ("src/lib.rs", &format!("mod host;\n{}", module("of_library"))),
        ("src/bin/tool.rs", &module("tool")),
        ("src/bin/other/main.rs", &module("other_tool")),
        ("build.rs", &module("script")),
    ]));
    let expected =
        ["of_library", "host", "of_file", "of_part", "inner", "below", "tool", "other_tool"];
    let sorted = |names: &[&str]| {
        let mut names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort();
        names
    };
    let found: Vec<_> = kernels.iter().map(String::as_str).collect();
    assert_eq!(sorted(&found), sorted(&expected));
}

#[test]
fn cargo_says_where_the_crates_are() {
    let metadata = "targets = [\"sm_90\"]\n[lib]\npath = \"rust/library.rs\"\n[[bin]]\nname = \"tool\"\npath = \"tool.rs\"\n";
    let project = Project::new(
        metadata,
        &[("rust/library.rs", &module("a")), ("tool.rs", &module("b")), ("other.rs", &module("c"))],
    );
    assert_eq!(kernels(&project), ["a", "b"]);
    let lines = project.build().lines;
    for watched in ["rust", "tool.rs"] {
        assert!(lines.contains(&format!("cargo::rerun-if-changed={watched}")), "{lines:?}");
    }
    assert!(!lines.contains(&"cargo::rerun-if-changed=".to_owned()), "{lines:?}");
}

#[test]
fn conditions_decide_which_modules_there_are() {
    let text = [
        "#[cfg(feature = \"on\")]\n".to_owned() + &module("with_feature"),
        "#[cfg(feature = \"off\")]\n".to_owned() + &module("without_feature"),
        "#[cfg(test)]\n".to_owned() + &module("of_tests"),
        "#[cfg(feature = \"off\")]\nmod all {\n".to_owned() + &module("in_one_without") + "}\n",
        module("by_condition")
            .replace("kernelmill::", "cfg_attr(feature = \"on\", kernelmill::")
            .replace("kernels]", "kernels)]"),
        module("not_by_condition")
            .replace("kernelmill::", "cfg_attr(feature = \"off\", kernelmill::")
            .replace("kernels]", "kernels)]"),
        module("imported").replace("kernelmill::", ""),
        "macro_rules! kernels { () => {} }\nkernels!();\n".to_owned(),
    ]
    .concat();
    let mut project = project(&[("src/lib.rs", &text)]);
    project.set("CARGO_CFG_FEATURE", "on");
    assert_eq!(kernels(&project), ["with_feature", "by_condition", "imported"]);
}

#[test]
fn a_module_stands_beside_a_kernel_file_and_alone() {
    let with_file =
        project(&[("kernels/a.rs", "#[kernel] pub fn a() {}"), ("src/lib.rs", &module("b"))]);
    assert_eq!(kernels(&with_file), ["a", "b"]);
    let lines = with_file.build().lines;
    assert!(lines.contains(&"cargo::rerun-if-changed=src".to_owned()), "{lines:?}");
    assert!(lines.contains(&"cargo::rustc-check-cfg=cfg(kernelmill)".to_owned()), "{lines:?}");
    let excluded = Project::new(
        &format!("{TARGET}\nexclude = [\"src\"]"),
        &[("kernels/a.rs", "#[kernel] pub fn a() {}"), ("src/lib.rs", &module("b"))],
    );
    assert_eq!(kernels(&excluded), ["a"]);
    assert!(!excluded.build().lines.contains(&"cargo::rerun-if-changed=src".to_owned()));
}

#[test]
fn only_the_text_of_a_module_and_its_place_are_in_its_key() {
    let text = |host: &str, first: &str, second: &str| {
        format!(
            "fn host() {{ {host} }}\n#[kernelmill::kernels] mod a {{ #[kernel] pub fn a() {{ {first} }} }}\n\
             fn other() {{ {host} }}\n#[kernelmill::kernels] mod b {{ mod part; #[kernel] pub fn b() {{ {second} }} }}\n"
        )
    };
    let project = project(&[("src/lib.rs", &text("1;", "", "")), ("src/b/part.rs", "")]);
    let change = |text: &str| project.write("app/src/lib.rs", text);
    assert_eq!(project.counts(), (2, 0));
    change(&text("22; /* ä */", "", ""));
    assert_eq!((project.counts(), project.stored("front")), ((0, 2), 2), "host code");
    change(&text("22;", "x();", ""));
    assert_eq!((project.counts(), project.stored("front")), ((1, 1), 3), "one module");
    change(&text("22;", "x();", "y();"));
    assert_eq!((project.counts(), project.stored("front")), ((1, 1), 4), "the other one");
    project.write("app/src/b/part.rs", "fn part() {}");
    assert_eq!((project.counts(), project.stored("front")), ((1, 1), 5), "a file of a module");
    // Panics have lines: those of a module that was moved are others.
    change(&format!("\n{}", text("22;", "x();", "y();")));
    assert_eq!(project.stored("front"), 5);
    project.counts();
    assert_eq!(project.stored("front"), 7, "another place");
}

#[test]
fn types_of_a_module_are_the_crates_own_where_it_can_name_them() {
    let text = "pub mod gpu {
    #[kernelmill::kernels]
    pub(crate) mod blur {
        #[derive(Clone, Copy)] #[repr(C)] pub struct Open { pub x: f32 }
        #[derive(Clone, Copy)] #[repr(C)] pub struct Closed { x: f32 }
        #[derive(Clone, Copy)] #[repr(C)] struct Private { pub x: f32 }
        #[derive(Clone, Copy)] #[repr(u8)] pub enum Mode { On = 1 }
        mod hidden { #[derive(Clone, Copy)] #[repr(C)] pub struct Hidden { pub x: f32 } }
        use hidden::Hidden;
        #[kernel]
        pub fn blur(a: Open, b: Closed, c: Private, d: Mode, e: Hidden) {}
    }
}
";
    let bindings = |metadata: &str| {
        let mut project = Project::new(&format!("{TARGET}\n{metadata}"), &[("src/lib.rs", text)]);
        project.set("DOCS_RS", "1");
        project.counts();
        fs::read_to_string(project.out().join("kernels.rs")).unwrap()
    };
    let text = bindings("");
    for expected in [
        "pub use crate::gpu::blur::Open;",
        "::kernelmill::device_copy!(unsafe Open);",
        "pub use crate::gpu::blur::Mode;",
        "::kernelmill::device_copy!(unsafe nonzero Mode);",
        "pub struct Closed {",
        "pub struct Private {",
        "pub struct Hidden {",
        "pub fn blur(",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let text = bindings("types = { Open = \"other::Open\" }");
    assert!(text.contains("pub use other::Open;"), "{text}");
    assert!(!text.contains("device_copy!(unsafe Open)"), "{text}");
}

#[test]
fn two_types_of_one_name_are_told() {
    let module = |name: &str| {
        format!(
            "#[kernelmill::kernels]\nmod {name} {{\n    #[repr(C)] pub struct P {{ pub x: f32 }}\n    \
             #[kernel]\n    pub fn of_{name}(p: P) {{}}\n}}\n"
        )
    };
    let project = project(&[("src/lib.rs", &(module("a") + &module("b")))]);
    let expected = "error[KM0029]: the types `crate::b::P` and `crate::a::P` have the same name in wrappers, `P`: rename one \
                    of them, or choose one with `types = { P = \"crate::b::P\" }`";
    assert_eq!(project.error(), expected);
}

/// What is wrong with modules, each in a package of its own, against `snapshots/modules.txt`.
#[test]
fn mistakes_are_shown_with_their_lines() {
    let two = "fn host() {}\n".to_owned()
        + &module("twice")
        + &module("other").replace("fn other", "fn twice");
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "a kernel that a file has too",
            &[("src/lib.rs", &module("scale")), ("kernels/a.rs", "#[kernel]\npub fn scale() {}\n")],
        ),
        ("two modules with one kernel", &[("src/lib.rs", &two)]),
        (
            "a module without a kernel",
            &[(
                "src/main.rs",
                "fn main() {}\n\n#[kernelmill::kernels]\nmod empty {\n    pub fn twice(x: f32) -> f32 { 2.0 * x }\n}\n",
            )],
        ),
        ("a module without a file", &[("src/main.rs", "#[kernelmill::kernels]\npub mod lost;\n")]),
        ("a function", &[("src/main.rs", "#[kernelmill::kernels]\nfn main() {}\n")]),
        (
            "arguments and a module in a module",
            &[(
                "src/main.rs",
                "#[kernelmill::kernels(fast)]\nmod a {\n    #[kernelmill::kernels]\n    mod b {\n        #[kernel] fn k() {}\n    }\n}\n",
            )],
        ),
        (
            "paths that lead out",
            &[(
                "src/main.rs",
                "mod host;\nconst WIDTH: u32 = 2;\n\n#[kernelmill::kernels]\nmod a {\n    use super::*;\n    use crate::host::{One, Two};\n    #[kernel]\n    pub fn k(mut y: DisjointSlice<u32>) {\n        assert!(super::WIDTH > 1);\n    }\n}\n",
            )],
        ),
        (
            "a type that cannot cross, in a file",
            &[
                ("src/main.rs", "mod gpu;\n"),
                ("src/gpu.rs", "// Kernels.\n#[kernelmill::kernels]\nmod a;\n"),
                ("src/gpu/a.rs", "#[kernel]\npub fn k(text: &str) {}\n"),
            ],
        ),
        (
            "a file that is not Rust",
            &[(
                "src/main.rs",
                "mod a {\n    fn (\n}\n#[kernelmill::kernels]\nmod b { #[kernel] fn k() {} }\n",
            )],
        ),
    ];
    let shown = cases.iter().map(|(name, files)| {
        let mut project = Project::new(TARGET, files);
        project.set("KERNELMILL_LOG", "");
        format!("# {name}\n\n{}\n", project.error())
    });
    let shown: Vec<_> = shown.collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/discovery/snapshots/modules.txt");
    test_support::snapshot::check(file, &shown.join("\n"));
}
