//! `cargo kernelmill test-driver path`: the fake CUDA driver, built once and kept.

use anyhow::{Context as _, Result, ensure};
use clap::Subcommand;
use serde_json::json;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What to do with the fake driver.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Builds it where it is not there yet, and prints the folder for `LD_LIBRARY_PATH`.
    Path {
        /// Prints JSON: the folder, the library in it, and its version.
        #[arg(long)]
        json: bool,
    },
}

/// The library that programs open as the CUDA driver; some try the other name first.
const LIBRARY: &str = "libcuda.so.1";
const OTHER_NAME: &str = "libcuda.so";

/// Runs an action.
pub(crate) fn run(action: &Action) -> Result<()> {
    let Action::Path { json: is_json } = action;
    ensure!(cfg!(target_os = "linux"), "the fake driver works on Linux only");
    let folder = folder()?;
    if *is_json {
        let version = env!("CARGO_PKG_VERSION");
        let library = folder.join(LIBRARY);
        println!("{:#}", json!({ "folder": folder, "library": library, "version": version }));
    } else {
        println!("{}", folder.display());
    }
    Ok(())
}

/// The folder that holds the library, which is built if need be.
fn folder() -> Result<PathBuf> {
    let base = cache()?.join("kernelmill/test-driver");
    let source = source();
    let folder = base.join(env!("CARGO_PKG_VERSION"));
    // In a checkout of kernelmill its sources may have changed; cargo sees to it.
    if source.starts_with("version") && folder.join(LIBRARY).is_file() {
        return Ok(folder);
    }
    let package = base.join("build");
    write_package(&package, &source)?;
    let target = package.join("target");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if folder.join(LIBRARY).is_file() {
        cargo.arg("--quiet");
    } else {
        // Standard output is the folder alone.
        eprintln!("building the fake CUDA driver once, which takes some minutes");
    }
    let status = cargo
        .args(["build", "--release", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .stdout(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    ensure!(
        status.success(),
        "the fake driver could not be built in {}: cargo's errors are above",
        package.display()
    );
    install(&target.join("release/libcuda.so"), &folder)?;
    Ok(folder)
}

/// Moves the library into place whole, so that a program that has it open keeps the old one.
fn install(built: &Path, folder: &Path) -> Result<()> {
    let context = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(context)?;
    for name in [LIBRARY, OTHER_NAME] {
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::copy(built, &temporary).with_context(|| temporary.display().to_string())?;
        fs::rename(&temporary, folder.join(name)).with_context(context)?;
    }
    Ok(())
}

/// A package whose library is `fake-cuda` under the driver's name.
fn write_package(folder: &Path, source: &str) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"kernelmill-test-driver\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\nname = \"cuda\"\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nfake-cuda = {{ {source} }}\n\n[workspace]\n"
    );
    let files = [
        ("Cargo.toml", manifest.as_str()),
        ("src/lib.rs", "//! The fake driver.\npub use fake_cuda as driver;\n"),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Where the crate comes from: the checkout that this program was built in, or the registry.
fn source() -> String {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-driver/fake-cuda");
    match checkout.canonicalize() {
        Ok(path) => format!("path = {:?}", path.display().to_string()),
        Err(_) => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
    }
}

/// The user's cache folder.
fn cache() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set: set one of them, the fake driver is built below it")
}
