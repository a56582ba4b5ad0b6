//! Dumps: which files are written, and that they are the same from build to build.

use crate::test_support::{Project, SAXPY};
use std::fs;

const TARGETS: &str = "targets = [\"compute_75\", \"gfx942\"]\n";
const TWO: &str = "#[kernel] fn fill(mut out: DisjointSlice<f32>) {}\n\
                   #[kernel] fn scale(mut out: DisjointSlice<f32>) {}";

/// The names and texts of the files in the folder of dumps, in the order of names.
fn dumped(folder: &std::path::Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|it| it.path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// Acceptance: S3.9.
#[test]
fn every_stage_of_every_kernel_has_a_file_also_where_the_store_has_the_binary() {
    let mut project = Project::new(TARGETS, &[("kernels/two.rs", TWO)]);
    let folder = project.out().join("kernelmill/dump");
    assert_eq!(project.counts(), (2, 0));
    assert!(!folder.exists(), "nothing was asked for");
    let bindings = fs::read(project.out().join("kernels.rs")).unwrap();
    project.set("KERNELMILL_DUMP", "opt, ptx,ir asm");
    assert_eq!(project.counts(), (0, 2), "dumps are no part of the key");
    let first = dumped(&folder);
    assert_eq!(
        names(&first),
        [
            "fill.compute_75.ir.ll",
            "fill.compute_75.opt.ll",
            "fill.compute_75.ptx",
            "fill.gfx942.ir.ll",
            "fill.gfx942.opt.ll",
            "fill.gfx942.s",
            "scale.compute_75.ir.ll",
            "scale.compute_75.opt.ll",
            "scale.compute_75.ptx",
            "scale.gfx942.ir.ll",
            "scale.gfx942.opt.ll",
            "scale.gfx942.s",
        ]
    );
    assert_eq!(first[1].1, "Optimized of fill for compute_75");
    assert_eq!(first[11].1, "Assembly of scale for gfx942");
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(project.counts(), (0, 2));
    assert_eq!(dumped(&folder), first, "the second build writes them again");
    project.set("KERNELMILL_DUMP", "asm");
    project.counts();
    assert_eq!(names(&dumped(&folder)), ["fill.gfx942.s", "scale.gfx942.s"], "others are gone");
    project.variables.remove("KERNELMILL_DUMP");
    project.counts();
    assert!(!folder.exists(), "nothing of an earlier build is left");
    assert_eq!(fs::read(project.out().join("kernels.rs")).unwrap(), bindings);
}

/// Acceptance: S3.9.
#[test]
fn a_folder_of_the_users_keeps_what_else_is_in_it() {
    let mut project = Project::new(TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    let place = project.folder.path().join("dumps");
    project.write("dumps/app/mine.txt", "mine");
    project.set("KERNELMILL_DUMP", "all");
    project.set("KERNELMILL_DUMP_DIR", &place.to_string_lossy());
    assert_eq!(project.counts(), (2, 0));
    let files = dumped(&place.join("app"));
    assert_eq!(files.len(), 1 + 2 * 4, "{files:?}");
    assert_eq!(files[0], ("mine.txt".to_owned(), "mine".to_owned()));
    assert!(!project.out().join("kernelmill/dump").exists());
}

/// Acceptance: S3.9.
#[test]
fn stages_that_there_are_not_are_errors_and_the_variables_are_watched() {
    let mut project = Project::new(TARGETS, &[("kernels/saxpy.rs", SAXPY)]);
    project.set("KERNELMILL_DUMP", "opt,llvm");
    let error = project.error();
    let expected = "KERNELMILL_DUMP has `llvm`: there is no stage `llvm`; the stages are `ir`, `linked`, `opt`, \
                    `ptx`, `asm`, `sass`, `wgsl`, `msl`, `hlsl`";
    assert!(error.contains(expected), "{error}");
    let lines = project.build().lines;
    for variable in ["KERNELMILL_DUMP", "KERNELMILL_DUMP_DIR"] {
        let line = format!("cargo::rerun-if-env-changed={variable}");
        assert!(lines.contains(&line), "{lines:#?}");
    }
}
