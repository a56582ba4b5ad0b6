//! The facts of a report: each binary of a build with its kernels, their usage, and their occupancy.

use super::usage::{Usage, name, usage};
use crate::{assembly, package::Built};
use anyhow::Result;
use kernelmill_artifact::{Multiprocessor, Resources, Target};
use kernelmill_build::{
    dump::kernel_of,
    manifest::{Binary, BinaryKind, CompiledKernel},
};
use serde_json::{Value, json};

/// A binary with what is known of its kernels.
pub(super) struct BinaryFacts<'b> {
    /// The binary.
    pub(super) binary: &'b Binary,
    /// Its kernels.
    pub(super) kernels: Vec<KernelFacts<'b>>,
    /// PTX, or SASS with source lines.
    pub(super) text: Option<String>,
}

/// A kernel in a binary.
pub(super) struct KernelFacts<'b> {
    /// As the manifest has it.
    pub(super) compiled: &'b CompiledKernel,
    /// The name of its wrapper, its symbol where it has none, with that of its variant.
    pub(super) name: String,
    /// What it takes.
    pub(super) usage: Usage,
    /// Where it is known, the part of a multiprocessor's warps that blocks of each size keep, without dynamic shared
    /// memory.
    pub(super) occupancy: Vec<Occupancy>,
}

/// Occupancy with blocks of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Occupancy {
    /// The threads of a block.
    pub(super) threads: u32,
    /// The blocks on a multiprocessor at once.
    pub(super) blocks: u32,
    /// The part of the multiprocessor's warps that they are, 0 to 1.
    pub(super) fraction: f64,
}

/// The facts of all binaries of a build.
pub(super) fn binaries(built: &Built) -> Result<Vec<BinaryFacts<'_>>> {
    built.manifest.binaries.iter().map(|binary| BinaryFacts::new(built, binary)).collect()
}

impl<'b> BinaryFacts<'b> {
    fn new(built: &'b Built, binary: &'b Binary) -> Result<Self> {
        let text = match assembly::is_printable(binary) {
            true => Some(assembly::text(binary.kind, &built.path(&binary.file))?),
            false => None,
        };
        let sass = text.as_deref().filter(|_| binary.kind == BinaryKind::Cubin);
        let facts = |compiled: &'b CompiledKernel| {
            let code = sass.and_then(|sass| kernel_of(sass, &compiled.entry));
            let usage = usage(binary, compiled, code.unwrap_or_default());
            let occupancy = occupancy(&binary.target, &usage);
            KernelFacts { compiled, name: name(built, compiled), usage, occupancy }
        };
        let kernels = binary.kernels.iter().map(facts).collect();
        Ok(Self { binary, kernels, text })
    }
}

/// Occupancy by block size: every multiple of a warp up to the most that there can be. Empty where the multiprocessor or
/// the kernel's registers are not known.
fn occupancy(target: &str, usage: &Usage) -> Vec<Occupancy> {
    let Ok(Target::Cubin(arch)) = target.parse() else { return Vec::new() };
    let Some(processor) = Multiprocessor::of(arch) else { return Vec::new() };
    let resources = Resources {
        registers: usage.resources.registers,
        static_shared_bytes: usage.resources.static_shared_bytes,
        max_threads: usage.resources.max_threads,
        ..Resources::UNKNOWN
    };
    let point = |threads: u32| {
        let blocks = processor.resident_blocks(&resources, threads, 0)?;
        let fraction = f64::from(blocks * threads.div_ceil(32)) / f64::from(processor.max_warps);
        Some(Occupancy { threads, blocks, fraction })
    };
    let most = resources.max_threads.unwrap_or(1024).min(1024);
    (32..=most).step_by(32).map_while(point).collect()
}

/// The package with its binaries.
pub(super) fn as_json(built: &Built, binaries: &[BinaryFacts<'_>]) -> Value {
    let kernel = |kernel: &KernelFacts<'_>| {
        let points = kernel.occupancy.iter();
        let occupancy: Vec<_> = points
            .map(
                |it| json!({ "threads": it.threads, "blocks": it.blocks, "fraction": it.fraction }),
            )
            .collect();
        let mut facts = json!({ "name": kernel.name, "resources": kernel.usage.as_json() });
        if let Some(strategy) = &kernel.compiled.strategy {
            facts["strategy"] = json!(strategy.to_string());
        }
        if !occupancy.is_empty() {
            facts["occupancy"] = Value::Array(occupancy);
        }
        facts
    };
    let binary = |it: &BinaryFacts<'_>| {
        let kernels: Vec<_> = it.kernels.iter().map(kernel).collect();
        let Binary { file, source, target, bytes, .. } = it.binary;
        let mut facts = json!({ "file": file, "source": source, "target": target, "bytes": bytes,
                                "kernels": kernels });
        if let Some(ptx) = &it.binary.ptx {
            facts["ptx"] = json!(ptx);
        }
        facts
    };
    let binaries: Vec<_> = binaries.iter().map(binary).collect();
    json!({ "package": built.name, "binaries": binaries })
}

#[cfg(test)]
mod tests {
    use super::{Usage, occupancy};

    #[test]
    fn occupancy_is_known_by_block_size() {
        let mut usage = Usage::default();
        (usage.resources.registers, usage.resources.static_shared_bytes) = (Some(64), Some(0));
        let curve = occupancy("sm_80", &usage);
        assert_eq!((curve.len(), curve[0].threads, curve[31].threads), (32, 32, 1024));
        // 64 registers leave room for half of the warps.
        let of_256 = curve.iter().find(|it| it.threads == 256).unwrap();
        assert_eq!((of_256.blocks, of_256.fraction), (4, 0.5));
        usage.resources.max_threads = Some(128);
        assert_eq!(occupancy("sm_80", &usage).len(), 4);
        assert!(occupancy("cpu", &usage).is_empty());
        assert!(occupancy("sm_80", &Usage::default()).is_empty());
    }
}
