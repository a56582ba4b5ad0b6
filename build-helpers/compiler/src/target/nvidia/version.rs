//! The version of PTX: the oldest that has what kernels need, and that both LLVM and ptxas know.
//!
//! An older version runs with older drivers, so a newer one is asked for only where kernels need it. LLVM's
//! versions are subtarget features, which its C interface does not list: a version is known where a module that
//! asks for it comes out in it. LLVM ignores a feature that it does not know, and takes the architecture's default.
//! ptxas reads the version of its CUDA release and every version before.

use kernelmill_artifact::{NvidiaArch, PtxVersion, Target};
use kernelmill_llvm::{Version, inkwell::context::Context, machine::Machine};

use crate::{Error, error::NoPtxVersion, toolchain::Toolchain};

/// What needs a version of PTX.
#[derive(Clone, Debug)]
pub(super) struct Need {
    /// The feature, in the plural, as errors name it.
    pub(super) feature: String,
    /// The oldest version that has it: 81 for 8.1.
    pub(super) version: u32,
}

/// What an architecture itself needs; `None` for one that is not known.
pub(super) fn of_architecture(arch: NvidiaArch) -> Option<Need> {
    let PtxVersion { major, minor } = PtxVersion::of_architecture(arch)?;
    let version = major * 10 + minor;
    Some(Need { feature: "kernels for this architecture".to_owned(), version })
}

/// The assembler of a cubin, as far as versions of PTX concern it.
pub(super) struct Assembler<'a> {
    toolchain: &'a Toolchain,
    /// The newest version that it reads; `None` where its release is not known.
    newest: Option<u32>,
}

impl<'a> Assembler<'a> {
    /// The ptxas of a toolchain.
    pub(super) fn of(toolchain: &'a Toolchain) -> Self {
        let newest = release(&toolchain.ptxas_version).and_then(PtxVersion::newest_of);
        Self { toolchain, newest: newest.map(|version| version.major * 10 + version.minor) }
    }

    /// The newest version that it reads; `None` where its release is not known.
    pub(super) fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// Whether it reads a version.
    fn reads(&self, version: u32) -> bool {
        self.newest.is_none_or(|newest| version <= newest)
    }
}

/// The CUDA release in what `ptxas --version` printed.
fn release(text: &str) -> Option<(u32, u32)> {
    let (_, rest) = text.split_once("release ")?;
    let (major, rest) = rest.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A machine for an architecture with the oldest version of PTX that meets all needs and that both tools know.
///
/// # Errors
///
/// [`Error::PtxVersion`] with the strictest need where there is none.
pub(super) fn choose(
    arch: NvidiaArch,
    needs: &[Need],
    assembler: Option<&Assembler<'_>>,
) -> Result<(Machine, u32), Error> {
    let strictest = needs.iter().max_by_key(|need| need.version);
    let strictest = strictest.ok_or_else(|| Error::Internal("no need of PTX".to_owned()))?;
    // LLVM says on the standard error that it ignores a feature, so ptxas comes first.
    let newer = PtxVersion::all().map(|version| version.major * 10 + version.minor);
    for version in newer.filter(|version| *version >= strictest.version) {
        if assembler.is_none_or(|assembler| assembler.reads(version))
            && let Some(machine) = machine(arch, version)?
        {
            return Ok((machine, version));
        }
    }
    Err(unknown(arch, strictest, assembler))
}

/// LLVM's machine for an architecture with a version of PTX; `None` where it does not know the
/// version.
fn machine(arch: NvidiaArch, version: u32) -> Result<Option<Machine>, Error> {
    let features = format!("+ptx{version}");
    let machine = Machine::new("nvptx64-nvidia-cuda", &format!("sm_{arch}"), &features, false)?;
    let context = Context::create();
    let module = context.create_module("version");
    machine.adopt(&module);
    let text = machine.assembly(&module)?;
    let asked = PtxVersion { major: version / 10, minor: version % 10 };
    Ok((PtxVersion::of(&text) == Some(asked)).then_some(machine))
}

/// The error where the tools know no version that a need asks for.
fn unknown(arch: NvidiaArch, need: &Need, assembler: Option<&Assembler<'_>>) -> Error {
    let text = |version: u32| format!("{}.{}", version / 10, version % 10);
    let ptxas = assembler.map(|assembler| {
        let path = assembler.toolchain.ptxas.as_deref().unwrap_or("ptxas".as_ref());
        let release = release(&assembler.toolchain.ptxas_version);
        let release = release.map(|(major, minor)| format!("ptxas {major}.{minor}"));
        let newest =
            assembler.newest.map(|newest| format!(", which reads PTX up to {}", text(newest)));
        format!(
            "{} ({}{})",
            release.unwrap_or_else(|| "ptxas".to_owned()),
            path.display(),
            newest.unwrap_or_default()
        )
    });
    Error::PtxVersion(Box::new(NoPtxVersion {
        target: if assembler.is_some() { Target::Cubin(arch) } else { Target::Ptx(arch) },
        feature: need.feature.clone(),
        version: text(need.version),
        llvm: Version::opened().to_string(),
        ptxas,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolLimits, base::loaded::open_llvm};

    fn toolchain(ptxas_version: &str) -> Toolchain {
        Toolchain {
            rustc: "rustc".into(),
            rustc_version: String::new(),
            sysroot: "/".into(),
            host: String::new(),
            llvm: None,
            ptxas: Some("/cuda/bin/ptxas".into()),
            ptxas_version: ptxas_version.to_owned(),
            libdevice: None,
            ocml: None,
            spirv: None,
            spirv_version: String::new(),
            limits: ToolLimits::of_machine(),
            scratch: "/".into(),
        }
    }

    fn arch(text: &str) -> NvidiaArch {
        match text.parse() {
            Ok(Target::Cubin(arch)) => arch,
            other => panic!("{other:?}"),
        }
    }

    fn need(version: u32) -> Need {
        Need { feature: "copies of clouds".to_owned(), version }
    }

    /// The version that is chosen, or the error.
    fn chosen(arch: NvidiaArch, needs: &[Need], ptxas: Option<&str>) -> Result<u32, String> {
        let toolchain = ptxas.map(toolchain);
        let assembler = toolchain.as_ref().map(Assembler::of);
        let found = choose(arch, needs, assembler.as_ref());
        found.map(|(_, version)| version).map_err(|error| error.to_string())
    }

    /// Acceptance: S0.12.
    #[test]
    fn llvm_says_which_versions_it_knows() {
        open_llvm();
        let sm_90 = arch("sm_90");
        let is_known = |arch, version| machine(arch, version).unwrap().is_some();
        assert!(is_known(sm_90, 78) && is_known(sm_90, 80) && is_known(sm_90, 88));
        // There is no PTX 7.9 and no 8.9.
        assert!(!is_known(sm_90, 79) && !is_known(sm_90, 89) && !is_known(sm_90, 999));
    }

    #[test]
    fn every_architecture_has_the_version_of_the_table_in_this_llvm() {
        open_llvm();
        for target in Target::all() {
            if let Target::Cubin(arch) = target {
                let need = of_architecture(arch).unwrap_or_else(|| panic!("sm_{arch}"));
                let version = need.version;
                let newest = "Cuda compilation tools, release 13.5, V13.5.37";
                assert_eq!(chosen(arch, &[need], Some(newest)), Ok(version), "sm_{arch}");
            }
        }
    }

    #[test]
    fn the_oldest_version_that_both_know_is_taken() {
        open_llvm();
        let arch = arch("sm_90");
        assert_eq!(chosen(arch, &[need(78), need(81), need(80)], None), Ok(81));
        // A version that LLVM lacks is passed over for the next one: sets may have holes.
        assert_eq!(chosen(arch, &[need(79)], None), Ok(80));
        assert_eq!(chosen(arch, &[need(86)], Some("release 12.7, V12.7.1")), Ok(86));
        // Of a ptxas that does not say what it is nothing is known.
        assert_eq!(chosen(arch, &[need(86)], Some("my own ptxas")), Ok(86));
    }

    #[test]
    fn what_no_common_version_has_is_named_with_both_tools() {
        open_llvm();
        let llvm = Version::opened();
        let missing = chosen(arch("sm_90"), &[need(86), need(78)], Some("release 12.5, V12.5.40"));
        assert_eq!(
            missing.unwrap_err(),
            format!(
                "the target sm_90: copies of clouds need PTX 8.6, and neither it nor a later version is \
                 known to both LLVM {llvm} and ptxas 12.5 (/cuda/bin/ptxas, which reads PTX up to 8.5): \
                 install a newer CUDA toolkit (`cargo kernelmill toolchain install cuda`) or a newer Rust \
                 toolchain, or leave the target out"
            )
        );
        let newer = chosen(arch("sm_90"), &[need(990)], None).unwrap_err();
        let expected = format!(
            "the target compute_90: copies of clouds need PTX 99.0, and LLVM {llvm} knows neither it nor a \
             later version: install a newer Rust toolchain, or leave the target out"
        );
        assert_eq!(newer, expected);
    }
}
