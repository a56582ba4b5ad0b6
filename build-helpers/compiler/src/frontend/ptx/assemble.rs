//! Artifacts of files in PTX. What is embedded as PTX is the text itself, once ptxas has taken it, where that is there:
//! a driver would refuse it only when it loads it.

use std::process::Command;

use kernelmill_artifact::{ArtifactKind, NvidiaArch, Resources, Target, ptx_tokens};

use super::source::PtxSource;
use crate::{
    Error,
    artifact::{Artifact, CompiledKernel},
    diagnostic::{Message, MessageSeverity},
    frontend::cuda::{message, ptx_grid, ptx_shared},
    job::Config,
    resources,
    toolchain::{TemporaryFolder, Toolchain, read},
};

/// What ptxas says that no user needs, where several things are wrong.
const ABORTED: &str = "Ptx assembly aborted due to errors";

/// Compiles a file for a target, with these kernels.
pub(crate) fn compile(
    toolchain: &Toolchain,
    source: &PtxSource,
    config: &Config,
    kernels: &[String],
) -> Result<Artifact, Error> {
    let target = &config.target;
    let (kind, arch) = match target {
        Target::Ptx(arch) => (ArtifactKind::Ptx, *arch),
        Target::Cubin(arch) => (ArtifactKind::Cubin, *arch),
        other => {
            let (file, target) = (source.display.clone(), other.clone());
            return Err(Error::Unsupported { file, target });
        }
    };
    let assembled = match (&toolchain.ptxas, kind) {
        (None, ArtifactKind::Cubin) => {
            let (target, ptx) = (target.clone(), Target::Ptx(arch).to_string());
            return Err(Error::NoPtxas { target, ptx });
        }
        (None, _) => None,
        (Some(_), _) => Some(assemble(toolchain, source, arch)?),
    };
    let mut warnings: Vec<String> = match &assembled {
        Some(assembled) => assembled.warnings.iter().map(Message::line).collect(),
        None => vec![format!(
            "{}: its PTX was not checked, because ptxas was not found: errors in it are reported by the driver \
             when the kernels are loaded; install ptxas with `cargo kernelmill toolchain install cuda`",
            source.display
        )],
    };
    warnings.dedup();
    let of_kernel = match &assembled {
        Some(assembled) => {
            resources::of_cubin(&assembled.cubin, &resources::spills(&assembled.said))
        }
        None => resources::ByKernel::new(),
    };
    let declared = ptx_shared::of_kernels(&source.text);
    let cooperative = ptx_grid::cooperative_kernels(&source.text);
    let kernels = kernels.iter().map(|entry| {
        let kernel = |entry: &str, resources| CompiledKernel {
            cooperative: cooperative.iter().any(|it| it == entry),
            ..kernel(entry, resources)
        };
        let found = of_kernel.get(entry).cloned();
        if let (ArtifactKind::Cubin, Some(resources)) = (kind, found) {
            return kernel(entry, resources);
        }
        // Of PTX it is the driver that allocates registers; shared memory is what the text says.
        let arrays = declared.get(entry).map_or(&[][..], Vec::as_slice);
        let shared = arrays.iter().fold(0_u64, |sum, array| sum.saturating_add(array.bytes));
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        let shared = found.and_then(|found| found.static_shared_bytes).unwrap_or(shared);
        kernel(entry, Resources { static_shared_bytes: Some(shared), ..Resources::UNKNOWN })
    });
    let kernels = kernels.collect();
    let bytes = match (assembled, kind) {
        (Some(assembled), ArtifactKind::Cubin) => assembled.cubin,
        _ => source.text.clone().into_bytes(),
    };
    Ok(Artifact {
        target: target.clone(),
        kind,
        bytes,
        kernels,
        locations: Vec::new(),
        messages: Vec::new(),
        relocations: Vec::new(),
        variables: Vec::new(),
        warnings,
        passes: Vec::new(),
    })
}

/// What ptxas made.
struct Assembled {
    cubin: Vec<u8>,
    warnings: Vec<Message>,
    /// What it says of each kernel's resources, among other things.
    said: String,
}

/// Has ptxas assemble the file, as it lies there, for an architecture.
fn assemble(
    toolchain: &Toolchain,
    source: &PtxSource,
    arch: NvidiaArch,
) -> Result<Assembled, Error> {
    let ptxas = toolchain.ptxas.clone().unwrap_or_default();
    let folder = TemporaryFolder::new(&toolchain.scratch, &source.display)?;
    let cubin = folder.path.join("kernel.cubin");
    let input = source.path.strip_prefix(&source.package_root).unwrap_or(&source.path);
    let mut command = Command::new(ptxas);
    command.current_dir(&source.package_root).arg(format!("-arch=sm_{arch}"));
    command.args(["-O3", "-v"]).arg(input).arg("-o").arg(&cubin);
    let result = toolchain.limits.output(&mut command, &source.display)?;
    let said = String::from_utf8_lossy(&[result.stdout, result.stderr].concat()).into_owned();
    let messages = messages(&said, &input.to_string_lossy(), source);
    if result.status.success() {
        let warnings = messages.into_iter().filter(Message::is_warning).collect();
        return Ok(Assembled { cubin: read(&cubin)?, warnings, said });
    }
    let is_error = |message: &Message| message.severity == MessageSeverity::Error;
    let messages: Vec<_> = messages.into_iter().filter(is_error).collect();
    if messages.is_empty() {
        let (subject, stderr) = (source.display.clone(), said);
        return Err(Error::Tool { tool: "ptxas", subject, stderr, kept: None });
    }
    Err(Error::Cpp { tool: "ptxas", messages, kept: None })
}

/// The messages of ptxas, with the lines that they are about.
fn messages(said: &str, input: &str, source: &PtxSource) -> Vec<Message> {
    let place = format!("ptxas {input}, line ");
    let mut found: Vec<Message> = Vec::new();
    for line in said.lines().filter(|line| !resources::is_said(line) && !line.contains(ABORTED)) {
        let line_of = || {
            let number = line.strip_prefix(&place)?.split(';').next()?.trim().parse().ok()?;
            Some((source.display.clone(), number))
        };
        for mut message in message::parse(line, &source.package_root) {
            message.place = line_of().or_else(|| line_of_name(&message.text, source));
            if let Some((_, number)) = message.place {
                let text = source.text.lines().nth(number as usize - 1);
                message.details.extend(text.map(|text| text.trim_end().to_owned()));
            }
            if !found.contains(&message) {
                found.push(message);
            }
        }
    }
    found
}

/// The line of what a message names where it has none: `Unresolved extern function 'f'`.
fn line_of_name(message: &str, source: &PtxSource) -> Option<(String, u32)> {
    let name = message.split('\'').nth(1).filter(|name| !name.is_empty())?;
    let line = ptx_tokens(&source.text).iter().find(|token| token.text == name)?.line;
    Some((source.display.clone(), line))
}

fn kernel(entry: &str, resources: Resources) -> CompiledKernel {
    CompiledKernel {
        name: entry.to_owned(),
        entry: entry.to_owned(),
        static_shared_bytes: resources.static_shared_bytes.unwrap_or(0),
        panics: false,
        cooperative: false,
        cpu_symbol: None,
        strategy: None,
        resources,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::ToolLimits;

    const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n  \
                        .shared .align 4 .b8 tile[64];\n  ret;\n}\n";

    fn source() -> PtxSource {
        PtxSource {
            path: "k.ptx".into(),
            display: "kernels/k.ptx".to_owned(),
            package_root: ".".into(),
            text: TEXT.to_owned(),
            declared: Vec::new(),
        }
    }

    fn without_ptxas() -> Toolchain {
        Toolchain {
            rustc: "rustc".into(),
            rustc_version: String::new(),
            sysroot: "/".into(),
            host: "x86_64-unknown-linux-gnu".to_owned(),
            llvm: None,
            ptxas: None,
            ptxas_version: String::new(),
            libdevice: None,
            ocml: None,
            spirv: None,
            spirv_version: String::new(),
            limits: ToolLimits::of_machine(),
            scratch: "/".into(),
        }
    }

    #[test]
    fn without_ptxas_the_text_is_embedded_and_said_to_be_unchecked() {
        let make = |target: &str| {
            let config = Config::new(target.parse().unwrap());
            compile(&without_ptxas(), &source(), &config, &["k".to_owned()])
        };
        let artifact = make("compute_80").unwrap();
        assert_eq!((artifact.kind, &*artifact.bytes), (ArtifactKind::Ptx, TEXT.as_bytes()));
        assert_eq!(artifact.kernels[0].static_shared_bytes, 64);
        let [warning] = &artifact.warnings[..] else { panic!("{:?}", artifact.warnings) };
        assert!(warning.starts_with("kernels/k.ptx: its PTX was not checked"), "{warning}");
        assert!(matches!(make("sm_80"), Err(Error::NoPtxas { .. })));
        assert!(matches!(make("cpu"), Err(Error::Unsupported { .. })));
    }

    #[test]
    fn messages_have_the_lines_that_they_are_about() {
        let said = "ptxas k.ptx, line 4; error   : Arguments mismatch for instruction 'add'\n\
                    ptxas fatal   : Unresolved extern function 'tile'\n\
                    ptxas info    : 0 bytes gmem\n\
                    ptxas fatal   : Ptx assembly aborted due to errors\n\
                    ptxas fatal   : Something else\n";
        let found: Vec<_> =
            messages(said, "k.ptx", &source()).iter().map(ToString::to_string).collect();
        let expected = [
            "error: Arguments mismatch for instruction 'add'\n --> kernels/k.ptx:4\n  | .entry k()",
            "error: Unresolved extern function 'tile'\n --> kernels/k.ptx:6\n  |   .shared .align 4 .b8 \
             tile[64];",
            "error: Something else",
        ];
        assert_eq!(found, expected);
    }
}
