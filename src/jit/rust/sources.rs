//! The sources of a package that are embedded as bitcode, and what each is compiled for on a device.

use kernelmill_artifact::{ArtifactKind, Bitcode, LaunchLimits, NvidiaArch, Signature, Target};
use kernelmill_llvm::{Version, machine::Machine};

use super::{
    cpu,
    library::{LLVM, VARIABLE, no_compiler},
    nvidia,
};
use crate::{
    device::Device,
    embedded::{EmbeddedArtifact, KernelSet},
    error::{Error, Result},
    properties::Architecture,
    select::compiles,
};

/// What bitcode was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// This and later architectures of NVIDIA's.
    Nvidia(NvidiaArch),
    Cpu,
}

/// A source with bitcode for a device.
pub(super) struct Source {
    pub(super) artifact: &'static EmbeddedArtifact,
    pub(super) form: Form,
    pub(super) bitcode: Bitcode,
}

impl Source {
    /// The launch bounds of its kernels by their entries.
    pub(super) fn limits<'s>(
        &'s self,
        signatures: &'s [Signature],
    ) -> impl Iterator<Item = (&'static str, LaunchLimits)> {
        let plain = self.artifact.kernels.iter().filter(|it| it.variant.is_none());
        plain.map(|it| (it.entry, signatures[it.signature].limits))
    }
}

/// What a source is compiled for.
pub(super) struct Processor {
    pub(super) target: Target,
    pub(super) machine: Machine,
}

/// The sources of a set with bitcode for a device: of each that for the newest architecture.
pub(super) fn sources(device: &Device, set: &'static KernelSet) -> Result<Vec<Source>> {
    let wanted = match device.architecture() {
        Architecture::Nvidia { .. } => "bitcode_75",
        Architecture::Cpu => "bitcode_cpu",
        _ => {
            let reason = format!(
                "{device} is neither the CPU nor an NVIDIA GPU: kernels in Rust are compiled at run time for these \
                 only"
            );
            return Err(no_compiler(reason));
        }
    };
    let (mut found, mut reasons) = (Vec::<Source>::new(), Vec::new());
    for artifact in set.artifacts.iter().filter(|it| it.kind == ArtifactKind::Bitcode) {
        // Builds of variants are no alternative to the kernels themselves.
        if artifact.kernels.iter().all(|it| it.variant.is_some()) {
            continue;
        }
        let form = match (artifact.target.parse(), device.architecture()) {
            (Ok(Target::CpuBitcode), Architecture::Cpu) => Form::Cpu,
            (Ok(Target::Bitcode(arch)), architecture @ Architecture::Nvidia { .. }) => {
                if let Err(reason) = compiles(architecture, arch) {
                    reasons.push(format!("{} for {}: {reason}", artifact.source, artifact.target));
                    continue;
                }
                Form::Nvidia(arch)
            }
            _ => continue,
        };
        let rank = |form: Form| match form {
            Form::Nvidia(arch) => (arch.number(), arch.suffix as u8),
            Form::Cpu => (0, 0),
        };
        let place = found.iter().position(|it| it.artifact.source == artifact.source);
        if place.is_some_and(|place| rank(found[place].form) >= rank(form)) {
            continue;
        }
        let bitcode = Bitcode::from_bytes(artifact.bytes).ok_or_else(|| Error::Compile {
            source_file: artifact.source.to_owned(),
            compiler: LLVM.to_owned(),
            options: artifact.target.to_owned(),
            log: "its embedded bitcode is damaged, or of another version of kernelmill; build the package again".to_owned(),
        })?;
        let source = Source { artifact, form, bitcode };
        match place {
            Some(place) => found[place] = source,
            None => found.push(source),
        }
    }
    if found.is_empty() {
        let reason = match &*reasons {
            [] => format!(
                "the package `{}` has no bitcode of kernels in Rust for {device}: add the target `{wanted}` to its settings",
                set.package
            ),
            reasons => format!("no bitcode can be compiled for {device}: {}", reasons.join("; ")),
        };
        return Err(no_compiler(reason));
    }
    Ok(found)
}

/// Refuses a library that is older than the one that wrote bitcode: it does not read it, or misreads it.
pub(super) fn check_version(bitcode: &Bitcode, opened: Version) -> Result<(), String> {
    let [major, minor, patch] = bitcode.llvm;
    if opened.major >= major {
        return Ok(());
    }
    Err(format!(
        "the library has version {opened}, but LLVM {major}.{minor}.{patch} wrote the bitcode: set {VARIABLE} to a \
         library of that version or later"
    ))
}

/// What a source is compiled for: on NVIDIA's GPUs the newest architecture that LLVM knows and the device runs, on the CPU
/// what its objects in the build are for.
pub(super) fn processor(device: &Architecture, source: &Source) -> Result<Processor, String> {
    match (source.form, device) {
        (Form::Nvidia(base), Architecture::Nvidia { major, minor }) => {
            let number = major * 10 + minor;
            let (arch, machine) = nvidia::machine_for(number, base, source.bitcode.ptx)?;
            Ok(Processor { target: Target::Ptx(arch), machine })
        }
        (Form::Cpu, Architecture::Cpu) => {
            let machine = cpu::machine(&source.bitcode.module)?;
            Ok(Processor { target: Target::Cpu, machine })
        }
        _ => Err("internal error of kernelmill: the bitcode is for another kind of device; please report it".to_owned()),
    }
}
