//! Kernels in modules of the crate's own source, as Cargo and rustc see them.

use end_to_end::{Project, Run, Summary};
use std::time::Duration;

/// A program with a module of kernels: `host` stands before it, `body` in it, and `factor` is what its kernel does.
fn program(host: &str, body: &str, factor: &str) -> String {
    format!(
        "mod kernels {{\n    kernelmill::include_kernels!();\n}}\n{host}\n\n\
         #[kernelmill::kernels]\nmod scaling {{\n    use kernelmill_device::prelude::*;\n{body}\n    \
         #[kernel]\n    pub fn scale(mut y: DisjointSlice<f32>) {{\n        \
         if let Some(y) = y.get_mut(thread::index_1d()) {{\n            *y *= {factor};\n        }}\n    }}\n}}\n\n\
         fn main() -> kernelmill::Result<()> {{\n    let device = kernelmill::Device::cpu()?;\n    \
         let kernels = kernels::Kernels::load(&device)?;\n    let mut y = device.upload(&[3.0f32])?;\n    \
         kernels.scale(&device.stream(), kernelmill::Launch::linear(1), &mut y)?;\n    \
         println!(\"{{}}\", host() * y.download()?[0]);\n    Ok(())\n}}\n"
    )
}

const HOST: &str = "fn host() -> f32 { 1.0 }";

#[track_caller]
fn assert_run(run: &Run, printed: &str, compiled: usize, cached: usize) {
    assert_eq!(run.summary(), Some(Summary { compiled, cached }), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.ends_with(printed), "{}", run.stdout);
}

/// Cargo compares times: a file must not be written within the resolution of the file system's clock after a build.
fn next_tick() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn edits_of_the_host_compile_no_kernel_and_new_modules_are_noticed() {
    let project = Project::new("modules-edited").with_device();
    let project = project.file("src/main.rs", &program(HOST, "", "2.0"));
    let run = || project.cargo(&["run", "-vv"]).succeeds();
    assert_run(&run(), "6\n", 2, 0);
    next_tick();
    project.write("src/main.rs", &program("fn host() -> f32 { let x = 5.0; 2.0 * x }", "", "2.0"));
    assert_run(&run(), "60\n", 0, 2);
    next_tick();
    project.write("src/main.rs", &program(HOST, "", "4.0"));
    assert_run(&run(), "12\n", 2, 0);
    next_tick();
    // The module's file is there before its kernels are, and then the other way round.
    let host = format!("mod more;\n{HOST}");
    project.write("src/more.rs", "");
    project.write("src/main.rs", &program(&host, "", "4.0"));
    let _ = run();
    next_tick();
    let more = "#[kernelmill::kernels]\nmod more {\n    use kernelmill_device::prelude::*;\n    #[kernel]\n    \
                pub fn more(mut y: DisjointSlice<f32>) {\n        y.get_mut(thread::index_1d()).map(|y| *y = 1.0);\n    }\n}\n";
    project.write("src/more.rs", more);
    assert_run(&run(), "12\n", 2, 2);
}

#[test]
fn errors_of_rustc_name_the_users_file_and_line() {
    let body = "    use rand::Rng;\n\n    #[derive(Clone, Copy, Serialize)]\n    pub struct Params(pub f32);\n";
    let project = Project::new("modules-rustc").with_device();
    let text = program(HOST, body, "missing");
    let project = project.file("src/main.rs", &text);
    let error = project.cargo(&["build"]).build_script_error();
    for (message, part) in [
        ("error[E0432]: unresolved import `rand`", "rand"),
        ("error: cannot find derive macro `Serialize` in this scope", "Serialize"),
        ("error[E0425]: cannot find value `missing` in this scope", "missing"),
    ] {
        let (line, at) =
            text.lines().zip(1..).find(|(line, _)| line.contains(part)).expect("a line");
        let column = line.find(part).expect("a column") + 1;
        let place = format!("{message}\n");
        let (_, rest) = error.split_once(&place).unwrap_or_else(|| panic!("{message}: {error}"));
        let first = rest.lines().next().unwrap_or_default().trim();
        assert_eq!(first, format!("--> src/main.rs:{at}:{column}"), "{error}");
    }
    let last = "error[KM0033]: `src/main.rs::scaling` is compiled for devices without the rest of its crate, and without \
                the crate's dependencies\n  help: move what its kernels need into the module; put \
                `#[cfg(not(kernelmill))]` before what only the host needs, and write a derive of another crate as \
                `#[cfg_attr(not(kernelmill), derive(..))]`";
    assert!(error.trim_end().ends_with(last), "{error}");
}

/// rustc takes an attribute on `mod name;` in recent versions.
#[test]
fn a_file_is_a_module_of_kernels() {
    let kernel = "use kernelmill_device::prelude::*;\n\nmod factor;\n\n#[kernel]\n\
                  pub fn scale(mut y: DisjointSlice<f32>) {\n    \
                  if let Some(y) = y.get_mut(thread::index_1d()) {\n        *y *= factor::FACTOR;\n    }\n}\n";
    let main = program(HOST, "", "0.0");
    let (start, rest) = main.split_once("mod scaling {").expect("a module");
    let (_, end) = rest.split_once("}\n\nfn main").expect("a program");
    let factor = "pub const FACTOR: f32 = 5.0;\n";
    let project = Project::new("modules-file")
        .with_device()
        .file("src/main.rs", &format!("{start}mod scaling;\n\nfn main{end}"))
        .file("src/scaling.rs", kernel)
        .file("src/scaling/factor.rs", factor);
    let run = project.cargo(&["run"]);
    if run.stderr.contains("error[E0658]: file modules in proc macro input are unstable") {
        // What the page on kernels says for these versions.
        let braces = "mod scaling {\n    mod kernels;\n    pub use kernels::*;\n}";
        let project = Project::new("modules-file-in-braces")
            .with_device()
            .file("src/main.rs", &format!("{start}{braces}\n\nfn main{end}"))
            .file("src/scaling/kernels.rs", kernel)
            .file("src/scaling/kernels/factor.rs", factor);
        assert!(project.cargo(&["run"]).succeeds().stdout.ends_with("15\n"));
        return;
    }
    assert!(run.succeeds().stdout.ends_with("15\n"));
}
