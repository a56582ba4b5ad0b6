//! The version of nvcc's PTX. nvcc writes the newest that it knows, whatever is in it, and a driver reads no version that is
//! newer than its own: PTX of CUDA 13.5 does not load on a driver of 13.0. The text gets the oldest version that has what is
//! in it: first the one that a table knows of, then those that ptxas asks for when it is given that. Where ptxas does not take
//! the text in any of them, it stays as nvcc wrote it.
//!
//! What an instruction means does not depend on the version that has it
//! ([PTX ISA, "Release Notes"](https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes)).

use std::fs;

use kernelmill_artifact::{NvidiaArch, PtxVersion};

use super::{Nvcc, source::CudaSource};
use crate::{Error, target::ptx_version_needed};

/// How ptxas begins to say that something is newer than the version of the text.
const REQUIRES: &str = "requires PTX ISA .version ";

/// How often ptxas is asked. It names one version at a time, and that of the newest thing comes within a few.
const ATTEMPTS: usize = 6;

impl Nvcc {
    /// PTX of nvcc for an architecture, in the oldest version that has what is in it.
    pub(super) fn in_oldest_version(
        &self,
        source: &CudaSource,
        ptx: Vec<u8>,
        arch: NvidiaArch,
    ) -> Vec<u8> {
        let found = || {
            let own = PtxVersion::of(&ptx)?;
            let text = std::str::from_utf8(&ptx).ok()?;
            let least = PtxVersion::of_architecture(arch)?;
            let mut version = ptx_version_needed(text).map_or(least, |needed| needed.max(least));
            for _ in 0..ATTEMPTS {
                if version >= own {
                    return None;
                }
                let older = with_version(text, own, version);
                match self.refusal(source, &older, arch) {
                    None => return Some(older.into_bytes()),
                    Some(said) => version = required(&said).filter(|it| *it > version)?,
                }
            }
            None
        };
        found().unwrap_or(ptx)
    }

    /// What ptxas says where it does not take a text. It assembles without optimisation: only whether it reads the text matters.
    fn refusal(&self, source: &CudaSource, ptx: &str, arch: NvidiaArch) -> Option<String> {
        let arguments = ["-cubin".to_owned(), format!("-arch=sm_{arch}"), "-Xptxas=-O0".to_owned()];
        match self.assemble(source, ptx, &arguments, "version") {
            Ok(_) => None,
            Err(Error::Cpp { messages, kept, .. }) => {
                // It is no error of the source's.
                if let Some(kept) = kept {
                    let _ = fs::remove_dir_all(kept);
                }
                Some(messages.into_iter().map(|message| message.text + "\n").collect())
            }
            Err(error) => Some(error.to_string()),
        }
    }
}

/// The newest version that ptxas asks for.
fn required(said: &str) -> Option<PtxVersion> {
    let versions = said.split(REQUIRES).skip(1).filter_map(|rest| {
        let (major, minor) = rest.split_whitespace().next()?.split_once('.')?;
        Some(PtxVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
    });
    versions.max()
}

/// A text of one version in another one.
fn with_version(text: &str, own: PtxVersion, version: PtxVersion) -> String {
    text.replacen(&format!(".version {own}"), &format!(".version {version}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptxas_names_the_version_that_it_asks_for() {
        let version = |major, minor| PtxVersion { major, minor };
        let said = "Feature 'cvta.param' requires PTX ISA .version 7.7 or later\n\
                    Instruction 'elect' requires PTX ISA .version 8.0 or later\n";
        assert_eq!(required(said), Some(version(8, 0)));
        assert_eq!(required("Parsing error near '.foo': syntax error"), None);
        let text = "//\n.version 9.5\n.target sm_75\n";
        let older = with_version(text, version(9, 5), version(6, 3));
        assert_eq!(older, "//\n.version 6.3\n.target sm_75\n");
    }
}
