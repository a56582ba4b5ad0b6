//! Shapes of packages.

use end_to_end::{Project, SAXPY, SAXPY_MAIN, Summary, scale};
use std::fs;
use test_support::root;

#[test]
fn both_editions() {
    // `gen` is a keyword in edition 2024 only.
    let kernel = SAXPY.replace("out", "gen");
    let project = Project::new("edition-2021")
        .manifest("2021", "targets = [\"cpu\"]")
        .file("kernels/saxpy.rs", &kernel)
        .file("src/main.rs", SAXPY_MAIN);
    let run = project.cargo(&["run"]).succeeds();
    assert_eq!(run.stdout, "5\n");
    let project = project.manifest("2024", "targets = [\"cpu\"]");
    let error = project.cargo(&["run"]).build_script_error();
    assert!(error.contains("kernels/saxpy.rs:6:17"), "{error}");
}

#[test]
fn kernels_of_a_library_in_a_program_with_kernels_of_the_same_name() {
    let root = root().display();
    let kernelmill = format!("kernelmill = {{ path = \"{root}\" }}");
    let build = format!("kernelmill-build = {{ path = \"{root}/build-helpers/build-script\" }}");
    let manifest = |name: &str, dependency: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [dependencies]\n{kernelmill}\n{dependency}\n[build-dependencies]\n{build}\n{rest}"
        )
    };
    let library = "mod kernels {\n    kernelmill::include_kernels!();\n}\n\
                   pub fn scale(device: &kernelmill::Device, y: &mut kernelmill::Buffer<f32>) -> kernelmill::Result<()> {\n    \
                   kernels::Kernels::load(device)?.scale(&device.stream(), kernelmill::Launch::linear(4), y)\n}\n";
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\n\
                fn main() -> kernelmill::Result<()> {\n    \
                let device = kernelmill::Device::cpu()?;\n    \
                let mut y = device.upload(&[1.0f32; 4])?;\n    inner::scale(&device, &mut y)?;\n    \
                kernels::Kernels::load(&device)?.scale(&device.stream(), kernelmill::Launch::linear(4), &mut y)?;\n    \
                println!(\"{}\", y.download()?[3]);\n    Ok(())\n}\n";
    let script = "fn main() {\n    kernelmill_build::compile()\n}\n";
    let project = Project::bare("two-crates")
        .file("Cargo.toml", &manifest("outer", "inner = { path = \"inner\" }", "[workspace]\n"))
        .file("build.rs", script)
        .file("kernels/scale.rs", &scale("scale", "3.0"))
        .file("src/main.rs", main)
        .file("inner/Cargo.toml", &manifest("inner", "", ""))
        .file("inner/build.rs", script)
        .file("inner/kernels/scale.rs", &scale("scale", "7.0"))
        .file("inner/src/lib.rs", library);
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "21\n");
}

#[test]
fn a_library_and_a_program_in_one_package() {
    let project = Project::new("lib_and_bin")
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/lib.rs", "pub mod kernels {\n    kernelmill::include_kernels!();\n}\n")
        .file(
            "src/main.rs",
            &SAXPY_MAIN
                .replace("mod kernels {\n    kernelmill::include_kernels!();\n}\n", "")
                .replace("kernels::Kernels", "lib_and_bin::kernels::Kernels"),
        );
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "5\n");
}

#[test]
fn documentation_builds_need_no_compiler() {
    let main = SAXPY_MAIN.replace("fn main()", "fn run()")
        + "fn main() {\n    if let Err(error) = run() {\n        panic!(\"{error}\");\n    }\n}\n";
    for variable in ["DOCS_RS", "KERNELMILL_SKIP_BUILD"] {
        let name = format!("skip-{}", variable.to_lowercase().replace('_', "-"));
        let project = Project::new(&name)
            .environment(variable, "1")
            .file("kernels/saxpy.rs", SAXPY)
            .file("src/main.rs", &main);
        let run = project.cargo(&["build", "-vv"]).succeeds();
        let none = Summary { compiled: 0, cached: 0 };
        assert!(run.summary().is_none_or(|summary| summary == none), "{:?}", run.summary());
        let run = project.cargo(&["run"]);
        assert!(!run.success, "no binary is embedded");
        assert!(run.stderr.contains("KERNELMILL_SKIP_BUILD"), "{}", run.stderr);
    }
}

#[test]
fn settings_in_a_file_of_their_own() {
    let manifest = |text: String| text.replace("[package.metadata.kernelmill]\n\n", "");
    let project = Project::new("own-file")
        .manifest("2024", "")
        .file("kernelmill.toml", "targets = [\"cpu\"]\n")
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", SAXPY_MAIN);
    let path = project.package().join("Cargo.toml");
    let text = fs::read_to_string(&path).expect("the project has a manifest");
    project.write("Cargo.toml", &manifest(text));
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert_eq!(run.summary(), Some(Summary { compiled: 1, cached: 0 }));
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
}

#[test]
fn the_environment_overrides_the_targets() {
    let project = Project::new("targets-from-environment")
        .environment("KERNELMILL_TARGETS", "cpu")
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", SAXPY_MAIN);
    let run = project.cargo(&["build", "-vv"]).succeeds();
    assert_eq!(run.summary(), Some(Summary { compiled: 1, cached: 0 }));
}

/// A kernel with an enum, of which zero is no value.
const FILTERED: &str = "use kernelmill_device::prelude::*;

#[repr(i16)]
#[derive(Clone, Copy)]
pub enum Filter { Nearest = -1, Bilinear = 300 }

#[kernel]
pub fn number(filter: Filter, mut y: DisjointSlice<Filter>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = match (filter, *y) {
            (Filter::Nearest, Filter::Bilinear) => Filter::Nearest,
            (filter, _) => filter,
        };
    }
}
";

/// A program with that kernel, an enum of its own, and a buffer made by an expression.
fn filtered(variants: &str, buffer: &str) -> String {
    format!(
        "mod kernels {{\n    kernelmill::include_kernels!();\n}}\nuse kernels::Filter;\n{variants}
fn main() -> kernelmill::Result<()> {{
    let device = kernelmill::Device::cpu()?;
    let mut y: kernelmill::Buffer<Filter> = device.{buffer}?;
    let launch = kernelmill::Launch::linear(2);
    kernels::Kernels::load(&device)?.number(&device.stream(), launch, Filter::Nearest, &mut y)?;
    println!(\"{{:?}}\", y.download()?);
    Ok(())
}}
"
    )
}

#[test]
fn enums_of_kernels_have_no_other_values() {
    let upload = "upload(&[Filter::Nearest, Filter::Bilinear])";
    let project = Project::new("enums").file("kernels/filter.rs", FILTERED);
    let project = project.file("src/main.rs", &filtered("", upload));
    let run = project.cargo(&["run"]).succeeds();
    assert_eq!(run.stdout, "[Nearest, Nearest]\n");
    let refused = |project: &Project, main: &str, expected: &str| {
        project.write("src/main.rs", main);
        let run = project.cargo(&["build"]);
        assert!(!run.success && run.stderr.contains(expected), "{}", run.stderr);
    };
    refused(&project, &filtered("", "zeros(2)"), "zero bytes may not be a valid value");

    let own_with = |variants: &str, copy: &str, buffer: &str| {
        let item = format!(
            "#[repr(i16)]\n#[derive(Clone, Copy, Debug)]\npub enum Mode {{ {variants} }}\n\
             kernelmill::device_copy!(unsafe {copy} Mode);\n"
        );
        filtered(&item, buffer)
    };
    let own = |variants: &str| own_with(variants, "nonzero", upload);
    let settings = "targets = [\"cpu\"]\ntypes = { Filter = \"crate::Mode\" }";
    let project = Project::new("own-enums")
        .manifest("2024", settings)
        .file("kernels/filter.rs", FILTERED)
        .file("src/main.rs", &own("Nearest = -1, Bilinear = 300"));
    assert_eq!(project.cargo(&["run"]).succeeds().stdout, "[Nearest, Nearest]\n");
    let both = "Nearest = -1, Bilinear = 300";
    refused(
        &project,
        &own_with(both, "", upload),
        "zero bytes are not a valid value of `Filter` in the kernels",
    );
    refused(
        &project,
        &own_with(both, "nonzero", "zeros(2)"),
        "zero bytes may not be a valid value",
    );
    refused(&project, &own("Nearest = -1, Bilinear = 300, Cubic = 3"), "`Mode::Cubic` not covered");
    refused(
        &project,
        &own("Nearest = -1, Bilinear = 301"),
        "has another value in the kernels: 300",
    );
    refused(&project, &own("Nearest = -1"), "named `Bilinear` found for enum `Mode`");
}
