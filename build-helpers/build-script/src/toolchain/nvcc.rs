//! nvcc, and what of its surroundings changes what it makes.

use super::{ask, search::Search};
use crate::base::error::Error;
use kernelmill_store::digest;
use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
};

/// The variables that nvcc, and the host compiler below it, read. `PATH` is not among them: what
/// it decides, which programs are started, is in [`Nvcc::version`] already.
const VARIABLES: [&str; 6] = [
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
];
/// Parts of nvcc that print no version of their own; their sizes stand for it.
const PARTS: [&str; 4] = ["nvvm/bin/cicc", "bin/cudafe++", "bin/fatbinary", "bin/nvlink"];

/// NVIDIA's compiler for CUDA C++.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nvcc {
    /// The program, as it is to be started.
    pub program: PathBuf,
    /// The folder of the installation, which has `bin` and `nvvm` in it.
    pub root: PathBuf,
    /// Everything of the tools that can change what nvcc makes, without a path: what nvcc, ptxas
    /// and the host compiler print for `--version`, and what stands for the versions of the rest.
    pub version: String,
    /// The release, `(13, 5)` for CUDA 13.5.
    pub release: (u32, u32),
    /// The names it takes for `-arch` and `code=`: `sm_90a`, `compute_75`.
    pub gpu_codes: Vec<String>,
    /// The compiler for the host's part of a file that nvcc starts; `None` where it finds none, so
    /// that it compiles nothing at all.
    pub host_compiler: Option<PathBuf>,
    /// The variables that nvcc and the host compiler read, with the values they have; `None` is
    /// not set. Cargo watches them.
    pub variables: Vec<(String, Option<String>)>,
}

/// Finds nvcc: the setting `nvcc` (`KERNELMILL_NVCC`), `NVCC`, the folders that `CUDA_HOME`,
/// `CUDA_PATH`, `CUDA_ROOT` and `CUDA_TOOLKIT_ROOT_DIR` name, `PATH`, the toolchains of
/// `cargo kernelmill toolchain install`, the workspace's `target/toolchains`, `/usr/local/cuda`.
///
/// # Errors
///
/// [`Error::Tool`] where the nvcc that is named does not exist or cannot be asked.
pub(crate) fn find_nvcc(search: &Search<'_>) -> Result<Option<Nvcc>, Error> {
    let Some(program) = locate(search)? else { return Ok(None) };
    let said = search.ask(&program, &["--version"])?;
    let release = release(&said).ok_or_else(|| {
        Error::Tool(format!(
            "`{} --version` does not print a release of nvcc:\n{}",
            program.display(),
            said.trim()
        ))
    })?;
    let trial = trial(search, &program);
    let root = trial.root.unwrap_or_else(|| root_of(&program));
    let host_compiler = trial.host_compiler;
    let mut version = said.trim().to_owned();
    version.push_str(&parts(&root));
    let ptxas = root.join("bin").join(format!("ptxas{EXE_SUFFIX}"));
    for tool in [Some(&ptxas), host_compiler.as_ref()].into_iter().flatten() {
        if let Some(said) = identity(search, tool) {
            search.environment.cargo.watch(tool);
            version.push('\n');
            version.push_str(&said);
        }
    }
    search.environment.cargo.watch(&program);
    if root.join("nvvm").is_dir() {
        // A package manager may give a new file an old time; the folder tells of it all the same.
        search.environment.cargo.watch(&root.join("bin"));
    }
    let variables = VARIABLES.map(|name| {
        let value = search.environment.raw(name);
        (name.to_owned(), value.map(|value| value.to_string_lossy().into_owned()))
    });
    Ok(Some(Nvcc {
        gpu_codes: gpu_codes(search, &program)?,
        program,
        root,
        version,
        release,
        host_compiler,
        variables: variables.into(),
    }))
}

/// Where nvcc is, without asking it anything.
pub(super) fn locate(search: &Search<'_>) -> Result<Option<PathBuf>, Error> {
    if let Some(set) = &search.nvcc {
        return search.named(set, "the setting `nvcc` (or KERNELMILL_NVCC)").map(Some);
    }
    match search.environment.text("NVCC") {
        Some(set) => search.named(&set, "the environment variable NVCC").map(Some),
        None => Ok(search.in_cuda("nvcc")),
    }
}

/// What a trial run says that compiles nothing.
#[derive(Debug, Default, PartialEq, Eq)]
struct Trial {
    root: Option<PathBuf>,
    host_compiler: Option<PathBuf>,
}

/// Asks nvcc which commands it would start for an empty file. Only nvcc itself knows which host
/// compiler it takes: arguments, variables and its configuration file all have a say.
fn trial(search: &Search<'_>, program: &Path) -> Trial {
    let mut arguments = vec!["--dryrun", "-x", "cu", "-E"];
    arguments.extend(host_compiler_arguments(&search.arguments));
    arguments.push(if cfg!(windows) { "NUL" } else { "/dev/null" });
    let printed = ask::run(program, &arguments);
    let printed = printed.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let mut trial = read_trial(&String::from_utf8_lossy(&printed));
    trial.host_compiler = trial.host_compiler.and_then(|path| {
        if path.components().count() > 1 { Some(path) } else { search.on_path(path.to_str()?) }
    });
    if trial == Trial::default() {
        let usual = if cfg!(windows) { "cl" } else { "gcc" };
        trial.host_compiler = search.on_path(usual);
    }
    trial
}

/// Those of the user's arguments that choose the host compiler.
fn host_compiler_arguments(arguments: &[String]) -> Vec<&str> {
    let mut chosen = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        let name = argument.trim_start_matches('-');
        if ["ccbin", "compiler-bindir"].contains(&name) {
            chosen.push(argument);
            chosen.extend(rest.next());
        } else if name.starts_with("ccbin=") || name.starts_with("compiler-bindir=") {
            chosen.push(argument);
        }
    }
    chosen
}

/// `#$ TOP=/usr/local/cuda/bin/..`, then `#$ "/usr/bin"/gcc-12 -D... -E -x c++ ...`.
fn read_trial(printed: &str) -> Trial {
    let lines = || printed.lines().filter_map(|line| line.strip_prefix("#$ "));
    let top = lines().find_map(|line| line.strip_prefix("TOP="));
    let compiler = lines().find(|line| line.contains(" -E ")).map(first_word);
    Trial {
        root: top.map(|top| crate::base::paths::normal(Path::new(top.trim()))),
        host_compiler: compiler.filter(|word| !word.is_empty()).map(PathBuf::from),
    }
}

/// The first word of a command line, without its quotes.
fn first_word(line: &str) -> String {
    let mut is_quoted = false;
    let mut word = String::new();
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => break,
            letter => word.push(letter),
        }
    }
    word
}

/// The folder above `bin`, of the file that a link stands for.
fn root_of(program: &Path) -> PathBuf {
    let file = fs::canonicalize(program).unwrap_or_else(|_| program.to_path_buf());
    let root = file.parent().and_then(Path::parent);
    root.map_or_else(PathBuf::new, Path::to_path_buf)
}

/// What stands for the versions of the programs and the library that print none.
fn parts(root: &Path) -> String {
    let mut text = String::new();
    for part in PARTS {
        let file = root.join(format!("{part}{EXE_SUFFIX}"));
        if let Ok(data) = fs::metadata(file) {
            text.push_str(&format!("\n{part} {} bytes", data.len()));
        }
    }
    if let Ok(library) = fs::read(root.join("nvvm/libdevice/libdevice.10.bc")) {
        text.push_str(&format!("\nlibdevice {}", digest(&library)));
    }
    text
}

/// What a program prints as its version. Microsoft's compiler says it on standard error, when it
/// is asked nothing.
fn identity(search: &Search<'_>, program: &Path) -> Option<String> {
    let is_microsoft = program.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("cl"));
    if is_microsoft {
        let banner = ask::run(program, &[]).ok()?.stderr;
        return String::from_utf8_lossy(&banner).lines().next().map(str::to_owned);
    }
    let said = search.ask(program, &["--version"]).ok()?;
    // clang names the folder it is installed in, which changes nothing.
    let lines = said.lines().filter(|line| !line.starts_with("InstalledDir:"));
    Some(lines.collect::<Vec<_>>().join("\n").trim().to_owned())
}

/// `Cuda compilation tools, release 13.5, V13.5.37`.
fn release(version: &str) -> Option<(u32, u32)> {
    let (_, rest) = version.split_once("release ")?;
    let number = rest.split([',', ' ', '\n']).next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The architectures that nvcc knows. Its lists leave out those with a suffix, which only its help
/// names.
fn gpu_codes(search: &Search<'_>, program: &Path) -> Result<Vec<String>, Error> {
    let real = search.ask(program, &["--list-gpu-code"])?;
    let virtuals = search.ask(program, &["--list-gpu-arch"])?;
    let help = search.ask(program, &["--help"]).unwrap_or_default();
    let quoted = help.split('\'');
    let words = real.split_whitespace().chain(virtuals.split_whitespace()).chain(quoted);
    let is_code = |word: &&str| {
        let digits = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"));
        digits.is_some_and(|digits| {
            let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    let mut codes: Vec<_> = words.filter(is_code).map(str::to_owned).collect();
    codes.sort();
    codes.dedup();
    Ok(codes)
}
