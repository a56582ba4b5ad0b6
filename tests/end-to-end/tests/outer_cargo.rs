//! What a user tells Cargo holds for the Cargo that builds kernel packages, too.

use end_to_end::Project;

#[test]
fn a_kernel_package_is_built_offline_where_the_build_is() {
    let manifest = "[package]\nname = \"pack\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                    [dependencies]\nkernelmill-no-such-crate = \"1\"\n[workspace]\n";
    let project = Project::new("outer-offline")
        .file("src/main.rs", "fn main() {}\n")
        .file("kernels/pack/Cargo.toml", manifest)
        .file("kernels/pack/src/lib.rs", "#![no_std]\n#[kernel]\npub fn k(x: u32) {}\n");
    // Every build of these tests has `--offline`; without it Cargo would ask the registry here.
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.contains("kernelmill-no-such-crate"), "{error}");
    // Cargo of Rust 1.95 says `offline mode (--offline)`.
    assert!(error.contains("offline mode (") && error.contains("--offline"), "{error}");
}
