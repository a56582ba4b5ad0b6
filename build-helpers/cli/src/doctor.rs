//! `cargo kernelmill doctor`: the tools that kernelmill uses.

use crate::tools;
use kernelmill::Device;
use kernelmill_llvm::Library;
use std::{env, path::PathBuf, process::ExitCode};

/// One tool.
struct Finding {
    name: &'static str,
    /// What cannot be done without it.
    purpose: &'static str,
    required: bool,
    /// What was found, or what to do.
    state: Result<String, String>,
}

/// Prints a line for each tool; fails when one is missing that every build needs.
pub(crate) fn run() -> ExitCode {
    let sysroot = sysroot();
    let findings = [rustc(), llvm(sysroot.as_ref()), linker(), lld(sysroot.as_ref()), ptxas()];
    for finding in &findings {
        let (mark, text) = match (&finding.state, finding.required) {
            (Ok(found), _) => ("ok", found),
            (Err(mend), true) => ("MISSING", mend),
            (Err(mend), false) => ("absent", mend),
        };
        println!("{mark:8} {:10} {text}", finding.name);
        println!("{:19} {}", "", finding.purpose);
    }
    for device in Device::all() {
        println!("{:8} {:10} {device}", "ok", "device");
    }
    let broken = findings.iter().filter(|finding| finding.required && finding.state.is_err());
    ExitCode::from(u8::from(broken.count() > 0))
}

fn sysroot() -> Option<PathBuf> {
    let printed = tools::output(&tools::rustc(), &["--print", "sysroot"])?;
    Some(PathBuf::from(printed.trim()))
}

fn rustc() -> Finding {
    let version = tools::output(&tools::rustc(), &["--version"]);
    let state = version.map(|version| version.trim().to_owned());
    Finding {
        name: "rustc",
        purpose: "compiles kernels in Rust",
        required: true,
        state: state.ok_or_else(|| "install Rust with rustup, or set RUSTC".to_owned()),
    }
}

/// Opens the library as a build does, which checks that every function it calls is there.
fn llvm(sysroot: Option<&PathBuf>) -> Finding {
    let path = match (env::var_os("KERNELMILL_LLVM"), sysroot) {
        (Some(path), _) => Ok(PathBuf::from(path)),
        (None, Some(sysroot)) => kernelmill_llvm::find_in_sysroot(sysroot),
        (None, None) => Ok(PathBuf::from("no Rust toolchain was found")),
    };
    let library = path.and_then(|path| Library::open(&path));
    let state = match library {
        Ok(library) => Ok(format!("LLVM {} at {}", library.version(), library.path().display())),
        Err(error) => Err(error.to_string()),
    };
    let purpose = "optimises kernels and writes PTX, AMD and native code";
    Finding { name: "LLVM", purpose, required: true, state }
}

fn linker() -> Finding {
    let compiler = env::var_os("CC").map(PathBuf::from).or_else(|| tools::on_path("cc"));
    let version = compiler.as_ref().and_then(|path| tools::output(path, &["--version"]));
    let state = version.and_then(|version| Some(version.lines().next()?.to_owned()));
    Finding {
        name: "cc",
        purpose: "links programs; every Rust program needs it",
        required: true,
        state: state.ok_or_else(|| "install a C compiler: `apt-get install gcc`".to_owned()),
    }
}

fn lld(sysroot: Option<&PathBuf>) -> Finding {
    let version = tools::output(&tools::rustc(), &["-vV"]).unwrap_or_default();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let path = sysroot.map(|sysroot| sysroot.join("lib/rustlib").join(host).join("bin/rust-lld"));
    let path = path.filter(|path| path.is_file());
    let state = path.map(|path| path.display().to_string());
    Finding {
        name: "rust-lld",
        purpose: "links AMD code objects (`gfx942`)",
        required: false,
        state: state.ok_or_else(|| "install Rust with rustup, which brings it".to_owned()),
    }
}

fn ptxas() -> Finding {
    let path = match env::var_os("KERNELMILL_PTXAS") {
        Some(path) => Some(PathBuf::from(path)),
        None => tools::of_cuda("ptxas"),
    };
    let state = path.and_then(|path| {
        let version = tools::output(&path, &["--version"])?;
        let release = version.lines().find(|line| line.contains("release"))?.to_owned();
        Some(format!("{release} at {}", path.display()))
    });
    let mend = "install CUDA, or `python3 -m pip install --target target/toolchains nvidia-cuda-nvcc`; \
                PTX (`compute_75`) needs none";
    Finding {
        name: "ptxas",
        purpose: "assembles cubins (`sm_90`)",
        required: false,
        state: state.ok_or_else(|| mend.to_owned()),
    }
}
