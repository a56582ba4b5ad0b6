//! The crates as they are published: each by itself, without the workspace around it.

use end_to_end::{Project, SAXPY, SAXPY_MAIN};
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path, process::Command};
use test_support::root;

/// The crates that a user's build takes from the registry.
const CRATES: [&str; 8] = [
    "kernelmill",
    "kernelmill-artifact",
    "kernelmill-build",
    "kernelmill-compiler",
    "kernelmill-device",
    "kernelmill-device-macros",
    "kernelmill-llvm",
    "kernelmill-store",
];

#[test]
fn a_package_builds_with_the_crates_that_are_published() {
    let project = Project::bare("published");
    let packed = project.package().with_file_name("packed");
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--exclude-lockfile"]);
    for name in CRATES {
        command.args(["--package", name]);
    }
    command.current_dir(root()).env("CARGO_TARGET_DIR", &packed);
    assert!(command.status().expect("cargo runs").success(), "the crates can be packed");

    let mut patches = String::new();
    for name in CRATES {
        let folder = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let file = packed.join(format!("package/{folder}.crate"));
        let mut tar = Command::new("tar");
        // With the time of now: cargo takes a file that is as old as the last one for the same.
        tar.arg("xzmf").arg(file).arg("-C").arg(&packed);
        assert!(tar.status().expect("tar runs").success(), "{name}");
        let path = packed.join(folder);
        writeln!(patches, "{name} = {{ path = '{}' }}", path.display()).unwrap();
    }
    let manifest = format!(
        "[package]\nname = \"published\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nkernelmill = \"0.1\"\n\n[build-dependencies]\nkernelmill-build = \"0.1\"\n\n\
         [package.metadata.kernelmill]\ntargets = [\"cpu\", \"compute_75\", \"gfx1100\"]\n\n\
         [workspace]\n\n[patch.crates-io]\n{patches}"
    );
    let project = project
        .file("Cargo.toml", &manifest)
        .file("build.rs", "fn main() {\n    kernelmill_build::compile()\n}\n")
        .file("kernels/saxpy.rs", SAXPY)
        .file("src/main.rs", SAXPY_MAIN);
    let built = project.cargo(&["build", "-vv"]).succeeds();
    assert_eq!(built.summary().map(|summary| summary.compiled), Some(3));
    assert_eq!(project.cargo(&["run"]).succeeds().stdout.trim(), "5");
}

/// What the registry and docs.rs show of each crate that is published, and the licences in it.
#[test]
fn each_crate_that_is_published_says_what_it_is() {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(root());
    let output = command.output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let published: Vec<_> = packages.iter().filter(|it| it["publish"].is_null()).collect();
    let names: Vec<_> = published.iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(CRATES.iter().all(|name| names.contains(name)), "{names:?}");
    let faults: Vec<_> = published.into_iter().flat_map(faults_of_metadata).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults_of_metadata(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().expect("a name");
    let folder = Path::new(package["manifest_path"].as_str().expect("a path")).parent();
    let folder = folder.expect("a folder");
    let mut faults = Vec::new();
    let mut check = |is_right: bool, what: &str| {
        if !is_right {
            faults.push(format!("{name}: {what}"));
        }
    };
    for key in ["description", "license", "repository", "readme"] {
        check(package[key].is_string(), &format!("no {key}"));
    }
    for key in ["keywords", "categories"] {
        let count = package[key].as_array().map_or(0, Vec::len);
        check((1..=5).contains(&count), &format!("{count} {key}; the registry takes 1 to 5"));
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let is_same = fs::read(folder.join(file)).ok() == fs::read(root().join(file)).ok();
        check(is_same, &format!("{file} is not that of the workspace"));
    }
    let has_public_features =
        ["kernelmill", "kernelmill-artifact", "kernelmill-build", "kernelmill-compiler"];
    let docs = &package["metadata"]["docs"]["rs"];
    check(
        !has_public_features.contains(&name) || docs["all-features"] == true,
        "docs.rs would not show the items of features",
    );
    // The crates that users name show their features on their first page.
    if ["kernelmill", "kernelmill-build"].contains(&name) {
        let page = fs::read_to_string(folder.join("src/lib.rs")).expect("the crate is there");
        let features = package["features"].as_object().expect("a table");
        for feature in features.keys().filter(|it| *it != "default") {
            let is_named = page.lines().any(|line| {
                line.starts_with("//!") && line.contains(&format!("feature `{feature}`"))
                    || line.starts_with(&format!("//! - `{feature}`: "))
            });
            check(is_named, &format!("src/lib.rs does not say what the feature `{feature}` is"));
        }
    }
    faults
}
