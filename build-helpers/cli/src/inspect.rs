//! `cargo kernelmill inspect`: what a kernel was compiled to, as text, and for the CPU how its threads
//! run.

use crate::{bindings::Names, package::Selection, tools};
use anyhow::{Context as _, Result, bail};
use kernelmill_artifact::Target;
use kernelmill_build::toolchain::Machine;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kernel: the name of its wrapper, or its symbol.
    kernel: String,
    /// What it is compiled for: `compute_75` prints PTX, `sm_90` SASS (by nvdisasm), and `cpu` which
    /// road its threads take, with the reason.
    #[arg(long, default_value = "compute_75")]
    target: String,
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package for the one target, and prints the kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target: Target = options.target.parse()?;
    let extension = match target {
        Target::Ptx(_) => "ptx",
        Target::Cubin(_) => "cubin",
        Target::Cpu => return road(options),
        _ => bail!("`{target}` cannot be printed as text: ask for `compute_75`, `sm_90` or `cpu`"),
    };
    let built = options.selection.build(Some(&options.target))?;
    let wrappers = Names::read(&built.folder)?;
    let mut names = Vec::new();
    for file in binaries(&built.folder, extension, Some(&options.target))? {
        let text = text(&file)?;
        let symbols = kernel_names(&text);
        let is_wanted =
            |symbol: &&String| **symbol == options.kernel || wrappers.of(symbol) == options.kernel;
        if let Some(symbol) = symbols.iter().find(is_wanted)
            && let Some(part) = kernel_text(&text, symbol)
        {
            println!("{part}");
            return Ok(());
        }
        names.extend(symbols.iter().map(|symbol| wrappers.of(symbol).to_owned()));
    }
    bail!("`{}` has no kernel `{}`, only: {}", built.name, options.kernel, names.join(", "))
}

/// Builds the package for the CPU, and prints how the kernel's threads run there.
fn road(options: &Options) -> Result<()> {
    let built = options.selection.build(Some(&options.target))?;
    let wrappers = Names::read(&built.folder)?;
    let mut names = Vec::new();
    for file in binaries(&built.folder, "txt", Some("roads"))? {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for (symbol, road) in text.lines().filter_map(|line| line.split_once(": ")) {
            let name = wrappers.of(symbol);
            if [symbol, name].contains(&options.kernel.as_str()) {
                println!("{road}");
                return Ok(());
            }
            names.push(name.to_owned());
        }
    }
    bail!("`{}` has no kernel `{}`, only: {}", built.name, options.kernel, names.join(", "))
}

/// The files of a kind, for a target or for all. Their names end in the target and the kind:
/// `saxpy.sm_90.cubin`, which is none for `sm_90a`.
pub(crate) fn binaries(
    folder: &Path,
    extension: &str,
    target: Option<&str>,
) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_right = path.extension().is_some_and(|found| found == extension)
            && path.file_stem().is_some_and(|stem| {
                let stem = stem.to_string_lossy();
                target.is_none_or(|target| stem.rsplit('.').next() == Some(target))
            });
        if is_right {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// PTX as it is, SASS as nvdisasm prints it.
pub(crate) fn text(path: &Path) -> Result<String> {
    if path.extension().is_some_and(|extension| extension == "ptx") {
        return Ok(fs::read_to_string(path)?);
    }
    let nvdisasm = Machine::at(env::current_dir()?).cuda_tool("nvdisasm").with_context(|| {
        format!("nvdisasm is not there: `{}` installs it", Machine::cuda_command())
    })?;
    let file = path.display().to_string();
    tools::output(&nvdisasm, &["-c", &file]).with_context(|| format!("nvdisasm refuses {file}"))
}

/// Where kernels begin, with their names: `.visible .entry saxpy(` in PTX, `.text.saxpy:` in SASS.
pub(crate) fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let place = start;
        start += line.len();
        let name = match line.split_once(".entry ") {
            Some((_, rest)) => rest.split('(').next(),
            None => line.trim().strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')),
        };
        name.map(|name| (place, name.trim()))
    })
}

fn kernel_names(text: &str) -> Vec<String> {
    entries(text).map(|(_, name)| name.to_owned()).collect()
}

/// From where a kernel begins to where the next one does, or to the end.
pub(crate) fn kernel_text<'a>(text: &'a str, kernel: &str) -> Option<&'a str> {
    let mut following = entries(text).skip_while(|(_, name)| *name != kernel);
    let (start, _) = following.next()?;
    let end = following.next().map_or(text.len(), |(end, _)| end);
    Some(text[start..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::{kernel_names, kernel_text};

    const PTX: &str =
        ".version 8.0\n.visible .entry first(\n a\n)\n{\n}\n.visible .entry second(\n)\n{ ret; }\n";

    #[test]
    fn kernels_of_ptx() {
        assert_eq!(kernel_names(PTX), ["first", "second"]);
        assert_eq!(kernel_text(PTX, "first"), Some(".visible .entry first(\n a\n)\n{\n}"));
        assert_eq!(kernel_text(PTX, "second"), Some(".visible .entry second(\n)\n{ ret; }"));
        assert_eq!(kernel_text(PTX, "fir"), None);
    }

    #[test]
    fn kernels_of_sass() {
        let sass = "x\n.text.first:\n  EXIT ;\n.text.second:\n  NOP;\n";
        assert_eq!(kernel_text(sass, "first"), Some(".text.first:\n  EXIT ;"));
    }
}
