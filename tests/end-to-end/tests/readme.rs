//! The README's example, taken from the README.

use end_to_end::Project;
use std::fs;
use test_support::{driver::fake_driver, root};

/// The code blocks of the README whose first line is a comment that names a file.
fn blocks() -> Vec<(String, String)> {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let mut blocks = Vec::new();
    for block in readme.split("```").skip(1).step_by(2) {
        let (_, code) = block.split_once('\n').unwrap_or_default();
        let (first, rest) = code.split_once('\n').unwrap_or_default();
        let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "));
        if let Some(name) = name.filter(|name| name.contains('.') && !name.contains(' ')) {
            blocks.push((name.to_owned(), rest.to_owned()));
        }
    }
    blocks
}

/// A package with the example, in a folder of this name.
fn example(folder: &str) -> Project {
    let mut project = Project::new(folder);
    let blocks = blocks();
    let names: Vec<&str> = blocks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Cargo.toml", "build.rs", "kernels/saxpy.rs", "src/main.rs"]);
    for (name, code) in &blocks {
        if name == "Cargo.toml" {
            let root = root().display();
            let path = |member: &str| format!("{{ path = \"{root}{member}\"");
            let code = code
                .replace("{ version = \"0.1\"", &path(""))
                .replace("\"0.1\"", &format!("{} }}", path("/build-helpers/build-script")));
            let head = "[package]\nname = \"readme\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
            project = project.file(name, &format!("{head}{code}\n[workspace]\n"));
        } else {
            project = project.file(name, code);
        }
    }
    project
}

#[test]
fn the_example_of_the_readme_runs() {
    let _ = example("readme").cargo(&["run"]).succeeds();
}

/// On a machine with the fake driver the best device is the driver's, the example runs there
/// through cudarc and gives everything back, and what is wrong with its kernel is told by line.
#[test]
fn the_example_of_the_readme_runs_on_the_fake_driver() {
    let project = example("readme-cuda")
        .environment("LD_LIBRARY_PATH", &fake_driver().display().to_string())
        .environment("FAKE_CUDA_RACES", "1")
        .environment("FAKE_CUDA_LEAK_CHECK", "1");
    let coverage = project.package().join("coverage.txt");
    let project = project.environment("FAKE_CUDA_COVERAGE", &coverage.display().to_string());
    let _ = project.cargo(&["run"]).succeeds();
    let executed = fs::read_to_string(coverage).expect("a kernel ran on the driver");
    let lines: Vec<Vec<&str>> = executed.lines().map(|line| line.split('\t').collect()).collect();
    let stores = lines.iter().filter(|line| line[3] == "st.global.b32" && line[4] == "1000");
    let [store] = stores.collect::<Vec<_>>()[..] else { panic!("one store in {executed}") };
    assert_eq!(store[2], "kernels/saxpy.rs:7");

    let change = format!("address at line {} of saxpy", store[1]);
    let wrong = project.environment("FAKE_CUDA_MUTATE", &change).cargo(&["run"]);
    assert!(!wrong.success);
    assert!(wrong.stderr.contains("race: "), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("(kernels/saxpy.rs:7), block ("), "{}", wrong.stderr);
}
