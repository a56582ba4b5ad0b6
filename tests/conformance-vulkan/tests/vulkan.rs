//! The kernels as SPIR-V for Vulkan are valid, and compute what plain Rust does on lavapipe: as it is, and translated as for
//! Metal and D3D12.

use std::{collections::BTreeSet, path::PathBuf, process::Command};

use conformance_vulkan::{Context, Scope};
use kernelmill::{ArtifactKind, Device, Error};
use test_support::{
    outcomes::{self, Outcomes},
    snapshot, temporary_folder, tool, write_file,
};

#[test]
fn every_module_is_valid() {
    let Some(validator) = tool::spirv_val() else { return };
    let folder = temporary_folder();
    let modules = conformance_vulkan::embedded().iter().filter(|it| it.kind == ArtifactKind::Spirv);
    let mut count = 0;
    for artifact in modules {
        let path = write_file(&folder, "kernels.spv", artifact.bytes);
        let said = Command::new(&validator).args(["--target-env", "vulkan1.2"]).arg(path).output();
        let said = said.unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{}: {text}", artifact.source);
        count += 1;
    }
    assert!(count > 15, "{count} modules");
}

/// An instruction: its number, and its operands.
type Instruction = (u32, Vec<u32>);

/// The instructions of a module.
fn instructions(module: &[u8]) -> Vec<Instruction> {
    let (words, _) = module.as_chunks();
    let words: Vec<u32> = words.iter().map(|it| u32::from_le_bytes(*it)).collect();
    let (mut rest, mut found) = (&words[5..], Vec::new());
    while let Some(first) = rest.first() {
        let (instruction, behind) = rest.split_at((first >> 16) as usize);
        found.push((first & 0xffff, instruction[1..].to_vec()));
        rest = behind;
    }
    found
}

const OP_CAPABILITY: u32 = 17;
const OP_DECORATE: u32 = 71;
const ARITHMETIC: [u32; 3] = [129, 131, 133];
const OP_MEMORY_BARRIER: u32 = 225;
const NO_CONTRACTION: u32 = 42;
const INT64_ATOMICS: u32 = 12;

/// Additions, subtractions and multiplications are done one by one.
#[test]
fn operations_are_not_joined() {
    let mut count = 0;
    for artifact in
        conformance_vulkan::embedded().iter().filter(|it| it.kind == ArtifactKind::Spirv)
    {
        let all = instructions(artifact.bytes);
        let exact: BTreeSet<u32> = { all.iter() }
            .filter(|(code, operands)| *code == OP_DECORATE && operands[1] == NO_CONTRACTION)
            .map(|(_, operands)| operands[0])
            .collect();
        let results: BTreeSet<u32> = { all.iter() }
            .filter(|(code, _)| ARITHMETIC.contains(code))
            .map(|(_, operands)| operands[1])
            .collect();
        assert_eq!(exact, results, "{}", artifact.source);
        count += results.len();
    }
    assert!(count > 100, "{count} operations");
}

/// Ordered atomic operations have fences, and modules ask for no more of a device than they need.
#[test]
fn fences_and_capabilities_are_those_of_the_source() {
    let has = |source: &str, wanted: &dyn Fn(&Instruction) -> bool| {
        let artifacts = conformance_vulkan::embedded().iter();
        let mut artifacts = artifacts.filter(|it| it.kind == ArtifactKind::Spirv);
        let found = artifacts.find(|it| it.source.ends_with(source)).expect(source);
        instructions(found.bytes).iter().any(wanted)
    };
    let is_fence = |(code, _): &Instruction| *code == OP_MEMORY_BARRIER;
    assert!(has("atomics.rs", &is_fence));
    assert!(!has("loops.rs", &is_fence));
    let is_wide =
        |(code, operands): &Instruction| *code == OP_CAPABILITY && operands == &[INT64_ATOMICS];
    assert!(has("atomics.rs", &is_wide));
    assert!(!has("warp.rs", &is_wide));
}

/// Compares the checks whose kernels the target cannot have with their list.
fn assert_lacking(lacking: &[String]) {
    let lines: String = lacking.iter().map(|name| format!("{name}\n")).collect();
    snapshot::check(concat!(env!("CARGO_MANIFEST_DIR"), "/lacking.txt"), &lines);
}

/// Runs the checks and prints their outcomes, in the process for that. Whether this is it.
fn is_child() -> bool {
    if !outcomes::is_child() {
        return false;
    }
    let context = Context::new(Device::wgpu(0).unwrap()).unwrap();
    for check in conformance_vulkan::all() {
        match check.run(&context) {
            _ if check.scope != Scope::Everywhere => {}
            Err(error) if matches!(error.downcast_ref(), Some(Error::NoBinary { .. })) => {
                outcomes::report_lacking(check.name);
            }
            result => outcomes::report(check.name, result),
        }
    }
    true
}

/// What translated modules do not compute to the last bit: wgpu's naga does not pass on that operations are not to be joined
/// (`NoContraction`), and lavapipe joins them.
const LESS_EXACT: [&str; 5] = ["math_f64", "math_f32", "colours", "rotate_points", "fused"];

#[test]
fn kernels_agree_with_plain_rust() {
    agree("kernels_agree_with_plain_rust", "", &[]);
}

#[test]
fn translated_kernels_agree_with_plain_rust() {
    agree("translated_kernels_agree_with_plain_rust", "1", &LESS_EXACT);
}

/// Compares what kernels compute with plain Rust.
fn agree(name: &str, translate: &str, less_exact: &[&str]) {
    if is_child() {
        return;
    }
    let Some(lavapipe) = tool::lavapipe() else { return };
    let translate = ("KERNELMILL_WGPU_TRANSLATE", PathBuf::from(translate));
    let variables = [
        translate,
        ("VK_ICD_FILENAMES", lavapipe.clone()),
        ("VK_DRIVER_FILES", lavapipe),
        ("NODEVICE_SELECT", "1".into()),
    ];
    let Outcomes { right, wrong, lacking, printed } = Outcomes::of(name, &variables);
    assert_eq!(wrong, less_exact, "{printed}");
    assert_lacking(&lacking);
    assert!(right.len() > 80 && right.iter().any(|it| it == "warp_shuffles"), "{right:?}");
}
