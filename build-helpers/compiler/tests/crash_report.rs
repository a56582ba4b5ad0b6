//! A job that LLVM ends says which it was: its file, target and kernels, the stage that it had come to, and where its input is
//! kept, which is the bitcode of its source and its configuration.
#![cfg(unix)]

mod common;

use std::{env, fs, os::unix::process::ExitStatusExt as _, process::Command, sync::Arc};

use common::{job, lower, toolchain};
use kernelmill_compiler::{
    Compiler, Config, Toolchain,
    diagnostic::Code,
    plugin::{Plugin, Stage, Task},
};
use test_support::temporary_folder;

const KERNELS: &str = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_crash() -> u32;
}

#[kernel]
pub fn first(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __kernelmill_crash();
    }
}

#[kernel]
pub fn second(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 2;
    }
}
";

/// A plugin that ends the process as LLVM does, at one stage.
#[derive(Debug)]
struct Crash(Stage);

#[rustfmt::skip]
impl Plugin for Crash {
    fn name(&self) -> &str { "crash" }
    fn version(&self) -> &str { "1" }
    fn marker(&self) -> &str { "__kernelmill_crash" }
    fn stages(&self) -> &[Stage] { std::slice::from_ref(&self.0) }

    fn run(&self, _: &Task<'_, '_>) -> Result<bool, String> {
        std::process::abort()
    }
}

/// Says which target the process compiles for, and where its files go.
const TARGET: &str = "KERNELMILL_TEST_TARGET";
const FOLDER: &str = "KERNELMILL_TEST_FOLDER";

/// The stage at which the plugin crashes for a target.
fn stage(target: &str) -> Stage {
    if target == "cpu" { Stage::FrontEnd } else { Stage::Optimized }
}

/// Not a test by itself: the other runs it in a process of its own.
#[test]
fn compiles_what_it_is_told_to() {
    let Ok(target) = env::var(TARGET) else { return };
    let (source, lowered) = lower("doomed", KERNELS);
    let toolchain = Toolchain { scratch: env::var_os(FOLDER).unwrap().into(), ..toolchain() };
    let plugin: Arc<dyn Plugin> = Arc::new(Crash(stage(&target)));
    let compiler = Compiler::new(toolchain).unwrap().with_plugins(vec![plugin]).unwrap();
    let config = Config::new(target.parse().unwrap());
    let done = compiler.compile(&job("doomed", &source, &lowered, &config));
    panic!("the plugin does not crash: {:?}", done.map(|artifact| artifact.kind));
}

#[test]
fn a_job_that_crashes_is_named_and_its_input_is_kept() {
    for target in ["cpu", "compute_75"] {
        let folder = temporary_folder();
        let scratch = folder.path().join("scratch");
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "compiles_what_it_is_told_to", "--nocapture"])
            .env(TARGET, target)
            .env(FOLDER, &scratch)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
        let of_job = format!(
            "  source: kernels/doomed.rs\n  target: {target}\n  kernels: `first`, `second`\n"
        );
        let kept = scratch.join(format!("crash-doomed-{target}"));
        let error = format!(
            "error[{}]: LLVM terminated the compiler, with signal SIGABRT: ",
            Code::LlvmEnded
        );
        assert!(said.contains(&error), "{said}");
        assert!(said.contains(&format!("{of_job}  while: plugins\n")), "{said}");
        assert!(said.contains(&format!("is kept in {}\n", kept.display())), "{said}");
        let bitcode = fs::read(kept.join("0.bc")).unwrap();
        assert!(bitcode.starts_with(b"BC\xc0\xde"), "{said}");
        let configuration = fs::read_to_string(kept.join("job.txt")).unwrap();
        assert!(configuration.starts_with(&of_job), "{configuration}");
        assert!(configuration.contains("panics: "), "{configuration}");
    }
}
