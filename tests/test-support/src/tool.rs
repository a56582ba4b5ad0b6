//! Tools of the machine: programs and libraries that some tests need, and `cargo xtask setup` installs.
//!
//! A test skips what it cannot do without a tool. With `KERNELMILL_REQUIRE_TOOLS` set, as
//! `cargo xtask test` does, a missing tool fails it.

use crate::workspace::root;
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The names of clang, the preferred first: set-up installs the one of the LLVM of rustc.
const CLANGS: [&str; 5] = ["clang-22", "clang-21", "clang-20", "clang-19", "clang"];

/// AMD's mathematical functions, as Debian installs them.
const OCML: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc";

/// What was found; says that the test is skipped where that is nothing.
///
/// # Panics
///
/// Where it is nothing and `KERNELMILL_REQUIRE_TOOLS` is set.
#[track_caller]
pub fn require<T>(name: &str, found: Option<T>) -> Option<T> {
    if found.is_none() {
        let message = format!("{name} is not there: `cargo xtask setup` installs it");
        assert!(env::var_os("KERNELMILL_REQUIRE_TOOLS").is_none(), "{message}");
        println!("skipped: {message}");
    }
    found
}

/// A program of NVIDIA's, from `CUDA_HOME`, the wheels of set-up or `PATH`.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn nvidia(name: &str) -> Option<PathBuf> {
    let home = env::var_os("CUDA_HOME").map(PathBuf::from);
    let folders = home.into_iter().chain([wheels_folder().join("cu13")]);
    let mut files = folders.map(|folder| folder.join("bin").join(name));
    require(name, files.find(|file| file.is_file()).or_else(|| which::which(name).ok()))
}

/// The folder of NVIDIA's wheels, where set-up has installed them.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn wheels() -> Option<PathBuf> {
    let folder = wheels_folder();
    let is_there = folder.join("cu13/bin/nvcc").is_file();
    require("the set of NVIDIA's wheels", is_there.then_some(folder))
}

/// NVIDIA's compiler of CUDA C++ as a library.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn nvrtc() -> Option<PathBuf> {
    let library = wheels_folder().join("cu13/lib/libnvrtc.so.13");
    require("NVRTC", Some(library).filter(|path| path.is_file()))
}

/// Taplo, which checks TOML by a JSON schema as editors do.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn taplo() -> Option<PathBuf> {
    let program = root().join("target/taplo/bin/taplo");
    require("Taplo", Some(program).filter(|path| path.is_file()))
}

fn wheels_folder() -> PathBuf {
    root().join("target/toolchains/nvidia")
}

/// clang: the one that `KERNELMILL_TEST_CLANG` names, or the newest that tests know.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn clang() -> Option<PathBuf> {
    let chosen = env::var("KERNELMILL_TEST_CLANG").ok();
    let names = chosen.as_deref().map_or(CLANGS.to_vec(), |name| vec![name]);
    require("clang", names.into_iter().find_map(|name| which::which(name).ok()))
}

/// The translator of SPIR-V to bitcode of the LLVM that pocl of Debian uses, for `OPENCL_LAYER_SPIRV`.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn llvm_spirv() -> Option<PathBuf> {
    require("llvm-spirv-15", which::which("llvm-spirv-15").ok())
}

/// AMD's mathematical functions.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn ocml() -> Option<PathBuf> {
    let path = PathBuf::from(OCML);
    require("ocml", Some(path).filter(|path| path.is_file()))
}

/// Where pocl is registered as an implementation of OpenCL, as Debian installs it.
pub const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// What the loader of OpenCL's implementations is called.
const OPENCL: &str = "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1";

/// pocl, and the library that loads it.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn pocl() -> Option<PathBuf> {
    let files = [POCL, OPENCL].map(PathBuf::from);
    require("pocl", files.iter().all(|file| file.is_file()).then(|| files[0].clone()))
}

/// Where Intel's run time of OpenCL for processors is registered, if `cargo xtask setup --intel-opencl` has installed it. Its
/// licence is Intel's own, so that what needs it is left out elsewhere, in CI too.
#[must_use]
pub fn intel_opencl() -> Option<PathBuf> {
    let registration = root().join("target/intel-opencl/intel.icd");
    let found = Some(registration).filter(|path| path.is_file());
    if found.is_none() {
        println!("left out: `cargo xtask setup --intel-opencl` installs Intel's OpenCL");
    }
    found
}

/// Variables with which a machine has no driver of Vulkan.
pub const WITHOUT_VULKAN: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/no/such.json"), ("VK_ICD_FILENAMES", "/no/such.json")];

/// Where Mesa's lavapipe is registered as a driver of Vulkan, as Debian installs it.
pub const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

/// Variables with which a machine has lavapipe alone, without Mesa's layer, which would ask a display for its device.
pub const WITH_LAVAPIPE: [(&str, &str); 3] =
    [("VK_DRIVER_FILES", LAVAPIPE), ("VK_ICD_FILENAMES", LAVAPIPE), ("NODEVICE_SELECT", "1")];

/// What the loader of Vulkan's drivers is called.
pub const VULKAN: &str = "/usr/lib/x86_64-linux-gnu/libvulkan.so.1";

/// lavapipe, and the library that loads it.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn lavapipe() -> Option<PathBuf> {
    let files = [LAVAPIPE, VULKAN].map(PathBuf::from);
    require("lavapipe", files.iter().all(|file| file.is_file()).then(|| files[0].clone()))
}

/// The validator of SPIR-V.
///
/// # Panics
///
/// As [`require`] does.
#[must_use]
#[track_caller]
pub fn spirv_val() -> Option<PathBuf> {
    require("spirv-val", which::which("spirv-val").ok())
}

impl Rustc {
    /// The version of its LLVM, such as `23.1.1`.
    ///
    /// # Panics
    ///
    /// Where it says none.
    #[must_use]
    pub fn llvm(&self) -> &str {
        let said = self.version.lines().find_map(|line| line.strip_prefix("LLVM version: "));
        said.expect("rustc says the version of its LLVM").trim()
    }

    /// The first number of [`Rustc::llvm`].
    ///
    /// # Panics
    ///
    /// Where there is none.
    #[must_use]
    pub fn llvm_major(&self) -> u32 {
        let major = self.llvm().split('.').next().and_then(|number| number.parse().ok());
        major.expect("a version starts with a number")
    }
}

/// The rustc that compiles kernels in tests.
#[derive(Debug)]
pub struct Rustc {
    /// How it is called.
    pub program: PathBuf,
    /// What it says of its version, with `-vV`.
    pub version: String,
    /// The target that it runs on.
    pub host: String,
    /// Its folder.
    pub sysroot: PathBuf,
}

/// The rustc that `RUSTC` names, or that is on `PATH`.
///
/// # Panics
///
/// When it cannot be run.
pub fn rustc() -> &'static Rustc {
    static RUSTC: OnceLock<Rustc> = OnceLock::new();
    RUSTC.get_or_init(|| {
        let program = env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from);
        let version = output(&program, &["-vV"]);
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.expect("rustc says its host").to_owned();
        let sysroot = output(&program, &["--print", "sysroot"]).into();
        Rustc { program, version, host, sysroot }
    })
}

/// What a program prints.
///
/// # Panics
///
/// When it cannot be run or fails, with its errors.
#[must_use]
#[track_caller]
pub fn output(program: impl AsRef<Path>, arguments: &[&str]) -> String {
    let program = program.as_ref();
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {errors}", program.display());
    String::from_utf8(output.stdout).expect("the output is text").trim().to_owned()
}
