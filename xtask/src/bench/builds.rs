//! What a build-dependency costs a user: clean builds of small packages.

use super::{
    median::median,
    package::{BuildCost, Package, dependencies, manifest},
};
use crate::workspace::Workspace;
use anyhow::Result;
use std::fmt::Write as _;

/// Measures every package `repeat` times, in turns, and compares the medians.
pub(super) fn measure(workspace: &Workspace, repeat: usize) -> Result<String> {
    let packages = packages(workspace)?;
    let mut costs = vec![Vec::new(); packages.len()];
    for _ in 0..repeat.max(1) {
        for ((_, package), costs) in packages.iter().zip(&mut costs) {
            costs.push(package.clean_build()?);
        }
    }
    let medians: Vec<BuildCost> = costs.iter().map(|costs| median_cost(costs)).collect();
    table(&packages, &medians)
}

fn median_cost(costs: &[BuildCost]) -> BuildCost {
    BuildCost {
        wall: median(costs.iter().map(|cost| cost.wall).collect()),
        processor: median(costs.iter().map(|cost| cost.processor).collect()),
    }
}

fn table(packages: &[(&str, Package<'_>)], medians: &[BuildCost]) -> Result<String> {
    let [saxpy, without, bindgen, cudaforge] = medians else {
        anyhow::bail!("there are four packages");
    };
    let mut text = String::from(
        "| package | seconds | of bindgen's | processor seconds | of bindgen's |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for ((name, _), cost) in packages.iter().zip(medians) {
        writeln!(
            text,
            "| {name} | {:.1} | {:.2} | {:.1} | {:.2} |",
            cost.wall,
            cost.wall / bindgen.wall,
            cost.processor,
            cost.processor / bindgen.processor,
        )?;
    }
    let (own, processor) = (saxpy.wall - without.wall, saxpy.processor - without.processor);
    writeln!(
        text,
        "\nkernelmill's own part, the first less the second: {own:.1} s (aim: under 15 s on two \
         cores), {:.2} of bindgen's clean build (aim: at most 1) and {:.2} of cudaforge's; in \
         processor seconds {processor:.1}, {:.2} and {:.2}.\n\
         `cargo build`, development profile, everything downloaded, store empty. What is in it, \
         and what was tried: `docs/adr/0006-what-a-clean-build-costs.md`.",
        own / bindgen.wall,
        own / cudaforge.wall,
        processor / bindgen.processor,
        processor / cudaforge.processor,
    )?;
    Ok(text)
}

fn packages(workspace: &Workspace) -> Result<Vec<(&'static str, Package<'_>)>> {
    let (run, build) = dependencies(workspace);
    let targets = "targets = [\"cpu\", \"compute_75\"]";
    let script = |text: &str| ("build.rs", text.to_owned());
    let idle = |text: &str| ("src/main.rs", text.to_owned());
    let no_kernel = "fn main() {\n    let _ = kernelmill::Device::cpu();\n}\n";
    let saxpy = [
        ("Cargo.toml", manifest(&run, &build, targets)),
        ("build.rs", workspace.read("examples/saxpy/build.rs")?),
        ("kernels/saxpy.rs", workspace.read("examples/saxpy/kernels/saxpy.rs")?),
        ("src/main.rs", workspace.read("examples/saxpy/src/main.rs")?),
    ];
    let without = [("Cargo.toml", manifest(&run, "", "")), idle(no_kernel)];
    let bindgen = [
        ("Cargo.toml", manifest("", "bindgen = \"0.72\"", "")),
        script("fn main() {\n    let _ = bindgen::Builder::default();\n}\n"),
        idle("fn main() {}\n"),
    ];
    let cudaforge = [
        ("Cargo.toml", manifest("", "cudaforge = \"=0.1.6\"", "")),
        script("use cudaforge as _;\nfn main() {}\n"),
        idle("fn main() {}\n"),
    ];
    Ok(vec![
        ("saxpy", Package::new(workspace, "saxpy", &saxpy)?),
        (
            "saxpy without its kernel and kernelmill-build",
            Package::new(workspace, "without", &without)?,
        ),
        ("an empty program with bindgen", Package::new(workspace, "bindgen", &bindgen)?),
        (
            "an empty program with cudaforge 0.1.6",
            Package::new(workspace, "cudaforge", &cudaforge)?,
        ),
    ])
}
