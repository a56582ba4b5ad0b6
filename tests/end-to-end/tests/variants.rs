//! Variants of kernels in a package: what is built and embedded, what launches get on the CPU and on the fake driver,
//! what `list` says, and what users read after a mistake.

use std::fs;

use end_to_end::{Project, check_snapshot, out_dir};
use kernelmill_build::manifest::Manifest;
use test_support::{driver::fake_driver, root};

const KERNELS: &str = "\
use kernelmill_device::prelude::*;

/// Reads what lies at a number that depends on the index.
#[kernel]
pub fn spread(width: usize, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[(i.get() / width + i.get() % width) % x.len()];
    }
}

/// Adds one.
#[kernel]
pub fn plain(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

/// Has no index that could be narrower.
#[kernel]
pub fn mark(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = 5;
    }
}
";

const SETTINGS: &str = "\
targets = [\"cpu\", \"compute_75\"]

[package.metadata.kernelmill.kernels.spread]
variants = [
    { launch-bounds = 64, index-width = 32 },
    { index-width = 32 },
    { max-registers = 32 },
    { launch-bounds = 64, targets = \"compute_75\" },
]

[package.metadata.kernelmill.kernels.mark]
launch-bounds = 128
variants = [{ launch-bounds = 1024 }]
";

const MAIN: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch, module_cache};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();
    let spread = kernels.compiled().spread()?;
    let loads = module_cache().statistics().loads;
    let x: Vec<u32> = (0..1000).collect();
    let x = device.upload(&x)?;
    for (launch, width, expected) in [
        (Launch::<1>::grid([10], [64]), 7, \"threads64_index32\"),
        (Launch::grid([10], [65]), 7, \"index32\"),
        (Launch::grid([10], [128]).max_registers(32), 9, \"registers32\"),
        (Launch::grid([10], [128]), 1 << 40, \"none\"),
    ] {
        let largest = if width > 1 << 32 { 1 << 40 } else { 1000 };
        let explanation = spread.explain(&launch.into(), largest);
        let chosen = explanation.chosen().expect(\"one fits\");
        assert_eq!(chosen.variant.unwrap_or(\"none\"), expected, \"{explanation}\");
        let mut y = device.zeros::<u32>(600)?;
        kernels.spread(&stream, launch, width, &x, &mut y)?;
        let expected = |i: usize| ((i / width + i % width) % 1000) as u32;
        assert_eq!(y.download()?, (0..600).map(expected).collect::<Vec<_>>());
    }
    for block in [128, 1024] {
        let mut y = device.zeros::<u32>(1024)?;
        kernels.mark(&stream, Launch::grid([1024 / block], [block]), &mut y)?;
        assert_eq!(y.download()?, [5; 1024]);
    }
    let mut y = device.zeros::<u32>(10)?;
    kernels.plain(&stream, Launch::linear(10).max_registers(16), &mut y)?;
    assert_eq!(y.download()?, [1; 10]);
    assert_eq!(module_cache().statistics().loads, loads, \"launches load nothing\");
    println!(\"{}\", spread.builds().len());
    Ok(())
}
";

fn project(name: &str) -> Project {
    let project = Project::new(name).manifest("2024", SETTINGS);
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(manifest).expect("the project has a manifest");
    let run_time = format!("kernelmill = {{ path = \"{}\"", root().display());
    let with_cuda = format!("{run_time}, features = [\"cuda\"]");
    project
        .file("Cargo.toml", &text.replacen(&run_time, &with_cuda, 1))
        .file("kernels/spread.rs", KERNELS)
        .file("src/main.rs", MAIN)
}

/// Acceptance: S3.3, S3.5, S3.6.
#[test]
fn launches_get_the_variants_that_fit_on_the_cpu_and_on_the_fake_driver() {
    let project = project("variants").environment("KERNELMILL_DEVICE", "cpu");
    let run = project.cargo(&["run", "--message-format=json"]).succeeds();
    // One of the variants is not for the CPU.
    assert!(run.stdout.ends_with("\n4\n"), "{}", run.stdout);
    let out = out_dir(&run.stdout, "variants", &project);
    let manifest = Manifest::read(&out).expect("the build leaves a manifest");
    let kernel = manifest.kernel("spread").expect("there is such a kernel");
    let facts: Vec<_> = manifest
        .compiled(kernel)
        .map(|(binary, compiled)| {
            let variant = compiled.variant.as_ref().map_or("", |variant| &variant.name);
            format!("{} {variant}", binary.file.replace("spread.", ""))
        })
        .collect();
    assert_eq!(
        facts,
        [
            "cpu.o ",
            "cpu.o threads64_index32",
            "cpu.o index32",
            "cpu.o registers32",
            "compute_75.ptx ",
            "compute_75.threads64_index32.ptx threads64_index32",
            "compute_75.index32.ptx index32",
            "compute_75.registers32.ptx registers32",
            "compute_75.threads64.ptx threads64",
        ]
    );
    let ptx = |variant: &str| {
        fs::read_to_string(out.join(format!("spread.compute_75{variant}.ptx")))
            .expect("PTX is text")
    };
    let (plain, narrow) = (ptx(""), ptx(".index32"));
    assert!(plain.contains("div.u64") && plain.contains(".entry plain"), "{plain}");
    assert!(!narrow.contains("div.u64") && !narrow.contains(".entry plain"), "{narrow}");
    assert!(ptx(".registers32").contains(".maxnreg 32"));
    assert!(ptx(".threads64").contains(".maxntid 64"));
    assert!(ptx(".threads1024").contains(".maxnreg 64"), "a block fits onto a multiprocessor");

    let driver = fake_driver().display().to_string();
    let project =
        project.environment("LD_LIBRARY_PATH", &driver).environment("KERNELMILL_DEVICE", "cuda:0");
    let run = project.cargo(&["run"]).succeeds();
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
    // Nothing is compiled twice, and the store knows each variant.
    let again = project.cargo(&["build"]).succeeds();
    assert_eq!(again.summary().map_or(0, |it| it.compiled), 0, "{}", again.stdout);
}

/// Builds a package that must fail, and compares what its build script says.
#[track_caller]
fn fails(name: &str, settings: &str) {
    let settings = format!("targets = [\"cpu\", \"compute_75\"]\n{settings}");
    let project = Project::new(name)
        .manifest("2024", &settings)
        .file("kernels/spread.rs", KERNELS)
        .file("src/main.rs", "fn main() {}\n");
    check_snapshot(name, &project.cargo(&["build"]).build_script_error());
}

#[test]
fn mistakes_in_variants_are_said_with_their_places() {
    fails(
        "variants-read",
        "[package.metadata.kernelmill.kernels.spread]
index-width = 16
variants = [
    { launch-bound = 64 },
    { launch-bounds = 0 },
    { launch-bounds = 2000 },
    { max-registers = 256, index-width = 8 },
    { targets = [\"compute_75\"] },
    64,
]
[package.metadata.kernelmill.kernels.plain]
variants = { launch-bounds = 64 }
",
    );
}

#[test]
fn variants_that_are_the_same_or_of_no_kernel_are_said_with_their_places() {
    fails(
        "variants-same",
        "[package.metadata.kernelmill.kernels.spread]
launch-bounds = 256
variants = [
    { launch-bounds = 64 },
    { launch-bounds = 64, max-registers = 255 },
    { launch-bounds = 256 },
    { index-width = 64 },
]
[package.metadata.kernelmill.kernels.plain]
block-size = [64, 1, 1]
variants = [{ launch-bounds = 128 }]
[package.metadata.kernelmill.kernels.sprad]
variants = [{ launch-bounds = 128 }]
",
    );
}

/// Acceptance: S3.4.
#[test]
fn the_environment_says_the_most_registers_for_one_build() {
    let settings = "targets = \"compute_75\"\n[package.metadata.kernelmill.kernels.spread]\n\
                    max-registers = 48\nvariants = [{ max-registers = 32 }]";
    let project = |variable: &str, name: &str| {
        Project::new(name)
            .manifest("2024", settings)
            .file("kernels/spread.rs", KERNELS)
            .file("src/main.rs", "fn main() {}\n")
            .environment("KERNELMILL_MAX_REGISTERS", variable)
    };
    let own = project("40", "registers-of-environment");
    let run = own.cargo(&["build", "--message-format=json"]).succeeds();
    let out = out_dir(&run.stdout, "registers-of-environment", &own);
    let said = |file: &str| {
        let text = fs::read_to_string(out.join(file)).expect("PTX is text");
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(".maxnreg "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(said("spread.compute_75.ptx"), ["40"; 3], "in place of what the settings say");
    assert_eq!(said("spread.compute_75.registers32.ptx"), ["32"], "a variant has its own number");
    for wrong in ["0", "256", "many"] {
        let error = project(wrong, "registers-wrong").cargo(&["build"]).build_script_error();
        let expected = format!(
            "error[KM0008]: the environment variable KERNELMILL_MAX_REGISTERS is `{wrong}`"
        );
        assert!(error.contains(&expected), "{error}");
        assert!(error.contains("write a number from 1 to 255"), "{error}");
    }
}
