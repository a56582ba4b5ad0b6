//! The packages that the book's first pages show, taken from these pages.

use end_to_end::{Project, SAXPY};
use std::{fs, thread, time::Duration};
use test_support::{driver::fake_driver, root, tool::clang};

/// The code blocks of a page: the language and the text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/src").join(page)).expect("the page is there");
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.split_once('\n')).map(|(l, t)| (l.into(), t.into())).collect()
}

/// The file that the first line of a block names in a comment, and the rest.
fn named(code: &str) -> Option<(&str, &str)> {
    code.strip_prefix("// ")?.split_once('\n')
}

/// The declaration of a file in `src`, for tests, as a module of the program.
fn module(file: &str) -> Option<String> {
    let name = file.strip_prefix("src/")?.strip_suffix(".rs")?;
    (name != "main").then(|| format!("#[cfg(test)]\nmod {name};\n"))
}

/// A package with the blocks whose first line is a comment that names a file, and its test.
fn package(name: &str, blocks: &[(String, String)]) -> Project {
    let mut project = Project::new(name);
    let is_test = |(_, code): &&(String, String)| code.starts_with("#[");
    let test = blocks.iter().find(is_test).map_or("", |(_, code)| code);
    for (_, code) in blocks {
        let Some((file, code)) = named(code) else { continue };
        let code = if file == "src/main.rs" { format!("{code}\n{test}\n") } else { code.into() };
        project = project.file(file, &code);
    }
    project
}

#[test]
fn the_package_of_getting_started_runs_and_passes_its_test() {
    let project = package("book-getting-started", &blocks("getting-started.md"));
    let _ = project.cargo(&["run"]).succeeds();
    let _ = project.cargo(&["test"]).succeeds();
}

/// The pages of the guide that show kernels with a test, as one package: their kernels are methods of one `Kernels`.
#[test]
fn the_kernels_of_the_guide_pass_their_tests() {
    // Each with how many tests it has.
    let pages = [
        ("kernels", 3),
        ("indexing", 3),
        ("atomics", 1),
        ("cooperative", 1),
        ("warps", 1),
        ("shared-memory", 1),
        ("debugging", 1),
        ("generic-kernels", 2),
        ("function-tables", 1),
        ("tracing", 1),
        ("targets", 2),
        ("large-integers", 1),
        ("asynchrony", 1),
        ("cpu", 1),
        ("deferred", 1),
        ("tensor-cores", 1),
        ("variants", 1),
        ("tuning", 1),
        ("../reference/errors", 1),
    ];
    let all = pages.map(|(page, _)| in_rust(blocks(&format!("guide/{page}.md"))));
    let mut main = "mod kernels {\n    kernelmill::include_kernels!();\n}\nfn main() {}\n\
                    #[cfg(test)]\nuse kernelmill::{Device, Launch};\n"
        .to_owned();
    let mut project = Project::new("book-guide");
    for ((page, count), blocks) in pages.iter().zip(&all) {
        let tests: Vec<_> = blocks.iter().filter(|(_, code)| code.starts_with("#[test]")).collect();
        assert_eq!(tests.len(), *count, "{page}");
        tests.iter().for_each(|(_, test)| main += test);
        for (_, code) in blocks {
            if let Some((file, manifest)) =
                code.strip_prefix("# kernels/").and_then(|it| it.split_once('\n'))
            {
                project = project.file(&format!("kernels/{file}"), &of_checkout(manifest));
            }
        }
        for (file, code) in blocks.iter().filter_map(|(_, code)| named(code)) {
            let module = module(file);
            if let Some(module) = &module {
                main += module;
            }
            if module.is_some() || file.starts_with("kernels/") || file.starts_with("benches/") {
                project = project.file(file, code);
            }
        }
    }
    let project = project.file("kernels/saxpy.rs", SAXPY).file("src/main.rs", &main);
    let (_, bench) = blocks("guide/tuning.md")
        .into_iter()
        .find(|(_, code)| code.starts_with("[[bench]]"))
        .expect("the benchmark of the page on tuning");
    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).expect("it is there");
    project.write("Cargo.toml", &format!("{manifest}\n{bench}\n"));
    let run = project.cargo(&["test", "-vv"]).succeeds();
    assert!(!run.stdout.contains("cargo::warning"), "{}", run.stdout);
    let count: usize = pages.iter().map(|(_, count)| count).sum();
    assert!(run.stdout.contains(&format!("{count} passed")), "{}", run.stdout);
    // How the three kernels of the page on the CPU are lowered.
    let strategies = blocks("guide/cpu.md").into_iter().find(|(language, _)| language == "text");
    let (_, strategies) = strategies.expect("the page shows them");
    for (kernel, strategy) in ["doubled", "maxima", "waiting"].iter().zip(strategies.lines()) {
        let line = format!("kernelmill: {kernel} on the CPU: {strategy}\n");
        assert!(run.stdout.contains(&line), "{line}{}", run.stdout);
    }
    // What the kernel of the page on errors prints.
    let printed =
        blocks("reference/errors.md").into_iter().rfind(|(language, _)| language == "text");
    let (_, printed) = printed.expect("the page shows it");
    assert!(run.stdout.lines().any(|line| line == printed), "{printed}: {}", run.stdout);
    // Does nothing where nothing is asked for, and times the kernel where it is.
    let tune = ["test", "--bench", "tune"];
    let quiet = project.cargo(&tune).succeeds();
    let project = project
        .environment("KERNELMILL_DEVICE", "cpu")
        .environment("KERNELMILL_TUNE", "saxpy")
        .environment("KERNELMILL_TUNE_SIZES", "1024")
        .environment("KERNELMILL_TUNE_ROUNDS", "3");
    let run = project.cargo(&tune).succeeds();
    assert!(!quiet.stdout.contains("saxpy") && run.stdout.contains("saxpy"), "{}", run.stdout);
}

/// The blocks of a page without the kernels and tests in other languages, which
/// [`the_kernels_of_the_guide_in_other_languages_pass_their_tests`] takes.
fn in_rust(blocks: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_other = |code: &str| {
        named(code).is_some_and(|(file, _)| file.starts_with("kernels/") && !file.ends_with(".rs"))
    };
    let mut taken = Vec::new();
    // A test stands behind its kernels.
    let mut is_behind_other = false;
    for (language, code) in blocks {
        if code.starts_with("// kernels/") {
            is_behind_other = is_other(&code);
        }
        if !is_other(&code) && !(is_behind_other && code.starts_with("#[test]")) {
            taken.push((language, code));
        }
    }
    taken
}

/// The pages that show kernels in CUDA C++ and OpenCL C with a test, as one package, with the build script of the page on the
/// sanitizer, which checks them all.
#[test]
fn the_kernels_of_the_guide_in_other_languages_pass_their_tests() {
    if clang().is_none() {
        return;
    }
    // Each with how many tests it has.
    let pages = [
        ("cpp-wrappers", 2),
        ("device-variables", 1),
        ("opencl", 1),
        ("deferred", 2),
        ("variants", 2),
        ("sanitize", 1),
    ];
    let mut settings = "targets = [\"cpu\"]\n".to_owned();
    let mut main = "mod kernels {\n    kernelmill::include_kernels!();\n}\nfn main() {}\n\
                    #[cfg(test)]\nuse kernelmill::{Device, Launch};\n"
        .to_owned();
    let mut project = Project::new("book-cpp").environment("RUST_TEST_NOCAPTURE", "1");
    for (page, count) in pages {
        let blocks = blocks(&format!("guide/{page}.md"));
        let tests: Vec<_> = blocks.iter().filter(|(_, code)| code.starts_with("#[test]")).collect();
        assert_eq!(tests.len(), count, "{page}");
        tests.iter().for_each(|(_, test)| main += test);
        for (language, code) in &blocks {
            if language == "toml" && code.starts_with("[package.metadata.kernelmill.kernels.") {
                // Variants of a kernel in Rust come from its attribute.
                if !code.contains("kernels.spread]") {
                    settings += &format!("\n{code}\n");
                }
            } else if let Some((file, code)) = named(code) {
                project = project.file(file, code);
            }
        }
    }
    let project = project.manifest("2024", &settings).file("src/main.rs", &main);
    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).expect("it is there");
    let sanitize = root().join("build-helpers/sanitize").display().to_string();
    let dependency =
        format!("[build-dependencies]\nkernelmill-sanitize = {{ path = \"{sanitize}\" }}");
    project.write("Cargo.toml", &manifest.replacen("[build-dependencies]", &dependency, 1));
    let run = project.cargo(&["test"]).succeeds();
    let count: usize = pages.iter().map(|(_, count)| count).sum();
    assert!(run.stdout.contains(&format!("{count} passed")), "{}", run.stdout);
    let shown = blocks("guide/sanitize.md").into_iter().find(|(language, _)| language == "text");
    for line in shown.expect("what the sanitizer says").1.lines() {
        let line = without_threads(line);
        let is_told = run.stdout.lines().any(|it| without_threads(it).ends_with(&line));
        assert!(is_told, "{line}: {}", run.stdout);
    }
}

/// A line without the numbers of threads: which of two races first depends on the processor's vectors.
fn without_threads(line: &str) -> String {
    let mut parts = line.split("thread ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "thread N" + part.trim_start_matches(|it: char| it.is_ascii_digit())
    })
}

/// The module of kernels of the page on kernels, with the dependencies that the page names.
#[test]
fn the_module_of_kernels_of_the_guide_runs_and_passes_its_test() {
    let blocks = blocks("guide/kernels.md");
    let main = blocks.iter().find_map(|(_, code)| code.strip_prefix("// src/main.rs\n"));
    let (_, dependencies) =
        blocks.iter().find(|(_, code)| code.starts_with("[dependencies]")).expect("some");
    assert!(dependencies.contains("\nkernelmill-device = "), "{dependencies}");
    let project =
        Project::new("book-modules").with_device().file("src/main.rs", main.expect("a program"));
    let run = project.cargo(&["run"]).succeeds();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
}

#[test]
fn the_package_of_the_page_on_features_passes_with_and_without_its_feature() {
    let blocks = blocks("guide/features.md");
    let (_, settings) = blocks.iter().find(|(language, _)| language == "toml").expect("settings");
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let project = package_of_page("book-features", settings, &blocks);
    let _ = project.cargo(&["test"]).succeeds();
    let _ = project.cargo(&["test", "--features", "precise"]).succeeds();
}

#[test]
fn the_kernel_package_of_the_page_on_half_precision_passes_its_test() {
    let blocks = blocks("guide/half-precision.md");
    let project = package_of_page("book-half", "targets = [\"cpu\", \"compute_75\"]", &blocks);
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(manifest).expect("the project has a manifest");
    let path = format!("path = \"{}\"", root().display());
    let with_half = format!(
        "{path}, features = [\"half\"] }}\nhalf = {{ version = \"2\", default-features = false }}"
    );
    project.write("Cargo.toml", &text.replacen(&format!("{path} }}"), &with_half, 1));
    let (_, halves) =
        blocks.iter().find(|(_, code)| code.starts_with("# kernels/")).expect("the package");
    let (_, halves) = halves.split_once('\n').expect("its manifest");
    project.write("kernels/halves/Cargo.toml", &of_checkout(halves));
    let _ = project.cargo(&["test"]).succeeds();
}

/// The manifest of a kernel package, which names the version on the registry.
fn of_checkout(manifest: &str) -> String {
    let device = root().join("build-helpers/device");
    let device = format!("kernelmill-device = {{ path = \"{}\" }}", device.display());
    manifest.replace("kernelmill-device = \"0.1\"", &device)
}

#[test]
fn the_kernel_of_the_page_on_ptx_passes_its_test_on_the_fake_driver() {
    let blocks = blocks("guide/ptx.md");
    let (_, settings) = blocks.iter().find(|(language, _)| language == "toml").expect("settings");
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let driver = fake_driver().display().to_string();
    let project =
        package_of_page("book-ptx", settings, &blocks).environment("LD_LIBRARY_PATH", &driver);
    enable_cuda(&project);
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
}

/// What is queued runs as late as it may there, so that a missing wait would show; on the CPU it runs with the kernels of the
/// other pages.
#[test]
fn the_double_buffer_of_the_page_on_streams_passes_its_test_on_the_fake_driver() {
    let blocks = blocks("guide/asynchrony.md");
    let project = package_of_page("book-streams", "targets = [\"cpu\", \"compute_75\"]", &blocks)
        .environment("LD_LIBRARY_PATH", &fake_driver().display().to_string())
        .environment("KERNELMILL_DEVICE", "cuda")
        .environment("FAKE_CUDA_STREAMS", "lazy")
        .environment("FAKE_CUDA_RACES", "1");
    enable_cuda(&project);
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
}

#[test]
fn the_file_of_the_page_on_cuda_runs_on_the_cpu() {
    if clang().is_none() {
        return;
    }
    let blocks = blocks("guide/cuda-everywhere.md");
    let (_, settings) = blocks.iter().find(|(language, _)| language == "toml").expect("settings");
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let project = package_of_page("book-cuda", settings, &blocks);
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
}

/// Its host code is parsed, and what is not for kernelmill is left out.
#[test]
fn the_file_of_the_page_on_hip_runs_on_the_cpu() {
    if clang().is_none() {
        return;
    }
    let blocks = blocks("guide/hip-sources.md");
    let (_, settings) = blocks.iter().find(|(language, _)| language == "toml").expect("settings");
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let project = package_of_page("book-hip", settings, &blocks);
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
    // The header that the page says is not there.
    let source = fs::read_to_string(project.package().join("kernels/saxpy.hip")).expect("it");
    project.write("kernels/saxpy.hip", &source.replace("#ifndef __KERNELMILL__", "#if 1"));
    let error = project.cargo(&["build"]).build_script_error();
    assert!(error.contains("error[KM0080]: 'hip/hiprtc.h' file not found"), "{error}");
}

/// The whole CUDA program, with its host code, is the file of kernels; `TILE` of a rule is that of the instance.
#[test]
fn the_program_of_the_page_on_porting_runs_on_the_cpu_and_the_fake_driver() {
    if clang().is_none() {
        return;
    }
    let blocks = blocks("guide/from-cuda.md");
    let (_, settings) = blocks.iter().find(|(language, _)| language == "toml").expect("settings");
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let mut project = package_of_page("book-from-cuda", settings, &blocks)
        .environment("RUST_TEST_NOCAPTURE", "1");
    enable_cuda(&project);
    for device in ["cpu", "cuda"] {
        if device == "cuda" {
            let driver = fake_driver().display().to_string();
            project =
                project.environment("LD_LIBRARY_PATH", &driver).environment("FAKE_CUDA_RACES", "1");
        }
        project = project.environment("KERNELMILL_DEVICE", device);
        let run = project.cargo(&["test"]).succeeds();
        assert!(run.stdout.contains("1 passed"), "{}", run.stdout);
        let name = if device == "cuda" { "PTX emulator" } else { "CPU" };
        assert!(run.stdout.contains(name), "{}", run.stdout);
    }
    let main = fs::read_to_string(project.package().join("src/main.rs")).expect("the program");
    project.write("src/main.rs", &main.replace("[16, 16]);", "[16, 8]);"));
    let run = project.cargo(&["test"]);
    let all = format!("{}{}", run.stdout, run.stderr);
    assert!(!run.success && all.contains("block.y == TILE"), "{all}");
}

/// A package with the settings and the kernels of a page, and its one test.
fn package_of_page(name: &str, settings: &str, blocks: &[(String, String)]) -> Project {
    let mut project = Project::new(name).manifest("2024", settings);
    let tests: Vec<_> = blocks.iter().filter(|(_, code)| code.starts_with("#[test]")).collect();
    assert_eq!(tests.len(), 1, "{name}");
    let mut modules = String::new();
    for (file, code) in blocks.iter().filter_map(|(_, code)| named(code)) {
        modules += &module(file).unwrap_or_default();
        project = project.file(file, code);
    }
    let main = format!(
        "mod kernels {{\n    kernelmill::include_kernels!();\n}}\nfn main() {{}}\n\
         #[cfg(test)]\nuse kernelmill::{{Device, Launch}};\n{modules}{}",
        tests[0].1
    );
    project.file("src/main.rs", &main)
}

/// The workspace of its page, in a target folder of its own.
struct Workspace {
    project: Project,
    blocks: Vec<(String, String)>,
}

impl Workspace {
    fn new(name: &str) -> Self {
        let project = Project::bare(name).with_own_target();
        let workspace = Self { project, blocks: blocks("guide/workspaces.md") };
        let files: Vec<_> = workspace.files().collect();
        assert_eq!(files.len(), 10, "the page shows other files");
        let root = root();
        for (file, code) in files {
            // The page names the versions on the registry.
            let [run_time, build] =
                [("kernelmill", ""), ("kernelmill-build", "build-helpers/build-script")].map(
                    |(name, folder)| {
                        let path = root.join(folder).display().to_string();
                        (format!("{name} = \"0.1\""), format!("{name} = {{ path = \"{path}\" }}"))
                    },
                );
            let code = code.replace(&run_time.0, &run_time.1).replace(&build.0, &build.1);
            workspace.project.write(file, &code);
        }
        workspace
    }

    /// The files that the page shows, by the comments in their first lines.
    fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.blocks.iter().filter_map(|(_, code)| {
            let (first, rest) = code.split_once('\n')?;
            Some((first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?, rest))
        });
        files.filter(|(file, _)| !file.contains(' '))
    }

    /// One of them.
    fn text(&self, name: &str) -> &str {
        let found = self.files().find(|(file, _)| *file == name);
        found.unwrap_or_else(|| panic!("the page has no {name}")).1
    }

    /// Writes a file after a build: Cargo compares modification times.
    fn edit(&self, file: &str, text: &str) {
        thread::sleep(Duration::from_millis(20));
        self.project.write(file, text);
    }

    /// How many binaries the one build script that runs has compiled, and how many it has from the store.
    fn counts(&self, arguments: &[&str]) -> Option<(usize, usize)> {
        let summary = self.project.cargo(arguments).succeeds().summary();
        summary.map(|summary| (summary.compiled, summary.cached))
    }
}

/// Runs the application of the page on workspaces.
const VIEWER: [&str; 4] = ["run", "-vv", "-p", "viewer"];

/// What the page on workspaces says of its application and its benchmark, and of what is compiled when.
#[test]
fn the_kernels_of_a_workspace_are_compiled_once_as_its_page_says() {
    let workspace = Workspace::new("book-workspace");
    let project = &workspace.project;
    let run = project.cargo(&VIEWER).succeeds();
    let is_shown = |(language, text): &(String, String)| {
        language == "text" && run.stdout.ends_with(&format!("{text}\n"))
    };
    assert!(workspace.blocks.iter().any(is_shown), "the page does not show {}", run.stdout);
    assert_eq!(run.summary().map(|it| (it.compiled, it.cached)), Some((2, 0)));

    // The benchmark, by the build script that has run.
    let run = project.cargo(&["bench", "-v", "-p", "measure", "--profile", "dev"]).succeeds();
    assert!(run.stderr.contains("Fresh filters "), "{}", run.stderr);
    assert!(run.stdout.contains("brighten: "), "{}", run.stdout);
    // Another profile, whose build script has an `OUT_DIR` of its own.
    let profile = [&VIEWER[..], &["--config", "profile.dev.opt-level=1"]].concat();
    assert_eq!(workspace.counts(&profile), Some((0, 2)));

    let main = workspace.text("viewer/src/main.rs");
    workspace.edit("viewer/src/main.rs", &main.replace(", 20,", ", 30,"));
    let run = project.cargo(&["run", "-v", "-p", "viewer"]).succeeds();
    assert!(run.stderr.contains("Fresh filters "), "{}", run.stderr);
    assert!(run.stdout.contains("[40, "), "{}", run.stdout);

    let kernel = workspace.text("filters/kernels/brighten.rs");
    let edited = kernel.replace("saturating_add", "wrapping_add");
    workspace.edit("filters/kernels/brighten.rs", &edited);
    assert_eq!(workspace.counts(&VIEWER), Some((2, 0)), "an edit");
    workspace.edit("filters/kernels/brighten.rs", kernel);
    assert_eq!(workspace.counts(&VIEWER), Some((0, 2)), "the edit undone");
    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).expect("it is there");
    let target = manifest.replace("\"compute_75\"", "\"compute_75\", \"gfx1100\"");
    workspace.edit("Cargo.toml", &target);
    assert_eq!(workspace.counts(&VIEWER), Some((1, 2)), "one target more");
    assert_eq!(project.cargo(&["clean", "-p", "filters"]).succeeds().summary(), None);
    assert_eq!(workspace.counts(&VIEWER), Some((0, 3)), "after `cargo clean`");
}

/// What the page says of a second crate that compiles the same folder, in one program with the first.
#[test]
fn two_crates_of_a_workspace_compile_one_folder_as_its_page_says() {
    let workspace = Workspace::new("book-one-folder");
    let project = &workspace.project;
    let settings = workspace.blocks.iter().find_map(|(_, code)| {
        code.strip_prefix("# filters/kernelmill.toml and previews/kernelmill.toml\n")
    });
    for member in ["filters", "previews"] {
        project.write(&format!("{member}/kernelmill.toml"), settings.expect("settings"));
    }
    fs::remove_dir_all(project.package().join("filters/kernels")).expect("it is there");
    project.write("kernels/brighten.rs", workspace.text("filters/kernels/brighten.rs"));

    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).expect("it is there");
    project.write("Cargo.toml", &manifest.replace("\"viewer\",", "\"viewer\", \"previews\","));
    let manifest = workspace.text("filters/Cargo.toml").replace("\"filters\"", "\"previews\"");
    let dependency = "[dependencies]\nfilters.workspace = true";
    project.write("previews/Cargo.toml", &manifest.replace("[dependencies]", dependency));
    project.write("previews/build.rs", workspace.text("filters/build.rs"));
    let own = "mod kernels {\n    kernelmill::include_kernels!();\n}\nuse kernels::Kernels;";
    let (launch, first) = (
        "    kernels.brighten(",
        "    filters::kernels::Kernels::load(&device)?.brighten(&device.stream(), Launch::linear(4), 1, &mut picture)?;",
    );
    let main = workspace.text("viewer/src/main.rs");
    let main = main.replace("use filters::kernels::Kernels;", own);
    let main = main.replace(launch, &format!("{first}\n{launch}"));
    project.write("previews/src/main.rs", &main);

    let filters = ["build", "-vv", "-p", "filters"];
    assert_eq!(workspace.counts(&filters), Some((2, 0)));
    let run = project.cargo(&["run", "-vv", "-p", "previews"]).succeeds();
    assert!(run.stdout.ends_with("[31, 121, 221, 255]\n"), "{}", run.stdout);
    // The object has the name of the crate in its symbols; PTX has no name.
    let counts = "[previews 0.1.0] kernelmill: compiled 1 cached 1";
    assert!(run.stdout.contains(counts), "{}", run.stdout);

    // The settings of a crate go before those of the workspace, which has no place for those of a kernel of one crate.
    let settings = format!("{}\ntargets = [\"cpu\"]\n", settings.expect("settings"));
    workspace.edit("filters/kernelmill.toml", &settings);
    assert_eq!(workspace.counts(&filters), Some((0, 1)));
    let manifest = fs::read_to_string(project.package().join("Cargo.toml")).expect("it is there");
    let kernel = "\n[workspace.metadata.kernelmill.kernels.saxpy]\nlaunch-bounds = 256\n";
    workspace.edit("Cargo.toml", &format!("{manifest}{kernel}"));
    let error = project.cargo(&filters).build_script_error();
    assert!(error.contains("error[KM0010]"), "{error}");
}

/// Adds the feature `cuda` to the package's dependency on kernelmill.
fn enable_cuda(project: &Project) {
    let manifest = project.package().join("Cargo.toml");
    let text = fs::read_to_string(manifest).expect("the project has a manifest");
    let path = format!("path = \"{}\"", root().display());
    let with_cuda = format!("{path}, features = [\"cuda\"] }}");
    project.write("Cargo.toml", &text.replacen(&format!("{path} }}"), &with_cuda, 1));
}

/// The kernels of the tutorial are built, its test passes, and the lowering strategies that it shows are
/// those that the build prints. On the fake driver the test passes too, and a missing barrier is told as the tutorial
/// says.
#[test]
fn the_package_of_the_tutorial_is_lowered_as_the_tutorial_says() {
    let blocks = blocks("tutorial.md");
    let project = package("book-tutorial", &blocks).environment("KERNELMILL_LOG", "summary");
    enable_cuda(&project);
    let run = project.cargo(&["test", "-vv"]).succeeds();
    let lines = run.stdout.lines().chain(run.stderr.lines());
    let printed: Vec<&str> =
        lines.filter_map(|line| Some(line.split_once(" on the CPU: ")?.1)).collect();
    assert_eq!(printed.len(), 5, "the tutorial has five kernels: {printed:#?}");
    for strategy in printed {
        let is_shown =
            blocks.iter().any(|(language, text)| language == "text" && text.trim() == strategy);
        assert!(is_shown, "the tutorial does not show `{strategy}`");
    }
    let driver = fake_driver().display().to_string();
    let project = project.environment("LD_LIBRARY_PATH", &driver);
    let project = project.environment("FAKE_CUDA_RACES", "1");
    let project = project.environment("RUST_TEST_NOCAPTURE", "1");
    let run = project.cargo(&["test"]).succeeds();
    let shown = |start: &str| {
        let texts = blocks.iter().filter(|(language, _)| language == "text");
        let mut lines = texts.flat_map(|(_, text)| text.lines());
        lines.find(|line| line.starts_with(start)).expect("a line").to_owned()
    };
    let device = shown("on PTX emulator");
    assert!(run.stdout.contains(&device), "{device}: {}", run.stdout);

    let kernel = fs::read_to_string(project.package().join("kernels/uniform.rs")).expect("it");
    let barrier = "        }\n        thread::sync_threads();\n";
    assert!(kernel.contains(barrier), "{kernel}");
    project.write("kernels/uniform.rs", &kernel.replacen(barrier, "        }\n", 1));
    let run = project.cargo(&["test"]);
    assert!(!run.success, "the missing barrier is not noticed");
    // Lines of PTX and addresses are those of the compiler's version.
    let message = shown("fake-cuda: ");
    let (start, rest) = message.split_once("address ").expect("an address");
    let (_, place) = rest.split_once("(kernels").expect("a line of the source");
    for part in [start, place] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

/// Both kernels of the photo filter, and the choice between them, compute what its loop does, on the CPU and on the fake driver, and are lowered as its page
/// says; its benchmark compiles, and the program is right.
#[test]
fn the_photo_filter_is_right_and_lowered_as_its_page_says() {
    let blocks = blocks("photo-filter.md");
    let settings = blocks.iter().filter(|(language, _)| language == "toml");
    let settings: String = settings.map(|(_, text)| format!("{text}\n\n")).collect();
    let settings =
        settings.strip_prefix("[package.metadata.kernelmill]\n").expect("they are first");
    let (_, choice) =
        blocks.iter().find(|(_, code)| code.contains("::fastest(")).expect("the choice");
    let choice = format!(
        "#[test]\nfn the_choice() -> Result<()> {{\n\
         use kernelmill::CompiledKernel;\nlet (width, height) = (17, 9);\n\
         let device = Device::best()?;\nlet kernels = kernels::Kernels::load(&device)?;\n\
         let (stream, launch) = (device.stream(), cover(width, height));\n\
         let (picture, mut y) = (rings(width, height), device.zeros::<f32>(width * height)?);\n\
         let x = device.upload(&picture)?;\n{choice}\n\
         assert_eq!(y.download()?, blurred(width, &picture));\nOk(())\n}}\n"
    );
    let project = package("book-photo-filter", &blocks);
    let main = fs::read_to_string(project.package().join("src/main.rs")).expect("the program");
    let project = project
        .file("src/main.rs", &format!("{main}{choice}"))
        .manifest("2024", settings)
        .environment("KERNELMILL_LOG", "summary");
    enable_cuda(&project);
    let run = project.cargo(&["test", "-vv"]).succeeds();
    assert!(run.stdout.contains("2 passed"), "{}", run.stdout);
    let strategies: Vec<&str> = run
        .stdout
        .lines()
        .chain(run.stderr.lines())
        .filter_map(|line| Some(line.split_once(" on the CPU: ")?.1))
        .collect();
    assert_eq!(strategies.len(), 2, "the page has two kernels: {strategies:#?}");
    for strategy in strategies {
        assert!(blocks.iter().any(|(_, text)| text.trim() == strategy), "{strategy}");
    }
    let _ = project.cargo(&["build", "--benches"]).succeeds();
    let run = project.cargo(&["run"]).succeeds();
    assert_eq!(run.stdout.matches("right: true").count(), 2, "{}", run.stdout);

    let driver = fake_driver().display().to_string();
    let project = project
        .environment("LD_LIBRARY_PATH", &driver)
        .environment("FAKE_CUDA_RACES", "1")
        .environment("KERNELMILL_DEVICE", "cuda")
        .environment("RUST_TEST_NOCAPTURE", "1");
    let run = project.cargo(&["test"]).succeeds();
    assert!(run.stdout.contains("on PTX emulator sm_80"), "{}", run.stdout);
}
