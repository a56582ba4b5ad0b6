//! The crates as they are published: each by itself, without the workspace around it.

use end_to_end::{Project, SAXPY, SAXPY_MAIN};
use std::{fmt::Write as _, process::Command};
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
