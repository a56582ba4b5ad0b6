//! Searches with programs that only print.

use super::{
    ask::llvm_of_rustc,
    check::{no_clang, no_cuda_compiler, no_ptxas},
    clang::find_clang,
    cuda::find_ptxas,
    nvcc::find_nvcc,
    *,
};
use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment, report::Report},
    settings::{package::Package, resolve},
    test_support::{Project, Shared},
};
use kernelmill_artifact::Target;
use std::{
    env::consts::EXE_SUFFIX,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Searches as the build of a project does; gives the result, and what was printed for Cargo.
pub(super) fn searched<T>(project: &Project, find: impl FnOnce(&Search<'_>) -> T) -> (T, String) {
    let written = Shared::default();
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(written.clone())));
    let package = Package::read(&environment).unwrap();
    let settings = resolve::read(&environment, &package, project.builder.clone()).unwrap();
    let found = find(&Search::of_build(&environment, &package, &settings));
    let lines = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    (found, lines)
}

/// Where a file is, from the folder around the package.
fn seen(project: &Project, path: &Path) -> String {
    crate::base::paths::relative(project.folder.path(), path)
}

fn ptxas(project: &Project) -> Option<String> {
    searched(project, find_ptxas).0.map(|path| seen(project, &path))
}

#[test]
fn programs_of_cuda_are_found_in_the_order_that_is_promised() {
    let name = format!("bin/ptxas{EXE_SUFFIX}");
    let mut project = Project::new("", &[]);
    let folder = |project: &Project, name: &str| project.folder.path().join(name).into_os_string();
    let nearer = format!("app/target/toolchains/a/{name}");
    program(&project, &nearer);
    assert_eq!(ptxas(&project), Some(nearer), "in the build folder");
    for version in ["13.5", "13.10", "13.4"] {
        program(
            &project,
            &format!("cache/kernelmill/toolchains/cuda-{version}/nvidia/cu13/{name}"),
        );
    }
    program(&project, &format!("cache/kernelmill/toolchains/cuda-13.11.part/nvidia/cu13/{name}"));
    let newest = format!("cache/kernelmill/toolchains/cuda-13.10/nvidia/cu13/{name}");
    assert_eq!(ptxas(&project), Some(newest), "the newest that is installed whole");
    program(&project, &format!("tools/{name}"));
    project.variables.insert("PATH".into(), folder(&project, "tools/bin"));
    assert_eq!(ptxas(&project), Some(format!("tools/{name}")));
    program(&project, &format!("cuda/{name}"));
    project.variables.insert("CUDA_PATH".into(), folder(&project, "cuda"));
    assert_eq!(ptxas(&project), Some(format!("cuda/{name}")));
    program(&project, &format!("other/{name}"));
    program(&project, &format!("other/bin/nvcc{EXE_SUFFIX}"));
    project.variables.insert("NVCC".into(), folder(&project, "other/bin/nvcc"));
    assert_eq!(ptxas(&project), Some(format!("other/{name}")), "beside nvcc");
    project.variables.insert("KERNELMILL_PTXAS".into(), folder(&project, "mine"));
    assert_eq!(ptxas(&project).as_deref(), Some("mine"));
}

/// Who can write to a folder above a checkout could otherwise have his programs run.
#[test]
fn a_tool_in_a_folder_above_the_target_folder_is_not_used() {
    let name = format!("bin/ptxas{EXE_SUFFIX}");
    let mut project = Project::new("", &[]);
    for planted in ["toolchains", "target/toolchains", "app/toolchains", "build/target/toolchains"]
    {
        program(&project, &format!("{planted}/nvidia/cu13/{name}"));
    }
    assert_eq!(ptxas(&project), None);
    let out = |project: &Project, path: &str| project.folder.path().join(path).into_os_string();
    for (path, target) in [
        ("elsewhere/debug/build/app-0123/out", "elsewhere"),
        ("elsewhere/x86_64-unknown-linux-gnu/release/build/app-0123/out", "elsewhere"),
        ("builds/debug/build/app/0123/out", "builds"),
    ] {
        project.variables.insert("OUT_DIR".into(), out(&project, path));
        assert_eq!(ptxas(&project), None, "{path}");
        let own = format!("{target}/toolchains/nvidia/{name}");
        program(&project, &own);
        assert_eq!(ptxas(&project), Some(own), "{path}");
        fs::remove_dir_all(project.folder.path().join(target)).unwrap();
    }
}

/// The folder that a link leads to may be anybody's.
#[cfg(unix)]
#[test]
fn an_installed_link_to_where_others_can_write_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let project = Project::new("", &[]);
    program(&project, "shared/tools/ptxas");
    let place = |name: &str| project.folder.path().join(name);
    fs::create_dir_all(place("app/target/toolchains/a/bin")).unwrap();
    symlink(place("shared/tools/ptxas"), place("app/target/toolchains/a/bin/ptxas")).unwrap();
    let link = "app/target/toolchains/a/bin/ptxas";
    assert_eq!(ptxas(&project).as_deref(), Some(link));
    for folder in ["shared/tools", "shared", "shared/tools/ptxas"] {
        let set = |mode| {
            fs::set_permissions(place(folder), fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o777);
        let (found, lines) = searched(&project, find_ptxas);
        assert_ne!(found.map(|path| seen(&project, &path)).as_deref(), Some(link), "{folder}");
        // What the link leads to is seen at the link.
        let place = if folder.ends_with("ptxas") { link } else { folder };
        assert!(lines.contains(&format!("{place}: every user can write to it")), "{lines}");
        set(0o755);
    }
    assert_eq!(ptxas(&project).as_deref(), Some(link));
}

#[cfg(unix)]
#[test]
fn an_installed_tool_that_others_can_change_is_warned_of_and_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new("", &[]);
    let installed =
        ["cache/kernelmill/toolchains/cuda-13.5/nvidia", "app/target/toolchains/nvidia"];
    for folder in installed {
        program(&project, &format!("{folder}/bin/ptxas"));
    }
    let allow = |name: &str, mode| {
        let path = project.folder.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(ptxas(&project), Some(format!("{}/bin/ptxas", installed[0])));
    for (place, mode) in [("bin", 0o777), ("bin/ptxas", 0o777)] {
        allow(&format!("{}/{place}", installed[0]), mode);
        let (found, lines) = searched(&project, find_ptxas);
        assert_eq!(seen(&project, &found.unwrap()), format!("{}/bin/ptxas", installed[1]));
        let expected =
            format!("{}/bin/ptxas is not used, because other users could have", installed[0]);
        assert!(lines.contains(&expected), "{lines}");
        allow(&format!("{}/{place}", installed[0]), 0o755);
    }
    allow("app/target/toolchains/nvidia", 0o777);
    allow("cache/kernelmill/toolchains/cuda-13.5", 0o777);
    assert_eq!(ptxas(&project), None);
}

#[test]
fn every_tool_says_where_it_is_from() {
    let name = format!("bin/ptxas{EXE_SUFFIX}");
    let mut project = Project::new("", &[]);
    let origin = |project: &Project| {
        searched(project, |search| search.origin(&find_ptxas(search).unwrap())).0
    };
    program(&project, &format!("app/target/toolchains/{name}"));
    assert_eq!(origin(&project), "target/toolchains");
    program(&project, &format!("cache/kernelmill/toolchains/cuda-13.5/{name}"));
    assert_eq!(origin(&project), "cargo kernelmill toolchain");
    program(&project, &format!("tools/{name}"));
    let folder = |name: &str| project.folder.path().join(name).into_os_string();
    let (tools, cuda) = (folder("tools/bin"), folder("cuda"));
    project.variables.insert("PATH".into(), tools);
    assert_eq!(origin(&project), "PATH");
    program(&project, &format!("cuda/{name}"));
    project.variables.insert("CUDA_ROOT".into(), cuda.clone());
    assert_eq!(origin(&project), "CUDA_ROOT");
    let own = Path::new(&cuda).join(&name);
    project.variables.remove("CUDA_ROOT");
    project.variables.insert("KERNELMILL_PTXAS".into(), own.into_os_string());
    assert_eq!(origin(&project), "KERNELMILL_PTXAS");
}

#[test]
fn a_missing_ptxas_says_where_it_was_looked_for_and_what_to_do() {
    let mut project = Project::new("", &[]);
    project.set("CUDA_HOME", "/no/cuda");
    let (text, _) = searched(&project, |search| {
        let mut report = Report::default();
        no_ptxas(search, &Target::parse_list("cpu,sm_90a").unwrap(), &mut report);
        report.to_string()
    });
    let cache = project.folder.path().join("cache/kernelmill/toolchains");
    let expected = format!(
        "error[KM0061]: the target `sm_90a` needs ptxas, and none was found: KERNELMILL_PTXAS is not set; \
         not in the folder bin of CUDA_HOME=/no/cuda; not on PATH, not installed in {}, not in the \
         workspace's target/toolchains, not in /usr/local/cuda/bin\n  help: install it with `cargo kernelmill \
         toolchain install cuda`, or use the target `compute_90a`, which needs no tool",
        cache.display()
    );
    assert_eq!(text, expected);
}

#[test]
fn a_missing_compiler_names_the_command_of_this_machine() {
    let mut project = Project::new("", &[]);
    let texts = |project: &Project| {
        searched(project, |search| {
            let mut reports = [Report::default(), Report::default(), Report::default()];
            no_clang(search, Some(22), "the target `cpu` of `a.cu`", &mut reports[0]);
            no_nvcc(search, "the host file `a.cu`", &mut reports[1]);
            no_cuda_compiler(search, Some(22), "`a.cu`", &mut reports[2]);
            reports.map(|report| report.to_string())
        })
        .0
    };
    for text in texts(&project).iter().skip(1) {
        assert!(
            text.contains("CUDA_HOME, CUDA_PATH, CUDA_ROOT and CUDA_TOOLKIT_ROOT_DIR are not set")
        );
        assert!(text.contains("`cargo kernelmill toolchain install cuda`"), "{text}");
    }
    let managers = [("apt-get", "apt-get install clang-22"), ("dnf", "dnf install clang")];
    for (manager, command) in managers {
        program(&project, &format!("{manager}/{manager}{EXE_SUFFIX}"));
        project.set("PATH", &project.folder.path().join(manager).display().to_string());
        let [clang, _, both] = texts(&project);
        assert!(
            clang.starts_with("error[KM0061]: the target `cpu` of `a.cu` needs clang, and none")
        );
        assert!(clang.ends_with(&format!("install it with `{command}`")), "{clang}");
        assert!(both.ends_with(&format!("or clang with `{command}`")), "{both}");
    }
}

/// Writes an empty file that may be executed.
fn program(project: &Project, name: &str) {
    project.write(name, "");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = project.folder.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A file of a tool's name need not be a program, and shells go on to the next.
#[cfg(unix)]
#[test]
fn files_on_path_that_are_no_programs_are_passed_over() {
    let mut project = Project::new("", &[]);
    let place = |name: &str| project.folder.path().join(name).display().to_string();
    let (first, second) = (place("first"), place("second"));
    for name in ["ptxas", "nvcc", "clang-14"] {
        project.write(&format!("first/{name}"), "text");
    }
    project.set("PATH", &format!("{first}:{second}"));
    assert_eq!(ptxas(&project), None);
    let mut report = Report::default();
    searched(&project, |search| no_cuda_compiler(search, Some(22), "`a.cu`", &mut report));
    let text = report.to_string();
    let said =
        |name: &str| format!("; skipped, because the user may not execute them: {first}/{name}");
    assert!(text.contains(&said("nvcc")) && text.contains(&said("clang-14")), "{text}");
    program(&project, "second/ptxas");
    assert_eq!(ptxas(&project).as_deref(), Some("second/ptxas"));
    for text in ["nvcc", "../first/nvcc"] {
        project.set("NVCC", text);
        let error = searched(&project, find_nvcc).0.unwrap_err().to_string();
        let expected = format!("NVCC names `{text}`, but the user may not execute {first}/nvcc");
        assert!(error.ends_with(&expected), "{error}");
    }
}

/// Writes a program. Another process writes it: a file that this one holds open for writing while
/// another test starts a program could not be started.
#[cfg(unix)]
pub(super) fn script(project: &Project, name: &str, text: &str) -> String {
    let path = project.folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut shell = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let input = shell.stdin.take().unwrap();
    { input }.write_all(text.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
    path.display().to_string()
}

/// An nvcc of a release in a folder `<name>/bin`, with a ptxas, and a gcc elsewhere.
#[cfg(unix)]
fn fake_cuda(project: &Project, name: &str, release: &str) -> String {
    script(project, &format!("{name}/bin/ptxas"), &format!("#!/bin/sh\necho ptxas {release}\n"));
    script(project, "host/gcc-12", "#!/bin/sh\necho gcc 12.2.0\n");
    let host = project.folder.path().join("host");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         --version) echo 'Cuda compilation tools, release {release}, V{release}.37';;\n\
         --list-gpu-code) printf 'sm_80\\nsm_90\\nsm_120\\n';;\n\
         --list-gpu-arch) printf 'compute_80\\ncompute_90\\n';;\n\
         --help) echo \"can't; values: 'sm_80','sm_90','sm_90a','compute_90a','lto_90'.\";;\n\
         *-ccbin=gcc-12*) printf '#$ TOP={root}/bin/..\\n#$ \"{host}\"/gcc-12 -D X -E -x c++\\n' >&2;;\n\
         --dryrun*) printf '#$ TOP={root}/bin/..\\n#$ gcc -D X -E -x c++\\n' >&2;;\n\
         *) exit 1;;\nesac\n",
        root = project.folder.path().join(name).display(),
        host = host.display(),
    );
    script(project, &format!("{name}/bin/nvcc"), &text)
}

#[cfg(unix)]
fn nvcc(project: &Project) -> (Nvcc, String) {
    let (found, lines) = searched(project, find_nvcc);
    (found.unwrap_or_else(|error| panic!("{error}")).expect("there is an nvcc"), lines)
}

#[cfg(unix)]
#[test]
fn nvcc_says_all_that_changes_what_it_makes_and_cargo_watches_it() {
    let mut project = Project::new("arguments = [\"-O2\", \"-ccbin=gcc-12\"]\n", &[]);
    let program = fake_cuda(&project, "cuda", "13.5");
    project.set("CUDA_HOME", &project.folder.path().join("cuda").display().to_string());
    project.set("NVCC_APPEND_FLAGS", "-lineinfo");
    let (found, lines) = nvcc(&project);
    assert_eq!(found.program.display().to_string(), program);
    assert_eq!(seen(&project, &found.root), "cuda");
    assert_eq!(found.release, (13, 5));
    let expected = "Cuda compilation tools, release 13.5, V13.5.37\nptxas 13.5\ngcc 12.2.0";
    assert_eq!(found.version, expected);
    assert_eq!(found.host_compiler.map(|path| seen(&project, &path)).unwrap(), "host/gcc-12");
    let codes = ["compute_80", "compute_90", "compute_90a", "sm_120", "sm_80", "sm_90", "sm_90a"];
    assert_eq!(found.gpu_codes, codes);
    let flags = ("NVCC_APPEND_FLAGS".to_owned(), Some("-lineinfo".to_owned()));
    assert!(found.variables.contains(&flags), "{:?}", found.variables);
    assert!(found.variables.contains(&("NVCC_CCBIN".to_owned(), None)));
    assert!(!lines.contains("rerun-if-env-changed=PATH\n"), "the tools are watched: {lines}");
    for name in ["NVCC", "NVCC_CCBIN", "CPATH", "CUDA_TOOLKIT_ROOT_DIR"] {
        assert!(lines.contains(&format!("cargo::rerun-if-env-changed={name}\n")), "{name}");
    }
    for name in ["cuda/bin/nvcc", "cuda/bin/ptxas", "host/gcc-12"] {
        let path = project.folder.path().join(name);
        assert!(lines.contains(&format!("cargo::rerun-if-changed={}\n", path.display())), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn another_nvcc_in_the_same_place_is_noticed() {
    let mut project = Project::new("", &[]);
    fake_cuda(&project, "cuda", "13.5");
    project.set("CUDA_HOME", &project.folder.path().join("cuda").display().to_string());
    let (before, _) = nvcc(&project);
    assert_eq!(nvcc(&project).0, before);
    fake_cuda(&project, "cuda", "13.6");
    let (after, _) = nvcc(&project);
    assert_eq!(after.release, (13, 6));
    assert_ne!(before.version, after.version);
    project.write("cuda/nvvm/bin/cicc", "another one");
    let (changed, lines) = nvcc(&project);
    assert_ne!(changed.version, after.version, "a part without a version");
    let bin = project.folder.path().join("cuda/bin");
    assert!(lines.contains(&format!("cargo::rerun-if-changed={}\n", bin.display())));
}

#[cfg(unix)]
#[test]
fn answers_of_programs_are_remembered_and_those_of_scripts_are_not() {
    let project = Project::new("", &[]);
    let text = "#!/bin/sh\necho asked >> \"$0.log\"\necho answer\n";
    let program = script(&project, "tool", text);
    let ask_twice = |program: &str| {
        let ask = |_| searched(&project, |search| search.ask(Path::new(program), &["--version"]));
        (0..2).map(ask).map(|(answer, _)| answer.unwrap()).collect::<String>()
    };
    assert_eq!(ask_twice(&program), "answer\nanswer\n");
    let log = || fs::read_to_string(format!("{program}.log")).unwrap().lines().count();
    assert_eq!(log(), 2);
    // A program that is no script.
    let compiled = format!("{}/compiled", project.folder.path().display());
    fs::copy("/bin/echo", &compiled).unwrap();
    // One that was written just now may be written again within the resolution of the clock.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
    fs::File::options().append(true).open(&compiled).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(ask_twice(&compiled), ask_echo().repeat(2));
    let stored = crate::test_support::files(&project.folder.path().join("cache"));
    let kinds = stored.iter().filter(|path| path.extension().is_some_and(|kind| kind == "asked"));
    assert_eq!(kinds.count(), 1);
}

/// What the machine's echo says to `--version`.
#[cfg(unix)]
fn ask_echo() -> String {
    let output = Command::new("/bin/echo").arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn an_nvcc_that_is_named_wrongly_is_an_error() {
    let mut project = Project::new("nvcc = \"tools/nvcc\"\n", &[]);
    let error = |project: &Project| searched(project, find_nvcc).0.unwrap_err().to_string();
    let expected = "the setting `nvcc` (or KERNELMILL_NVCC) names `tools/nvcc`, but there is no \
                    such file";
    assert_eq!(error(&project), expected);
    project.set("KERNELMILL_NVCC", "nvcc-14");
    assert!(error(&project).ends_with("names `nvcc-14`, but it is not on PATH"));
    project.set("KERNELMILL_NVCC", &script(&project, "empty", "#!/bin/sh\necho hello\n"));
    assert!(error(&project).ends_with("--version` does not print a release of nvcc:\nhello"));
    project.set("KERNELMILL_NVCC", &fake_cuda(&project, "mine", "12.9"));
    assert_eq!(nvcc(&project).0.release, (12, 9));
    let relative = Project::new("nvcc = \"../mine/bin/nvcc\"\n", &[]);
    fake_cuda(&relative, "mine", "12.8");
    assert_eq!(nvcc(&relative).0.release, (12, 8));
}

#[cfg(unix)]
#[test]
fn all_targets_that_nvcc_does_not_know_are_reported_at_once() {
    let mut project = Project::new("", &[]);
    let program = fake_cuda(&project, "cuda", "13.5");
    project.set("NVCC", &program);
    let (nvcc, _) = nvcc(&project);
    let targets = "cpu,sm_80,sm_90a,sm_121,compute_75,sm_120a,gfx942";
    let mut report = Report::default();
    nvcc_targets(&nvcc, &Target::parse_list(targets).unwrap(), &mut report);
    let line = |target: &str, near: &str| {
        format!(
            "error[KM0062]: nvcc 13.5 does not know the target `{target}` ({program})\n  help: the nearest that this nvcc knows is `{near}`; `cargo kernelmill toolchain install \
             cuda` installs the newest nvcc"
        )
    };
    let expected =
        [line("sm_121", "sm_120"), line("compute_75", "compute_80"), line("sm_120a", "sm_120")];
    assert_eq!(report.to_string(), expected.join("\n\n"));
}

#[cfg(unix)]
#[test]
fn the_newest_clang_that_rustc_can_read_is_taken() {
    let mut project = Project::new("", &[]);
    let clang = |name: &str, major: u32| {
        let text = format!("#!/bin/sh\necho 'Debian clang version {major}.1.8 (1~deb12u1)'\n");
        script(&project, &format!("tools/{name}"), &text)
    };
    let (old, newest) = (clang("clang", 14), clang("clang-23", 23));
    clang("clang-19", 19);
    script(&project, "tools/clang-22", "#!/bin/sh\necho 'Apple clang version 22.0.0'\n");
    project.set("PATH", &format!("{}/tools:/bin:/usr/bin", project.folder.path().display()));
    let found = |project: &Project, llvm| {
        let found = searched(project, |search| find_clang(search, llvm)).0.unwrap().unwrap();
        (seen(project, &found.program), found.major)
    };
    assert_eq!(found(&project, Some(20)), ("tools/clang-19".to_owned(), 19));
    assert_eq!(found(&project, Some(14)), ("tools/clang".to_owned(), 14));
    project.set("CLANG", &old);
    assert_eq!(found(&project, Some(20)).1, 14);
    project.set("KERNELMILL_CLANG", &newest);
    assert_eq!(found(&project, Some(20)).1, 23);
    project.set("KERNELMILL_CLANG", "clang-22");
    let error = searched(&project, |search| find_clang(search, None)).0.unwrap_err().to_string();
    assert!(error.ends_with("Apple's clang has no back ends for GPUs"), "{error}");
}

#[test]
fn the_llvm_of_rustc() {
    assert_eq!(llvm_of_rustc("host: x\nrelease: 1.95.0\nLLVM version: 22.1.2\n"), Some(22));
    assert_eq!(llvm_of_rustc(""), None);
}

/// The nvcc of the wheels, where `cargo xtask setup` has put them.
#[test]
fn the_real_nvcc_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = Machine::at(root).nvcc().unwrap();
    let Some(nvcc) = test_support::tool::require("nvcc", found) else { return };
    assert!(nvcc.root.join("nvvm/libdevice/libdevice.10.bc").is_file(), "{nvcc:?}");
    assert!(nvcc.version.contains("Cuda compiler driver"), "{}", nvcc.version);
    assert!(nvcc.version.contains("Ptx optimizing assembler"), "{}", nvcc.version);
    assert!(nvcc.host_compiler.as_ref().is_some_and(|path| path.is_file()), "{nvcc:?}");
    for target in ["sm_80", "sm_90a", "sm_100f", "compute_75"] {
        assert!(nvcc.knows(&target.parse().unwrap()), "{target}: {:?}", nvcc.gpu_codes);
    }
}
