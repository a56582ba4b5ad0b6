//! `cargo kernelmill new`: a package with a kernel that builds, runs and has a test, or with the kernels of a CUDA program.

mod ported;

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;
use minijinja::{Environment, context};
use serde_json::json;
use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Where, and what in.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder of the package, which is created.
    path: PathBuf,
    /// The package's name; by default that of the folder.
    #[arg(long)]
    name: Option<String>,
    /// What the kernel is written in.
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    language: Language,
    /// A CUDA program, a `.cu` file with its launch code: the package gets its kernels, and a program that launches each.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// A checkout of kernelmill to depend on, instead of the published crates.
    #[arg(long, value_name = "FOLDER")]
    kernelmill_path: Option<PathBuf>,
    /// Print JSON: the folder, the language, the files that were written, and what `--from` leaves to be done.
    #[arg(long)]
    json: bool,
}

/// The language of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Stable Rust.
    Rust,
    /// CUDA C++, through nvcc or clang.
    Cuda,
    /// HIP, through clang.
    Hip,
    /// OpenCL C, through clang.
    Opencl,
    /// WGSL, through naga, for devices of Vulkan.
    Wgsl,
}

impl Language {
    /// Its name, the file of its kernel with the text, and the feature of the run time that its first GPUs need.
    fn starter(self) -> (&'static str, (&'static str, &'static str), &'static str) {
        match self {
            Self::Rust => ("rust", ("kernels/saxpy.rs", RUST), "cuda"),
            Self::Cuda => ("cuda", ("kernels/saxpy.cu", CUDA), "cuda"),
            Self::Hip => ("hip", ("kernels/saxpy.hip", HIP), "hip"),
            Self::Opencl => ("opencl", ("kernels/saxpy.cl", OPENCL), "opencl"),
            Self::Wgsl => ("wgsl", ("kernels/saxpy.wgsl", WGSL), "wgpu"),
        }
    }
}

const MANIFEST: &str = include_str!("../../templates/starter/manifest.toml.j2");
const MAIN: &str = include_str!("../../templates/starter/main.rs.j2");
const BUILD: &str = include_str!("../../templates/starter/build.rs");
const RUST: &str = include_str!("../../templates/starter/saxpy.rs");
const CUDA: &str = include_str!("../../templates/starter/saxpy.cu");
const HIP: &str = include_str!("../../templates/starter/saxpy.hip");
const OPENCL: &str = include_str!("../../templates/starter/saxpy.cl");
const WGSL: &str = include_str!("../../templates/starter/saxpy.wgsl");

/// Lets cargo make the package, and adds the kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    let dependencies = Dependencies::new(options.kernelmill_path.as_deref())?;
    ensure!(
        options.from.is_none() || options.language == Language::Cuda,
        "`--from` takes a program in CUDA C++: write `--language cuda` too"
    );
    let ported = options.from.as_deref().map(ported::port).transpose()?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["new", "--quiet", "--bin"]).arg(&options.path);
    if let Some(name) = &options.name {
        command.args(["--name", name]);
    }
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo new` failed: its error is above");

    let (language, kernel, feature) = options.language.starter();
    let Dependencies { run_time, build_side, device } = dependencies;
    // Of a program the settings are its own.
    let shown = if ported.is_some() { "ported" } else { language };
    let values = context! { language => shown, feature, run_time, build_side, device };
    let path = options.path.join("Cargo.toml");
    let manifest = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let manifest = with_dependencies(&manifest, &render(MANIFEST, &values)?)?;
    let (kernels, main, settings, notes) = match ported {
        Some(ported) => (ported.files, ported.main, ported.settings, ported.notes),
        None => {
            let kernel = (kernel.0.to_owned(), kernel.1.to_owned());
            (vec![kernel], render(MAIN, &values)?, String::new(), Vec::new())
        }
    };
    let mut files = vec![
        ("Cargo.toml".to_owned(), manifest + &settings),
        ("build.rs".to_owned(), BUILD.to_owned()),
        ("src/main.rs".to_owned(), main),
    ];
    files.extend(kernels);
    for (name, text) in &files {
        write(&options.path.join(name), text)?;
    }
    if options.from.is_some() {
        // Lines of a program's names may be long; without rustfmt they stay so.
        let _ = Command::new("rustfmt")
            .args(["--edition", "2024"])
            .arg(options.path.join("src/main.rs"))
            .status();
    }
    if options.json {
        let names: Vec<_> = files.iter().map(|(name, _)| name).collect();
        let mut made = json!({ "folder": options.path, "language": language, "files": names });
        if options.from.is_some() {
            made["notes"] = json!(notes);
        }
        println!("{made:#}");
    } else if options.from.is_some() {
        println!(
            "created {}: write what `fill_in` names in src/main.rs in its place; then `cargo run` launches its kernels",
            options.path.display()
        );
        notes.iter().for_each(|note| println!("- {note}"));
    } else {
        println!(
            "created {}: `cargo run` in this folder launches its kernel",
            options.path.display()
        );
    }
    Ok(())
}

/// How the package names kernelmill's crates: version or path.
struct Dependencies {
    run_time: String,
    build_side: String,
    device: String,
}

impl Dependencies {
    fn new(checkout: Option<&Path>) -> Result<Self> {
        let Some(checkout) = checkout else {
            let version =
                concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
            let version = format!("version = \"{version}\"");
            let [run_time, build_side] = [version.clone(), version.clone()];
            return Ok(Self { run_time, build_side, device: version });
        };
        let checkout = checkout.canonicalize().with_context(|| checkout.display().to_string())?;
        let build = checkout.join("build-helpers/build-script");
        if !build.join("Cargo.toml").is_file() {
            bail!("{} is not a checkout of kernelmill", checkout.display());
        }
        // A literal string: a path may hold backslashes.
        let path = |folder: &Path| format!("path = '{}'", folder.display());
        let device = path(&checkout.join("build-helpers/device"));
        Ok(Self { run_time: path(&checkout), build_side: path(&build), device })
    }
}

/// The manifest that cargo has written, with dependencies and settings.
fn with_dependencies(manifest: &str, addition: &str) -> Result<String> {
    let heading = "[dependencies]\n";
    let (before, after) = manifest.split_once(heading).context(
        "internal error of kernelmill: cargo has written a manifest without `[dependencies]`; please report it",
    )?;
    let mut text = format!("{before}{heading}{addition}");
    text.truncate(text.trim_end().len());
    writeln!(text)?;
    // In a workspace with lints there are those of the package.
    let after = after.trim();
    ensure!(
        after.is_empty() || after.starts_with('['),
        "internal error of kernelmill: cargo has written a manifest with dependencies; please report it"
    );
    if !after.is_empty() {
        writeln!(text, "\n{after}")?;
    }
    Ok(text)
}

fn render(template: &str, values: &minijinja::Value) -> Result<String> {
    // The last line end of a template is not part of what it renders to.
    Ok(Environment::new().render_str(template, values)? + "\n")
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::with_dependencies;

    #[test]
    fn tables_that_cargo_writes_in_a_workspace_stay() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\n\n[lints]\nworkspace = true\n";
        let with = with_dependencies(manifest, "kernelmill = \"0.1\"\n").unwrap();
        let expected = "[package]\nname = \"a\"\n\n[dependencies]\nkernelmill = \"0.1\"\n\n[lints]\nworkspace = true\n";
        assert_eq!(with, expected);
        let alone = with_dependencies("[dependencies]\n", "kernelmill = \"0.1\"\n").unwrap();
        assert_eq!(alone, "[dependencies]\nkernelmill = \"0.1\"\n");
    }
}
