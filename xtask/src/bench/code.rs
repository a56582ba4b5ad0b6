//! Registers, spills and instructions on sm_90: our cubins against nvcc's for the same kernels.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Message;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// The kernels compared, and the file in `benches/spine/nvcc` that has each in CUDA C++.
pub(crate) const KERNELS: [(&str, &str); 10] = [
    ("saxpy", "saxpy"),
    ("mandelbrot", "mandelbrot"),
    ("blur_rows", "photo"),
    ("blur_columns", "photo"),
    ("sobel", "photo"),
    ("reduce", "reduce"),
    ("matmul", "matmul"),
    ("accelerate", "nbody"),
    ("histogram", "histogram"),
    ("transpose", "transpose"),
];

/// The targets of our side: SASS is counted in the cubins, PTX that runs is another target's text.
const TARGETS: &str = "cpu,sm_90,compute_90";

/// What a kernel needs.
#[derive(Clone, Copy, Default)]
struct Cost {
    registers: u32,
    /// Bytes of stack a thread, where spilled registers lie.
    stack: u32,
    instructions: u32,
    /// Instructions that read or write the stack.
    local: u32,
}

type Costs = BTreeMap<String, Cost>;

/// Compiles both sides and compares.
pub(super) fn measure(workspace: &Workspace) -> Result<String> {
    let ours = costs(workspace, &our_files(workspace, "cubin")?)?;
    let theirs = costs(workspace, &nvcc_files(workspace, "cubin")?)?;
    let mut text = String::from(
        "| kernel | registers, ours / nvcc | stack bytes | SASS instructions, ours / nvcc | ratio |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let (mut logarithms, mut registers) = (0.0, 0.0);
    for (kernel, _) in KERNELS {
        let (a, b) = pair(&ours, &theirs, kernel)?;
        let ratio = f64::from(a.instructions) / f64::from(b.instructions);
        logarithms += ratio.ln();
        registers += (f64::from(a.registers) / f64::from(b.registers)).ln();
        writeln!(
            text,
            "| {kernel} | {} / {} | {} / {} ({} / {} accesses) | {} / {} | {ratio:.2} |",
            a.registers,
            b.registers,
            a.stack,
            b.stack,
            a.local,
            b.local,
            a.instructions,
            b.instructions,
        )?;
    }
    let count = KERNELS.len() as f64;
    writeln!(
        text,
        "\nGeometric means: {:.2} times nvcc's instructions, {:.2} times its registers (aim: 1.10 \
         each, and no spills). Ours check every index that is not proven, nvcc's check none. \
         `NOP`s after the end are not counted. nvcc {}.",
        (logarithms / count).exp(),
        (registers / count).exp(),
        nvcc_version(workspace)?,
    )?;
    Ok(text)
}

fn pair(ours: &Costs, theirs: &Costs, kernel: &str) -> Result<(Cost, Cost)> {
    let ours = ours.get(kernel).with_context(|| format!("{kernel} is in none of our cubins"))?;
    let theirs = theirs.get(kernel).with_context(|| format!("{kernel} is in no file of nvcc's"))?;
    Ok((*ours, *theirs))
}

pub(super) fn nvcc_version(workspace: &Workspace) -> Result<String> {
    let nvcc = workspace.cuda_program("nvcc")?;
    let text = workspace.shell.cmd(nvcc).arg("--version").quiet().read()?;
    let version = text.split_once("release ").map(|(_, rest)| rest.lines().next());
    Ok(version.flatten().context("nvcc says its version")?.to_owned())
}

/// The binaries of `tests/gpu-suite` and `tests/conformance` with this extension: the kernels of examples and tests.
pub(super) fn our_files(workspace: &Workspace, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in binary_folders(workspace, TARGETS)? {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == extension) {
                files.push(path);
            }
        }
    }
    ensure!(!files.is_empty(), "there is no {extension}");
    Ok(files)
}

/// Builds `gpu-suite` and what it depends on for these targets; the folders with the binaries of
/// kernels.
fn binary_folders(workspace: &Workspace, targets: &str) -> Result<Vec<PathBuf>> {
    let arguments = ["build", "--package", "gpu-suite", "--message-format=json"];
    let command = workspace.cargo(&arguments).env("KERNELMILL_TARGETS", targets);
    let printed = command.quiet().read()?;
    let mut folders = Vec::new();
    for message in Message::parse_stream(printed.as_bytes()) {
        if let Message::BuildScriptExecuted(script) = message? {
            let folder = script.out_dir.into_std_path_buf();
            if folder.join("kernels.rs").is_file() {
                folders.push(folder);
            }
        }
    }
    Ok(folders)
}

/// What nvcc makes of the kernels in CUDA C++: a `cubin` or `ptx` of each file.
pub(crate) fn nvcc_files(workspace: &Workspace, form: &str) -> Result<Vec<PathBuf>> {
    let (nvcc, folder) = (workspace.cuda_program("nvcc")?, workspace.target.join("tmp/nvcc"));
    std::fs::create_dir_all(&folder)?;
    let mut stems: Vec<&str> = KERNELS.iter().map(|(_, stem)| *stem).collect();
    stems.dedup();
    let mut files = Vec::new();
    for stem in stems {
        let source = workspace.root.join("benches/spine/nvcc").join(format!("{stem}.cu"));
        let file = folder.join(format!("{stem}.{form}"));
        let command = workspace.shell.cmd(&nvcc).args(["-arch=sm_90", "-O3"]);
        command.arg(format!("-{form}")).arg("-o").arg(&file).arg(&source).quiet().run()?;
        files.push(file);
    }
    Ok(files)
}

fn costs(workspace: &Workspace, cubins: &[PathBuf]) -> Result<Costs> {
    let mut costs = Costs::new();
    for cubin in cubins {
        resources(workspace, cubin, &mut costs)?;
        instructions(workspace, cubin, &mut costs)?;
    }
    Ok(costs)
}

/// Reads lines of `cuobjdump`: ` Function saxpy:`, then `  REG:10 STACK:0 SHARED:0 LOCAL:0 ...`.
fn resources(workspace: &Workspace, cubin: &Path, costs: &mut Costs) -> Result<()> {
    let cuobjdump = workspace.cuda_program("cuobjdump")?;
    let text = workspace.shell.cmd(cuobjdump).arg("-res-usage").arg(cubin).quiet().read()?;
    let mut function = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Function ") {
            function = Some(name.trim_end_matches(':').to_owned());
        } else if let (Some(name), true) = (&function, line.starts_with("REG:")) {
            // The stack of a kernel that recurses is `UNKNOWN`; none of those is compared.
            let field = |key: &str| {
                let word = line.split_whitespace().find_map(|word| word.strip_prefix(key));
                word.map(|number| number.parse().unwrap_or(u32::MAX))
                    .with_context(|| format!("{key} of {name} in `{line}`"))
            };
            let cost = costs.entry(name.clone()).or_default();
            (cost.registers, cost.stack) = (field("REG:")?, field("STACK:")?);
        }
    }
    Ok(())
}

/// Counts lines of `nvdisasm` such as `/*0090*/ @P0 EXIT ;` below `.text.saxpy:`.
fn instructions(workspace: &Workspace, cubin: &Path, costs: &mut Costs) -> Result<()> {
    let nvdisasm = workspace.cuda_program("nvdisasm")?;
    let text = workspace.shell.cmd(nvdisasm).arg("-c").arg(cubin).quiet().read()?;
    let mut function = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            function = Some(name.to_owned());
        }
        let Some((_, instruction)) = line.strip_prefix("/*").and_then(|l| l.split_once("*/"))
        else {
            continue;
        };
        let Some(cost) = function.as_ref().and_then(|name| costs.get_mut(name)) else { continue };
        let words: Vec<&str> =
            instruction.split_whitespace().filter(|word| !word.starts_with('@')).collect();
        let Some(name) = words.first().map(|word| word.trim_end_matches(';')) else { continue };
        cost.instructions += u32::from(name != "NOP");
        cost.local += u32::from(name.starts_with("LDL") || name.starts_with("STL"));
    }
    Ok(())
}
