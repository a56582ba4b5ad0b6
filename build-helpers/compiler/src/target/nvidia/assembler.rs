//! ptxas, NVIDIA's assembler: from PTX to a cubin.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use kernelmill_artifact::{NvidiaArch, Target};

use crate::{
    Error, resources,
    toolchain::{KeptRun, Relocatable, TemporaryFolder, Toolchain, write},
};

/// A run of ptxas.
#[derive(Clone, Copy)]
pub(super) struct Assembly<'a> {
    pub(super) toolchain: &'a Toolchain,
    /// Where files are written.
    pub(super) folder: &'a TemporaryFolder,
    /// The source, for messages.
    pub(super) name: &'a str,
    pub(super) arch: NvidiaArch,
    /// Whether the code is to be debugged in full, and not optimised.
    pub(super) is_debugged: bool,
    /// Whether nvlink comes after it.
    pub(super) is_relocatable: bool,
}

/// What ptxas made.
pub(super) struct Assembled {
    pub(super) cubin: PathBuf,
    /// What it warned of, a line each.
    pub(super) warnings: Vec<String>,
    /// What it says of each kernel's resources, among other things.
    pub(super) said: String,
}

impl<'a> Assembly<'a> {
    /// Runs ptxas, into a file of a folder. The folder of a failed run is kept.
    pub(super) fn run(&self, ptx: &[u8]) -> Result<Assembled, Error> {
        let Self { toolchain, folder, name, arch, .. } = *self;
        let Some(ptxas) = &toolchain.ptxas else {
            let target = Target::Cubin(arch);
            let ptx = Target::Ptx(arch).to_string();
            return Err(Error::NoPtxas { target, ptx });
        };
        let (input, cubin) = (write(folder, "kernel.ptx", ptx)?, folder.path.join("kernel.cubin"));
        // ptxas does not optimise what is to be debugged in full.
        let how: &[&str] = if self.is_debugged { &["-g", "-O0"] } else { &["-O3"] };
        let mut command = Command::new(ptxas);
        command
            .arg(format!("-arch=sm_{}", arch))
            .args(how)
            .arg("-v")
            .args(self.is_relocatable.then_some("-c"))
            .arg(&input)
            .arg("-o")
            .arg(&cubin);
        let subject = format!("{name} for sm_{}", arch);
        let (limits, scratch) = (toolchain.limits, &*toolchain.scratch);
        let kept = KeptRun { limits, scratch, name: &subject, folder, root: None };
        let result = kept.output(&mut command)?;
        let said = String::from_utf8_lossy(&[result.stdout, result.stderr].concat()).into_owned();
        if result.status.success() {
            let warnings = warnings(&said, &input, &subject);
            return Ok(Assembled { cubin, warnings, said });
        }
        let kept = kept.keep(&command);
        let place = kept.as_ref().map_or_else(|| input.clone(), |kept| kept.join("kernel.ptx"));
        let faults = said.lines().filter(|line| !resources::is_said(line));
        let stderr: String = faults.map(|line| format!("{line}\n")).collect();
        let stderr = stderr.replace(&*input.to_string_lossy(), &place.to_string_lossy());
        Err(Error::Tool { tool: "ptxas", subject, stderr, kept })
    }

    /// What ptxas made, for nvlink.
    pub(super) fn relocatable(&self, cubin: &'a Path) -> Relocatable<'a> {
        let Self { toolchain, name, arch, .. } = *self;
        Relocatable { cubin, arch, name, limits: toolchain.limits, scratch: &toolchain.scratch }
    }
}

/// The warnings of ptxas, which name a line of PTX that nobody keeps and the user has not written.
fn warnings(said: &str, input: &Path, subject: &str) -> Vec<String> {
    let place = format!("ptxas {}, line ", input.display());
    let texts = said.lines().filter_map(|line| {
        let line = line.trim();
        let rest = match line.strip_prefix(&place) {
            Some(rest) => rest.split_once(';')?.1.trim_start(),
            None => line.strip_prefix("ptxas")?.trim_start(),
        };
        let text = rest.strip_prefix("warning")?.trim_start().strip_prefix(':')?;
        Some(format!("{subject}: ptxas: {}", text.trim()))
    });
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_ptxas_are_told_apart_from_what_else_it_says() {
        let said = "ptxas info    : 0 bytes gmem\n\
                    ptxas warning : Stack size for entry function 'a' cannot be statically determined\n\
                    ptxas /t/k.ptx, line 12; warning : (C7508) Potential Performance Loss\n\
                    ptxas /t/k.ptx, line 19; warning : (C7508) Potential Performance Loss\n";
        let found = warnings(said, Path::new("/t/k.ptx"), "kernels/a.rs for sm_90");
        assert_eq!(
            found,
            [
                "kernels/a.rs for sm_90: ptxas: Stack size for entry function 'a' cannot be statically \
                 determined",
                "kernels/a.rs for sm_90: ptxas: (C7508) Potential Performance Loss",
            ]
        );
        assert!(warnings("", Path::new("k.ptx"), "a").is_empty());
    }
}
