//! `cargo kernelmill diff`: what has become of each kernel's code since a revision.

use crate::{
    assembly,
    package::Selection,
    report::{self, Usage, text},
    tools,
};
use anyhow::{Context as _, Result, bail, ensure};
use kernelmill_artifact::Target;
use kernelmill_build::{dump::kernel_of, manifest::BinaryKind};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Against what.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The revision of git that the working tree is compared with.
    #[arg(default_value = "HEAD")]
    revision: String,
    /// Compares the code for this target, `compute_75` or `sm_90`, instead of the targets of the
    /// configuration.
    #[arg(long)]
    target: Option<String>,
    /// Prints the lines that differ.
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    selection: Selection,
}

/// A kernel in one binary.
struct Code {
    /// PTX or SASS, without what only says where it comes from.
    text: String,
    /// What it takes; known for cubins.
    usage: Option<Usage>,
}

/// The kernels of a build, by target and name.
type Kernels = BTreeMap<(String, String), Code>;

/// Builds the package twice, as it is and as it was, and prints a line for each kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(text) = &options.target
        && !matches!(text.parse()?, Target::Ptx(_) | Target::Cubin(_))
    {
        bail!("`{text}` cannot be compared as text: ask for `compute_75` or `sm_90`");
    }
    let folder = options.selection.folder()?.context("say which package with --package")?;
    let now = kernels(&options.selection, options.target.as_deref())?;
    let before = {
        let checkout = Checkout::new(&folder, &options.revision)?;
        // Beside the package's own builds, so that what it depends on is compiled once.
        let target_dir = options.selection.target_directory()?.join("kernelmill-diff");
        let selection = Selection::of_manifest(checkout.package.join("Cargo.toml"), target_dir);
        kernels(&selection, options.target.as_deref())?
    };
    ensure!(!now.is_empty() || !before.is_empty(), "there is no PTX and no cubin to compare");
    print(&before, &now, options.text)
}

/// Builds a package, and reads its kernels.
fn kernels(selection: &Selection, target: Option<&str>) -> Result<Kernels> {
    let built = selection.build(target)?;
    let mut found = Kernels::new();
    for binary in built.manifest.binaries.iter().filter(|binary| assembly::is_printable(binary)) {
        let text = assembly::text(binary.kind, &built.path(&binary.file))?;
        for kernel in &binary.kernels {
            let text = kernel_of(&text, &kernel.entry).unwrap_or_default();
            let is_cubin = binary.kind == BinaryKind::Cubin;
            let usage = is_cubin.then(|| report::usage(binary, kernel, text));
            let code = Code { text: bare(text), usage };
            found.insert((binary.target.clone(), report::name(&built, kernel).to_owned()), code);
        }
    }
    Ok(found)
}

/// Code without source lines and comments: those move with every edit of a file.
fn bare(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let is_code = |line: &&str| !line.is_empty() && !line.trim_start().starts_with(".loc");
    let mut bare: String = lines.filter(is_code).collect::<Vec<_>>().join("\n");
    bare.push('\n');
    bare
}

/// A revision of the repository in a folder of its own, until it is dropped.
struct Checkout {
    repository: PathBuf,
    folder: PathBuf,
    /// The package in it.
    package: PathBuf,
    /// What the folder lies in, which is removed after it.
    _temporary: TempDir,
}

impl Checkout {
    fn new(package: &Path, revision: &str) -> Result<Self> {
        let package = package.canonicalize()?;
        let path = package.display().to_string();
        let root = tools::output(Path::new("git"), &["-C", &path, "rev-parse", "--show-toplevel"]);
        let root = root.context("git knows no repository here, to compare with")?;
        let repository = PathBuf::from(root.trim()).canonicalize()?;
        let inside =
            package.strip_prefix(&repository).context("the package is in the repository")?;
        let temporary = tempfile::tempdir().context("a temporary folder cannot be made")?;
        let folder = temporary.path().join("revision");
        let status = Command::new("git")
            .arg("-C")
            .arg(&repository)
            .args(["worktree", "add", "--quiet", "--force", "--detach"])
            .args([folder.as_os_str(), revision.as_ref()])
            .status()
            .context("git cannot be started")?;
        ensure!(status.success(), "git cannot check out `{revision}`");
        let package = folder.join(inside);
        let checkout = Self { repository, folder, package, _temporary: temporary };
        let manifest = checkout.package.join("Cargo.toml");
        ensure!(manifest.is_file(), "the package is not there yet in `{revision}`");
        Ok(checkout)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.repository).args(["worktree", "remove", "--force"]);
        // What is left goes with the temporary folder, and `git worktree prune` forgets it.
        let _ = command.arg(&self.folder).status();
    }
}

/// A line for each kernel, in the order of targets and names.
fn print(before: &Kernels, now: &Kernels, with_text: bool) -> Result<()> {
    let keys: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let mut last = "";
    for key in keys {
        let (target, name) = key;
        if target != last {
            println!("{target}:");
            last = target;
        }
        match (before.get(key), now.get(key)) {
            (Some(before), Some(now)) if before.text == now.text => println!("  same     {name}"),
            (Some(before), Some(now)) => {
                println!("  changed  {name}: {}", numbers(before, now));
                if with_text {
                    lines(before, now)?;
                }
            }
            (None, _) => println!("  new      {name}"),
            (_, None) => println!("  gone     {name}"),
        }
    }
    Ok(())
}

/// What has changed in numbers: `registers 12 -> 16, instructions 40 -> 44`.
fn numbers(before: &Code, now: &Code) -> String {
    let mut parts = Vec::new();
    let mut compare = |what: &str, before: String, now: String| {
        if before != now {
            parts.push(format!("{what} {before} -> {now}"));
        }
    };
    match (&before.usage, &now.usage) {
        (Some(before), Some(now)) => {
            let (old, new) = (before.resources, now.resources);
            compare("registers", text(old.registers), text(new.registers));
            compare("spill stores", text(old.spill_stores), text(new.spill_stores));
            compare("spill loads", text(old.spill_loads), text(new.spill_loads));
            compare("stack", before.stack_text(), now.stack_text());
            compare("shared", text(old.static_shared_bytes), text(new.static_shared_bytes));
            compare("local", text(before.local), text(now.local));
            compare("instructions", text(before.instructions), text(now.instructions));
        }
        _ => {
            let lines = |code: &Code| code.text.lines().count().to_string();
            compare("lines", lines(before), lines(now));
        }
    }
    if parts.is_empty() { "other code of the same size".to_owned() } else { parts.join(", ") }
}

/// Lets git print the lines that differ.
fn lines(before: &Code, now: &Code) -> Result<()> {
    let folder = tempfile::tempdir().context("a temporary folder cannot be made")?;
    fs::write(folder.path().join("before"), &before.text)?;
    fs::write(folder.path().join("now"), &now.text)?;
    let mut command = Command::new("git");
    command.args(["--no-pager", "diff", "--no-index", "--no-prefix", "before", "now"]);
    // It ends with 1 where files differ.
    command.current_dir(&folder).status().context("git cannot be started").map(drop)
}

#[cfg(test)]
mod tests {
    use super::{Code, bare, numbers};
    use crate::report::Usage;

    #[test]
    fn source_lines_and_comments_do_not_count() {
        let text = "{\n\t.loc 1 2 3\n\tadd.f32 %f1, %f2, %f3; // here\n\n// there\n}";
        assert_eq!(bare(text), "{\n\tadd.f32 %f1, %f2, %f3;\n}\n");
    }

    /// Acceptance: S3.14.
    #[test]
    fn only_numbers_that_differ_are_said() {
        let code = |registers, instructions| {
            let mut usage = Usage { instructions: Some(instructions), ..Usage::default() };
            usage.resources.registers = Some(registers);
            usage.resources.spill_stores = Some(registers - 8);
            Code { text: String::new(), usage: Some(usage) }
        };
        assert_eq!(numbers(&code(8, 20), &code(12, 20)), "registers 8 -> 12, spill stores 0 -> 4");
        let said = numbers(&code(8, 20), &code(8, 22));
        assert_eq!(said, "instructions 20 -> 22");
        assert_eq!(numbers(&code(8, 20), &code(8, 20)), "other code of the same size");
    }
}
