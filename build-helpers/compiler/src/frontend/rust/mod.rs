//! Kernels in Rust: compiled where they lie by the user's own rustc, for the host, without
//! optimisation; everything after that happens on the bitcode.
//!
//! Optimisation is left to the pipeline because rustc's own passes may duplicate a call to a
//! barrier before LLVM sees it, which is wrong on a GPU (`docs/src/adr/0003-opt-level-0.md`).

mod device;
mod layout;
mod lowered;
pub mod signature;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use kernelmill_artifact::Signature;

pub(crate) use device::{DeviceCrate, build_device_crate, device_digest, file_digest};
pub(crate) use layout::{LAYOUT_PREFIX, check as check_layouts, entries as layout_entries};
pub use lowered::Lowered;

use crate::{Error, Toolchain};

/// A kernel file in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustSource {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file as people know it, for example `kernels/saxpy.rs`: what panics and rustc's
    /// messages show.
    pub display: String,
    /// The folder of the package, absolute.
    pub package_root: PathBuf,
    /// The Rust edition of the package, for example `2024`.
    pub edition: String,
    /// What `--cfg` is given, besides `kernelmill`.
    pub cfgs: Vec<String>,
    /// Further arguments of rustc.
    pub arguments: Vec<String>,
    /// The kernels that the file defines.
    pub signatures: Vec<Signature>,
}

/// The options of rustc that give bitcode the compiler can work on: one module, not optimised,
/// with source lines.
pub const CODE_OPTIONS: &[&str] = &[
    "panic=abort",
    "codegen-units=1",
    "overflow-checks=off",
    "debug-assertions=off",
    "opt-level=0",
    "no-prepopulate-passes",
    "debuginfo=line-directives-only",
    "embed-bitcode=no",
];

/// The option of rustc that has it write down variables and types as well as source lines. After
/// [`CODE_OPTIONS`] it counts.
pub const FULL_DEBUG: &str = "debuginfo=full";

/// Compiles a kernel file to bitcode.
pub(crate) fn lower(
    toolchain: &Toolchain,
    device: &DeviceCrate,
    source: &RustSource,
) -> Result<Lowered, Error> {
    let folder = TemporaryFolder::new(&toolchain.scratch, &source.display)?;
    let (bitcode, dependencies) = (folder.path.join("k.bc"), folder.path.join("k.d"));
    let mut command = rustc(toolchain, &source.edition);
    command.current_dir(&source.package_root).args(["--crate-type", "rlib"]);
    command.args(["--crate-name", &crate_name(&source.path)]);
    command.arg("--emit").arg(emit(&[("llvm-bc", &bitcode), ("dep-info", &dependencies)]));
    keep_temporaries(&mut command, &folder.path);
    command.arg("--extern").arg(extern_argument("kernelmill_device", &device.metadata));
    command.arg("-L").arg(extern_argument("dependency", &device.folder));
    for cfg in &source.cfgs {
        command.args(["--cfg", cfg]);
    }
    command.args(&source.arguments).arg(input(source));
    if !source.path.starts_with(&source.package_root) {
        let (from, to) = (source.path.parent(), Path::new(&source.display).parent());
        let mut remap = from.unwrap_or(&source.path).as_os_str().to_owned();
        remap.push("=");
        remap.push(to.unwrap_or(Path::new("")));
        command.arg("--remap-path-prefix").arg(remap);
    }
    // The folder that rustc runs in is part of what it writes about source lines.
    let mut remap = source.package_root.as_os_str().to_owned();
    remap.push("=");
    command.arg("--remap-path-prefix").arg(remap);
    let warnings = run_rustc(command, &toolchain.rustc)?;
    let (inputs, variables) = read_dependencies(&dependencies, &source.package_root)?;
    let module = read(&bitcode)?;
    if !is_bitcode(&module) {
        let (rustc, display) = (toolchain.rustc.clone(), source.display.clone());
        return Err(Error::NotBitcode { rustc, display });
    }
    let modules = vec![module];
    let lowered = Lowered { modules, inputs, variables, warnings, ..Lowered::default() };
    check_layouts(&lowered.modules, &source.signatures)?;
    Ok(lowered)
}

/// The file as rustc is given it: relative to the package where it lies in it, so that no path of
/// a checkout gets into the code.
fn input(source: &RustSource) -> PathBuf {
    match source.path.strip_prefix(&source.package_root) {
        Ok(relative) => relative.to_owned(),
        Err(_) => source.path.clone(),
    }
}

/// rustc with the options of every kernel.
fn rustc(toolchain: &Toolchain, edition: &str) -> Command {
    let mut command = Command::new(&toolchain.rustc);
    command.args(["--edition", edition, "--target", &toolchain.host, "--cfg", "kernelmill"]);
    command.args(["--check-cfg", "cfg(kernelmill)"]);
    for option in CODE_OPTIONS {
        command.args(["-C", option]);
    }
    command
}

/// Lets rustc write what it removes again into a folder that no other run has: by default that is
/// the current one, where two runs on files of one name would take each other's files away.
fn keep_temporaries(command: &mut Command, folder: &Path) {
    command.arg("--out-dir").arg(folder);
}

/// Runs rustc and gives what it printed; an error where it fails.
fn run_rustc(mut command: Command, program: &Path) -> Result<String, Error> {
    let output =
        command.output().map_err(|source| Error::Start { program: program.to_owned(), source })?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(stderr) } else { Err(Error::Rustc { stderr }) }
}

/// Bitcode is raw or, for Apple's systems, in a wrapper.
fn is_bitcode(content: &[u8]) -> bool {
    content.starts_with(b"BC\xc0\xde") || content.starts_with(&0x0b17_c0de_u32.to_le_bytes())
}

/// `kind=path,kind=path`.
fn emit(outputs: &[(&str, &Path)]) -> OsString {
    let mut text = OsString::new();
    for (index, (kind, path)) in outputs.iter().enumerate() {
        if index > 0 {
            text.push(",");
        }
        text.push(extern_argument(kind, path));
    }
    text
}

/// `name=path`.
fn extern_argument(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(path);
    text
}

/// A crate name from a file name.
fn crate_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("kernel_{name}") } else { name }
}

/// The files that a dependency file in make's notation names, absolute, and the environment
/// variables.
fn read_dependencies(path: &Path, base: &Path) -> Result<(Vec<PathBuf>, Vec<String>), Error> {
    let text = String::from_utf8_lossy(&read(path)?).into_owned();
    // rustc writes one rule for the output and then an empty one for each input.
    let mut inputs: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| line.strip_suffix(':'))
        .map(|name| base.join(name.replace("\\ ", " ")))
        .collect();
    inputs.sort();
    inputs.dedup();
    let variables = text.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
    let variables = variables
        .map(|variable| variable.split('=').next().unwrap_or(variable).to_owned())
        .collect();
    Ok((inputs, variables))
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// A folder that is removed when it is dropped.
pub(crate) struct TemporaryFolder {
    pub(crate) path: PathBuf,
}

impl TemporaryFolder {
    /// A new folder under `parent`, with a name that starts with letters of `hint`.
    pub(crate) fn new(parent: &Path, hint: &str) -> Result<Self, Error> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let hint: String = hint.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{hint}.{}.{count}.tmp", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|source| Error::Io { path: path.clone(), source })?;
        Ok(Self { path })
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed lies among other temporary files and harms nothing.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_crate_names() {
        assert_eq!(crate_name(Path::new("kernels/my-kernel.v2.rs")), "my_kernel_v2");
        assert_eq!(crate_name(Path::new("3d.rs")), "kernel_3d");
    }

    #[test]
    fn dependency_files_are_read() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "deps").unwrap();
        let file = folder.path.join("k.d");
        let text = "/x/k.bc: kernels/a.rs kernels/b\\ c.rs\n\nkernels/a.rs:\nkernels/b\\ c.rs:\n\n# env-dep:SIZE=4\n# env-dep:OTHER\n";
        std::fs::write(&file, text).unwrap();
        let (inputs, variables) = read_dependencies(&file, Path::new("/p")).unwrap();
        assert_eq!(variables, ["SIZE", "OTHER"]);
        assert_eq!(inputs, [Path::new("/p/kernels/a.rs"), Path::new("/p/kernels/b c.rs")]);
    }
}
