//! The conformance kernels for GPUs: assembled, linked, and their barriers counted.

use end_to_end::{Project, out_dir};
use kernelmill_build::manifest::{Manifest, Resources};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use test_support::{root, tool};

/// Files with kernels that take many registers, a stack, and shared memory. `tests/conformance` compiles all there are for
/// every kind of target.
const SOME: [&str; 3] = ["language.rs", "shared.rs", "warp.rs"];

/// A copy of the conformance package's kernels, or of those in files of these names, built for these targets, and its
/// `OUT_DIR`, which is there as long as the project is.
fn build(name: &str, targets: &str, names: &[&str]) -> (Project, PathBuf) {
    let kernels = root().join("tests/conformance/kernels");
    let mut project = Project::new(name)
        .environment("KERNELMILL_TARGETS", targets)
        .file("src/main.rs", "fn main() {}\n");
    let is_wanted = |path: &Path| names.is_empty() || names.iter().any(|it| path.ends_with(it));
    for path in files(&kernels).into_iter().filter(|path| is_wanted(path)) {
        let relative = path.strip_prefix(&kernels).expect("it lies there").display();
        let text = fs::read_to_string(&path).expect("a kernel file is text");
        // The kernel package names kernelmill-device by a relative path.
        let text = text
            .replace("../../../../build-helpers", &format!("{}/build-helpers", root().display()));
        project = project.file(&format!("kernels/{relative}"), &text);
    }
    let run = project.cargo(&["build", "--message-format=json"]).succeeds();
    let out = out_dir(&run.stdout, name, &project);
    (project, out)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there").filter_map(Result::ok);
    let paths = entries.map(|entry| entry.path());
    let nested = paths.flat_map(|path| match path.is_dir() {
        true if path.ends_with("target") => Vec::new(),
        true => files(&path),
        false => vec![path],
    });
    nested.collect()
}

fn with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found.sort();
    assert!(!found.is_empty(), "there is no *.{extension} in {}", folder.display());
    found
}

/// The number of barriers that a kernel executes in the source: calls of `sync_threads` from its
/// `#[kernel]` on, up to the next.
fn barriers_in_source(file: &str, kernel: &str) -> usize {
    let path = root().join("tests/conformance/kernels").join(file);
    let text = fs::read_to_string(path).expect("the kernel file is there");
    let start = text.find(&format!("pub fn {kernel}(")).expect("the kernel is there");
    let body = &text[start..];
    let end = body.find("#[kernel").unwrap_or(body.len());
    body[..end].matches("sync_threads()").count()
}

/// The text of an entry in PTX.
fn entry<'a>(ptx: &'a str, kernel: &str) -> &'a str {
    let marker = format!(".entry {kernel}(");
    let start = ptx.find(&marker).unwrap_or_else(|| panic!("{kernel} is not in the PTX"));
    let body = &ptx[start..];
    &body[..body.find("\n}").expect("an entry ends")]
}

#[test]
fn barriers_are_neither_duplicated_nor_lost() {
    let (_project, folder) = build("count-barriers", "compute_75,compute_90", &["shared.rs"]);
    let kernels = [
        "reverse_blocks",
        "early_exit",
        "divergent_loop",
        "divergent_lanes",
        "barrier_trap",
        "dynamic_shared",
        "transpose",
    ];
    let ptx_files: Vec<PathBuf> = with_extension(&folder, "ptx");
    let shared: Vec<&PathBuf> =
        ptx_files.iter().filter(|path| path.display().to_string().contains("shared")).collect();
    assert_eq!(shared.len(), 2, "one for each target: {ptx_files:?}");
    for path in shared {
        let ptx = fs::read_to_string(path).expect("PTX is text");
        for kernel in kernels {
            let found = entry(&ptx, kernel);
            let found = found.matches("bar.sync").count() + found.matches("barrier.sync").count();
            let expected = barriers_in_source("shared.rs", kernel);
            assert_eq!(found, expected, "{kernel} in {}", path.display());
        }
    }
}

/// The other architectures are those of `tests/conformance`.
#[test]
fn ptx_of_every_kernel_is_assembled() {
    let Some(ptxas) = tool::nvidia("ptxas") else { return };
    let (_project, folder) = build("assemble-ptx", "compute_80,compute_90", &[]);
    for path in with_extension(&folder, "ptx") {
        let text = fs::read_to_string(&path).expect("PTX is text");
        let target = text.lines().find_map(|line| line.strip_prefix(".target "));
        let arch = target.expect("PTX names its target").split(',').next().unwrap_or_default();
        let output = Command::new(&ptxas)
            .args(["--gpu-name", arch.trim(), "--warn-on-spills", "-o", "/dev/null"])
            .arg(&path)
            .output()
            .expect("ptxas runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", path.display());
    }
}

/// Acceptance: S3.8.
#[test]
fn cubins_hold_every_kernel_and_the_manifest_says_what_it_takes() {
    let Some(_) = tool::nvidia("ptxas") else { return };
    let Some(cuobjdump) = tool::nvidia("cuobjdump") else { return };
    let (_project, folder) = build("cubins", "sm_75,sm_100", &SOME);
    let manifest = Manifest::read(&folder).expect("the build wrote its manifest");
    let names: BTreeSet<_> = manifest.kernels.iter().map(|kernel| &kernel.name).collect();
    for name in ["sort_long", "transpose", "warp_votes"] {
        assert!(names.contains(&name.to_owned()), "{name} is in none of {names:?}");
    }
    let mut most = Resources::default();
    for binary in &manifest.binaries {
        let expected = resources_by_cuobjdump(&cuobjdump, &folder.join(&binary.file));
        assert!(!binary.kernels.is_empty(), "{} has kernels", binary.file);
        for kernel in &binary.kernels {
            let place = format!("{} in {}", kernel.entry, binary.file);
            let found = kernel.resources;
            let expected = expected.get(&kernel.entry).expect("cuobjdump knows it");
            assert_eq!(found.registers, expected.registers, "{place}");
            assert_eq!(found.stack_bytes, expected.stack_bytes, "{place}");
            assert_eq!(found.constant_bytes, expected.constant_bytes, "{place}");
            // From the ninth generation on a cubin counts what the system keeps.
            let system = if binary.target == "sm_100" { 1024 } else { 0 };
            let shared = expected.static_shared_bytes.map(|all| all.saturating_sub(system));
            assert_eq!(found.static_shared_bytes, shared, "{place}");
            assert!(found.spill_stores.is_some() && found.spill_loads.is_some(), "{place}");
            assert!(found.max_threads.is_some_and(|most| most <= 1024), "{place}");
            most.registers = most.registers.max(found.registers);
            most.stack_bytes = most.stack_bytes.max(found.stack_bytes);
            most.static_shared_bytes = most.static_shared_bytes.max(found.static_shared_bytes);
        }
    }
    let Resources { registers, stack_bytes, static_shared_bytes, .. } = most;
    let is_wide = registers > Some(32) && stack_bytes > Some(0) && static_shared_bytes > Some(1024);
    assert!(is_wide, "{most:?}");
}

/// What `cuobjdump -res-usage` says: lines ` Function NAME:`, each before `  REG:10 STACK:0 SHARED:0 ...`.
fn resources_by_cuobjdump(cuobjdump: &Path, cubin: &Path) -> BTreeMap<String, Resources> {
    let output = Command::new(cuobjdump).arg("-res-usage").arg(cubin).output();
    let text = String::from_utf8(output.expect("cuobjdump runs").stdout).expect("it is text");
    let mut found = BTreeMap::new();
    let mut function = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Function ") {
            function = Some(name.trim_end_matches(':').to_owned());
        } else if line.starts_with("REG:") {
            // The stack of a kernel that recurses is `UNKNOWN`.
            let number = |key: &str| -> Option<u32> {
                let word = line.split_whitespace().find_map(|word| word.strip_prefix(key));
                let word = word.unwrap_or_else(|| panic!("no {key} in `{line}`"));
                (word != "UNKNOWN").then(|| word.parse().expect("it is a number"))
            };
            let mut resources = Resources::default();
            resources.registers = number("REG:");
            resources.stack_bytes = number("STACK:");
            resources.static_shared_bytes = number("SHARED:");
            let constants = line.split_whitespace().filter(|word| word.starts_with("CONSTANT["));
            let bytes = constants.map(|word| -> u32 {
                let (_, bytes) = word.split_once(':').expect("it has a value");
                bytes.parse().expect("it is a number")
            });
            resources.constant_bytes = Some(bytes.sum());
            found.insert(function.take().expect("a function is named first"), resources);
        }
    }
    found
}

/// A kernel whose threads keep 48 values at once, made for at most 32 registers; then for any number.
///
/// Acceptance: S3.8, C23.
#[test]
fn a_limit_of_32_registers_spills_and_is_told_by_kernel_line_and_target() {
    let Some(_) = tool::nvidia("ptxas") else { return };
    let lines = |line: &dyn Fn(u32) -> String| -> String { (0..48).map(line).collect() };
    let kernels = format!(
        "use kernelmill_device::prelude::*;\n\n#[kernel]\n\
         pub fn wide(x: &[f32], mut y: DisjointSlice<f32>) {{\n    \
         let at = thread::index_1d();\n    let first = x[at.get()];\n{}    let mut k = 0;\n    \
         while k < x.len() {{\n        let t = x[k];\n{}        k += 1;\n    }}\n    \
         if let Some(out) = y.get_mut(at) {{\n        *out = 0.0{};\n    }}\n}}\n",
        lines(&|at| format!("    let mut v{at} = first * {at}.0;\n")),
        lines(&|at| format!("        v{at} = v{at} * t + v{};\n", (at + 1) % 48)),
        lines(&|at| format!(" + v{at}")),
    );
    let settings = |registers: &str, level: &str| {
        format!(
            "targets = [\"cpu\", \"sm_80\"]\nmax-spills = 0\nexcess-spills = \"{level}\"\n\
             [package.metadata.kernelmill.kernels.wide]\nlaunch-bounds = 128\n{registers}\n"
        )
    };
    let build = |name: &str, settings: &str| {
        let project = Project::new(name).manifest("2024", settings);
        let project =
            project.file("kernels/wide.rs", &kernels).file("src/main.rs", "fn main() {}\n");
        let run = project.cargo(&["build", "--message-format=json"]);
        (project, run)
    };
    let place = "kernels/wide.rs:4: kernel `wide` for sm_80 spills registers: each thread stores ";
    let (project, run) = build("spills-warned", &settings("max-registers = 32", "warn"));
    let run = run.succeeds();
    assert!(
        run.stderr.contains(&format!("warning: spills-warned@0.1.0: {place}")),
        "{}",
        run.stderr
    );
    let manifest = Manifest::read(&out_dir(&run.stdout, "spills-warned", &project));
    let manifest = manifest.expect("the build wrote its manifest");
    let kernel = manifest.kernel("wide").expect("it was built");
    for (binary, compiled) in manifest.compiled(kernel) {
        let found = compiled.resources;
        if binary.target == "cpu" {
            assert_eq!((found.registers, found.spill_stores), (None, None));
            assert!(found.stack_bytes.is_some());
            continue;
        }
        assert_eq!(found.registers, Some(32), "{found:?}");
        assert!(found.spill_stores > Some(0) && found.spill_loads > Some(0), "{found:?}");
        assert_eq!(found.max_threads, Some(128), "{found:?}");
    }
    let (_project, run) = build("spills-refused", &settings("max-registers = 32", "error"));
    let text = run.build_script_error();
    assert!(text.contains(&format!("error[KM0089]: {place}")), "{text}");
    let (project, run) = build("no-spills", &settings("", "error"));
    let manifest = Manifest::read(&out_dir(&run.succeeds().stdout, "no-spills", &project));
    assert!(manifest.expect("the build wrote its manifest").diagnostics.is_empty());
}

/// Acceptance: S3.8.
#[test]
fn amd_code_objects_are_linked_and_say_what_their_kernels_take() {
    let (_project, folder) = build("amd", "gfx90a,gfx942,gfx1100", &SOME);
    let objects = with_extension(&folder, "hsaco");
    for path in &objects {
        let bytes = fs::read(path).expect("a code object can be read");
        assert!(bytes.starts_with(b"\x7fELF"), "{}", path.display());
        // ET_DYN: linked, not relocatable; machine 224: AMDGPU.
        assert_eq!(bytes[16..20], [3, 0, 224, 0], "{}", path.display());
    }
    let shared: Vec<&PathBuf> =
        objects.iter().filter(|path| path.display().to_string().contains("shared")).collect();
    assert_eq!(shared.len(), 3);
    for path in shared {
        let bytes = fs::read(path).expect("a code object can be read");
        let text = String::from_utf8_lossy(&bytes);
        for kernel in ["reverse_blocks", "transpose", "dynamic_shared"] {
            assert!(text.contains(&format!("{kernel}.kd")), "{kernel} in {}", path.display());
        }
    }
    let manifest = Manifest::read(&folder).expect("the build wrote its manifest");
    let mut most = Resources::default();
    for binary in &manifest.binaries {
        for kernel in &binary.kernels {
            let (found, place) = (kernel.resources, format!("{} in {}", kernel.entry, binary.file));
            assert!(found.registers > Some(0) && found.scalar_registers > Some(0), "{place}");
            // More than the source declares where LLVM keeps arrays of threads in shared memory, too.
            assert!(found.static_shared_bytes.is_some(), "{place}");
            assert!(found.spilled_registers.is_some() && found.max_threads.is_some(), "{place}");
            assert_eq!((found.spill_stores, found.spill_loads), (None, None), "{place}");
            most.registers = most.registers.max(found.registers);
            most.stack_bytes = most.stack_bytes.max(found.stack_bytes);
        }
    }
    assert!(most.registers > Some(32) && most.stack_bytes > Some(0), "{most:?}");
}

/// `[kernels.NAME]` says it of a kernel whose source is left alone, and goes before what the source
/// says; what it does not say is the source's.
#[test]
fn limits_of_launches_in_the_settings_reach_the_code_and_the_wrappers() {
    let kernels = "use kernelmill_device::prelude::*;\n\n\
                   #[kernel(launch_bounds = 512, max_registers = 48)]\n\
                   pub fn said(mut y: DisjointSlice<f32>) {\n    \
                   if let Some(out) = y.get_mut(thread::index_1d()) {\n        *out += 1.0;\n    }\n}\n";
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\n\
                use kernelmill::{Device, Error, Launch};\n\
                fn main() -> kernelmill::Result<()> {\n    let device = Device::cpu()?;\n    \
                let kernels = kernels::Kernels::load(&device)?;\n    \
                let mut y = device.zeros::<f32>(256)?;\n    let stream = device.stream();\n    \
                kernels.said(&stream, Launch::grid([2], [128]), &mut y)?;\n    \
                assert_eq!(y.download()?, [1.0; 256]);\n    \
                let refused = kernels.said(&stream, Launch::grid([1], [256]), &mut y);\n    \
                assert!(matches!(refused, Err(Error::Limit { .. })), \"{refused:?}\");\n    Ok(())\n}\n";
    let settings = "targets = [\"cpu\", \"compute_75\"]\n\
                    [package.metadata.kernelmill.kernels.said]\nlaunch-bounds = 128\nmin-blocks = 3";
    let project = Project::new("limits-in-settings")
        .manifest("2024", settings)
        .file("kernels/said.rs", kernels)
        .file("src/main.rs", main);
    let run = project.cargo(&["run", "--message-format=json"]).succeeds();
    let out = out_dir(&run.stdout, "limits-in-settings", &project);
    let ptx = fs::read_to_string(&with_extension(&out, "ptx")[0]).expect("PTX is text");
    for directive in [".maxntid 128", ".minnctapersm 3", ".maxnreg 48"] {
        assert!(ptx.contains(directive), "no {directive} in\n{ptx}");
    }
}
