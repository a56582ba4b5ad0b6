//! The choice of a binary: which embedded one was taken for a device, and why each other one lost.

use std::fmt;

use kernelmill_artifact::{ArtifactKind, Target};

use crate::{
    device::Device,
    embedded::EmbeddedArtifact,
    error::{Error, NoBinary, Rejected, Result},
    properties::Architecture,
    select::{Selection, Verdict, select, spirv_reason},
};

/// The embedded binary that was chosen for a source on a device, and why each other one lost.
///
/// `Display` gives a line for the choice, and an indented one for each that lost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The binary that was chosen.
    pub artifact: &'static EmbeddedArtifact,
    /// Each other binary of the same source.
    pub rejected: Vec<Rejected>,
}

impl Choice {
    /// Chooses among the binaries of one source.
    ///
    /// # Errors
    ///
    /// [`Error::NoBinary`] where none runs on the device.
    pub(crate) fn make(
        device: &Device,
        source: &'static str,
        artifacts: &[&'static EmbeddedArtifact],
    ) -> Result<Self> {
        let mut rejected = Vec::new();
        let (mut known, mut targets) = (Vec::new(), Vec::new());
        for artifact in artifacts {
            let too_new = newer_spirv(device.architecture(), artifact);
            match artifact.target.parse::<Target>() {
                Ok(_) if too_new.is_some() => {
                    rejected.extend(too_new.map(|reason| Rejected::new(artifact.target, &reason)));
                }
                Ok(target) => {
                    known.push(*artifact);
                    targets.push(target);
                }
                Err(error) => rejected.push(Rejected::new(artifact.target, &error)),
            }
        }
        let Selection { chosen, verdicts } = select(device.architecture(), &targets);
        for (artifact, verdict) in known.iter().zip(verdicts) {
            if verdict != Verdict::Chosen {
                rejected.push(Rejected::new(artifact.target, &verdict));
            }
        }
        match chosen {
            Some(index) => Ok(Self { artifact: known[index], rejected }),
            None => {
                let (source, device) = (source.to_owned(), device.to_string());
                Err(Error::from(NoBinary { source, device, rejected }))
            }
        }
    }
}

/// Why a SPIR-V module does not run on a device that reads SPIR-V, but not its version, which is the second
/// word of a module.
fn newer_spirv(device: &Architecture, artifact: &EmbeddedArtifact) -> Option<String> {
    let Architecture::OpenCl { spirv: Some(read) } = device else { return None };
    let version = artifact.bytes.get(4..8).filter(|_| artifact.kind == ArtifactKind::Spirv)?;
    let needed = (u32::from(version[2]), u32::from(version[1]));
    (needed > *read).then(|| spirv_reason(needed, *read))
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.artifact)?;
        for Rejected { target, reason } in &self.rejected {
            write!(formatter, "\n  not {target}: {reason}")?;
        }
        Ok(())
    }
}
