//! Installing tools with a pip that copies what `cargo xtask setup` has fetched, and what `doctor`
//! says of them.
#![cfg(unix)]

use std::{
    env, fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
};
use test_support::{TempDir, shared_folder, temporary_folder_in, tool, write_file};

/// A user with a cache folder, a `PATH`, and a package to stand in.
struct User {
    home: PathBuf,
    _folder: TempDir,
}

impl User {
    fn new() -> Self {
        // On the file system of the wheels, which are large: they are linked.
        let folder = temporary_folder_in(shared_folder("toolchains"));
        Self { home: folder.path().canonicalize().unwrap(), _folder: folder }
    }

    fn write(&self, name: &str, text: &str) {
        write_file(&self.home, name, text);
    }

    /// Writes a program, from another process: this one must not hold it open while another
    /// thread starts a program.
    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
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
        path
    }

    /// A Python whose pip notes what it is asked for, and then runs some lines of shell with
    /// `$target` set.
    fn python(&self, lines: &str) {
        let log = self.home.join("pip.log");
        let text = format!(
            "#!/bin/sh\n[ \"$3\" = --version ] && exit 0\necho \"$@\" >> {}\n\
             while [ \"$1\" != --target ]; do shift; done\ntarget=\"$2\"\n{lines}",
            log.display()
        );
        self.script("bin/python3", &text);
    }

    fn kernelmill(&self, arguments: &[&str]) -> Command {
        let path = env::var_os("PATH").unwrap();
        let others = env::split_paths(&path).filter(|folder| !folder.join("nvcc").is_file());
        let path = env::join_paths([self.home.join("bin")].into_iter().chain(others)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"));
        command.arg("kernelmill").args(arguments).current_dir(&self.home).env("PATH", path);
        command.env("XDG_CACHE_HOME", self.home.join("cache"));
        for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "NVCC"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        success(&self.kernelmill(arguments).output().unwrap())
    }

    fn toolchains(&self) -> PathBuf {
        self.home.join("cache/kernelmill/toolchains")
    }

    fn installed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.toolchains()).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

#[track_caller]
fn success(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn cuda_is_installed_found_listed_and_removed() {
    let Some(wheels) = tool::wheels() else { return };
    let user = User::new();
    // Hard links where the file system has them: the wheels are large.
    let (from, to) = (wheels.canonicalize().unwrap().join("cu13"), "\"$target/nvidia\"");
    let from = from.display();
    user.python(&format!(
        "mkdir -p {to}\ncp -rl {from} {to} 2>/dev/null && exit\nrm -rf {to}/cu13\ncp -r {from} {to}\n"
    ));
    let text = user.run(&["toolchain", "install", "cuda"]);
    let [name] = &user.installed()[..] else { panic!("{:?}", user.installed()) };
    let release = name.strip_prefix("cuda-13.").expect("the folder is named after the release");
    assert!(text.contains(&format!("CUDA 13.{release} is installed in")), "{text}");
    let log = || fs::read_to_string(user.home.join("pip.log")).unwrap();
    for package in ["nvcc", "crt", "runtime", "cuobjdump", "nvdisasm", "cccl"] {
        assert!(log().contains(&format!(" nvidia-cuda-{package}==13.*")), "{}", log());
    }
    assert!(log().contains(" nvidia-nvvm==13.*") && log().contains(" nvidia-nvjitlink==13.*"));

    let again = user.run(&["toolchain", "install", &format!("cuda@13.{release}")]);
    assert!(again.contains("is installed already"), "{again}");
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&user.run(&[arguments, &["--json"]].concat())).unwrap()
    };
    let told = json(&["toolchain", "install", "cuda"]);
    assert_eq!(told["was_installed"], true, "{told}");
    assert!(told["folder"].as_str().unwrap().ends_with(name.as_str()), "{told}");
    assert_eq!(log().lines().count(), 1, "pip is not asked again");

    let nvcc = user.toolchains().join(name).join("nvidia/cu13/bin/nvcc");
    let listed = user.run(&["toolchain", "list"]);
    assert!(listed.starts_with(name.as_str()), "{listed}");
    assert!(listed.contains(&format!("nvcc         {}\n", nvcc.display())), "{listed}");
    user.write("Cargo.toml", PACKAGE);
    user.write("src/lib.rs", "");
    let told = user.run(&["doctor"]);
    let line = format!("{} (cargo kernelmill toolchain)\n", nvcc.display());
    assert!(told.contains(&line), "{told}");
    assert!(
        told.ends_with("is built for sm_90a\nevery tool that this needs is installed\n"),
        "{told}"
    );
    let told = json(&["toolchain", "remove", "cuda"]);
    assert!(told["removed"].as_str().unwrap().ends_with(name.as_str()), "{told}");
    assert!(user.installed().is_empty());
    let output = user.kernelmill(&["toolchain", "remove", "cuda"]).output().unwrap();
    assert!(errors(&output).contains("cuda is not installed; the installed versions are: none"));
}

const PACKAGE: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                       [package.metadata.kernelmill]\ntargets = [\"sm_90a\"]\n[workspace]\n";

#[test]
fn an_installation_that_does_not_compile_is_none() {
    let user = User::new();
    let nvcc = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'release 13.9, V13.9.1' && exit\n\
                echo 'no C++ here' >&2\nexit 1\n";
    user.script("nvcc", nvcc);
    let from = user.home.join("nvcc");
    let lines = format!(
        "mkdir -p \"$target/nvidia/cu13/bin\"\ncp {} \"$target/nvidia/cu13/bin\"\n",
        from.display()
    );
    user.python(&lines);
    let output = user.kernelmill(&["toolchain", "install", "cuda@13.9"]).output().unwrap();
    let text = errors(&output);
    assert!(text.contains("nvcc 13.9 was fetched, but cannot compile a test kernel"), "{text}");
    assert!(text.contains("no C++ here"), "{text}");
    assert!(user.installed().is_empty(), "{:?}", user.installed());

    user.python("exit 1\n");
    let output = user.kernelmill(&["toolchain", "install", "cuda@13.9"]).output().unwrap();
    let text = errors(&output);
    assert!(text.contains("pip could not install CUDA 13.9"), "{text}");
    assert!(user.installed().is_empty(), "{:?}", user.installed());
}

#[test]
fn releases_without_wheels_are_refused_before_anything_is_fetched() {
    let user = User::new();
    user.python("exit 1\n");
    let output = user.kernelmill(&["toolchain", "install", "cuda@12.9"]).output().unwrap();
    let text = errors(&output);
    assert!(text.contains("the Python packages of CUDA 12.9 contain no nvcc"), "{text}");
    assert!(!user.home.join("pip.log").exists());
}

#[test]
fn doctor_fails_where_the_packages_targets_cannot_be_built() {
    let user = User::new();
    user.script("cuda/bin/ptxas", "#!/bin/sh\necho 'release 12.0, V12.0.1'\n");
    let nvcc = user.script(
        "cuda/bin/nvcc",
        "#!/bin/sh\ncase $1 in --version) echo 'release 12.0, V12.0.1';;\n\
         --list-gpu-code) echo sm_80; echo sm_90;; --list-gpu-arch) echo compute_90;;\n\
         --help) echo \"'sm_90a'\";; esac\n",
    );
    user.write("Cargo.toml", &PACKAGE.replace("sm_90a", "sm_100f"));
    user.write("src/lib.rs", "");
    user.write("kernels/fill.cu", "__global__ void fill(float *y) {}\n");
    let doctor = || user.kernelmill(&["doctor"]).env("NVCC", &nvcc).output().unwrap();
    let output = doctor();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    let line = format!("nvcc 12.0 does not know the target `sm_100f` ({})", nvcc.display());
    assert!(text.contains(&line), "{text}");
    assert!(text.contains("the nearest that this nvcc knows is `sm_90`"), "{text}");
    user.write("Cargo.toml", PACKAGE);
    let told = success(&doctor());
    assert!(
        told.contains(&format!("ok       nvcc       12.0           {}", nvcc.display())),
        "{told}"
    );
    user.write("Cargo.toml", &PACKAGE.replace("sm_90a", "sm_90b"));
    assert!(errors(&doctor()).contains("unknown target `sm_90b`"));
}
