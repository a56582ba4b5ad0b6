use super::read;
use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment},
    discovery::cfgs,
    settings::{choices::ArgumentsOf, layer::TargetName, package::Package},
    test_support::{Project, SAXPY},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::PanicLevel;

const KERNEL: (&str, &str) = ("kernels/saxpy.rs", SAXPY);

/// The files that a build leaves, to see which targets it had.
fn targets(project: &Project) -> Vec<String> {
    project.build().result.unwrap_or_else(|error| panic!("{error}"));
    let names = project.outputs().into_iter();
    names
        .filter_map(|name| Some(name.strip_prefix("saxpy.")?.split_once('.')?.0.to_owned()))
        .collect()
}

#[test]
fn arguments_go_to_every_compiler_or_to_one() {
    let table = "arguments = [\"-g\", \"rustc:-Awarnings\", \"cuda:-std=c++20\"]";
    let project = Project::new(table, &[KERNEL]);
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(std::io::sink())));
    let package = Package::read(&environment).unwrap();
    let settings = read(&environment, &package, project.builder.clone()).unwrap();
    assert_eq!(settings.arguments_for(ArgumentsOf::Rustc), ["-g", "-Awarnings"]);
    assert_eq!(settings.arguments_for(ArgumentsOf::Cuda), ["-g", "-std=c++20"]);
}

#[test]
fn a_path_goes_before_patterns_and_the_builder_before_files() {
    let table = "define = { A = 1, B = 1, C = 1 }\narguments = [\"-g\"]\n\
                 [package.metadata.kernelmill.sources.\"kernels/saxpy.rs\"]\ndefine = { A = 3 }\n\
                 arguments = [\"cuda:-std=c++20\", \"-Awarnings\"]\n\
                 [package.metadata.kernelmill.sources.\"kernels/*.rs\"]\ndefine = { A = 2, B = 2 }";
    let mut project = Project::new(table, &[KERNEL]);
    let build = crate::Build::new().define_for("kernels/s*.rs", "D", 4);
    let build = build.arg_for("kernels/s*.rs", "-Copt-level=1");
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(std::io::sink())));
    let package = Package::read(&environment).unwrap();
    let other = package.root.with_file_name("other").join("*.rs");
    project.builder = build.arg_for(other.to_str().unwrap(), "-Cdebuginfo=1").layer().clone();
    let settings = read(&environment, &package, project.builder.clone()).unwrap();
    let cfgs = cfgs::of_file(&package, &settings, "kernels/saxpy.rs");
    let with_values: Vec<_> = cfgs.iter().filter(|it| it.contains('=')).collect();
    assert_eq!(with_values, ["A=\"3\"", "B=\"2\"", "C=\"1\"", "D=\"4\""]);
    let arguments = settings.written_arguments_of("kernels/saxpy.rs", ArgumentsOf::Rustc);
    assert_eq!(arguments.collect::<Vec<_>>(), ["-g", "-Copt-level=1", "-Awarnings"]);
    let elsewhere = settings.written_arguments_of("../other/a.rs", ArgumentsOf::Rustc);
    assert_eq!(elsewhere.collect::<Vec<_>>(), ["-g", "-Cdebuginfo=1"]);
    let of_others = settings.written_arguments_of("kernels/x/other.rs", ArgumentsOf::Rustc);
    assert_eq!(of_others.collect::<Vec<_>>(), ["-g"]);

    project.builder = crate::Build::new().define_for("kernels/*.rs", "A B", 1).layer().clone();
    let error = project.error();
    assert!(error.contains("`A B`"), "{error}");
}

#[test]
fn what_the_host_learns_of_panics_is_a_setting() {
    let level = |project: &Project| {
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(std::io::sink())),
        );
        let package = Package::read(&environment).unwrap();
        let settings = read(&environment, &package, project.builder.clone());
        settings.map(|settings| settings.params.panics).map_err(|error| error.to_string())
    };
    let mut project = Project::new("", &[KERNEL]);
    assert_eq!(level(&project), Ok(PanicLevel::Message), "the default");
    project.write("app/kernelmill.toml", "panics = \"none\"\n");
    assert_eq!(level(&project), Ok(PanicLevel::None));
    project.builder.panics = Some(PanicLevel::Message);
    assert_eq!(level(&project), Ok(PanicLevel::Message));
    project.set("KERNELMILL_PANICS", "backtrace");
    assert_eq!(level(&project), Ok(PanicLevel::Backtrace));
    project.set("KERNELMILL_PANICS", "all");
    project.write("app/kernelmill.toml", "panics = 3\n");
    let error = level(&project).unwrap_err();
    assert!(error.contains("KERNELMILL_PANICS has the invalid value `all`"), "{error}");
    assert!(error.contains("`panics` cannot be 3"), "{error}");
    assert!(error.matches("write `none`, `message` or `backtrace`").count() == 2, "{error}");
}

#[test]
fn later_places_win() {
    let mut project = Project::new("", &[KERNEL]);
    assert_eq!(targets(&project), ["compute_75", "cpu"], "the default");
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"app\"]\n[workspace.metadata.kernelmill]\ntargets = [\"sm_80\"]\nfma = false\n",
    );
    project.write("app/src/lib.rs", "");
    assert_eq!(targets(&project), ["sm_80"], "the workspace");
    project.write("app/kernelmill.toml", "targets = \"sm_86\"\n");
    assert_eq!(targets(&project), ["sm_86"], "the file of the package");
    let origin = "the build script".to_owned();
    project.builder.targets = Some(vec![TargetName { text: "9.0+PTX".into(), origin }]);
    assert_eq!(targets(&project), ["compute_90", "sm_90"], "the builder");
    project.set("KERNELMILL_TARGETS", "gfx90a:xnack+;gfx942");
    assert_eq!(targets(&project), ["gfx90a-xnack+", "gfx942"], "the environment");
}

#[test]
fn a_file_of_settings_that_nobody_reads_is_told() {
    let project = Project::new("", &[KERNEL]);
    project.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n");
    project.write("app/src/lib.rs", "");
    let warnings = || {
        let build = project.build();
        let is_warning = |line: &&String| line.starts_with("cargo::warning=");
        let lines: Vec<_> = build.lines.iter().filter(is_warning).cloned().collect();
        (lines, build.lines.contains(&"cargo::rerun-if-changed=../kernelmill.toml".to_owned()))
    };
    assert_eq!(warnings(), (vec![], false));
    project.write("kernelmill.toml", "targets = [\"sm_80\"]\n");
    let (told, is_watched) = warnings();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("cargo::warning=../kernelmill.toml is read for no package"),
        "{told:?}"
    );
    assert!(told[0].contains("`[workspace.metadata.kernelmill]` in ../Cargo.toml"), "{told:?}");
    assert!(is_watched);
    let workspace = "workspace.members = [\"app\"]\n";
    // A table for packages elsewhere is no package, and neither is text that looks like one.
    project.write(
        "Cargo.toml",
        &format!("{workspace}[ workspace . package ]\ndescription = \"\"\"\n[package]\n\"\"\"\n"),
    );
    assert_eq!(warnings().0.len(), 1);
    // A package beside it reads it, in whatever form it is written.
    project.write("src/lib.rs", "");
    for package in [
        "[package]\nname = \"root\"\nversion = \"0.1.0\"\n",
        "[ package ]\nname = \"root\"\nversion = \"0.1.0\"\n",
        "package.name = \"root\"\npackage.version = \"0.1.0\"\n",
        "package = { name = \"root\", version = \"0.1.0\" }\n",
    ] {
        project.write("Cargo.toml", &format!("{workspace}{package}"));
        assert_eq!(warnings(), (vec![], false), "{package}");
    }
}

#[test]
fn what_is_wrong_with_settings_and_with_sources_is_told_together() {
    let bad = "#[kernel]\npub fn bad(text: String) {}\n";
    let generic = "#[kernel]\npub fn generic<T>(x: T) {}\n";
    let metadata =
        "targts = [\"cpu\"]\n[package.metadata.kernelmill.kernels.generic]\ninstances = 3\n";
    let project = Project::new(metadata, &[("kernels/bad.rs", bad), ("kernels/g.rs", generic)]);
    let error = project.error();
    assert!(error.starts_with("error[KM0001]: unknown key `targts`"), "{error}");
    let of_source = "error[KM0040]: parameter `text` of kernel `bad` has type `String`";
    assert!(error.contains(of_source), "{error}");
    assert!(error.contains("`instances` cannot be 3"), "{error}");
    // What comes of the wrong setting alone is not told.
    assert!(!error.contains("KM0042"), "{error}");
    // Nor are kernels missed where wrong settings say where they are.
    let project = Project::new("source-dirs = 4\n", &[("shaders/k.rs", SAXPY)]);
    let error = project.error();
    assert!(error.contains("`source-dirs`"), "{error}");
    assert_eq!(error.matches("error[").count(), 1, "{error}");
}

#[test]
fn everything_wrong_is_reported_at_once_with_file_line_and_the_nearest() {
    let metadata = "\
targts = [\"cpu\"]
targets = [\"sm_9O\", \"cpu\", \"gfx1l00\"]
fma = \"yes\"
source-dirs = \"kernels\"
optimization = 4
";
    let mut project = Project::new(metadata, &[KERNEL]);
    project.set("KERNELMILL_FMA", "maybe");
    let expected = "\
error[KM0001]: unknown key `targts`
 --> Cargo.toml:7:1
  |
7 | targts = [\"cpu\"]
  | ^^^^^^
  |
  = help: the nearest is `targets`

error[KM0003]: unknown target `sm_9O`
 --> Cargo.toml:8:12
  |
8 | targets = [\"sm_9O\", \"cpu\", \"gfx1l00\"]
  |            ^^^^^^^
  |
  = help: the nearest is `sm_90`

error[KM0003]: unknown target `gfx1l00`
 --> Cargo.toml:8:28
  |
8 | targets = [\"sm_9O\", \"cpu\", \"gfx1l00\"]
  |                            ^^^^^^^^^
  |
  = help: the nearest is `gfx1100`

error[KM0002]: `fma` cannot be \"yes\"
 --> Cargo.toml:9:7
  |
9 | fma = \"yes\"
  |       ^^^^^
  |
  = help: write `true` or `false`

error[KM0001]: unknown key `source-dirs`
  --> Cargo.toml:10:1
   |
10 | source-dirs = \"kernels\"
   | ^^^^^^^^^^^
   |
   = help: the nearest is `source-dir`

error[KM0002]: `optimization` cannot be 4
  --> Cargo.toml:11:16
   |
11 | optimization = 4
   |                ^
   |
   = help: write a level from 0 to 3

error[KM0008]: the environment variable KERNELMILL_FMA has the invalid value `maybe`
  help: write `true` or `false`";
    assert_eq!(project.error(), expected);
}

#[test]
fn targets_of_the_builder_and_the_environment_name_where_they_are() {
    let mut project = Project::new("", &[KERNEL]);
    let origin = "the build script".to_owned();
    project.builder.targets = Some(vec![TargetName { text: "compute_99".into(), origin }]);
    let message = "error[KM0003]: unknown target `compute_99` in the build script\n  help: the nearest is `compute_89`";
    assert_eq!(project.error(), message);
    project.set("KERNELMILL_TARGETS", "gpu");
    assert!(project.error().starts_with(
        "error[KM0003]: unknown target `gpu` in the environment variable KERNELMILL_TARGETS"
    ));
    for (wrong, right) in [
        ("CUDA", "`compute_75`"),
        ("amd", "`gfx1100`"),
        ("opencl", "`spirv64`"),
        ("metal", "`vulkan`"),
        ("vulcan", "the nearest is `vulkan`"),
    ] {
        project.set("KERNELMILL_TARGETS", wrong);
        assert!(project.error().contains(right), "{}", project.error());
    }
    project.set("KERNELMILL_TARGETS", ",");
    let message =
        "error[KM0004]: no target is named in the environment variable KERNELMILL_TARGETS";
    assert!(project.error().contains(message), "{}", project.error());
}

#[test]
fn a_list_without_a_target_names_none() {
    for list in ["[]", "[\"\"]"] {
        let error = Project::new(&format!("targets = {list}"), &[KERNEL]).error();
        assert!(error.starts_with("error[KM0004]: no target is named\n"), "{list}: {error}");
    }
}

#[test]
fn two_places_for_a_packages_settings_are_an_error() {
    let project = Project::new("fma = true", &[KERNEL, ("kernelmill.toml", "fma = true")]);
    let expected = "error[KM0006]: settings are in both `[package.metadata.kernelmill]` of Cargo.toml and \
                    kernelmill.toml\n  help: keep one of the two";
    assert_eq!(project.error(), expected);
}

#[test]
fn a_settings_file_that_is_not_toml_shows_where() {
    let project = Project::new("", &[KERNEL, ("kernelmill.toml", "targets = [\"cpu\"\nfma = ")]);
    assert!(project.error().contains(" --> kernelmill.toml:"), "{}", project.error());
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_none_is_not_taken_for_missing() {
    let project = Project::new("", &[KERNEL]);
    let path = project.folder.path().join("app/kernelmill.toml");
    let expected = "error[KM0005]: `kernelmill.toml` is a folder, a broken link or a special file\n  help: remove it, or put the settings \
                    into a file of this name";
    std::os::unix::fs::symlink("missing", &path).unwrap();
    assert_eq!(project.error(), expected);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(project.error(), expected);
    std::fs::remove_dir(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(project.error(), expected);
}

#[test]
fn settings_of_single_kernels_come_from_every_place() {
    let table = "targets = [\"cpu\", \"sm_90\"]\n[package.metadata.kernelmill.kernels.saxpy]\n\
                 requires = \"n > 1\"\ntargets = [\"cpu\", \"90\"]";
    let mut project = Project::new(table, &[KERNEL]);
    let build = crate::Build::new()
        .kernel("saxpy", |kernel| kernel.requires(["n > 2", "n < 9"]).name("axpy"))
        .kernel("other", |kernel| kernel.targets(["cpu"]));
    project.builder = build.layer().clone();
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(std::io::sink())));
    let package = Package::read(&environment).unwrap();
    let settings = read(&environment, &package, project.builder.clone()).unwrap();
    let saxpy = &settings.kernels["saxpy"];
    let rules: Vec<_> = saxpy.requires.iter().map(|rule| rule.text.as_str()).collect();
    assert_eq!((rules, saxpy.name.as_deref()), (vec!["n > 2", "n < 9"], Some("axpy")));
    assert_eq!(saxpy.targets.as_deref(), Some(&settings.targets[..]));
    assert_eq!(settings.kernels["other"].targets.as_deref(), Some(&[Target::Cpu][..]));
}

#[test]
fn mistakes_in_the_settings_of_a_kernel_are_marked() {
    let table = "[package.metadata.kernelmill.kernels.saxpy]\nrequire = \"n > 1\"\n\
                 requires = [\"x.len => n\"]\nname = \"a-b\"\ntargets = \"sm_99\"";
    let error = Project::new(table, &[KERNEL]).error();
    let expected = "\
error[KM0001]: unknown key `require`
 --> Cargo.toml:8:1
  |
8 | require = \"n > 1\"
  | ^^^^^^^
  |
  = help: the nearest is `requires`

error[KM0003]: unknown target `sm_99`
  --> Cargo.toml:11:11
   |
11 | targets = \"sm_99\"
   |           ^^^^^^^
   |
   = help: the nearest is `sm_89`

error[KM0009]: the contract `x.len => n` of the kernel `saxpy`: rules cannot have `=`
 --> Cargo.toml:9:20
  |
9 | requires = [\"x.len => n\"]
  |                    ^
  |
  = help: write `>=`

error[KM0011]: the kernel `saxpy` cannot be named `a-b`
 --> Cargo.toml:7:38
  |
7 | [package.metadata.kernelmill.kernels.saxpy]
  |                                      ^^^^^
  |
  = help: use letters, digits and underscores, and no digit at the start";
    assert_eq!(error, expected);
    let mut project = Project::new("", &[KERNEL]);
    let build = crate::Build::new().kernel("saxpy", |kernel| kernel.requires(["n >"]));
    project.builder = build.layer().clone();
    let expected = "error[KM0009]: the contract `n >` of the kernel `saxpy`: the rule ends too \
                    early, at character 4\n  help: write a whole condition, for example `x.len >= n`";
    assert_eq!(project.error(), expected);
}

#[test]
fn every_error_of_a_file_names_the_file_the_line_and_the_key() {
    let metadata = "targets = []\nexclude = [\"a/**b\"]\nhost-files = \"[\"\n\
        define = { \"no name\" = \"1\" }\n\
        arguments = [\"-O2\", \"--version\", \"-C\", \"codegen-units=16\"]\n\
        options = { opt-levle = 2 }\n";
    let project = Project::new(metadata, &[("kernels/saxpy.rs", SAXPY)]);
    let text = project.error();
    for (line, key) in [
        (7, "targets"),
        (8, "exclude"),
        (9, "host-files"),
        (10, "no name"),
        (11, "arguments"),
        (12, "opt-levle"),
    ] {
        assert!(text.contains(&format!("--> Cargo.toml:{line}:")), "{line} in\n{text}");
        assert!(text.contains(key), "{key} in\n{text}");
    }
    assert_eq!(text.matches("error[").count(), 7, "{text}");
    assert!(
        text.contains("`codegen-units=16` in the setting `arguments` cannot be passed to rustc"),
        "{text}"
    );
}

#[test]
fn settings_that_are_no_table_are_marked() {
    let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    let text = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    for settings in
        ["[package.metadata]\nkernelmill = 5\n", "\n[[package.metadata.kernelmill]]\nfma = true\n"]
    {
        project.write("app/Cargo.toml", &format!("{text}{settings}"));
        let error = project.error();
        let expected = "error[KM0005]: `package.metadata.kernelmill` in Cargo.toml is not a table\n --> Cargo.toml:6:";
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_file_whose_name_is_nearly_that_of_the_settings_is_a_likely_typo() {
    for name in ["kernelmil.toml", "kernel-mill.toml", ".kernelmill.toml", "kernelmills.toml"] {
        let project = Project::new("", &[KERNEL, (name, "fma = false")]);
        let expected = format!("error[KM0005]: `{name}` is beside Cargo.toml, and no settings are");
        assert!(project.error().starts_with(&expected), "{}", project.error());
        // Beside a file of the right name it is another's.
        let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        project.write("app/Cargo.toml", manifest);
        project.write("app/kernelmill.toml", "fma = false");
        project.build().result.unwrap();
    }
    let others = [("rustfmt.toml", ""), ("kernelmill-tuning.toml", ""), ("kernelmill.md", "")];
    for (name, text) in others {
        Project::new("", &[KERNEL, (name, text)]).build().result.unwrap();
    }
}

#[test]
fn a_table_whose_name_is_nearly_kernelmills_is_a_likely_typo() {
    for name in ["kernelmil", "kernel-mill", "Kernelmill", "kernel_mil", "kernelmlil"] {
        let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
        let text = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        project.write("app/Cargo.toml", &format!("{text}[package.metadata.{name}]\nfma = false\n"));
        let error = project.error();
        let expected =
            format!("error[KM0001]: unknown table `{name}` in Cargo.toml\n --> Cargo.toml:5:");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains("settings are in `[package.metadata.kernelmill]`"), "{error}");
        let both =
            format!("{text}[package.metadata.{name}]\na = 1\n[package.metadata.kernelmill]\n");
        project.write("app/Cargo.toml", &both);
        assert!(project.error().starts_with(&expected), "{}", project.error());
        let of_a_plugin =
            "[package.metadata.kernelmill]\n[package.metadata.kernelmill-ad]\na = 1\n";
        project.write("app/Cargo.toml", &format!("{text}{of_a_plugin}"));
        let (compiled, cached) = project.counts();
        assert_eq!(compiled + cached, 2);
        for other in ["docs", "kernels", "cargo-machete"] {
            project.write("app/Cargo.toml", &format!("{text}[package.metadata.{other}]\na = 1\n"));
            let (compiled, cached) = project.counts();
            assert_eq!(compiled + cached, 2, "{other}");
        }
    }
}

#[test]
fn settings_that_are_not_utf8_name_the_file_and_the_line() {
    let error = |bytes: &[u8]| {
        let project = Project::new("", &[KERNEL]);
        std::fs::write(project.folder.path().join("app/kernelmill.toml"), bytes).unwrap();
        project.build().result.map(drop).unwrap_err().to_string()
    };
    let help = "\n  help: save it as UTF-8, the encoding of TOML";
    let text = "\u{feff}targets = [\"sm_90\"]\n";
    let utf16: Vec<_> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let expected = format!("error[KM0005]: `kernelmill.toml` is UTF-16, from line 1 on{help}");
    assert_eq!(error(&utf16), expected);
    assert_eq!(error(&utf16[2..]), expected, "without its mark");
    let expected = format!("error[KM0005]: `kernelmill.toml` is not UTF-8, from line 3 on{help}");
    assert_eq!(error(b"# \xc3\xa4\n\n# \xe4\n"), expected);
    let project = Project::new("", &[KERNEL]);
    project.write("app/kernelmill.toml", text);
    assert_eq!(targets(&project), ["sm_90"], "with a mark of UTF-8");
}
