//! `cargo kernelmill inspect`: what a kernel was compiled to, as text, what it was on the way there, and for the CPU
//! its lowering strategy.

use crate::{assembly, package::Selection};
use anyhow::{Context as _, Result, bail};
use kernelmill_artifact::Target;
use kernelmill_build::{
    dump::{self, Stage, kernel_of},
    manifest::{Binary, CompiledKernel, Kernel},
};
use serde_json::{Value, json};
use std::fs;

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kernel: the name of its wrapper, or its symbol.
    kernel: String,
    /// What it is compiled for: `compute_75` prints PTX, `sm_90` SASS (by nvdisasm), `gfx1100` assembly text, `vulkan` WGSL,
    /// `spirv64` LLVM's IR, and `cpu` its lowering strategy with the reason.
    #[arg(long, default_value = "compute_75")]
    target: String,
    /// The variant of the kernel, by its name, such as `threads64`: `cargo kernelmill list` shows them.
    #[arg(long)]
    variant: Option<String>,
    /// For the CPU, prints the passes of the compiler's back end in their order, with what each did.
    #[arg(long)]
    passes: bool,
    /// Prints the kernel at one stage of its compilation: `ir`, `linked` and `opt` are LLVM's IR as the front end leaves
    /// it, before it is optimised, and as code is generated from it; `ptx`, `asm` and `sass` are assembly text; `wgsl` is
    /// what is written for Vulkan; `msl` and `hlsl` are a kernel in WGSL as Metal and D3D12 get it.
    #[arg(long, conflicts_with = "passes")]
    stage: Option<Stage>,
    /// Prints JSON: the kernel, the target, and the text, the strategy or the passes.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

/// Builds the package for the one target, and prints the kernel.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target: Target = options.target.parse()?;
    if let Some(stage) = options.stage.or_else(|| usual_stage(&target)) {
        return print_stage(options, &target, stage);
    }
    if !matches!(target, Target::Ptx(_) | Target::Cubin(_) | Target::Cpu) {
        bail!(
            "`{target}` cannot be printed as text: ask for `compute_75`, `sm_90`, `gfx1100`, `vulkan`, `spirv64` or `cpu`"
        );
    }
    if options.passes && target != Target::Cpu {
        bail!(
            "`--passes` is for the target `cpu`, the only one whose code kernelmill's own passes generate"
        );
    }
    let built = options.selection.build(Some(&options.target))?;
    let kernel = built.manifest.kernel(&options.kernel);
    let kernel = kernel.ok_or_else(|| built.no_kernel(&options.kernel))?;
    // A file in PTX is embedded for the devices that it says itself.
    let is_ptx = |binary: &Binary| {
        let own = binary.target.parse();
        matches!((&target, own), (Target::Ptx(_), Ok(Target::Ptx(_))))
    };
    let of_target: Vec<_> = built
        .manifest
        .compiled(kernel)
        .filter(|(binary, _)| binary.target == target.to_string() || is_ptx(binary))
        .collect();
    let (binary, compiled) = *of_variant(options, kernel, &target, &of_target)?;
    if target == Target::Cpu {
        let strategy = compiled.strategy.as_ref().context(
            "internal error of kernelmill: the kernel has no lowering strategy; please report it",
        )?;
        let passes = if options.passes { passes(binary, kernel) } else { Vec::new() };
        if options.json {
            let mut facts = facts(kernel, &target, json!({ "strategy": strategy.to_string() }));
            if options.passes {
                facts["passes"] = json!(passes);
            }
            println!("{facts:#}");
            return Ok(());
        }
        println!("{strategy}");
        passes.iter().for_each(|report| println!("  {report}"));
        return Ok(());
    }
    let text = assembly::text(binary.kind, &built.path(&binary.file))?;
    let text = kernel_of(&text, &compiled.entry)
        .with_context(|| format!("{} has no entry point `{}`", binary.file, compiled.entry))?;
    print(options, (kernel, &target), None, text);
    Ok(())
}

/// The stage that is printed where none is asked for, of targets whose binaries are no text.
fn usual_stage(target: &Target) -> Option<Stage> {
    match target {
        Target::Amd(_) => Some(Stage::Asm),
        Target::Vulkan => Some(Stage::Wgsl),
        Target::Spirv64 => Some(Stage::Opt),
        _ => None,
    }
}

/// The build of a kernel that is asked for, among those for a target.
fn of_variant<'a, 'b>(
    options: &Options,
    kernel: &Kernel,
    target: &Target,
    all: &'a [(&'b Binary, &'b CompiledKernel)],
) -> Result<&'a (&'b Binary, &'b CompiledKernel)> {
    let name = |compiled: &'b CompiledKernel| compiled.variant.as_ref().map(|it| it.name.as_str());
    if let Some(found) = all.iter().find(|(_, it)| name(it) == options.variant.as_deref()) {
        return Ok(found);
    }
    let (kernel, names) = (&kernel.name, all.iter().filter_map(|(_, it)| name(it)));
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match &options.variant {
        Some(variant) if !names.is_empty() => bail!(
            "the kernel `{kernel}` has no variant `{variant}` for `{target}`; its variants are {}",
            names.join(", ")
        ),
        Some(variant) if !all.is_empty() => {
            bail!(
                "the kernel `{kernel}` has no variant `{variant}` for `{target}`: it has none there"
            )
        }
        _ => bail!("the kernel `{kernel}` is not compiled for `{target}`"),
    }
}

/// Prints a text, alone or as a member of JSON.
fn print(
    options: &Options,
    (kernel, target): (&Kernel, &Target),
    stage: Option<Stage>,
    text: &str,
) {
    if !options.json {
        println!("{text}");
        return;
    }
    let mut facts = facts(kernel, target, json!({ "text": text }));
    if let Some(stage) = stage {
        facts["stage"] = json!(stage.name());
    }
    if let Some(variant) = &options.variant {
        facts["variant"] = json!(variant);
    }
    println!("{facts:#}");
}

/// What is said of a kernel, with its name and that of the target.
fn facts(kernel: &Kernel, target: &Target, mut facts: Value) -> Value {
    (facts["kernel"], facts["target"]) = (json!(kernel.name), json!(target.to_string()));
    facts
}

/// Builds the package for the one target with the dumps of one stage, and prints that of the kernel.
fn print_stage(options: &Options, target: &Target, stage: Stage) -> Result<()> {
    let stages = Stage::of_target(target);
    if !stages.contains(&stage) {
        let names: Vec<_> = stages.iter().map(|stage| format!("`{stage}`")).collect();
        bail!(
            "kernels for `{target}` have no stage `{stage}`; their stages are {}",
            names.join(", ")
        );
    }
    let dumps = [("KERNELMILL_DUMP", stage.name()), ("KERNELMILL_DUMP_DIR", "")];
    let built = options.selection.build_with(Some(&options.target), &dumps)?;
    let kernel = built.manifest.kernel(&options.kernel);
    let kernel = kernel.ok_or_else(|| built.no_kernel(&options.kernel))?;
    let is_of_target = |it: &(&Binary, _)| it.0.target == target.to_string();
    let of_target: Vec<_> = built.manifest.compiled(kernel).filter(is_of_target).collect();
    let (binary, _) = of_variant(options, kernel, target, &of_target)?;
    let name = dump::file_name(&kernel.name, &assembly::label(binary), stage);
    let path = built.folder.join(dump::FOLDER).join(name);
    let text = fs::read_to_string(path).with_context(|| {
        format!(
            "`{}` has no stage `{stage}` for `{target}` in this build: {}",
            kernel.name,
            why_none(target)
        )
    })?;
    print(options, (kernel, target), Some(stage), text.trim_end());
    Ok(())
}

/// Why a kernel may lack a stage that its target has.
fn why_none(target: &Target) -> &'static str {
    match target {
        Target::Vulkan => {
            "kernels in WGSL have the stages `wgsl`, `msl` and `hlsl` only, kernels in other languages have no `msl` \
             and `hlsl`"
        }
        Target::Spirv64 => "clang, which compiles OpenCL C for this target, shows no stages",
        _ => {
            "nvcc, which compiles the kernel, shows PTX only (compile with clang: `KERNELMILL_CUDA_COMPILER=clang`), \
             or a tool is missing that a warning above names"
        }
    }
}

/// What each pass did to a kernel, and to the module that it is in.
fn passes(binary: &Binary, kernel: &Kernel) -> Vec<String> {
    let is_about = |name: &String| [&kernel.name, &kernel.symbol].contains(&name);
    let passes = binary.passes.iter();
    let about = passes.filter(|report| report.kernel.as_ref().is_none_or(is_about));
    about.map(ToString::to_string).collect()
}
