//! What is compiled again after which change.

use end_to_end::{Project, Run, Summary, scale, scale_main};
use std::{fs, time::Duration};

/// Three kernels in three files, one of them with a module: six pairs with two targets.
fn three(name: &str) -> Project {
    three_in(Project::new(name))
}

fn three_in(project: Project) -> Project {
    project
        .file("kernels/one.rs", &scale("one", "2.0"))
        .file("kernels/two.rs", &scale("two", "3.0"))
        .file("kernels/three.rs", &format!("mod factor;\n{}", scale("three", "factor::FACTOR")))
        .file("kernels/factor.rs", "pub const FACTOR: f32 = 5.0;\n")
        .file("src/main.rs", &scale_main(&["one", "two", "three"]))
}

#[track_caller]
fn assert_counts(run: &Run, compiled: usize, cached: usize) {
    assert_eq!(run.summary(), Some(Summary { compiled, cached }), "{}{}", run.stdout, run.stderr);
}

/// Builds and runs; `-vv` shows what the build script prints.
#[track_caller]
fn run(project: &Project) -> Run {
    project.cargo(&["run", "-vv"]).succeeds()
}

/// Cargo compares modification times: a file must not be written within the resolution of the
/// file system's clock after a build.
fn next_tick() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn nothing_changed_runs_no_build_script() {
    let project = three("nothing-changed");
    assert_counts(&run(&project), 6, 0);
    let again = project.cargo(&["build", "-v"]).succeeds();
    assert!(again.stderr.contains("Fresh nothing-changed"), "{}", again.stderr);
    assert_eq!(again.summary(), None);
}

#[test]
fn one_edited_kernel_compiles_alone() {
    let project = three("one-edited");
    let first = run(&project);
    assert!(first.stdout.ends_with("30\n"), "{}", first.stdout);
    next_tick();
    project.write("kernels/one.rs", &scale("one", "7.0"));
    let second = run(&project);
    assert_counts(&second, 2, 4);
    assert!(second.stdout.ends_with("105\n"), "{}", second.stdout);
}

#[test]
fn an_edited_module_compiles_the_kernel_that_uses_it() {
    let project = three("module-edited");
    assert_counts(&run(&project), 6, 0);
    next_tick();
    project.write("kernels/factor.rs", "pub const FACTOR: f32 = 11.0;\n");
    let second = run(&project);
    assert_counts(&second, 2, 4);
    assert!(second.stdout.ends_with("66\n"), "{}", second.stdout);
}

#[test]
fn a_touched_file_compiles_nothing() {
    let project = three("touched");
    assert_counts(&run(&project), 6, 0);
    next_tick();
    project.write("kernels/one.rs", &scale("one", "2.0"));
    assert_counts(&run(&project), 0, 6);
}

#[test]
fn a_new_and_a_deleted_file_are_noticed() {
    let project = three("new-file");
    assert_counts(&run(&project), 6, 0);
    next_tick();
    project.write("kernels/four.rs", &scale("four", "0.5"));
    project.write("src/main.rs", &scale_main(&["one", "four"]));
    let second = run(&project);
    assert_counts(&second, 2, 6);
    assert!(second.stdout.ends_with("1\n"), "{}", second.stdout);
    next_tick();
    fs::remove_file(project.package().join("kernels/two.rs")).expect("the file is there");
    assert_counts(&run(&project), 0, 6);
}

#[test]
fn another_target_compiles_that_target_alone() {
    let project = three("another-target");
    assert_counts(&run(&project), 6, 0);
    let project = project.manifest("2024", "targets = [\"cpu\", \"compute_75\", \"gfx1100\"]");
    assert_counts(&run(&project), 3, 6);
}

#[test]
fn after_cargo_clean_everything_comes_from_the_store() {
    let project = three("cleaned");
    assert_counts(&run(&project), 6, 0);
    let _ = project.cargo(&["clean", "-p", "cleaned"]).succeeds();
    let second = run(&project);
    assert_counts(&second, 0, 6);
    assert!(second.stdout.ends_with("30\n"), "{}", second.stdout);
}

#[test]
fn a_second_checkout_compiles_nothing() {
    let first = three_in(Project::checkout("checkout-one", "checkout"));
    assert_counts(&run(&first), 6, 0);
    let second = Project::checkout("checkout-two", "checkout").with_store_of(&first);
    let second = three_in(second);
    let built = run(&second);
    assert_counts(&built, 0, 6);
    assert!(built.stdout.ends_with("30\n"), "{}", built.stdout);
}

#[test]
fn release_and_debug_builds_share_the_store() {
    let project = three("profiles");
    assert_counts(&run(&project), 6, 0);
    // Optimisation of the host program says nothing about kernels.
    let release = project.cargo(&["build", "-vv", "--config", "profile.dev.opt-level=1"]);
    assert!(release.succeeds().summary().is_none_or(|summary| summary.compiled == 0));
}
