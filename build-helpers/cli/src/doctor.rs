//! `cargo kernelmill doctor`: the tools that kernelmill uses.

use crate::{package::Selection, tools};
use anyhow::Result;
use kernelmill::Device;
use kernelmill_artifact::Target;
use kernelmill_build::{Report, toolchain::Machine};
use kernelmill_llvm::Library;
use serde_json::{Value, json};
use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Which package's build is looked at.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Prints JSON: every tool with its version, path and origin, the devices, and what the package's build lacks.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

/// One tool.
struct Finding {
    name: &'static str,
    /// What it is for.
    purpose: &'static str,
    /// Whether every build needs it.
    is_required: bool,
    state: Result<Tool, String>,
}

/// A tool that is there.
struct Tool {
    version: String,
    place: PathBuf,
}

/// Prints a line for each tool, and then what the package's build lacks. Fails when a tool is
/// missing that every build needs, or that this one does.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let folder = options.selection.folder()?;
    let machine = match &folder {
        Some(folder) => Machine::of_package(folder)?,
        None => Machine::at(env::current_dir()?),
    };
    let rustc_version = tools::output(&tools::rustc(), &["-vV"]).unwrap_or_default();
    let sysroot = tools::output(&tools::rustc(), &["--print", "sysroot"]);
    let sysroot = sysroot.map(|printed| PathBuf::from(printed.trim()));
    let sysroot = sysroot.as_deref();
    let mut findings = vec![
        rustc(&rustc_version),
        llvm(sysroot, &rustc_version),
        linker(),
        lld(&rustc_version, sysroot),
        nvcc(&machine),
        clang(&machine, &rustc_version),
        ptxas(&machine),
        disassembler(&machine, "nvdisasm", "prints cubins, for `cargo kernelmill inspect`"),
        disassembler(&machine, "cuobjdump", "counts registers, for `cargo kernelmill report`"),
    ];
    if let Some(host_compiler) = host_compiler(&machine) {
        findings.insert(5, host_compiler);
    }
    let missing = machine.missing(&rustc_version)?;
    if options.json {
        println!("{:#}", as_json(&findings, &machine, folder.as_deref(), &missing));
    } else {
        print(&findings, &machine, folder.as_deref(), &missing);
    }
    let is_broken = findings.iter().any(|finding| finding.is_required && finding.state.is_err());
    Ok(ExitCode::from(u8::from(is_broken || !missing.is_empty())))
}

/// Prints a line for each tool and device, and what the package's build lacks.
fn print(findings: &[Finding], machine: &Machine, folder: Option<&Path>, missing: &Report) {
    findings.iter().for_each(|finding| finding.print(machine));
    for device in Device::all() {
        println!("{:8} {:10} {device}", "ok", "device");
    }
    for error in Device::unavailable() {
        println!("{:8} {:10} {error}", "absent", "device");
    }
    if let Some(folder) = folder {
        let targets = targets(machine).join(", ");
        println!("\nthe package in {} is built for {targets}", folder.display());
        if missing.is_empty() {
            println!("every tool that this needs is installed");
        } else {
            println!("{missing}");
        }
    }
}

fn targets(machine: &Machine) -> Vec<String> {
    machine.targets().iter().map(Target::to_string).collect()
}

fn as_json(
    findings: &[Finding],
    machine: &Machine,
    folder: Option<&Path>,
    missing: &Report,
) -> Value {
    let package = folder.map(|folder| {
        let lacks = (!missing.is_empty()).then(|| missing.to_string());
        json!({ "folder": folder, "targets": targets(machine), "missing": lacks })
    });
    let tools: Vec<_> = findings.iter().map(|finding| finding.as_json(machine)).collect();
    let devices: Vec<_> = Device::all().iter().map(Device::to_string).collect();
    let unavailable: Vec<_> = Device::unavailable().iter().map(ToString::to_string).collect();
    json!({ "tools": tools, "devices": devices, "unavailable_devices": unavailable, "package": package })
}

impl Finding {
    /// Prints a line; of a tool that is there, where it lies and who named that place.
    fn print(&self, machine: &Machine) {
        let Self { name, purpose, is_required, state } = self;
        match state {
            Ok(Tool { version, place }) => {
                let origin = self.origin(place, machine);
                println!("{:8} {name:10} {version:14} {} ({origin})", "ok", place.display());
            }
            Err(remedy) => {
                let mark = if *is_required { "MISSING" } else { "absent" };
                println!("{mark:8} {name:10} {purpose}: {remedy}");
            }
        }
    }

    /// Who named the place of a tool that is there.
    fn origin(&self, place: &Path, machine: &Machine) -> String {
        match self.name {
            // Cargo and the linker find these.
            "rustc" | "LLVM" | "rust-lld" => "the Rust toolchain".to_owned(),
            "cc" if env::var_os("CC").is_some() => "CC".to_owned(),
            _ => machine.origin(place),
        }
    }

    fn as_json(&self, machine: &Machine) -> Value {
        let Self { name, purpose, is_required, state } = self;
        let mut facts = json!({ "name": name, "purpose": purpose, "required": is_required });
        match state {
            Ok(Tool { version, place }) => {
                facts["version"] = json!(version);
                facts["path"] = json!(place);
                facts["origin"] = json!(self.origin(place, machine));
            }
            Err(remedy) => facts["remedy"] = json!(remedy),
        }
        facts
    }
}

fn rustc(version: &str) -> Finding {
    let program = tools::rustc();
    let place = match program.components().count() {
        1 => tools::on_path("rustc").unwrap_or(program),
        _ => program,
    };
    let release = line_of(version, "release: ");
    let state = release.map(|version| Tool { version, place });
    Finding {
        name: "rustc",
        purpose: "compiles kernels in Rust",
        is_required: true,
        state: state.ok_or_else(|| "install Rust with rustup, or set RUSTC".to_owned()),
    }
}

/// What follows a label at the beginning of a line.
fn line_of(text: &str, label: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(label)).map(str::to_owned)
}

/// Opens the library as a build does, which checks that every function it calls is there.
fn llvm(sysroot: Option<&Path>, rustc: &str) -> Finding {
    let path = match (env::var_os("KERNELMILL_LLVM"), sysroot) {
        (Some(path), _) => Ok(PathBuf::from(path)),
        (None, Some(sysroot)) => {
            let version = line_of(rustc, "LLVM version: ");
            let major = version.and_then(|version| version.split('.').next()?.trim().parse().ok());
            kernelmill_llvm::find_library(sysroot, major).map_err(|error| error.to_string())
        }
        (None, None) => Err("install Rust with rustup, or set RUSTC or KERNELMILL_LLVM".to_owned()),
    };
    let library = path.and_then(|path| Library::open(&path).map_err(|error| error.to_string()));
    let state = library.map(|library| Tool {
        version: library.version().to_string(),
        place: library.path().to_path_buf(),
    });
    let purpose = "optimises kernels and writes PTX, AMD and native code";
    Finding { name: "LLVM", purpose, is_required: true, state }
}

fn linker() -> Finding {
    let compiler = env::var_os("CC").map(PathBuf::from).or_else(|| tools::on_path("cc"));
    let state = compiler.and_then(|place| {
        let said = tools::output(&place, &["--version"])?;
        Some(Tool { version: number(&said)?, place })
    });
    Finding {
        name: "cc",
        purpose: "links programs; every Rust program needs it",
        is_required: true,
        state: state.ok_or_else(|| "install a C compiler: `apt-get install gcc`".to_owned()),
    }
}

/// The first version number in a text: `12.2.0`.
fn number(text: &str) -> Option<String> {
    let is_number =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    let mut words = text.split(|letter: char| letter.is_whitespace() || "(),".contains(letter));
    words.find(is_number).map(str::to_owned)
}

fn lld(rustc_version: &str, sysroot: Option<&Path>) -> Finding {
    let host = line_of(rustc_version, "host: ").unwrap_or_default();
    let path = sysroot.map(|sysroot| sysroot.join("lib/rustlib").join(host).join("bin/rust-lld"));
    let state = path.filter(|path| path.is_file()).map(|place| {
        let said = tools::output(&place, &["-flavor", "gnu", "--version"]).unwrap_or_default();
        Tool { version: number(&said).unwrap_or_else(|| "of rustc".to_owned()), place }
    });
    Finding {
        name: "rust-lld",
        purpose: "links AMD code objects (`gfx942`)",
        is_required: false,
        state: state.ok_or_else(|| "install Rust with rustup, which includes it".to_owned()),
    }
}

fn install_cuda() -> String {
    format!("`{}`", Machine::cuda_command())
}

fn nvcc(machine: &Machine) -> Finding {
    let state = match machine.nvcc() {
        Ok(Some(nvcc)) => Ok(Tool {
            version: format!("{}.{}", nvcc.release.0, nvcc.release.1),
            place: nvcc.program,
        }),
        Ok(None) => Err(install_cuda()),
        Err(error) => Err(error.to_string()),
    };
    let purpose = "compiles CUDA C++ for NVIDIA";
    Finding { name: "nvcc", purpose, is_required: false, state }
}

/// nvcc without a host compiler compiles nothing, not even PTX. `None` where there is no nvcc.
fn host_compiler(machine: &Machine) -> Option<Finding> {
    let nvcc = machine.nvcc().ok().flatten()?;
    let state = match nvcc.host_compiler {
        None => {
            Err("nvcc finds no C++ compiler that it supports: `apt-get install g++`".to_owned())
        }
        Some(place) => {
            let said = tools::output(&place, &["--version"]).unwrap_or_default();
            Ok(Tool { version: number(&said).unwrap_or_else(|| "unknown".to_owned()), place })
        }
    };
    let purpose = "is called by nvcc, which compiles nothing without it";
    Some(Finding { name: "host-c++", purpose, is_required: false, state })
}

fn clang(machine: &Machine, rustc_version: &str) -> Finding {
    let state = match machine.clang(rustc_version) {
        Ok(Some(clang)) => Ok(Tool {
            version: number(&clang.version).unwrap_or_else(|| clang.major.to_string()),
            place: clang.program,
        }),
        Ok(None) => Err(format!("`{}`", machine.clang_command(rustc_version))),
        Err(error) => Err(error.to_string()),
    };
    let purpose = "compiles CUDA C++ for the CPU and AMD, and for NVIDIA where nvcc is absent";
    Finding { name: "clang", purpose, is_required: false, state }
}

fn ptxas(machine: &Machine) -> Finding {
    let purpose = "assembles cubins (`sm_90`); PTX (`compute_75`) does not need it";
    cuda_tool(machine.ptxas(), "ptxas", purpose)
}

fn disassembler(machine: &Machine, name: &'static str, purpose: &'static str) -> Finding {
    cuda_tool(machine.cuda_tool(name), name, purpose)
}

fn cuda_tool(place: Option<PathBuf>, name: &'static str, purpose: &'static str) -> Finding {
    let state = place.and_then(|place| {
        let said = tools::output(&place, &["--version"])?;
        let (_, release) = said.split_once("release ")?;
        Some(Tool { version: release.split(',').next()?.to_owned(), place })
    });
    Finding { name, purpose, is_required: false, state: state.ok_or_else(install_cuda) }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn versions_are_picked_out_of_what_programs_print() {
        let number = |text| number(text).unwrap_or_default();
        assert_eq!(number("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"), "12.2.0");
        assert_eq!(number("Debian clang version 22.1.8 (1~deb12u1)"), "22.1.8");
        assert_eq!(number("nothing"), "");
    }
}
