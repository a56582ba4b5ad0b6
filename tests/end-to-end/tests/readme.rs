//! The README's example, taken from the README.

use end_to_end::{Project, root};
use std::fs;

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

#[test]
fn the_example_of_the_readme_runs() {
    let mut project = Project::new("readme");
    let blocks = blocks();
    let names: Vec<&str> = blocks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Cargo.toml", "build.rs", "kernels/saxpy.rs", "src/main.rs"]);
    for (name, code) in &blocks {
        if name == "Cargo.toml" {
            let root = root().display();
            let path = |member: &str| format!("{{ path = \"{root}{member}\"");
            let code = code
                .replace("{ version = \"0.1\"", &path(""))
                .replace("\"0.1\"", &format!("{} }}", path("/build-helpers/build")));
            let head = "[package]\nname = \"readme\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
            project = project.file(name, &format!("{head}{code}\n[workspace]\n"));
        } else {
            project = project.file(name, code);
        }
    }
    let _ = project.cargo(&["run"]).succeeds();
}
