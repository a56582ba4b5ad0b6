//! Real crates' CUDA C++: built by kernelmill, and by the cudaforge that they use.

use super::{
    files::copy,
    package::{BuildCost, Package, dependencies, manifest},
    toolkit::Toolkit,
};
use crate::workspace::Workspace;
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::MetadataCommand;
use std::{fmt::Write as _, fs, path::PathBuf};

/// A crate on the registry whose kernels are compiled.
struct Crate {
    name: &'static str,
    version: &'static str,
    /// The folder of its sources.
    folder: &'static str,
    /// What its own build script leaves out of the kernels.
    exclude: &'static [&'static str],
    /// The files that it builds into a library of host functions.
    host: &'static [&'static str],
    arguments: &'static [&'static str],
}

const CANDLE: Crate = Crate {
    name: "candle-kernels",
    version: "0.11.1",
    folder: "src",
    exclude: &["moe_*.cu", "mmvq_gguf.cu", "mmq_*.cu"],
    host: &[
        "kernels/moe/moe_gguf.cu",
        "kernels/moe/moe_wmma.cu",
        "kernels/moe/moe_wmma_gguf.cu",
        "kernels/mmvq_gguf.cu",
        "kernels/mmq_gguf/mmq_*.cu",
    ],
    arguments: &["--expt-relaxed-constexpr", "-std=c++17", "-O3"],
};

const MISTRALRS: &[&str] = &[
    "-std=c++17",
    "-O3",
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__",
    "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "--expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "--use_fast_math",
];

/// The crates that are compiled whole, every file a source of kernels.
const WHOLE: [Crate; 3] = [
    Crate { exclude: &[], host: &[], ..CANDLE },
    Crate {
        name: "mistralrs-quant",
        version: "0.8.1",
        folder: "kernels",
        exclude: &["dummy_*.cu", "*_dummy.cu"],
        host: &[],
        arguments: MISTRALRS,
    },
    Crate {
        name: "mistralrs-paged-attn",
        version: "0.8.1",
        folder: "src/cuda",
        exclude: &[],
        host: &[],
        arguments: MISTRALRS,
    },
];

/// Compiles every kernel of each crate for two targets.
pub(super) fn whole(workspace: &Workspace) -> Result<String> {
    let mut text = String::from(
        "| crate | sources with kernels | kernels with wrappers | binaries | seconds |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let mut notes = String::new();
    for item in &WHOLE {
        let package = ours(workspace, item, &["sm_80", "sm_90"], "whole")?;
        package.prepare()?;
        let cost = package.build()?;
        let output = package.script_output()?;
        let (compiled, cached) = counts(&output)?;
        let bindings = package.bindings()?;
        let wrappers = bindings.matches("::kernelmill::__codegen::launch_with(").count();
        let sources = compiled + cached;
        let row = format!(
            "| {} {} | {} | {wrappers} | {sources} | {:.0} |",
            item.name,
            item.version,
            sources / 2,
            cost.wall,
        );
        println!("{row}");
        writeln!(text, "{row}")?;
        let missing =
            output.lines().filter(|line| line.contains("cannot cross from host to device"));
        missing.for_each(|line| {
            let _ =
                writeln!(notes, "- {}: {}", item.name, line.trim_start_matches("cargo::warning="));
        });
    }
    writeln!(
        text,
        "\nTargets sm_80 and sm_90 through nvcc, arguments as in the crate's own build script. The \
         wrappers compile under `#![deny(warnings)]`."
    )?;
    if !notes.is_empty() {
        writeln!(text, "\nKernels without a wrapper:\n\n{notes}")?;
    }
    Ok(text)
}

/// The steps of a developer's day on candle-kernels, with kernelmill and with cudaforge.
pub(super) fn against_cudaforge(workspace: &Workspace) -> Result<String> {
    let toolkit = Toolkit::new(workspace)?;
    let own = ours(workspace, &CANDLE, &["sm_80"], "ours")?;
    let own = own.with_variable("CUDA_HOME", toolkit.home());
    let their = theirs(workspace)?.with_variable("CUDA_HOME", toolkit.home());
    own.prepare()?;
    their.prepare()?;
    let mut rows = Rows::default();

    let cold = own.build_watched()?;
    let cold_files = counts(&own.script_output()?)?.0;
    let their_cold = their.build_watched()?;
    rows.add("cold, one target", cold.cost, Some(their_cold.cost), "at most 0.55 of cudaforge's");
    let (idle, their_idle) = (own.fresh()?, their.fresh()?);
    rows.add("nothing changed", idle, Some(their_idle), "no slower; the build script is not run");

    own.append("kernels/fill.cu", "// edited\n")?;
    their.append("src/fill.cu", "// edited\n")?;
    let (edit, their_edit) = (own.build()?, their.build()?);
    ensure!(counts(&own.script_output()?)?.0 == 1, "an edit of one file compiled more than that");
    rows.add("one `.cu` edited", edit, Some(their_edit), "one file compiled, no slower");

    own.append("kernels/binary_op_macros.cuh", "// edited\n")?;
    let header = own.build()?;
    let compiled = counts(&own.script_output()?)?.0;
    ensure!(compiled == 1, "binary.cu includes the header, and {compiled} files were compiled");
    rows.add("one header edited: binary.cu compiled", header, None, "exactly its includers");

    let again = own.clean_measured()?;
    ensure!(counts(&own.script_output()?)?.0 == 0, "the store did not have everything");
    rows.add("`cargo clean` of the package, store full", again, None, "under 3 s");
    let second = own.second_checkout("ours-second")?;
    second.prepare()?;
    let moved = second.build()?;
    ensure!(counts(&second.script_output()?)?.0 == 0, "a second checkout compiled something");
    rows.add("a second checkout, store full", moved, None, "under 3 s");

    toolkit.replace()?;
    let (other, their_other) = (own.build()?, their.build()?);
    let compiled = counts(&own.script_output()?)?.0;
    ensure!(compiled == cold_files, "another nvcc compiled {compiled} of {cold_files} files");
    rows.add("nvcc replaced by another version", other, Some(their_other), "all recompiled");
    toolkit.restore()?;

    let both = ours(workspace, &CANDLE, &["sm_80", "sm_90"], "ours-two")?;
    both.prepare()?;
    let two = both.build()?;
    rows.add("cold, two targets", two, None, "less than 1.7 of one target");

    let mut text = rows.table()?;
    writeln!(
        text,
        "\nTwo targets against one: {:.2} ({:.2} in processor seconds). Peak memory of the whole build, all processes: {:.0} MB \
         against cudaforge's {:.0} MB.\n\
         kernelmill makes cubins for sm_80 and a wrapper for each kernel; cudaforge, with its \
         defaults and CUDA_COMPUTE_CAP=80, makes PTX for the kernels. Both build the same files into \
         the static library of host functions. Dependencies are compiled before, the build \
         script itself is not. Every build is pinned to two cores by `taskset`.",
        two.wall / cold.cost.wall,
        two.processor / cold.cost.processor,
        cold.peak_bytes / 1e6,
        their_cold.peak_bytes / 1e6,
    )?;
    Ok(text)
}

/// The lines of a table of costs.
#[derive(Default)]
struct Rows(Vec<(String, BuildCost, Option<BuildCost>, &'static str)>);

impl Rows {
    fn add(&mut self, step: &str, own: BuildCost, their: Option<BuildCost>, goal: &'static str) {
        println!("{step}: {:.2} s, cudaforge {:?}", own.wall, their.map(|cost| cost.wall));
        self.0.push((step.to_owned(), own, their, goal));
    }

    fn table(&self) -> Result<String> {
        let mut text = String::from(
            "| step | kernelmill | cudaforge | ratio | kernelmill, processor | cudaforge, processor \
             | ratio | goal |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for (step, own, their, goal) in &self.0 {
            let columns = |own: f64, their: Option<f64>| match their {
                Some(their) => format!("{own:.2} s | {their:.2} s | {:.2}", own / their),
                None => format!("{own:.2} s | - | -"),
            };
            let wall = columns(own.wall, their.map(|their| their.wall));
            let processor = columns(own.processor, their.map(|their| their.processor));
            writeln!(text, "| {step} | {wall} | {processor} | {goal} |")?;
        }
        Ok(text)
    }
}

/// A package with the sources of a crate that kernelmill compiles.
fn ours<'a>(
    workspace: &'a Workspace,
    item: &Crate,
    targets: &[&str],
    name: &str,
) -> Result<Package<'a>> {
    let (run, build) = dependencies(workspace);
    let run = run.replace("\"cuda\"", "\"cuda\", \"half\"");
    let settings = format!("targets = {targets:?}\narguments = {:?}", item.arguments);
    let script = format!(
        "fn main() {{\n    kernelmill_build::Build::new()\n        .source_dir(\"kernels\")\n        \
         .exclude({:?} as [&str; {}])\n        .host_files({:?} as [&str; {}])\n        .compile();\n}}\n",
        item.exclude,
        item.exclude.len(),
        item.host,
        item.host.len(),
    );
    let library = "#![deny(warnings)]\npub mod kernels {\n    kernelmill::include_kernels!();\n}\n";
    let package = Package::new(
        workspace,
        &format!("{}-{name}", item.name),
        &[
            ("Cargo.toml", manifest(&run, &build, &settings)),
            ("build.rs", script),
            ("src/lib.rs", library.to_owned()),
        ],
    )?;
    copy(&source(workspace, item)?.join(item.folder), &package.path("kernels"))?;
    Ok(package)
}

/// candle-kernels as it is, with its own build script.
fn theirs(workspace: &Workspace) -> Result<Package<'_>> {
    let from = source(workspace, &CANDLE)?;
    let mut text = fs::read_to_string(from.join("Cargo.toml"))?;
    text.push_str("\n[workspace]\n");
    let text = text.replace("version = \"0.1.2\"", "version = \"=0.1.6\"");
    let script = fs::read_to_string(from.join("build.rs"))?;
    let files = [("Cargo.toml", text), ("build.rs", script), ("src/lib.rs", String::new())];
    let package = Package::new(workspace, "candle-kernels-theirs", &files)?;
    copy(&from.join("src"), &package.path("src"))?;
    Ok(package.with_variable("CUDA_COMPUTE_CAP", "80"))
}

/// The folder where cargo keeps a crate's source, downloaded if need be.
fn source(workspace: &Workspace, item: &Crate) -> Result<PathBuf> {
    let dependency = format!("{} = {{ version = \"={}\" }}", item.name, item.version);
    let package = Package::new(
        workspace,
        &format!("{}-source", item.name),
        &[("Cargo.toml", manifest(&dependency, "", "")), ("src/lib.rs", String::new())],
    )?;
    let metadata = package.cargo(&["metadata", "--format-version", "1"]).read()?;
    let metadata = MetadataCommand::parse(metadata)?;
    let found = metadata.packages.iter().find(|package| package.name.as_str() == item.name);
    let manifest = &found.context("cargo metadata does not name the crate")?.manifest_path;
    Ok(manifest.parent().context("a manifest lies in a folder")?.into())
}

/// The numbers of `kernelmill: compiled N cached M`.
fn counts(output: &str) -> Result<(usize, usize)> {
    let line = output.lines().find_map(|line| line.strip_prefix("kernelmill: compiled "));
    let (compiled, cached) =
        line.and_then(|line| line.split_once(" cached ")).context("the summary of a build")?;
    Ok((compiled.parse()?, cached.trim().parse()?))
}
