//! `cargo kernelmill report`: what each kernel takes of an NVIDIA GPU, and which drivers read its PTX.

use crate::{
    assembly,
    package::{Built, Selection},
};
use anyhow::{Result, bail};
use kernelmill_artifact::Target;
use kernelmill_build::manifest::{Binary, BinaryKind, CompiledKernel, Ptx};

/// What to report on.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Reports on code for this target, `sm_90`, instead of those of the configuration.
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    selection: Selection,
}

/// What a kernel takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Registers a thread.
    pub(crate) registers: u32,
    /// Bytes a thread on its stack: arrays, and registers that were spilled; `None`: not bounded.
    pub(crate) stack: Option<u32>,
    /// Bytes a block of shared memory, with what the architecture keeps for itself.
    pub(crate) shared: u32,
    /// Instructions that read or write the stack.
    pub(crate) local: usize,
    /// All instructions.
    pub(crate) instructions: usize,
}

impl Usage {
    /// The bytes on the stack; `?` where recursion leaves them open.
    pub(crate) fn stack_text(&self) -> String {
        self.stack.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string())
    }
}

/// Builds the package, and prints a line for each kernel and cubin, and for each file of PTX.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(text) = &options.target
        && !matches!(text.parse()?, Target::Cubin(_) | Target::Ptx(_))
    {
        bail!("`{text}` is no target of NVIDIA's: ask for `sm_90` or the like");
    }
    let built = options.selection.build(options.target.as_deref())?;
    let binaries = built.manifest.binaries.iter();
    let cubins: Vec<_> = binaries.filter(|binary| binary.kind == BinaryKind::Cubin).collect();
    let drivers: Vec<_> = built.manifest.binaries.iter().filter_map(driver).collect();
    drivers.iter().for_each(|line| println!("{line}"));
    if cubins.is_empty() && drivers.is_empty() {
        bail!("`{}` has no code for NVIDIA: name a target, `--target sm_90`", built.name);
    }
    if cubins.is_empty() {
        println!("registers and memory are known of cubins: name a target, `--target sm_90`");
        return Ok(());
    }
    println!("registers  stack  shared  local  instructions  kernel");
    for binary in cubins {
        println!("{}:", binary.file);
        let text = assembly::text(binary.kind, &built.path(&binary.file))?;
        for kernel in &binary.kernels {
            let usage = usage(kernel, assembly::kernel(&text, &kernel.entry).unwrap_or_default());
            let Usage { registers, shared, local, instructions, .. } = usage;
            let stack = usage.stack_text();
            let name = name(&built, kernel);
            println!("{registers:9}  {stack:>5}  {shared:6}  {local:5}  {instructions:12}  {name}");
        }
    }
    println!(
        "\nregisters a thread; stack a thread and shared memory a block in bytes; local counts"
    );
    println!("the instructions that read or write the stack, as those do that spill registers;");
    println!("`?` is the stack of a kernel that recurses, which has no bound");
    Ok(())
}

/// The line of a file of PTX: the oldest driver that reads it.
fn driver(binary: &Binary) -> Option<String> {
    let Ptx { version, cuda, .. } = binary.ptx.as_ref()?;
    let cuda = cuda.as_ref().map_or_else(
        || "a driver that is newer than this kernelmill".to_owned(),
        |cuda| format!("the driver of CUDA {cuda} or later"),
    );
    Some(format!("{}: PTX {version}, which needs {cuda}", binary.file))
}

/// The name of a kernel's wrapper; its symbol where it has none.
pub(crate) fn name<'a>(built: &'a Built, kernel: &'a CompiledKernel) -> &'a str {
    let kernels = &built.manifest.kernels;
    let known = kernels.iter().find(|known| known.symbol == kernel.symbol);
    known.map_or(&kernel.symbol, |known| &known.name)
}

/// What a kernel of a cubin takes: its resources, and what is counted in its SASS.
fn usage(kernel: &CompiledKernel, sass: &str) -> Usage {
    let resources = kernel.resources.unwrap_or_default();
    let mut usage = Usage {
        registers: resources.registers,
        stack: resources.stack_bytes,
        shared: resources.shared_bytes,
        ..Usage::default()
    };
    // An instruction has its address in front: `/*0010*/  STL [R1], R2 ;`.
    for line in sass.lines().filter(|line| line.trim().starts_with("/*")) {
        usage.instructions += 1;
        let is_local = |word: &str| word.starts_with("STL") || word.starts_with("LDL");
        usage.local += usize::from(line.split_whitespace().any(is_local));
    }
    usage
}

/// What a kernel takes; `None` where its binary is no cubin.
pub(crate) fn usage_in(binary: &Binary, kernel: &CompiledKernel, sass: &str) -> Option<Usage> {
    (binary.kind == BinaryKind::Cubin).then(|| usage(kernel, sass))
}

#[cfg(test)]
mod tests {
    use super::{CompiledKernel, Usage, usage};

    #[test]
    fn what_is_recorded_and_what_is_counted() {
        let text = r#"{"symbol": "k", "entry": "k", "static_shared_bytes": 16, "panics": false,
            "resources": {"registers": 32, "stack_bytes": 256, "shared_bytes": 16}}"#;
        let kernel: CompiledKernel = serde_json::from_str(text).unwrap();
        let sass = "\t.text.k:\n        /*0000*/  STL.64 [R1], R2 ;\n.L_x_0:\n        \
                    /*0010*/  @P0 LDL R0, [R1] ;\n        /*0020*/  EXIT ;\n";
        let expected =
            Usage { registers: 32, stack: Some(256), shared: 16, local: 2, instructions: 3 };
        assert_eq!(usage(&kernel, sass), expected);
    }
}
