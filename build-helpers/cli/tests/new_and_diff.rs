//! A package from `new` builds, passes its own test, and `diff` sees what an edit changes.

mod packages;
#[cfg(target_os = "linux")]
mod terminal;

use packages::{Package, command, kernelmill, succeed};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use test_support::{TempDir, builds, root, temporary_folder, tool};

/// Makes a package with the lock file of this workspace: nothing new is downloaded.
fn package(folder: &TempDir, name: &str, language: &str) -> Package {
    let checkout = root();
    let path = checkout.display().to_string();
    let arguments = ["new", name, "--language", language, "--kernelmill-path", &path, "--json"];
    let made = succeed(&kernelmill(folder.path(), &arguments));
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["folder"], &made["language"]), (&name.into(), &language.into()));
    let package = Package { folder: folder.path().join(name), name: name.to_owned() };
    fs::copy(checkout.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    package
}

fn cargo(package: &Path, arguments: &[&str]) -> Output {
    command("cargo", package, arguments).output().unwrap()
}

fn git(package: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    let output =
        Command::new("git").args(identity).args(arguments).current_dir(package).output().unwrap();
    succeed(&output);
}

/// A copy of what the build of a package left.
fn outputs(package: &Path, folder: &TempDir, name: &str) -> String {
    let list = succeed(&kernelmill(package, &["list", "--json"]));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let copy = folder.path().join(name);
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(list["out_dir"].as_str().unwrap()).unwrap().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    copy.display().to_string()
}

/// Acceptance: S3.14.
#[test]
fn a_new_package_passes_its_test_and_diff_sees_an_edit() {
    let folder = temporary_folder();
    let package = package(&folder, "grind", "rust");
    let said = succeed(&cargo(&package, &["test", "--offline"]));
    assert!(said.contains("test tests::saxpy_adds ... ok"), "{said}");

    git(&package, &["add", "."]);
    git(&package, &["commit", "--quiet", "-m", "first"]);
    let output = kernelmill(&package, &["diff", "--exit-code"]);
    let said = succeed(&output);
    assert_eq!(said, "compute_75:\n  same     saxpy\ncpu:\n  same     saxpy\n");
    // What is built is said, the working tree first.
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    let building: Vec<_> = progress.lines().filter(|line| line.starts_with("building ")).collect();
    assert_eq!(building, ["building the working tree", "building `HEAD`"], "{progress}");
    let built = outputs(&package, &folder, "outputs");

    let kernel = package.join("kernels/saxpy.rs");
    let text = fs::read_to_string(&kernel).unwrap();
    // A line more above does not count, another operation does.
    let text = text.replace("/// Adds", "// Moved.\n/// Adds").replace("*out += a", "*out -= a");
    let more = "#[kernel]\npub fn zero(mut y: DisjointSlice<f32>) {\n    \
                if let Some(out) = y.get_mut(thread::index_1d()) {\n        *out = 0.0;\n    }\n}\n";
    fs::write(&kernel, format!("{text}\n{more}")).unwrap();
    let said = succeed(&kernelmill(&package, &["diff", "HEAD", "--text"]));
    assert!(said.starts_with("compute_75:\n  changed  saxpy: "), "{said}");
    assert!(said.contains("\n-\tfma.rn.f32"), "{said}");
    assert!(said.contains("  new      zero\ncpu:\n  changed  saxpy: "), "{said}");
    assert!(said.contains("\n-\taddss\t") || !cfg!(target_arch = "x86_64"), "{said}");
    // Of two kernels in a file only the one that was edited differs, on every target.
    let other = fs::read_to_string(&kernel).unwrap().replace("*out = 0.0", "*out = 1.0");
    git(&package, &["commit", "--quiet", "-a", "-m", "second"]);
    fs::write(&kernel, format!("// Moved again.\n{other}")).unwrap();
    let said = succeed(&kernelmill(&package, &["diff"]));
    let changes: Vec<_> = said.lines().map(|line| line.split(':').next().unwrap()).collect();
    let of_target = ["  same     saxpy", "  changed  zero"];
    let expected = [["compute_75"].as_slice(), &of_target, &["cpu"], &of_target].concat();
    assert_eq!(changes, expected, "{said}");
    git(&package, &["reset", "--quiet", "HEAD~1"]);
    // What was kept of a build has its code where that is printed, as PTX is; else its digest says whether it is the same.
    let said = succeed(&kernelmill(&package, &["diff", &built]));
    assert!(
        said.contains("cpu:\n  rebuilt  saxpy: another binary with the same resources"),
        "{said}"
    );
    // A check does not pass over what it cannot compare.
    let output = kernelmill(&package, &["diff", &built, "--target", "cpu", "--exit-code"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    // Two folders: nothing is built.
    let output = kernelmill(folder.path(), &["diff", &built, &built, "--exit-code"]);
    assert_eq!(succeed(&output), "compute_75:\n  same     saxpy\ncpu:\n  same     saxpy\n");
    assert_eq!(output.stderr, b"", "{output:?}");
    let other = outputs(&package, &folder, "other");
    let output = kernelmill(folder.path(), &["diff", &built, &other, "--exit-code"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("compute_75:\n  changed  saxpy: "), "{said}");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    // The build that was kept is the revision's, and what is compared is not built for it.
    let page = folder.path().join("diff.html");
    let arguments = ["diff", &built, "--json", "--exit-code", "--html", page.to_str().unwrap()];
    let output = kernelmill(&package, &arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let change = |kernel: &str| facts["compute_75"][kernel]["change"].clone();
    assert_eq!((change("saxpy"), change("zero")), ("changed".into(), "new".into()), "{facts}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<span class=\"removed\">-\tfma.rn.f32"), "{page}");
    let said = succeed(&kernelmill(&package, &["diff", "HEAD", &built, "--exit-code"]));
    assert_eq!(said, "compute_75:\n  same     saxpy\ncpu:\n  same     saxpy\n");
    // Nothing is left of the other checkout.
    let worktrees = Command::new("git").args(["worktree", "list"]).current_dir(&*package).output();
    assert_eq!(succeed(&worktrees.unwrap()).lines().count(), 1);
}

/// A kernel file of a new package is code of the host for cargo's tools and for editors: its functions have tests, it is formatted,
/// and rust-analyzer finds what is wrong in it, and no more.
#[test]
fn kernel_files_are_code_of_the_host_for_tools() {
    let folder = temporary_folder();
    let package = package(&folder, "grind_tools", "rust");
    let kernel = package.join("kernels/saxpy.rs");
    let text = fs::read_to_string(&kernel).unwrap();
    let more = "/// Twice `x`.\npub fn twice(x: f32) -> f32 {\n    2.0 * x\n}\n\n\
                #[cfg(test)]\nmod tests {\n    #[test]\n    fn twice_is_twice() {\n        \
                assert_eq!(super::twice(1.5), 3.0);\n    }\n}\n";
    let wrong = "#[cfg(rust_analyzer)]\nconst WRONG: u32 = \"text\";\n";
    fs::write(&kernel, format!("{text}\n{more}\n{wrong}")).unwrap();
    // The page's two kernel files with a module of both, which here names the kernel file as its parent.
    for file in ["particles", "physics", "energy"] {
        fs::write(package.join(format!("kernels/{file}.rs")), of_the_page_on_kernels(file))
            .unwrap();
    }
    let physics = package.join("kernels/physics.rs");
    let own = fs::read_to_string(&physics).unwrap();
    let test = "#[cfg(test)]\nmod tests {\n    use super::{GRAVITY, Particle, fall};\n\n    \
                #[test]\n    fn it_falls() {\n        \
                assert!(fall(at_rest(), GRAVITY, 1.0).speed < 0.0);\n    }\n\n    \
                fn at_rest() -> Particle {\n        \
                let (height, speed) = (0.0, 0.0);\n        \
                Particle { height, speed }\n    }\n}\n";
    fs::write(&physics, format!("{own}\n{test}")).unwrap();
    let main = package.join("src/main.rs");
    let mut program = fs::read_to_string(&main).unwrap();
    for file in ["particles", "energy"] {
        let module = program.split_once("/// The kernels as code").unwrap().1;
        let (_, module) = module.split_once('\n').unwrap();
        let module = module.split_once("mod saxpy;\n").unwrap().0;
        // What the page says of a module that several have, and of values that the host alone makes.
        let allowed = "#[allow(dead_code, clippy::duplicate_mod)]\n";
        let module = format!("\n{module}{allowed}mod {file};\n").replace("saxpy", file);
        program = program.replacen("mod saxpy;\n", &format!("mod saxpy;\n{module}"), 1);
    }
    fs::write(&main, program).unwrap();
    let output = cargo(&package, &["test", "--offline"]);
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(!warnings.contains("unexpected `cfg`"), "{warnings}");
    let said = succeed(&output);
    assert!(said.contains("test saxpy::tests::twice_is_twice ... ok"), "{said}");
    for file in ["particles", "energy"] {
        let test = format!("test {file}::physics::tests::it_falls ... ok");
        assert!(said.contains(&test), "{said}");
    }
    succeed(&cargo(&package, &["fmt", "--check"]));
    // The module is there for tests alone.
    let clippy = ["clippy", "--offline", "--all-targets", "--", "-D", "warnings"];
    succeed(&cargo(&package, &clippy));
    fs::write(&kernel, format!("{text}\n{more}\n{wrong}").replace("2.0 * x", "return 2.0 * x;"))
        .unwrap();
    let output = cargo(&package, &clippy);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("kernels/saxpy.rs"), "{said}");
    assert!(said.contains("needless_return"), "{said}");
    fs::write(&kernel, format!("{text}\n{more}\n{wrong}")).unwrap();

    let diagnose = |program| command(program, &package, &["diagnostics", "."]).output();
    let found = diagnose("rust-analyzer").ok().filter(|it| !it.stdout.is_empty());
    if let Some(output) = tool::require("rust-analyzer", found) {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let own = package.display().to_string();
        let errors = said.lines().filter(|line| line.contains(&own) && line.contains(": Error "));
        let errors: Vec<_> = errors.collect();
        assert!(matches!(&*errors, [one] if one.contains("kernels/saxpy.rs: Error")), "{said}");
    }
    fs::write(&kernel, text.replace("let i = ", "let  i = ")).unwrap();
    let output = cargo(&package, &["fmt", "--check"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && said.contains("kernels/saxpy.rs"), "{said}");
}

/// A kernel file that the page on kernels shows.
fn of_the_page_on_kernels(name: &str) -> String {
    let page = fs::read_to_string(root().join("docs/src/guide/kernels.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```rust\n// kernels/{name}.rs\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// What the first page shows of a new package is what `new` writes; `cargo xtask newcomer` runs its commands too.
#[test]
fn getting_started_shows_the_files_of_a_new_package() {
    let folder = temporary_folder();
    let package = package(&folder, "my-kernels", "rust");
    let page = fs::read_to_string(root().join("docs/src/getting-started.md")).unwrap();
    // A test may stand in a module.
    let bare = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let mut files = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (language, code) = block.split_once('\n').unwrap();
        let first = code.lines().next().unwrap_or_default();
        let named = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "));
        let (file, code) = match (named, language) {
            (Some(file), "rust" | "toml") => (file, code.split_once('\n').unwrap().1),
            (None, "rust") => ("src/main.rs", code),
            (None, "toml") => ("Cargo.toml", code),
            _ => continue,
        };
        let found = fs::read_to_string(package.join(file)).unwrap();
        assert!(bare(&found).contains(&bare(code)), "{file}:\n{code}\n{found}");
        files.push(file);
    }
    assert!(files.contains(&"kernels/saxpy.rs") && files.contains(&"src/main.rs"), "{files:?}");
}

#[test]
fn a_revision_is_built_with_packages_outside_the_repository() {
    let folder = temporary_folder();
    let outside = folder.path().join("shared/types");
    fs::create_dir_all(outside.join("src")).unwrap();
    fs::write(outside.join("src/lib.rs"), "//! Shared.\n").unwrap();
    let manifest =
        "[package]\nname = \"types\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(outside.join("Cargo.toml"), manifest).unwrap();
    let package = package(&folder, "outside", "rust");
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let dependency = "[dependencies]\ntypes = { path = \"../shared/types\" }\n";
    fs::write(&manifest, text.replace("[dependencies]\n", dependency)).unwrap();
    git(&package, &["add", "."]);
    git(&package, &["commit", "--quiet", "-m", "first"]);
    let said = succeed(&kernelmill(&package, &["diff", "--target", "compute_75"]));
    assert_eq!(said, "compute_75:\n  same     saxpy\n");
    // From another folder, and with a folder that is no build.
    let path = manifest.display().to_string();
    let arguments =
        ["diff", "HEAD@{1 week ago}", "HEAD", "--manifest-path", &path, "--target", "compute_75"];
    let said = succeed(&kernelmill(folder.path(), &arguments));
    assert_eq!(said, "compute_75:\n  same     saxpy\n");
    let output = kernelmill(&package, &["diff", "./kernels"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("./kernels has no `kernelmill.json`: name the folder of"), "{said}");
}

/// Kernels for OpenCL devices: as LLVM's IR, and as the text that is embedded.
#[test]
fn kernels_of_spirv_and_sources_are_compared() {
    let folder = temporary_folder();
    let package = package(&folder, "grind_spirv", "rust");
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let targets = "targets = [\"spirv64\", \"opencl-c\"]";
    let text = text.replace("targets = [\"cpu\", \"compute_75\"]", targets);
    let variants =
        "[package.metadata.kernelmill.kernels.saxpy]\nvariants = [{ launch-bounds = 64 }]\n";
    fs::write(&manifest, format!("{text}\n{variants}")).unwrap();
    let rust = package.join("kernels/saxpy.rs");
    let text = fs::read_to_string(&rust).unwrap();
    let zero = "#[kernel]\npub fn zero(mut y: DisjointSlice<f32>) {\n    \
                if let Some(out) = y.get_mut(thread::index_1d()) {\n        *out = 0.0;\n    }\n}\n";
    fs::write(&rust, format!("{text}\n{zero}")).unwrap();
    let twice = "kernel void twice(global float *x) {\n  x[get_global_id(0)] *= 2.0f;\n}\n";
    let opencl = package.join("kernels/twice.cl");
    fs::write(&opencl, twice).unwrap();
    if !has_clang(&package) {
        return;
    }
    git(&package, &["add", "."]);
    git(&package, &["commit", "--quiet", "-m", "first"]);
    // A line more in each file is no change.
    fs::write(&rust, format!("// Moved.\n{text}\n{zero}")).unwrap();
    fs::write(&opencl, format!("// Moved.\n{twice}")).unwrap();
    let same = "opencl-c:\n  same     twice\nspirv64:\n  same     saxpy\n  same     saxpy [threads64]\n  \
                same     twice\n  same     zero\n";
    assert_eq!(succeed(&kernelmill(&package, &["diff", "--exit-code"])), same);
    fs::write(&rust, format!("{text}\n{}", zero.replace("0.0", "1.0"))).unwrap();
    fs::write(&opencl, twice.replace("2.0f", "3.0f")).unwrap();
    let output = kernelmill(&package, &["diff", "--exit-code"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let changes: Vec<_> = said.lines().map(|line| line.split(':').next().unwrap()).collect();
    // clang shows nothing of what it makes of OpenCL C.
    let of_spirv =
        ["  same     saxpy", "  same     saxpy [threads64]", "  rebuilt  twice", "  changed  zero"];
    let expected = [["opencl-c", "  changed  twice", "spirv64"].as_slice(), &of_spirv].concat();
    assert_eq!(changes, expected, "{said}");

    let inspect = |target: &str, more: &[&str]| {
        kernelmill(&package, &[&["inspect", "saxpy", "--target", target], more].concat())
    };
    // The variant of a kernel, where it has code of its own and where it has none.
    let variant = ["--variant", "threads64"];
    let [own, of_variant] = [&[][..], &variant].map(|it| succeed(&inspect("compute_75", it)));
    assert!(!own.contains(".maxntid") && of_variant.contains(".maxntid 64"), "{own}{of_variant}");
    let [own, shared] = [&[][..], &variant].map(|it| succeed(&inspect("spirv64", it)));
    assert!(own.contains("define spir_kernel void @saxpy(") && own == shared, "{own}{shared}");
    assert!(succeed(&inspect("gfx1100", &[])).contains("s_endpgm"));
    let output = inspect("compute_75", &["--variant", "threads65"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "the kernel `saxpy` has no variant `threads65` for `compute_75`; its variants are `threads64`";
    assert!(!output.status.success() && said.contains(expected), "{said}");
}

/// The code blocks of a page of the book: the language and the text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/src").join(page)).unwrap();
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.split_once('\n')).map(|(l, t)| (l.into(), t.into())).collect()
}

/// The files of the page on reports, and its commands with what they print.
#[test]
fn the_slow_kernel_of_the_page_on_reports_becomes_what_the_page_says() {
    if tool::nvidia("ptxas").is_none() || tool::nvidia("nvdisasm").is_none() {
        return;
    }
    let folder = temporary_folder();
    let package = package(&folder, "grind_mirror", "rust");
    fs::remove_file(package.join("kernels/saxpy.rs")).unwrap();
    let main = "mod kernels {\n    kernelmill::include_kernels!();\n}\nfn main() {}\n";
    fs::write(package.join("src/main.rs"), main).unwrap();
    let (mut files, mut commands) = (0, 0);
    for (_, code) in blocks("guide/reports.md") {
        if let Some(text) = code.strip_prefix("// kernels/mirror.rs\n") {
            if files > 0 {
                git(&package, &["add", "."]);
                git(&package, &["commit", "--quiet", "-m", "slow"]);
            }
            fs::write(package.join("kernels/mirror.rs"), text).unwrap();
            files += 1;
        } else if let Some((command, expected)) =
            code.strip_prefix("$ cargo kernelmill ").and_then(|code| code.split_once('\n'))
        {
            let arguments: Vec<_> = command.split(' ').collect();
            let said = succeed(&kernelmill(&package, &arguments));
            assert!(said.starts_with(expected), "{command}: {said}");
            commands += 1;
        }
    }
    assert_eq!((files, commands), (2, 3));
}

/// From the benchmark of a package to what its launches get.
#[test]
fn a_package_is_tuned_and_its_launches_are_as_was_found() {
    let folder = temporary_folder();
    let package = package(&folder, "grind_tune", "rust");
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let bench = "[[bench]]\nname = \"tune\"\nharness = false\n";
    fs::write(&manifest, format!("{}\n{bench}", text.replace(", \"compute_75\"", ""))).unwrap();
    let head = "mod kernels {\n    kernelmill::include_kernels!();\n}\n";
    let main = "fn main() -> kernelmill::Result<()> {\n    let device = kernelmill::Device::cpu()?;\n    let kernels = \
                kernels::Kernels::load(&device)?;\n    println!(\"{}\\n{}\\n{:?}\", device.name(), device.tuning_name(), \
                kernels.compiled().saxpy()?.tuned_launch(1000).block_size());\n    Ok(())\n}\n";
    let tune = "use kernelmill::tuning::{Output, TuneError, Tuner};\n\nfn main() -> Result<(), TuneError> {\n    let mut \
                tuner = Tuner::from_environment()?;\n    for device in tuner.devices()? {\n        let kernels = \
                kernels::Kernels::load(&device)?;\n        tuner.tune(\n            &kernels.compiled().saxpy()?,\n            \
                |n| Ok((device.upload(&vec![1.0_f32; n])?, device.upload(&vec![2.0_f32; n])?)),\n            |(x, y), \
                stream, launch| kernels.saxpy(stream, launch, 3.0, &*x, &mut *y),\n            |(_, y)| \
                Ok(Output::exact(&y.download()?)),\n        )?;\n    }\n    Ok(())\n}\n";
    fs::write(package.join("src/main.rs"), format!("{head}{main}")).unwrap();
    fs::create_dir(package.join("benches")).unwrap();
    fs::write(package.join("benches/tune.rs"), format!("{head}{tune}")).unwrap();
    // As on a machine without cargo: `cargo bench` would compile all of kernelmill optimised.
    let arguments = ["build", "--offline", "--bench", "tune", "--message-format=json"];
    let built = succeed(&cargo(&package, &arguments));
    let built = built.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let program = |it: serde_json::Value| Some(it["executable"].as_str()?.to_owned());
    let program = built.filter_map(program).next_back().expect("the benchmark is a program");
    let asked = [("KERNELMILL_DEVICE", "cpu"), ("KERNELMILL_TUNE", "saxpy")];
    let rounds = [("KERNELMILL_TUNE_SIZES", "1000"), ("KERNELMILL_TUNE_ROUNDS", "3")];
    let printed = Command::new(program).envs(asked).envs(rounds).output().unwrap();
    fs::write(package.join("printed.txt"), succeed(&printed)).unwrap();
    let said = succeed(&kernelmill(&package, &["tune", "saxpy", "--printed", "printed.txt"]));
    let run = || succeed(&cargo(&package, &["run", "--offline"]));
    let first = run();
    let [name, tuning_name, block] = first.lines().collect::<Vec<_>>().try_into().unwrap();
    assert!(said.contains(&format!("saxpy, 1000 elements, {tuning_name}\n")), "{said}");
    let file = package.join("kernelmill-tuning.toml");
    let tuned = fs::read_to_string(&file).unwrap();
    let found = tuned.lines().find_map(|line| line.strip_prefix("block = ")).unwrap();
    assert_eq!(block, format!("[{found}]"), "{tuned}");
    assert!(tuned.contains(&format!("device = {tuning_name:?}\nsize-class = 9\n")), "{tuned}");
    // What an earlier version has written is for all levels of the processor, and what is for this level comes first.
    let choice = |device: &str, block: u32| {
        format!(
            "[[choice]]\nkernel = \"saxpy\"\ndevice = {device:?}\nsize-class = 9\nblock = {block}\n"
        )
    };
    let old = choice(name, 128);
    for (text, block) in [
        (old.clone(), "[128]"),
        (old + &choice(tuning_name, 64), if name == tuning_name { "[128]" } else { "[64]" }),
        (choice(&name.replace(" CPU", " CPU with another level"), 64), "[256]"),
    ] {
        fs::write(&file, &text).unwrap();
        assert_eq!(run().lines().last(), Some(block), "{text}");
    }
}

#[test]
fn a_revision_that_is_none_is_said() {
    let folder = temporary_folder();
    let package = package(&folder, "revisions", "rust");
    git(&package, &["add", "."]);
    git(&package, &["commit", "--quiet", "-m", "first"]);
    let output = kernelmill(&package, &["diff", "nowhere"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("`nowhere` is neither a revision that git can check out nor a folder"),
        "{said}"
    );
}

/// Whether builds find a clang; says so where they do not.
fn has_clang(package: &Path) -> bool {
    let doctor = String::from_utf8_lossy(&kernelmill(package, &["doctor"]).stdout).into_owned();
    let is_there = doctor
        .lines()
        .any(|line| line.starts_with("ok") && line.split_whitespace().nth(1) == Some("clang"));
    tool::require("a clang that builds find", is_there.then_some(())).is_some()
}

/// A new package in a language that clang compiles passes its test, with a safe wrapper.
#[track_caller]
fn passes_its_test(name: &str, language: &str) {
    let folder = temporary_folder();
    let package = package(&folder, name, language);
    if !has_clang(&package) {
        return;
    }
    let said = succeed(&cargo(&package, &["test", "--offline"]));
    assert!(said.contains("test tests::saxpy_adds ... ok"), "{said}");
}

#[test]
fn a_new_package_in_cuda_has_a_safe_wrapper() {
    passes_its_test("grind_cuda", "cuda");
}

#[test]
fn a_new_package_in_hip_has_a_safe_wrapper() {
    passes_its_test("grind_hip", "hip");
}

#[test]
fn a_new_package_in_opencl_c_has_a_safe_wrapper() {
    passes_its_test("grind_opencl", "opencl");
}

/// Its kernel is one that the package `wgsl` of the tests runs. wgpu is not built a second time for this one.
#[test]
fn a_new_package_in_wgsl_is_for_devices_of_vulkan() {
    let folder = temporary_folder();
    let package = package(&folder, "grind_wgsl", "wgsl");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let manifest = read(package.join("Cargo.toml"));
    for part in ["features = [\"wgpu\"]", "features = [\"wgsl\"]", "targets = [\"vulkan\"]"] {
        assert!(manifest.contains(part), "{manifest}");
    }
    let main = read(package.join("src/main.rs"));
    assert!(main.contains("Device::wgpu(0)?") && !main.contains("Device::cpu"), "{main}");
    assert!(main.contains("Launch::grid([16], [64]), 3.0, &x, &mut y)?;"), "{main}");
    let is_code = |line: &&str| !line.starts_with("//") && !line.is_empty();
    let kernel = read(package.join("kernels/saxpy.wgsl"));
    let tested = read(root().join("tests/wgsl/kernels/maps.wgsl"));
    let [kernel, tested] =
        [&kernel, &tested].map(|text| text.lines().filter(is_code).collect::<Vec<_>>());
    assert_eq!(kernel[..], tested[..kernel.len()]);
}

/// docs.rs has no compiler of CUDA C++ that builds find.
#[test]
fn the_documentation_of_a_new_package_needs_no_compiler_of_its_kernels() {
    for (language, has_wrapper) in
        [("rust", true), ("cuda", false), ("hip", false), ("opencl", false), ("wgsl", true)]
    {
        let folder = temporary_folder();
        let name = format!("documented_{language}");
        let package = package(&folder, &name, language);
        // wgpu takes a minute to build, and nothing of it is in the documentation.
        let manifest = package.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace(", features = [\"wgpu\"]", "")).unwrap();
        let arguments = ["doc", "--offline", "--no-deps", "--document-private-items"];
        let output = command("cargo", &package, &arguments)
            .env("DOCS_RS", "1")
            .env("KERNELMILL_NVCC", "/nonexistent")
            .env("KERNELMILL_CLANG", "/nonexistent")
            .output()
            .unwrap();
        succeed(&output);
        let page = builds::target().join(format!("doc/{name}/kernels/struct.Kernels.html"));
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(page.contains("method.saxpy"), has_wrapper, "{language}: {page}");
    }
}

/// The store is empty at first.
#[test]
fn build_says_what_took_long_and_writes_a_page() {
    let folder = temporary_folder();
    let package = package(&folder, "grind_build", "rust");
    let store = folder.path().join("store").display().to_string();
    let command = |arguments: &[&str]| {
        let arguments = [&["kernelmill", "build"], arguments, &["--", "--offline"]].concat();
        let mut command = command(env!("CARGO_BIN_EXE_cargo-kernelmill"), &package, &arguments);
        command.env("KERNELMILL_CACHE_DIR", &store);
        command
    };
    let build = |arguments: &[&str]| command(arguments).output().unwrap();
    let told = succeed(&build(&["--json", "--timings=times.html"]));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["success"], &told["compiled"], &told["stored"]),
        (&true.into(), &2.into(), &0.into())
    );
    let steps = told["steps"].as_array().unwrap();
    let of = |stage: &str| {
        let found = steps.iter().filter(|it| it["stage"] == stage);
        let mut targets: Vec<_> = found.map(|it| it["target"].to_string()).collect();
        targets.sort();
        targets
    };
    assert_eq!(of("compile"), ["\"compute_75\"", "\"cpu\""], "{told}");
    assert_eq!(of("front end"), ["null"], "{told}");
    assert!(steps.iter().all(|it| it["package"] == "grind_build"), "{told}");
    let page = fs::read_to_string(package.join("times.html")).unwrap();
    assert_eq!(page.matches("class=\"bar compile\"").count(), 2, "{page}");

    let fresh = succeed(&build(&[]));
    assert!(fresh.ends_with("no kernel had to be built again\n"), "{fresh}");
    let file = package.join("kernels/saxpy.rs");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("a * x[i.get()]", "a - x[i.get()]")).unwrap();
    let output = build(&[]);
    let said = succeed(&output);
    assert!(said.contains(" s: 2 binaries compiled, 0 from the store\nslowest:\n"), "{said}");
    assert!(said.contains(" s  kernels/saxpy.rs for cpu\n"), "{said}");
    // Without a terminal there is nothing for one.
    assert!(!output.stderr.contains(&b'\x1b') && !said.contains('\x1b'), "{output:?}");
    #[cfg(target_os = "linux")]
    {
        fs::write(&file, text.replace("a * x[i.get()]", "a + x[i.get()]")).unwrap();
        bars_are_shown_and_cleared(&mut command(&[]));
    }
    fs::write(&file, text.replace("&[f32]", "Vec<f32>")).unwrap();
    let output = build(&[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("error[KM0040]: "), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("failed in "));
    #[cfg(target_os = "linux")]
    errors_are_left_in_colour(&command);
}

/// Bars of a build that has something to do: none is longer than a row, and they are cleared in the end.
#[cfg(target_os = "linux")]
fn bars_are_shown_and_cleared(command: &mut Command) {
    let shown = terminal::run(command, 40);
    assert!(shown.is_success, "{}", shown.text);
    let is_bar = |row: &String| row.starts_with(['░', '█']) && row.contains(" binaries, ");
    let is_unit = |row: &String| row.contains("s kernels/saxpy.rs");
    let drawn = shown.drawn;
    assert!(drawn.iter().any(is_bar) && drawn.iter().any(is_unit), "{drawn:?}");
    let other = drawn.iter().find(|row| !row.is_empty() && !is_bar(row) && !is_unit(row));
    assert_eq!(other, None, "a bar goes on in the next row: {drawn:?}");
    assert_eq!(shown.left, [""; 0], "{}", shown.text);
}

/// What Cargo says of a build that fails is left on the terminal, in colour for those who want it.
#[cfg(target_os = "linux")]
fn errors_are_left_in_colour(command: &dyn Fn(&[&str]) -> Command) {
    for no_color in [None, Some("1")] {
        let mut command = command(&[]);
        match no_color {
            Some(value) => command.env("NO_COLOR", value),
            None => command.env_remove("NO_COLOR"),
        };
        let shown = terminal::run(&mut command, 120);
        let rows = shown.left;
        assert!(!shown.is_success && shown.drawn.iter().any(|row| row.contains("cargo runs")));
        assert!(rows.iter().any(|row| row.contains("error[KM0040]: parameter `x`")), "{rows:?}");
        assert!(!rows.iter().any(|row| row.contains(" binaries, ")), "{rows:?}");
        assert_eq!(shown.text.contains("\x1b[1m"), no_color.is_none(), "{:?}", shown.text);
    }
}

#[test]
fn a_folder_that_is_no_checkout_is_refused_before_anything_is_made() {
    let folder = temporary_folder();
    let output = kernelmill(folder.path(), &["new", "grind", "--kernelmill-path", "."]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a checkout of kernelmill"));
    assert!(!folder.path().join("grind").exists());
}
