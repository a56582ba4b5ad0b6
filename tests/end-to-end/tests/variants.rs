//! Variants of kernels in a package: what is built and embedded, what launches get on the CPU and on the fake driver,
//! what `list` says, and what users read after a mistake.

use std::fs;

use end_to_end::{Project, check_snapshot, out_dir};
use kernelmill_build::manifest::Manifest;
use test_support::{
    driver::fake_driver,
    root,
    tool::{clang, nvidia},
};

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
#[kernel(launch_bounds = 128, variants = [{ launch_bounds = 1024 }, { block_size = [512, 1, 1], min_blocks = 2 }])]
pub fn mark(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = 5;
    }
}
";

/// A kernel whose code has no index.
const NOTHING: &str = "\
use kernelmill_device::prelude::*;

/// Does nothing.
#[kernel]
pub fn nothing() {}
";

const SETTINGS: &str = "\
targets = [\"cpu\", \"compute_75\"]

[package.metadata.kernelmill.kernels.spread]
variants = [
    { launch-bounds = 64, index-width = 32 },
    { index-width = 32 },
    { max-registers = 32 },
    { launch-bounds = 64, targets = \"compute_75\" },
    { block-size = [64, 1, 1], min-blocks = 2 },
]
[package.metadata.kernelmill.kernels.nothing]
variants = [{ index-width = 32 }]
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
        (Launch::<1>::grid([10], [60]), 7, \"threads64_index32\"),
        (Launch::grid([10], [64]), 7, \"block64_minblocks2\"),
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
    for block in [128, 512, 1024] {
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
    with_driver(Project::new(name).manifest("2024", SETTINGS))
        .file("kernels/spread.rs", KERNELS)
        .file("kernels/nothing.rs", NOTHING)
        .file("src/main.rs", MAIN)
}

/// The project with the run time's part for NVIDIA's GPUs.
fn with_driver(project: Project) -> Project {
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(manifest).expect("the project has a manifest");
    let run_time = format!("kernelmill = {{ path = \"{}\"", root().display());
    let with_cuda = format!("{run_time}, features = [\"cuda\"]");
    project.file("Cargo.toml", &text.replacen(&run_time, &with_cuda, 1))
}

/// Acceptance: S3.3, S3.5, S3.6.
#[test]
fn launches_get_the_variants_that_fit_on_the_cpu_and_on_the_fake_driver() {
    let project = project("variants").environment("KERNELMILL_DEVICE", "cpu");
    let run = project.cargo(&["run", "--message-format=json"]).succeeds();
    // One of the variants is not for the CPU.
    assert!(run.stdout.ends_with("\n5\n"), "{}", run.stdout);
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
            "cpu.block64.o block64_minblocks2",
            "compute_75.ptx ",
            "compute_75.threads64_index32.ptx threads64_index32",
            "compute_75.index32.ptx index32",
            "compute_75.registers32.ptx registers32",
            "compute_75.threads64.ptx threads64",
            "compute_75.block64_minblocks2.ptx block64_minblocks2",
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
    let exact = ptx(".block64_minblocks2");
    assert!(exact.contains(".reqntid 64") && exact.contains(".minnctapersm 2"), "{exact}");
    let exact = ptx(".block512_minblocks2");
    assert!(exact.contains(".reqntid 512") && exact.contains(".minnctapersm 2"), "{exact}");
    // Equal binaries of two builds are one file, and are embedded once.
    let nothing = manifest.kernel("nothing").expect("there is such a kernel");
    let files: Vec<_> =
        manifest.compiled(nothing).map(|(binary, _)| binary.file.as_str()).collect();
    let (object, text) = ("nothing.cpu.o", "nothing.compute_75.ptx");
    assert_eq!(files, [object, object, text, text]);
    let bindings = fs::read_to_string(out.join("kernels.rs")).expect("the build leaves bindings");
    assert!(!out.join("nothing.compute_75.index32.ptx").exists());
    assert_eq!(bindings.matches("nothing.compute_75").count(), 1, "{bindings}");

    let driver = fake_driver().display().to_string();
    let project =
        project.environment("LD_LIBRARY_PATH", &driver).environment("KERNELMILL_DEVICE", "cuda:0");
    let run = project.cargo(&["run"]).succeeds();
    assert!(run.stdout.ends_with("6\n"), "{}", run.stdout);
    // Nothing is compiled twice, and the store knows each variant.
    let again = project.cargo(&["build"]).succeeds();
    assert_eq!(again.summary().map_or(0, |it| it.compiled), 0, "{}", again.stdout);
}

/// Builds a package with more kernels that must fail, and compares what its build script says.
#[track_caller]
fn fails(name: &str, settings: &str, more_kernels: &str) {
    let settings = format!("targets = [\"cpu\", \"compute_75\"]\n{settings}");
    let project = Project::new(name)
        .manifest("2024", &settings)
        .file("kernels/spread.rs", &format!("{KERNELS}{more_kernels}"))
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
        "",
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
[package.metadata.kernelmill.kernels.mark]
variants = [{ launch-bounds = 1024, max-registers = 255 }]
",
        "
/// Has nothing that says how many threads a block has.
#[kernel(variants = [{ max_registers = 32 }, { min_blocks = 2 }])]
pub fn blocks() {}
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
            "error[KM0008]: the environment variable KERNELMILL_MAX_REGISTERS has the invalid value `{wrong}`"
        );
        assert!(error.contains(&expected), "{error}");
        assert!(error.contains("write a number from 1 to 255"), "{error}");
    }
}

const TILES: &str = "\
#ifndef TILE
#define TILE 16
#endif
extern \"C\" __global__ void __launch_bounds__(TILE) tile(unsigned *x) {
    x[blockIdx.x * TILE + threadIdx.x] += TILE;
}
extern \"C\" __global__ void other(unsigned *x) { x[threadIdx.x] = TILE; }
";

/// A kernel that chooses the type of its indices.
const SPREAD: &str = "\
#if KERNELMILL_INDEX_WIDTH == 32
typedef unsigned index_t;
#else
typedef size_t index_t;
#endif
extern \"C\" __global__ void spread(size_t width, size_t n, const unsigned *x, unsigned *y) {
    index_t w = width, i = (index_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i / w + i % w) % (index_t)n];
}
";

const TILES_MAIN: &str = "\
#![deny(warnings)]
mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Error, Launch};

fn main() -> kernelmill::Result<()> {
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();
    let mut x = device.zeros::<u32>(128)?;
    let mut tile = |launch| unsafe { kernels.tile(&stream, launch, &mut x) };
    tile(Launch::grid([8], [16]))?;
    tile(Launch::grid([4], [32]).variant(\"TILE32\"))?;
    tile(Launch::grid([2], [64]).variant(\"wide\"))?;
    // Nobody gets a variant with macros unasked.
    let error = tile(Launch::grid([4], [32])).unwrap_err();
    println!(\"{error}\");
    let error = tile(Launch::grid([4], [33]).variant(\"TILE32\")).unwrap_err();
    assert!(matches!(error, Error::NoVariant(_)), \"{error}\");
    assert_eq!(x.download()?, [16 + 32 + 64; 128]);
    let other = Launch::grid([1], [128]).variant(\"TILE32\");
    let error = unsafe { kernels.other(&stream, other, &mut x) }.unwrap_err();
    println!(\"{error}\");
    let builds = kernels.compiled().tile()?.builds();
    let defines: Vec<_> = builds.iter().map(|build| build.defines().join(\" \")).collect();
    println!(\"{defines:?} on {}\", device.backend());

    let x = device.upload(&(0..600).collect::<Vec<u32>>())?;
    for (width, expected) in [(7, Some(\"index32\")), (1 << 31, None), (1 << 40, None)] {
        let mut y = device.zeros::<u32>(600)?;
        let launch = Launch::<1>::grid([10], [64]);
        let explanation = kernels.compiled().spread()?.explain(&launch.into(), width as u64);
        assert_eq!(explanation.chosen().expect(\"one fits\").variant, expected, \"{explanation}\");
        unsafe { kernels.spread(&stream, launch, width, 600, &x, &mut y) }?;
        let expected = |i: usize| ((i / width + i % width) % 600) as u32;
        assert_eq!(y.download()?, (0..600).map(expected).collect::<Vec<_>>());
    }
    Ok(())
}
";

/// A package with variants of a kernel in CUDA C++ with macros of their own.
fn tiles(name: &str, settings: &str) -> Option<Project> {
    clang()?;
    let home = nvidia("nvcc")?;
    let home = home.ancestors().nth(2).expect("nvcc lies in bin");
    let settings = format!(
        "targets = [\"cpu\", \"compute_75\"]\n{settings}\n[package.metadata.kernelmill.kernels.tile]\nvariants = [\n    \
         {{ define = {{ TILE = 32 }} }},\n    {{ name = \"wide\", define = {{ TILE = 64 }} }},\n]\n\
         [package.metadata.kernelmill.kernels.spread]\nvariants = [{{ index-width = 32 }}]\n"
    );
    let project = with_driver(Project::new(name).manifest("2024", &settings));
    Some(
        project
            .file("kernels/tile.cu", &(TILES.to_owned() + SPREAD))
            .file("src/main.rs", TILES_MAIN)
            .environment("CUDA_HOME", &home.display().to_string()),
    )
}

#[test]
fn variants_with_macros_of_their_own_get_the_launches_that_name_them() {
    for compiler in ["nvcc", "clang"] {
        let name = format!("variants-defines-{compiler}");
        let settings = format!("cuda-compiler = \"{compiler}\"");
        let settings = if compiler == "clang" { &*settings } else { "" };
        let Some(project) = tiles(&name, settings) else { return };
        let project = project.environment("KERNELMILL_DEVICE", "cpu");
        let run = project.cargo(&["run", "--message-format=json"]).succeeds();
        let expected = "\
no build fits a launch of kernel `tile`
  without variant for cpu: compiled for at most 16 threads per block, the launch has 32
  TILE32 for cpu: compiled with TILE=32, for launches that name this variant
  wide for cpu: compiled with TILE=64, for launches that name this variant
no build fits a launch of kernel `other`
  without variant for cpu: the launch asks for the variant `TILE32`
[\"\", \"TILE=32\", \"TILE=64\"] on ";
        assert!(run.stdout.contains(expected), "{compiler}: {}", run.stdout);
        let out = out_dir(&run.stdout, &name, &project);
        let manifest = Manifest::read(&out).expect("the build leaves a manifest");
        let kernel = manifest.kernel("tile").expect("there is such a kernel");
        let facts: Vec<_> = manifest
            .compiled(kernel)
            .map(|(binary, compiled)| {
                let variant = compiled.variant.as_ref();
                let said = variant.map(|it| {
                    let threads = it.limits.max_block_threads.unwrap_or_default();
                    format!("{} {} {threads}", it.name, it.defines.join(" "))
                });
                format!("{}: {}", binary.file.replace("tile.", ""), said.unwrap_or_default())
            })
            .collect();
        let expected = [
            "cpu.o: ",
            "cpu.TILE32.o: TILE32 TILE=32 32",
            "cpu.TILE64.o: wide TILE=64 64",
            "compute_75.ptx: ",
            "compute_75.TILE32.ptx: TILE32 TILE=32 32",
            "compute_75.wide.ptx: wide TILE=64 64",
        ];
        assert_eq!(facts, expected, "{compiler}");
        let other = manifest.kernel("other").expect("there is such a kernel");
        assert_eq!(manifest.compiled(other).count(), 2, "{compiler}: it has no variant");
        let divides = |variant: &str| {
            let text = fs::read_to_string(out.join(format!("tile.compute_75{variant}.ptx")));
            let text = text.expect("PTX is text");
            ["div.u64", "rem.u64"].iter().any(|it| text.contains(it))
        };
        if compiler == "nvcc" {
            assert_eq!((divides(""), divides(".index32")), (true, false));
        }

        let driver = fake_driver().display().to_string();
        let project = project
            .environment("LD_LIBRARY_PATH", &driver)
            .environment("KERNELMILL_DEVICE", "cuda:0");
        let run = project.cargo(&["run"]).succeeds();
        assert!(run.stdout.contains("TILE32 for compute_75: compiled with"), "{}", run.stdout);
        // Nothing is compiled twice, and the store knows each macro.
        project.write("build.rs", "fn main() {\n    kernelmill_build::compile();\n}\n");
        let again = project.cargo(&["build", "-vv"]).succeeds();
        let summary = again.summary().expect("the build script runs again");
        assert_eq!((summary.compiled, summary.cached), (0, 7), "{compiler}: {}", again.stdout);
        let manifest = project.package().join("Cargo.toml");
        let text = fs::read_to_string(manifest).expect("the project has a manifest");
        project.write("Cargo.toml", &text.replace("TILE = 64", "TILE = 65"));
        let summary = project.cargo(&["build", "-vv"]).succeeds().summary().expect("it runs");
        assert_eq!((summary.compiled, summary.cached), (2, 5), "{compiler}");
    }
}

/// Launch bounds of what nvcc compiles: directives in PTX, options of ptxas for cubins.
#[test]
fn variants_of_what_nvcc_compiles_have_their_launch_bounds() {
    let Some(home) = nvidia("nvcc") else { return };
    let home = home.ancestors().nth(2).expect("nvcc lies in bin");
    let name = "variants-nvcc";
    let settings = "targets = [\"compute_75\", \"sm_80\"]\n[package.metadata.kernelmill.kernels.sums]\n\
                    variants = [{ launch-bounds = 64 }, { max-registers = 32 }, { block-size = [32, 4, 1], min-blocks = 4 }]";
    let text = "extern \"C\" __global__ void __launch_bounds__(256) sums(const float *x, float *y) {\n  \
                float s[64];\n#pragma unroll\n  for (int i = 0; i < 64; i++) s[i] = x[threadIdx.x + 256 * i];\n  \
                __syncthreads();\n#pragma unroll\n  for (int i = 0; i < 64; i++) y[threadIdx.x + 256 * i] = s[63 - i] * s[i];\n}\n";
    let project = Project::new(name)
        .manifest("2024", settings)
        .file("kernels/sums.cu", text)
        .file("src/main.rs", "fn main() {}\n")
        .environment("KERNELMILL_TRACE", "trace.json")
        .environment("CUDA_HOME", &home.display().to_string());
    let run = project.cargo(&["build", "--message-format=json"]).succeeds();
    // The trace has nvcc's run for the signatures.
    let trace = fs::read_to_string(project.package().join("trace.json")).expect("it is written");
    let signatures = trace.lines().filter(|line| line.contains("\"cat\":\"signatures\""));
    assert_eq!(signatures.count(), 1, "{trace}");
    let out = out_dir(&run.stdout, name, &project);
    let manifest = Manifest::read(&out).expect("the build leaves a manifest");
    let kernel = manifest.kernel("sums").expect("there is such a kernel");
    let cubins = manifest.compiled(kernel).filter(|(binary, _)| binary.target == "sm_80");
    let facts: Vec<_> = cubins
        .map(|(_, compiled)| {
            let name = compiled.variant.as_ref().map_or("", |variant| &variant.name);
            let registers = compiled.resources.registers.expect("ptxas says them");
            (name.to_owned(), registers, compiled.resources.max_threads)
        })
        .collect();
    let [plain, threads, registers, block] = &*facts else { panic!("{facts:?}") };
    assert_eq!((&*plain.0, plain.2), ("", Some(256)), "{facts:?}");
    assert_eq!((&*threads.0, threads.2), ("threads64", Some(64)), "{facts:?}");
    assert!(plain.1 > 32 && registers.1 <= 32 && registers.0 == "registers32", "{facts:?}");
    assert_eq!((&*block.0, block.2), ("block32x4_minblocks4", Some(128)), "{facts:?}");
    let ptx = |variant: &str| {
        let text = fs::read_to_string(out.join(format!("sums.compute_75{variant}.ptx")));
        let text = text.expect("PTX is text");
        let head = text.split_once(".entry sums(").expect("it has the kernel").1;
        let head = head.split_once(")\n").expect("a kernel has parameters").1;
        let directives = head.lines().take_while(|line| line.trim() != "{");
        directives.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ptx(""), ".maxntid 256, 1, 1");
    assert_eq!(ptx(".threads64"), ".maxntid 64");
    assert_eq!(ptx(".registers32"), ".maxntid 256, 1, 1 .maxnreg 32");
    assert_eq!(ptx(".block32x4_minblocks4"), ".reqntid 32, 4, 1 .minnctapersm 4");

    // nvcc narrows no indices: a variant of them needs a source that chooses their type.
    let metadata = settings.replace("variants = [", "variants = [{ index-width = 32 }, ");
    let manifest = project.package().join("Cargo.toml");
    let good = fs::read_to_string(&manifest).expect("the project has a manifest");
    project.write("Cargo.toml", &good.replace(settings, &metadata));
    let refused = |text: &str| {
        project.write("kernels/sums.cu", text);
        project.cargo(&["build"]).build_script_error()
    };
    let said = refused(&format!("// KERNELMILL_INDEX_WIDTH\n{text}"));
    for part in [
        "error[KM0014]: the variant `index32` of the kernel `sums` at kernels/sums.cu:2 has `index-width = 32`, and its source \
         never reads KERNELMILL_INDEX_WIDTH",
        "`#if KERNELMILL_INDEX_WIDTH == 32` `typedef unsigned index_t;`",
    ] {
        assert!(said.replace("\n  ", " ").contains(part), "{said}");
    }
    let typed = "#if KERNELMILL_INDEX_WIDTH == 32\ntypedef unsigned index_t;\n#else\ntypedef size_t index_t;\n#endif\n";
    let said = refused(&format!(
        "{typed}{}",
        text.replace("const float *x,", "const float *x, index_t n,")
    ));
    let part = "at kernels/sums.cu:6 has other parameters or launch bounds with `KERNELMILL_INDEX_WIDTH=32`";
    assert!(said.contains(part), "{said}");
}

#[test]
fn kernels_in_opencl_c_have_variants_with_macros_on_the_cpu_and_for_opencl_devices() {
    if clang().is_none() {
        return;
    }
    let text = "kernel void tile(global uint *x) { x[get_global_id(0)] = TILE; }\n\
                kernel void other(global uint *x) { *x = TILE; }\n";
    let settings = "targets = [\"cpu\", \"opencl-c\"]\ndefine = { TILE = 16 }\n\
                    [package.metadata.kernelmill.kernels.tile]\n\
                    variants = [{ define = { TILE = 32 } }, { index-width = 32, define = { TILE = 32 } }]";
    let name = "variants-opencl-c";
    let project = Project::new(name)
        .manifest("2024", settings)
        .file("kernels/tile.cl", text)
        .file("src/main.rs", "fn main() {}\n");
    let run = project.cargo(&["build", "--message-format=json"]).succeeds();
    let out = out_dir(&run.stdout, name, &project);
    let manifest = Manifest::read(&out).expect("the build leaves a manifest");
    let kernel = manifest.kernel("tile").expect("there is such a kernel");
    let facts: Vec<_> = manifest
        .compiled(kernel)
        .map(|(binary, compiled)| {
            let variant = compiled.variant.as_ref().map_or("", |variant| &variant.name);
            format!("{} {variant}", binary.file.replace("tile.", ""))
        })
        .collect();
    let expected = [
        "cpu.o ",
        "cpu.TILE32.o TILE32",
        "cpu.TILE32.o TILE32_index32",
        "opencl-c.cl ",
        "opencl-c.TILE32.cl TILE32",
        "opencl-c.TILE32.cl TILE32_index32",
    ];
    assert_eq!(facts, expected);
    let program = |file: &str| fs::read_to_string(out.join(file)).expect("a program is text");
    let (plain, variant) = (program("tile.opencl-c.cl"), program("tile.opencl-c.TILE32.cl"));
    assert!(plain.contains("#define TILE 16\n") && plain.contains("other"), "{plain}");
    assert!(variant.contains("#define TILE 32\n"), "{variant}");
}

#[test]
fn mistakes_in_macros_of_variants_are_said_with_their_places() {
    let fails = |name: &str, settings: &str, file: (&str, &str)| {
        let targets =
            "targets = [\"cpu\"]\n[package.metadata.kernelmill.kernels.tile]\nvariants = [\n";
        let project = Project::new(name)
            .manifest("2024", &format!("{targets}{settings}]\n"))
            .file(file.0, file.1)
            .file("src/main.rs", "fn main() {}\n");
        check_snapshot(name, &project.cargo(&["build"]).build_script_error());
    };
    if clang().is_none() {
        return;
    }
    let cuda = ("kernels/tile.cu", TILES);
    let read = "    { define = { \"1x\" = 1 } },\n    { define = {} },\n    { name = \"a b\", define = { A = 1 } },\n";
    fails("variants-defines-read", read, cuda);
    let same = "    { define = { A = \"+1\" } },\n    { define = { A = \"*1\" } },\n    { define = { A = \"+1\" } },\n    \
                { name = \"wide\", define = { B = 1 } },\n    { name = \"wide\", launch-bounds = 8 },\n";
    fails("variants-defines-same", same, cuda);
    let rust = KERNELS.replace("mark", "tile");
    fails("variants-defines-rust", "    { define = { A = 1 } },\n", ("kernels/a.rs", &rust));
    let other = "#ifdef GONE\n#elif defined(LONGER)\nextern \"C\" __global__ void tile(unsigned *x, int n) {}\n\
                 #elif defined(BROKEN)\nint\n#else\nextern \"C\" __global__ void tile(unsigned *x) {}\n#endif\n";
    let settings = "    { define = { GONE = true } },\n    { define = { LONGER = true } },\n    \
                    { define = { BROKEN = true } },\n    { launch-bounds = 2048, define = { A = 1 } },\n";
    fails("variants-defines-other", settings, ("kernels/tile.cu", other));
    let settings = settings.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    fails("variants-defines-source", &settings, ("kernels/tile.cu", other));
    let variable = TILES.replacen("extern", "__device__ unsigned last[TILE];\nextern", 1);
    let variable = variable.replacen("+= TILE", "+= last[0]", 1);
    let settings = "    { define = { TILE = 32 } },\n    { define = { OTHER = 32 } },\n";
    fails("variants-defines-variable", settings, ("kernels/tile.cu", &variable));
}
