//! A process that LLVM ends says what it worked on, and keeps the input.
#![cfg(unix)]

use std::{env, fs, os::unix::process::ExitStatusExt, path::Path, process::Command};

use kernelmill_llvm::{
    Library,
    crash::{self, Report},
    find_in_sysroot,
    inkwell::context::Context,
    ir::parse_ir,
    machine::Machine,
};
use test_support::{temporary_folder, tool};

/// Says which crash the process is to have, and where files go.
const CRASH: &str = "KERNELMILL_TEST_CRASH";
const FOLDER: &str = "KERNELMILL_TEST_FOLDER";

/// Ends this process as LLVM would, where the environment asks for it.
fn crash(kind: &str) {
    match kind {
        // SAFETY: none; the process is to end here.
        "segv" => _ = unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u8>(8)) },
        "abort" => std::process::abort(),
        // SAFETY: the signal has no handler, and ends the process.
        "time" => _ = unsafe { libc::raise(libc::SIGXCPU) },
        "fatal" => {
            let machine = Machine::new("nvptx64-nvidia-cuda", "sm_75", "", false).unwrap();
            let text = "declare i64 @llvm.x86.rdtsc()
                define i64 @f() { %r = call i64 @llvm.x86.rdtsc() ret i64 %r }";
            let context = Context::create();
            let module = parse_ir(&context, text, machine.data_layout(), machine.triple()).unwrap();
            let ptx = machine.assembly(&module);
            panic!("LLVM selects an instruction of another processor: {ptx:?}");
        }
        other => panic!("no crash {other}"),
    }
}

/// Not a test by itself: the others run it in a process of its own.
#[test]
fn ends_where_it_is_told_to() {
    let Some(kind) = env::var(CRASH).ok() else { return };
    Library::open(&find_in_sysroot(&tool::rustc().sysroot).unwrap()).unwrap();
    let folder = env::var(FOLDER).unwrap();
    let files = [("0.bc".to_owned(), &b"the input"[..])];
    let report = Report::new("  source: kernels/a.rs\n", Path::new(&folder), &files);
    crash::during(&report, || ());
    crash::during(&report, || {
        crash::step("optimisation");
        crash(&kind);
    });
}

/// What a process that ends so prints on its standard error output, and its signal.
fn ended(kind: &str, folder: &Path) -> (String, Option<i32>) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "ends_where_it_is_told_to", "--nocapture"])
        .env(CRASH, kind)
        .env(FOLDER, folder)
        .output()
        .unwrap();
    assert!(!output.status.success());
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.signal())
}

/// What a process with a crash says, its signal, and what it has kept.
fn crashed(kind: &str) -> (String, Option<i32>, String) {
    let parent = temporary_folder();
    let folder = parent.path().join("crash-a");
    let (said, signal) = ended(kind, &folder);
    assert!(said.contains(&format!("is kept in {}", folder.display())), "{said}");
    (said, signal, fs::read_to_string(folder.join("0.bc")).unwrap())
}

#[test]
fn the_end_of_the_processor_time_is_left_to_its_handler() {
    let folder = temporary_folder();
    let (said, signal) = ended("time", folder.path());
    assert_eq!(signal, Some(libc::SIGXCPU), "{said}");
    assert!(!said.contains("Stack dump") && !said.contains("PLEASE submit"), "{said}");
}

#[test]
fn a_crash_is_reported_with_its_source_and_the_input_is_kept() {
    for (kind, name, signal) in
        [("segv", "SIGSEGV", libc::SIGSEGV), ("abort", "SIGABRT", libc::SIGABRT)]
    {
        let (said, by, kept) = crashed(kind);
        let lines = "  source: kernels/a.rs\n  while: optimisation\n";
        assert!(said.contains(&format!("with signal {name}: ")) && said.contains(lines), "{said}");
        assert_eq!(said.matches("LLVM terminated the compiler").count(), 1, "{said}");
        assert_eq!((by, &*kept), (Some(signal), "the input"), "{said}");
    }
}

#[test]
fn a_fatal_error_of_llvm_is_reported_with_its_reason() {
    let (said, _, kept) = crashed("fatal");
    assert!(said.contains("with a fatal error: Cannot select: "), "{said}");
    assert!(said.contains("  source: kernels/a.rs\n"), "{said}");
    assert_eq!(said.matches("LLVM terminated the compiler").count(), 1, "{said}");
    assert_eq!(kept, "the input");
}
