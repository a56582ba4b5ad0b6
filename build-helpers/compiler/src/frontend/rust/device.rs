//! `kernelmill_device`, compiled once for a toolchain from the sources in its own package.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use hmac_sha256::Hash;
use kernelmill_device::sources;

use super::rustc::{extern_argument, run_rustc, rustc, write_into};
use crate::{
    Error,
    toolchain::{TemporaryFolder, Toolchain, read},
};

/// The compiled device crate.
#[derive(Debug)]
pub(crate) struct DeviceCrate {
    /// The folder with everything.
    pub(crate) folder: PathBuf,
    /// What `--extern kernelmill_device=` is given.
    pub(crate) metadata: PathBuf,
    /// Its functions that are not generic.
    pub(crate) bitcode: Vec<u8>,
}

const METADATA: &str = "libkernelmill_device.rmeta";
const BITCODE: &str = "kernelmill_device.bc";
const EDITION: &str = "2024";

/// A digest of the device crate's sources, made when this crate was built: each build of kernels asks for it.
pub(crate) const DEVICE_DIGEST: &str = env!("KERNELMILL_DEVICE_DIGEST");

/// A digest of a file; empty where it cannot be read, which whoever needs it reports.
pub(crate) fn file_digest(path: &Path) -> String {
    fs::read(path).map_or_else(|_| String::new(), |bytes| hex(&Hash::hash(&bytes)))
}

/// Gives the device crate compiled for the toolchain, from the scratch folder where it is there.
pub(crate) fn build_device_crate(toolchain: &Toolchain) -> Result<DeviceCrate, Error> {
    let mut hash = Hash::new();
    for part in [DEVICE_DIGEST, &*toolchain.rustc_version, &*toolchain.host] {
        hash.update(part);
        hash.update([0]);
    }
    let name = format!("device-{}", &hex(&hash.finalize())[..24]);
    let folder = toolchain.scratch.join(name);
    if !folder.join(BITCODE).exists() {
        compile(toolchain, &folder)?;
    }
    let bitcode = read(&folder.join(BITCODE))?;
    Ok(DeviceCrate { metadata: folder.join(METADATA), folder, bitcode })
}

/// Compiles into a temporary folder and moves it into place whole; where another process was
/// faster, its folder stays.
fn compile(toolchain: &Toolchain, folder: &Path) -> Result<(), Error> {
    let temporary = TemporaryFolder::new(&toolchain.scratch, "device")?;
    let path = &temporary.path;
    let macros = write_sources(&path.join("macros"), sources::MACROS)?;
    let device = write_sources(&path.join("device"), sources::DEVICE)?;

    let library = path.join(format!(
        "{}kernelmill_device_macros{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ));
    let mut command = std::process::Command::new(&toolchain.rustc);
    command.args(["--edition", EDITION, "--crate-type", "proc-macro", "--cap-lints", "allow"]);
    command.args(["--crate-name", "kernelmill_device_macros", "-C", "debuginfo=0"]);
    command.arg("-o").arg(&library).arg(&macros);
    run_rustc(command, toolchain, "kernelmill-device")?;

    let mut command = rustc(toolchain, EDITION);
    command.args(["--crate-type", "rlib", "--crate-name", "kernelmill_device"]);
    command.args(["--cap-lints", "allow"]);
    // By default the files have the names that METADATA and BITCODE say.
    write_into(&mut command, path, "metadata,llvm-bc");
    command.arg("--extern").arg(extern_argument("kernelmill_device_macros", &library));
    command.arg("--remap-path-prefix").arg(extern_argument_reversed(&path.join("device")));
    command.arg(&device);
    run_rustc(command, toolchain, "kernelmill-device")?;

    if let Err(source) = fs::rename(path, folder)
        && !folder.join(BITCODE).exists()
    {
        return Err(Error::Io { action: "create", path: folder.to_owned(), source });
    }
    Ok(())
}

/// `path=kernelmill_device`, so that no folder of this machine is in the code.
fn extern_argument_reversed(path: &Path) -> std::ffi::OsString {
    let mut text = path.as_os_str().to_owned();
    text.push("=kernelmill_device");
    text
}

/// Writes sources into a folder and gives the path of `lib.rs`.
fn write_sources(folder: &Path, files: &[(&str, &str)]) -> Result<PathBuf, Error> {
    for (name, text) in files {
        let path = folder.join(name);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, text)
        };
        write().map_err(|source| Error::Io { action: "write", path: path.clone(), source })?;
    }
    Ok(folder.join("lib.rs"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
