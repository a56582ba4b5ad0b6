//! ptxas: what it warns of, what it refuses, and what it does not know.
#![cfg(unix)]

mod common;

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use common::{compile, job, lower, toolchain};
use kernelmill_artifact::{ArtifactKind, PtxVersion};
use kernelmill_compiler::{Compiler, Config, Error};
use test_support::{temporary_folder, write_file};

/// Two functions that call each other, so that nobody knows how deep the stack gets.
const RECURSIVE: &str = "
use kernelmill_device::prelude::*;

#[inline(never)]
fn even(n: u32, a: &mut [u32]) -> u32 {
    if n == 0 { a[0] } else { odd(n - 1, a).wrapping_mul(3) }
}

#[inline(never)]
fn odd(n: u32, a: &mut [u32]) -> u32 {
    if n == 0 { a[1] } else { even(n - 1, a) ^ n }
}

#[kernel]
pub fn parity(n: u32, mut out: DisjointSlice<u32>) {
    let mut seeds = [n, n + 1];
    let value = even(n, &mut seeds);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}
";

/// Inline assembly, which only ptxas reads.
const UNKNOWN_INSTRUCTION: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub unsafe fn bad(mut out: DisjointSlice<u32>) {
    unsafe { core::arch::asm!(\"bogus.instruction;\", options(att_syntax)) };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}
";

/// Acceptance: S0.12.
#[test]
fn what_ptxas_warns_of_is_in_the_artifact() {
    let artifact = compile("parity", RECURSIVE, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    let expected = "kernels/parity.rs for sm_90: ptxas: Stack size for entry function 'parity' cannot be \
                    statically determined";
    assert_eq!(artifact.warnings, [expected]);
}

/// Acceptance: S0.12.
#[test]
fn what_ptxas_refuses_is_kept_with_its_command_line() {
    let error = compile("bad", UNKNOWN_INSTRUCTION, "sm_90").unwrap_err();
    let text = error.to_string();
    let Error::Tool { tool: "ptxas", kept: Some(kept), .. } = error else { panic!("{text}") };
    let ptx = fs::read_to_string(kept.join("kernel.ptx")).unwrap();
    let line = 1 + ptx.lines().position(|line| line.contains("bogus.instruction")).unwrap();
    let place = format!("ptxas {}, line {line}; ", kept.join("kernel.ptx").display());
    assert!(text.starts_with("ptxas failed on kernels/bad.rs for sm_90:\n"), "{text}");
    let note = format!("note: its command line and its input are in {}", kept.display());
    assert!(text.contains(&place) && text.ends_with(&note), "{text}");
    // Whoever runs it sees the same.
    let again = Command::new("sh").arg(kept.join("command.sh")).output().unwrap();
    let said = String::from_utf8_lossy(&[again.stdout, again.stderr].concat()).into_owned();
    assert!(!again.status.success() && said.contains(&place), "{said}");
}

#[test]
fn the_input_of_a_ptxas_that_crashes_is_kept() {
    let folder = temporary_folder();
    let ptxas = write_file(&folder, "ptxas", "#!/bin/sh\necho of no use >&2\nkill -SEGV $$\n");
    fs::set_permissions(&ptxas, fs::Permissions::from_mode(0o755)).unwrap();
    let (source, lowered) = lower("lost", &UNKNOWN_INSTRUCTION.replace("bad", "lost"));
    let compiler = Compiler::new(kernelmill_compiler::Toolchain {
        ptxas: Some(ptxas),
        scratch: folder.path().join("scratch"),
        ..toolchain()
    });
    let config = Config::new("sm_90".parse().unwrap());
    let error = compiler.unwrap().compile(&job("lost", &source, &lowered, &config)).unwrap_err();
    let text = error.to_string();
    let Error::Ended { kept: Some(kept), .. } = error else { panic!("{text}") };
    assert!(kept.starts_with(folder.path()) && kept.join("kernel.ptx").is_file(), "{text}");
    assert!(text.contains("signal 11") && text.contains("of no use"), "{text}");
    assert!(text.ends_with(&format!("are in {}", kept.display())), "{text}");
}

#[test]
fn a_cubin_has_the_text_of_its_ptx_only_with_full_debug_information() {
    let (source, lowered) = lower("texts", &RECURSIVE.replace("parity", "texts"));
    for arch in ["sm_80", "sm_90", "sm_100"] {
        for (level, has_lines, has_text) in
            [("0", false, false), ("1", true, false), ("2", true, true)]
        {
            let mut config = Config::new(arch.parse().unwrap());
            config.options.set("debug_level", level).unwrap();
            let artifact = common::compiler().compile(&job("texts", &source, &lowered, &config));
            let bytes = artifact.unwrap_or_else(|error| panic!("{error}")).bytes;
            let has = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
            assert_eq!(has(".entry texts"), has_text, "{arch} {level}");
            assert_eq!(has("texts.rs"), has_lines, "{arch} {level}");
        }
    }
}

/// Inline assembly that PTX 7.0, the first of sm_80, does not have.
const NEW_INSTRUCTION: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub unsafe fn policy(mut out: DisjointSlice<u64>) {
    unsafe {
        core::arch::asm!(
            \"{{ .reg .b64 %policy; createpolicy.fractional.L2::evict_first.b64 %policy, 1.0; }}\",
            options(att_syntax)
        );
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 1;
    }
}
";

/// Acceptance: S0.12.
#[test]
fn inline_assembly_has_a_version_of_ptx_that_has_its_instructions() {
    // ptxas would refuse `createpolicy` in PTX 7.0.
    let cubin =
        compile("policy", NEW_INSTRUCTION, "sm_80").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cubin.kind, ArtifactKind::Cubin);
    let ptx =
        compile("policy", NEW_INSTRUCTION, "compute_80").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(PtxVersion::of(&ptx.bytes), Some(PtxVersion { major: 7, minor: 4 }));
    let other = NEW_INSTRUCTION
        .replace("createpolicy.fractional.L2::evict_first.b64 %policy, 1.0", "mov.u64 %policy, 1");
    let ptx = compile("policy", &other, "compute_80").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(PtxVersion::of(&ptx.bytes), Some(PtxVersion { major: 7, minor: 0 }));
}

/// Acceptance: S0.12.
#[test]
fn a_ptxas_that_is_too_old_for_an_architecture_is_named() {
    let (source, lowered) = lower("old", &RECURSIVE.replace("parity", "old"));
    let compiler = Compiler::new(kernelmill_compiler::Toolchain {
        ptxas_version: "Cuda compilation tools, release 12.4, V12.4.131".to_owned(),
        ..toolchain()
    });
    let config = Config::new("sm_120".parse().unwrap());
    let error = compiler.unwrap().compile(&job("old", &source, &lowered, &config)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the target sm_120: kernels for this architecture need PTX 8.7"),
        "{text}"
    );
    assert!(text.contains("ptxas 12.4 (") && text.contains("up to 8.4"), "{text}");
}
