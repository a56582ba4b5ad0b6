//! Every command, on the example `saxpy`.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
};
use test_support::temporary_folder;

/// The commands build one example, each for other targets: what one has built and reads, another would replace.
fn kernelmill(arguments: &[&str]) -> Output {
    kernelmill_on("saxpy", arguments)
}

/// A command on an example.
fn kernelmill_on(example: &str, arguments: &[&str]) -> Output {
    let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands.lock");
    let lock = File::create(lock).expect("the folder of tests can be written");
    lock.lock().expect("files can be locked");
    Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"))
        .arg("kernelmill")
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example))
        .output()
        .expect("the program runs")
}

#[track_caller]
fn stdout(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn list_shows_signature_place_and_binaries() {
    let text = stdout(kernelmill(&["list"]));
    assert!(text.starts_with("saxpy: 1 kernel\n"), "{text}");
    let kernel = "  fn saxpy(a: f32, x: &[f32], y: DisjointSlice<f32>)\n    kernels/saxpy.rs:4\n";
    assert!(text.contains(kernel), "{text}");
    assert!(text.contains(".compute_75.ptx"), "{text}");
}

#[test]
fn inspect_prints_the_ptx_of_one_kernel() {
    let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "compute_80"]));
    assert!(text.starts_with(".visible .entry saxpy("), "{text}");
    assert_eq!(text.matches("fma.rn.f32").count(), 1, "{text}");
}

/// The second time everything comes from the store.
#[test]
fn inspect_says_how_a_kernel_runs_on_the_cpu() {
    for _ in 0..2 {
        let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "cpu"]));
        assert!(text.starts_with("thread loop: no barriers, vector width"), "{text}");
    }
}

#[test]
fn inspect_lists_the_passes_of_the_cpu_in_their_order() {
    let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "cpu", "--passes"]));
    let passes = ["simplification", "choice of lowering", "region formation", "vectorization"];
    let places: Vec<_> = passes.iter().map(|pass| text.find(&format!("  {pass} "))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let output = kernelmill(&["inspect", "saxpy", "--passes"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("`--passes` is for the target `cpu`"));
}

/// Every stage of a kernel, each as what it is, and the same the second time.
///
/// Acceptance: S3.9.
#[test]
fn inspect_prints_a_kernel_at_each_stage() {
    for (target, stage, begins, has) in [
        ("cpu", "ir", "; ModuleID", "define void @__kernelmill_entry_saxpy("),
        ("cpu", "linked", "; ModuleID", "@kernelmill_cpu_saxpy_saxpy_"),
        ("cpu", "opt", "; ModuleID", "fmul"),
        ("cpu", "asm", "\t", ".globl\tkernelmill_cpu_saxpy_saxpy_"),
        ("compute_80", "opt", "; ModuleID", "define ptx_kernel void @saxpy("),
        ("compute_80", "ptx", "//", ".visible .entry saxpy("),
        ("spirv64", "linked", "; ModuleID", "@saxpy("),
    ] {
        let inspect =
            || stdout(kernelmill(&["inspect", "saxpy", "--target", target, "--stage", stage]));
        let text = inspect();
        assert!(text.starts_with(begins) && text.contains(has), "{target} {stage}: {text}");
        assert_eq!(inspect(), text);
    }
}

/// A kernel in WGSL, as it is and as it is translated, and one in OpenCL C as it is written for Vulkan.
#[test]
fn inspect_prints_what_vulkan_metal_and_d3d12_get() {
    let inspect = |kernel, stage| {
        kernelmill_on("devices", &["inspect", kernel, "--target", "vulkan", "--stage", stage])
    };
    let (own, compiled) = ("multiply_on_vulkan", "multiply");
    for (kernel, stage, has) in [
        (own, "wgsl", "fn multiply_on_vulkan("),
        (own, "msl", "kernel void multiply_on_vulkan("),
        (own, "hlsl", "[numthreads("),
        (compiled, "opt", "define spir_kernel void @multiply("),
        (compiled, "wgsl", "fn kernel0("),
    ] {
        let text = stdout(inspect(kernel, stage));
        assert!(text.contains(has), "{kernel} {stage}: {text}");
    }
    // It is what is printed where no stage is asked for.
    let text = stdout(kernelmill_on("devices", &["inspect", compiled, "--target", "vulkan"]));
    assert!(text.contains("fn kernel0("), "{text}");
    let folders = [temporary_folder(), temporary_folder()];
    diff_compares_wgsl(&folders.each_ref().map(|folder| copy_of_build(folder.path())));
    for (kernel, stage) in [(own, "opt"), (compiled, "msl")] {
        let output = inspect(kernel, stage);
        let text = String::from_utf8_lossy(&output.stderr);
        let expected = format!(
            "`{kernel}` has no stage `{stage}` for `vulkan` in this build: kernels in WGSL have"
        );
        assert!(!output.status.success() && text.contains(&expected), "{text}");
    }
}

/// A copy of what the build for the last command on the example `devices` has left, with the dumps.
fn copy_of_build(folder: &Path) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../debug/build");
    let out_dirs = fs::read_dir(builds).unwrap().flatten().map(|entry| entry.path().join("out"));
    let dumped = "kernelmill/dump/multiply.vulkan.wgsl";
    let dumped =
        out_dirs.filter_map(|it| Some((it.join(dumped).metadata().ok()?.modified().ok()?, it)));
    let (_, newest) = dumped.max().expect("the WGSL of a kernel was dumped");
    let copy = folder.join("copy");
    let copied = Command::new("cp").arg("-r").arg(newest).arg(&copy).status().unwrap();
    assert!(copied.success());
    copy
}

/// What is written for Vulkan, and files in WGSL, without comments.
#[track_caller]
fn diff_compares_wgsl(builds: &[PathBuf; 2]) {
    let [before, now] = builds.each_ref().map(|it| it.to_str().unwrap());
    let own = builds[1].join("kernelmill/dump/multiply_on_vulkan.vulkan.wgsl");
    let text = fs::read_to_string(&own).unwrap();
    let diff = || kernelmill(&["diff", before, now, "--exit-code"]);
    // Nothing that the kernel names is another.
    fs::write(&own, format!("// Moved.\nfn other() -> u32 {{ return TILE; }}\n{text}")).unwrap();
    assert_eq!(stdout(diff()), "vulkan:\n  same     multiply\n  same     multiply_on_vulkan\n");
    fs::write(&own, text.replacen(" * ", " / ", 1)).unwrap();
    let output = diff();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "vulkan:\n  same     multiply\n  changed  multiply_on_vulkan: other code of the same size\n";
    assert_eq!((&*said, output.status.code()), (expected, Some(1)), "{output:?}");
}

#[test]
fn inspect_names_the_stages_that_there_are() {
    let errors = |arguments: &[&str]| {
        let output = kernelmill(arguments);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = errors(&["inspect", "saxpy", "--stage", "sass"]);
    let expected = "kernels for `compute_75` have no stage `sass`; their stages are `ir`, `linked`, `opt`, `ptx`";
    assert!(text.contains(expected), "{text}");
    let text = errors(&["inspect", "saxpy", "--stage", "llvm"]);
    assert!(
        text.contains("there is no stage `llvm`; the stages are `ir`, `linked`, `opt`"),
        "{text}"
    );
}

#[test]
fn inspect_names_the_kernels_there_are() {
    let output = kernelmill(&["inspect", "saxpi"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        errors.contains("the package `saxpy` has no kernel `saxpi`; its kernels are saxpy"),
        "{errors}"
    );
}

#[test]
fn report_counts_what_a_kernel_takes() {
    let Some(_) = test_support::tool::wheels() else { return };
    let text = stdout(kernelmill(&["report", "--target", "sm_80"]));
    let line =
        text.lines().find(|line| line.ends_with("  saxpy")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<u32> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [registers, stores, loads, stack, shared, constant, threads, local, instructions] =
        numbers[..]
    else {
        panic!("{line}")
    };
    assert!((8..=40).contains(&registers), "{text}");
    assert_eq!((stores, loads, stack, shared, local), (0, 0, 0, 0, 0), "{text}");
    assert!(constant > 0 && threads == 1024, "{text}");
    assert!((8..=200).contains(&instructions), "{text}");
    let text = stdout(kernelmill(&["report", "--target", "compute_80"]));
    let driver = "saxpy.compute_80.ptx: PTX 7.0, which needs the driver of CUDA 11.0 or later";
    assert_eq!(text.lines().next(), Some(driver), "{text}");
    let text = stdout(kernelmill(&["report", "--target", "cpu"]));
    let is_saxpy = |line: &&str| line.contains("  saxpy: thread loop");
    assert!(text.lines().any(|line| is_saxpy(&line)), "{text}");
}

#[test]
fn doctor_finds_what_every_build_needs() {
    let text = stdout(kernelmill(&["doctor"]));
    for tool in ["rustc", "LLVM", "cc"] {
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(tool));
        assert!(line.is_some_and(|line| line.starts_with("ok")), "{tool}: {text}");
    }
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = kernelmill(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn facts_are_printed_as_json() {
    let list = json(&["list", "--json"]);
    assert_eq!(list["package"], "saxpy");
    assert_eq!(list["manifest"]["kernels"][0]["name"], "saxpy");
    let folder = Path::new(list["out_dir"].as_str().unwrap());
    for binary in list["manifest"]["binaries"].as_array().unwrap() {
        assert!(folder.join(binary["file"].as_str().unwrap()).is_file(), "{binary}");
    }
    let stats = json(&["store", "stats", "--json"]);
    let kinds = stats["kinds"].as_object().unwrap().values();
    let files: u64 = kinds.map(|kind| kind["files"].as_u64().unwrap()).sum();
    assert_eq!(stats["entries"]["files"], files);
    let doctor = json(&["doctor", "--json"]);
    let tools = doctor["tools"].as_array().unwrap();
    let rustc = tools.iter().find(|tool| tool["name"] == "rustc").unwrap();
    assert!(rustc["version"].as_str().unwrap().starts_with("1."), "{rustc}");
    assert!(tools.iter().all(|tool| tool["path"].is_string() != tool["remedy"].is_string()));
    assert!(doctor["devices"].as_array().unwrap().iter().any(|it| it.to_string().contains("CPU")));
    assert_eq!(doctor["package"]["targets"], serde_json::json!(["cpu", "compute_75", "gfx1100"]));
}

#[test]
fn what_a_kernel_became_is_printed_as_json() {
    let inspect = json(&["inspect", "saxpy", "--target", "compute_80", "--json"]);
    assert_eq!((&inspect["kernel"], &inspect["target"]), (&"saxpy".into(), &"compute_80".into()));
    assert!(inspect["text"].as_str().unwrap().starts_with(".visible .entry saxpy("), "{inspect}");
    let stage = json(&["inspect", "saxpy", "--target", "cpu", "--stage", "opt", "--json"]);
    assert_eq!(stage["stage"], "opt");
    assert!(stage["text"].as_str().unwrap().contains("define "), "{stage}");
    let passes = json(&["inspect", "saxpy", "--target", "cpu", "--passes", "--json"]);
    assert!(passes["strategy"].as_str().unwrap().starts_with("thread loop"), "{passes}");
    assert!(passes["passes"].as_array().unwrap().len() > 3, "{passes}");

    let report = json(&["report", "--target", "cpu", "--json"]);
    let kernel = &report["binaries"][0]["kernels"][0];
    assert_eq!((&report["package"], &kernel["name"]), (&"saxpy".into(), &"saxpy".into()));
    assert!(kernel["resources"]["stack_bytes"].is_u64(), "{report}");
    assert!(kernel["strategy"].as_str().unwrap().starts_with("thread loop"), "{report}");
    let list = json(&["toolchain", "list", "--json"]);
    assert!(list["installed"].is_array() && list["used"]["nvcc"] != 1, "{list}");
    assert_eq!(list["used"].as_object().unwrap().len(), 3, "{list}");
}

#[test]
fn report_writes_a_page_that_needs_no_network() {
    let Some(_) = test_support::tool::wheels() else { return };
    let folder = test_support::temporary_folder();
    let page = folder.path().join("report.html");
    let path = page.display().to_string();
    stdout(kernelmill(&["report", "--target", "sm_80", "--html", &path]));
    let text = std::fs::read_to_string(&page).unwrap().replace("&#x2f;", "/");
    // The table, the curve of occupancy, and SASS beside the source.
    for part in [
        "<h2>sm_80: kernels/saxpy.rs</h2>",
        "<th class=\"number\">registers</th>",
        "stack<small>bytes</small>",
        "<polyline points=",
        "threads of a block",
        "EXIT",
        "kernels/saxpy.rs:7",
        "*out += a * x[i.get()]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("http"), "{text}");
    stdout(kernelmill(&["report", "--target", "compute_80", "--html", &path]));
    let text = std::fs::read_to_string(&page).unwrap().replace("&#x2f;", "/");
    assert!(text.contains("PTX 7.0, which needs the driver of CUDA 11.0 or later"), "{text}");
    assert!(text.contains("kernels/saxpy.rs:7") && text.contains("fma.rn.f32"), "{text}");
}

#[test]
fn schema_prints_the_schema_of_the_build() {
    let text = stdout(kernelmill(&["schema"]));
    assert_eq!(text, kernelmill_build::SETTINGS_SCHEMA);
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    commands_of(&[])
}

/// The commands below a command; none where it has none.
fn commands_of(command: &[&str]) -> Vec<String> {
    let help = stdout(kernelmill(&[command, &["--help"]].concat()));
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let (list, _) = list.split_once("\n\n").unwrap();
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_prints_json() {
    for command in commands().iter().filter(|it| *it != "help") {
        let actions = commands_of(&[command]);
        let with_action =
            actions.iter().filter(|it| *it != "help").map(|it| vec![&**command, &**it]);
        let mut all: Vec<_> = with_action.collect();
        if all.is_empty() {
            all.push(vec![&**command]);
        }
        for command in all {
            let help = stdout(kernelmill(&[&command[..], &["--help"]].concat()));
            assert!(help.contains("--json"), "{command:?}: {help}");
        }
    }
}

/// The page on continuous integration is copied to places where nothing tests it.
#[test]
fn the_commands_of_the_page_on_continuous_integration_exist() {
    let page = std::fs::read_to_string(test_support::root().join("docs/src/guide/ci.md")).unwrap();
    let commands = commands();
    let mut count = 0;
    for (_, rest) in page.lines().filter_map(|line| line.split_once("cargo kernelmill ")) {
        let mut words = rest.split([' ', '`', ',', '"', ')']).take_while(|word| !word.is_empty());
        let command = words.next().unwrap();
        assert!(commands.iter().any(|it| it == command), "{rest}");
        let help = stdout(kernelmill(&[command, "--help"]));
        for word in words.filter(|word| !word.contains(['/', '.'])) {
            assert!(help.contains(word), "{rest}: {help}");
        }
        count += 1;
    }
    assert!(count > 8, "{count}");
}

#[test]
fn explain_prints_a_code_or_lists_all() {
    let text = stdout(kernelmill(&["explain", "km0003"]));
    assert!(text.starts_with("error[KM0003]: A target does not exist\n\nTargets are"), "{text}");
    let list = stdout(kernelmill(&["explain"]));
    let count = kernelmill_build::Code::ALL.len() + kernelmill::ErrorCode::ALL.len();
    assert_eq!(list.lines().count(), count);
    for text in ["KM1010", "km1010", "1010"] {
        let text = stdout(kernelmill(&["explain", text]));
        assert!(
            text.starts_with("error[KM1010]: A buffer, a stream or a kernel of another"),
            "{text}"
        );
        assert!(text.contains("\nlet kernels") || text.contains("\n    let kernels"), "{text}");
        assert!(!text.contains("\n# "), "what rustdoc hides is hidden: {text}");
    }
    assert!(list.contains("KM0040  A parameter has a type that cannot cross"), "{list}");
    let one = json(&["explain", "KM0003", "--json"]);
    assert_eq!(
        (&one["code"], &one["title"]),
        (&"KM0003".into(), &"A target does not exist".into())
    );
    assert!(text.ends_with(one["explanation"].as_str().unwrap()), "{one}");
    let all = json(&["explain", "--json"]);
    assert_eq!(all[2], one);
    let output = kernelmill(&["explain", "E0308"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("there is no error code `E0308`"), "{said}");
}

#[test]
fn every_shell_completes_every_command() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = stdout(kernelmill(&["completions", shell]));
        for command in &commands {
            assert!(text.contains(command.as_str()), "{shell}: {command}");
        }
    }
    let told = json(&["completions", "zsh", "--json"]);
    assert_eq!((&told["shell"], &told["file"]), (&"zsh".into(), &"_cargo-kernelmill".into()));
    assert_eq!(told["script"], stdout(kernelmill(&["completions", "zsh"])));
    // What zsh looks for to complete `cargo kernelmill`.
    assert!(stdout(kernelmill(&["completions", "zsh"])).contains("\n_cargo-kernelmill() {"));
}

#[test]
fn the_schema_of_a_manifest_has_that_of_the_settings_in_its_tables() {
    let settings = json(&["schema", "--json"]);
    assert_eq!(settings, json(&["schema"]));
    let manifest = json(&["schema", "--manifest"]);
    for table in ["package", "workspace"] {
        let place = format!("/properties/{table}/properties/metadata/properties/kernelmill/$ref");
        assert_eq!(manifest.pointer(&place).unwrap(), "#/definitions/settings");
    }
    let own = &manifest["definitions"]["settings"];
    for key in ["properties", "additionalProperties", "type"] {
        assert_eq!(own[key], settings[key], "{key}");
    }
    for (name, definition) in settings["definitions"].as_object().unwrap() {
        assert_eq!(manifest["definitions"][name], *definition, "{name}");
    }
    // The rest of a manifest is Cargo's.
    assert!(manifest.get("additionalProperties").is_none());
    let text = manifest.to_string();
    let references = text.split("\"$ref\":\"#").skip(1);
    let missing: Vec<_> = references
        .map(|rest| rest.split('"').next().unwrap())
        .filter(|place| manifest.pointer(place).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = test_support::temporary_folder();
    let pages = folder.path().join("share/man1");
    let text = stdout(kernelmill(&["man", &pages.display().to_string()]));
    for command in commands().iter().filter(|command| *command != "help") {
        let page = pages.join(format!("cargo-kernelmill-{command}.1"));
        let page =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    let count = std::fs::read_dir(&pages).unwrap().count();
    assert_eq!(text, format!("{count} pages in {}\n", pages.display()));
    let told = json(&["man", &pages.display().to_string(), "--json"]);
    assert_eq!(told["pages"].as_array().unwrap().len(), count, "{told}");
}

#[test]
fn the_program_can_be_called_by_its_own_name() {
    let program = env!("CARGO_BIN_EXE_cargo-kernelmill");
    let direct = stdout(Command::new(program).arg("schema").output().unwrap());
    assert_eq!(direct, stdout(kernelmill(&["schema"])));
    let output = kernelmill(&["lst"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("'list'"), "{output:?}");
}

/// What `cargo build` says of such a package are words of rustc about a file that is not there.
#[test]
fn a_package_whose_build_script_compiles_no_kernels_is_told_what_is_missing() {
    let folder = temporary_folder();
    fs::create_dir(folder.path().join("src")).expect("the folder can be written");
    let write = |path: &str, text: &str| {
        fs::write(folder.path().join(path), text).expect("the folder can be written");
    };
    write("Cargo.toml", "[package]\nname = \"bare\"\nedition = \"2024\"\n\n[workspace]\n");
    write("src/lib.rs", "");
    let said = || {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"))
            .args(["kernelmill", "list"])
            .current_dir(folder.path())
            .output()
            .expect("the program runs");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = said();
    let expected = "the package `bare` has no build script: add a `build.rs` that calls `kernelmill_build::compile()`";
    assert!(error.contains(expected), "{error}");
    write("build.rs", "fn main() {}\n");
    let error = said();
    let expected =
        "the build script of the package `bare` does not call `kernelmill_build::compile()`";
    assert!(error.contains(expected), "{error}");
}
