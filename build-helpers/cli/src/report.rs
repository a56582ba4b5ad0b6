//! `cargo kernelmill report`: what each kernel takes of an NVIDIA GPU.

use crate::{
    bindings::Names,
    inspect::{binaries, entries},
    package::Selection,
    tools,
};
use anyhow::{Context as _, Result, bail};
use kernelmill_artifact::Target;
use kernelmill_build::toolchain::Machine;
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

/// What to report on.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Reports on cubins for this target, `sm_90`, instead of those of the configuration.
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    selection: Selection,
}

/// What a kernel takes, as cuobjdump says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Registers a thread.
    pub(crate) registers: u32,
    /// Bytes a thread on its stack: arrays, and registers that were spilled.
    pub(crate) stack: u32,
    /// Bytes a block of shared memory, with what the architecture keeps for itself.
    pub(crate) shared: u32,
    /// Instructions that read or write the stack.
    pub(crate) local: usize,
    /// All instructions.
    pub(crate) instructions: usize,
}

/// Builds the package, and prints a line for each kernel and cubin.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(text) = &options.target
        && !matches!(text.parse()?, Target::Cubin(_))
    {
        bail!("`{text}` is no cubin, whose resources are known: ask for `sm_90` or the like");
    }
    let tools = CudaTools::find()?;
    let built = options.selection.build(options.target.as_deref())?;
    let names = Names::read(&built.folder)?;
    let files = binaries(&built.folder, "cubin", options.target.as_deref())?;
    if files.is_empty() {
        bail!("`{}` has no cubin: name a target, `--target sm_90`", built.name);
    }
    println!("registers  stack  shared  local  instructions  kernel");
    for file in files {
        println!("{}:", file.file_name().unwrap_or_default().to_string_lossy());
        for (symbol, usage) in tools.usages(&file)? {
            let Usage { registers, stack, shared, local, instructions } = usage;
            let name = names.of(&symbol);
            println!("{registers:9}  {stack:5}  {shared:6}  {local:5}  {instructions:12}  {name}");
        }
    }
    println!(
        "\nregisters a thread; stack a thread and shared memory a block in bytes; local counts"
    );
    println!("the instructions that read or write the stack, as those do that spill registers");
    Ok(())
}

/// The programs that know what is in a cubin.
pub(crate) struct CudaTools {
    cuobjdump: PathBuf,
    nvdisasm: PathBuf,
}

impl CudaTools {
    /// Finds them where builds do.
    pub(crate) fn find() -> Result<Self> {
        let machine = Machine::at(env::current_dir()?);
        let tool = |name: &str| {
            let missing =
                || format!("{name} is not there: `{}` installs it", Machine::cuda_command());
            machine.cuda_tool(name).with_context(missing)
        };
        Ok(Self { cuobjdump: tool("cuobjdump")?, nvdisasm: tool("nvdisasm")? })
    }

    /// What the kernels of a cubin take, by their symbols.
    pub(crate) fn usages(&self, file: &Path) -> Result<BTreeMap<String, Usage>> {
        let path = file.display().to_string();
        let ask = |program: &Path, argument| {
            let text = tools::output(program, &[argument, &path]);
            text.with_context(|| format!("{} refuses {path}", program.display()))
        };
        let mut usages = resources(&ask(&self.cuobjdump, "-res-usage")?);
        count(&ask(&self.nvdisasm, "-c")?, &mut usages);
        Ok(usages)
    }
}

/// ` Function NAME:`, and in the next line `REG:32 STACK:256 SHARED:0 ...`.
fn resources(text: &str) -> BTreeMap<String, Usage> {
    let mut found = BTreeMap::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("Function ") else { continue };
        let resources = lines.next().unwrap_or_default();
        let number = |label: &str| {
            let mut words = resources.split_whitespace();
            words.find_map(|word| word.strip_prefix(label)?.parse().ok()).unwrap_or(0)
        };
        let usage = Usage {
            registers: number("REG:"),
            stack: number("STACK:"),
            shared: number("SHARED:"),
            ..Usage::default()
        };
        found.insert(name.trim_end_matches(':').to_owned(), usage);
    }
    found
}

/// Counts the instructions of each kernel: lines with an address, `/*0010*/  STL [R1], R2 ;`.
fn count(text: &str, usages: &mut BTreeMap<String, Usage>) {
    let places: Vec<_> = entries(text).collect();
    for (index, (start, name)) in places.iter().enumerate() {
        let end = places.get(index + 1).map_or(text.len(), |(end, _)| *end);
        let Some(usage) = usages.get_mut(*name) else { continue };
        for line in text[*start..end].lines().filter(|line| line.trim().starts_with("/*")) {
            usage.instructions += 1;
            let is_local = |word: &str| word.starts_with("STL") || word.starts_with("LDL");
            usage.local += usize::from(line.split_whitespace().any(is_local));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Usage, count, resources};

    #[test]
    fn what_the_tools_print_is_read() {
        let printed = "\nResource usage:\n Common:\n  GLOBAL:0\n Function _Z3bigPf:\n  \
                       REG:32 STACK:256 SHARED:16 LOCAL:0 CONSTANT[0]:540 TEXTURE:0\n";
        let mut usages = resources(printed);
        let sass = "\t.text._Z3bigPf:\n        /*0000*/  STL.64 [R1], R2 ;\n.L_x_0:\n        \
                    /*0010*/  @P0 LDL R0, [R1] ;\n        /*0020*/  EXIT ;\n";
        count(sass, &mut usages);
        let expected = Usage { registers: 32, stack: 256, shared: 16, local: 2, instructions: 3 };
        assert_eq!(usages["_Z3bigPf"], expected);
    }
}
