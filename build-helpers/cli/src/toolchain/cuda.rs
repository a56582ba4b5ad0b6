//! NVIDIA's compiler and its tools from NVIDIA's own Python packages, which need no root and bring
//! no driver.

use super::installed::{installed, unused};
use crate::tools;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The packages whose version is that of CUDA.
const PACKAGES: [&str; 7] = [
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "nvidia-cuda-crt",
    "nvidia-cuda-runtime",
    "nvidia-cuda-cuobjdump",
    "nvidia-cuda-nvdisasm",
    "nvidia-nvjitlink",
];
/// The C++ libraries count their versions in a way of their own, and go with every CUDA 13.
const LIBRARIES: &str = "nvidia-cuda-cccl==13.*";
/// A kernel whose headers are in three of the packages.
const TRIAL: &str =
    "#include <cuda_fp16.h>\n__global__ void trial(__half *y) { *y = __float2half(1.0f); }\n";

/// Installs a release, or the newest, whole or not at all.
pub(super) fn install(
    base: &Path,
    version: Option<&str>,
    force: bool,
    is_json: bool,
) -> Result<()> {
    let found = is_installed(base, version).filter(|_| !force);
    if is_json && let Some(folder) = &found {
        println!("{:#}", json!({ "folder": folder, "was_installed": true }));
        return Ok(());
    }
    if let Some(folder) = found {
        println!("{} is installed already; `--force` installs it again", folder.display());
        return Ok(());
    }
    let python = python()?;
    let part = unused(&base.join("cuda"));
    let result = fetch(&python, &part, version, is_json).and_then(|()| {
        let release = check(&part)?;
        let folder = base.join(format!("cuda-{release}"));
        replace(&part, &folder)?;
        Ok((release, folder))
    });
    if part.exists() {
        // What is left of a failure; where it cannot be removed, nothing uses it.
        let _ = fs::remove_dir_all(&part);
    }
    let (release, folder) = result?;
    if is_json {
        println!("{:#}", json!({ "folder": folder, "was_installed": false, "release": release }));
        return Ok(());
    }
    println!("CUDA {release} is installed in {}; builds find it by themselves", folder.display());
    Ok(())
}

/// A folder that holds what is asked for.
fn is_installed(base: &Path, version: Option<&str>) -> Option<PathBuf> {
    let name = version.map_or_else(|| "cuda-".to_owned(), |version| format!("cuda-{version}"));
    let is_it = |path: &PathBuf| {
        let found = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if version.is_some() { found == name } else { found.starts_with(&name) }
    };
    installed(base).into_iter().find(is_it)
}

/// A Python with pip.
fn python() -> Result<PathBuf> {
    let found = ["python3", "python"].into_iter().find_map(tools::on_path);
    let python = found.context(
        "Python, which fetches NVIDIA's packages, was not found: install it with `apt-get install python3 python3-pip`",
    )?;
    let has_pip = tools::output(&python, &["-m", "pip", "--version"]).is_some();
    ensure!(
        has_pip,
        "{} has no pip: install it with `apt-get install python3-pip`",
        python.display()
    );
    Ok(python)
}

fn fetch(python: &Path, part: &Path, version: Option<&str>, is_quiet: bool) -> Result<()> {
    let release = version.unwrap_or("13");
    if !is_quiet {
        println!("fetching CUDA {release} (about 130 MB) into {}", part.display());
    }
    if let Some(base) = part.parent() {
        fs::create_dir_all(base).with_context(|| base.display().to_string())?;
    }
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--target"]);
    command.arg(part);
    if is_quiet {
        command.arg("--quiet");
    }
    // pip's advice about root is for those who install into the system.
    command.env("PIP_ROOT_USER_ACTION", "ignore");
    command.args(PACKAGES.map(|package| format!("{package}=={release}.*"))).arg(LIBRARIES);
    let status = command.status().with_context(|| python.display().to_string())?;
    ensure!(
        status.success(),
        "pip could not install CUDA {release}, its errors are above: check that this release exists and that the \
         package index can be reached"
    );
    Ok(())
}

/// Compiles a kernel with what was fetched; gives its release.
fn check(part: &Path) -> Result<String> {
    let bin = nvcc_folder(part).context("the packages contain no nvcc for this system")?;
    let nvcc = bin.join(format!("nvcc{}", std::env::consts::EXE_SUFFIX));
    let said = tools::output(&nvcc, &["--version"]);
    let said = said.with_context(|| format!("{} does not start", nvcc.display()))?;
    let release = said.split_once("release ").and_then(|(_, rest)| rest.split(',').next());
    let release = release.context("`nvcc --version` does not print a release")?.to_owned();
    let source = part.join("trial.cu");
    fs::write(&source, TRIAL)?;
    let cubin = part.join("trial.cubin");
    let output = Command::new(&nvcc).arg("-cubin").arg(&source).arg("-o").arg(&cubin).output()?;
    if !output.status.success() || !cubin.is_file() {
        bail!(
            "nvcc {release} was fetched, but cannot compile a test kernel; it needs a C++ compiler that it supports \
             (`apt-get install g++`):\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    fs::remove_file(&source)?;
    fs::remove_file(&cubin)?;
    Ok(release)
}

/// `nvidia/cu13/bin` in the folder of the packages.
fn nvcc_folder(part: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(part.join("nvidia")).ok()?.filter_map(Result::ok);
    let mut folders: Vec<_> = entries.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let name = format!("nvcc{}", std::env::consts::EXE_SUFFIX);
    folders.into_iter().find(|folder| folder.join(&name).is_file())
}

/// Moves a folder to its place, where there may be an older one.
fn replace(part: &Path, folder: &Path) -> Result<()> {
    let old = unused(folder);
    if folder.exists() {
        fs::rename(folder, &old).with_context(|| folder.display().to_string())?;
    }
    fs::rename(part, folder).with_context(|| folder.display().to_string())?;
    if old.exists() {
        // Where it cannot be removed, nothing uses it.
        let _ = fs::remove_dir_all(&old);
    }
    Ok(())
}
