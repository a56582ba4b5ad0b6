//! Calls of cargo for a kernel package: what all of them have in common, and what of it is in the key.

use crate::{
    base::environment::BuildEnvironment, discovery::source::Source, settings::package::Package,
};
use kernelmill_compiler::frontend::rust::{CODE_OPTIONS, instances_variable};
use kernelmill_store::digest;
use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

/// What cargo is asked for.
const BUILD: [&str; 4] = ["--lib", "--release", "--message-format=json", "--quiet"];

/// What crates have for the choice of their portable code, in place of that for the host's processor, which no other target
/// has. The documentation of `aes`, `chacha20`, `polyval`, `poly1305`, `sha2` and `curve25519-dalek` names them.
const PORTABLE: [&str; 10] = [
    "aes_force_soft",
    "aes_backend=\"soft\"",
    "chacha20_force_soft",
    "chacha20_backend=\"soft\"",
    "polyval_force_soft",
    "polyval_backend=\"soft\"",
    "poly1305_force_soft",
    "poly1305_backend=\"soft\"",
    "sha2_backend=\"soft\"",
    "curve25519_dalek_backend=\"serial\"",
];

/// How much debug information the package and what it depends on get. It is a setting of the profile, so
/// that the package alone can get more by an argument, which `RUSTFLAGS` would override.
const DEBUG: [&str; 2] = ["profile.release.debug", "profile.release.package.\"*\".debug"];

/// What is asked of cargo and rustc and changes what is built: all of it that names no path. It is
/// part of the key.
pub(crate) fn options() -> Vec<String> {
    let words = ["build"].into_iter().chain(BUILD).map(str::to_owned);
    words.chain(debug_information(None)).chain(flags()).collect()
}

/// The arguments of cargo for debug information, by the option of rustc where it is not the usual one.
fn debug_information(option: Option<&str>) -> impl Iterator<Item = String> {
    let usual = CODE_OPTIONS.iter().copied();
    let level = option.into_iter().chain(usual).find_map(|it| it.strip_prefix("debuginfo="));
    let level = level.unwrap_or_default().to_owned();
    DEBUG.into_iter().flat_map(move |key| ["--config".to_owned(), format!("{key}=\"{level}\"")])
}

/// The options of rustc.
fn flags() -> Vec<String> {
    let options = CODE_OPTIONS.iter().filter(|option| !option.starts_with("debuginfo="));
    let mut flags: Vec<_> = options.map(|option| format!("-C{option}")).collect();
    let others = ["-Clinker-plugin-lto", "--cfg=kernelmill", "--check-cfg=cfg(kernelmill)"];
    flags.extend(others.map(str::to_owned));
    flags.extend(PORTABLE.iter().map(|name| format!("--cfg={name}")));
    flags
}

/// What every call of cargo for a package has in common.
pub(super) struct Call<'a> {
    pub(super) environment: &'a BuildEnvironment,
    pub(super) package: &'a Package,
    pub(super) source: &'a Source,
    /// An option of rustc.
    pub(super) debug: Option<&'a str>,
    /// Where cargo puts what it builds.
    pub(super) folder: &'a Path,
    /// Options that the cargo above was given.
    pub(super) outer: Vec<&'static str>,
}

impl Call<'_> {
    /// cargo, with a command and with what comes after all options.
    pub(super) fn cargo(&self, word: &str, last: &[OsString]) -> Command {
        let Self { package, source, .. } = self;
        let mut command = Command::new(&package.cargo);
        for name in self.environment.names() {
            if is_of_this_build(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        let mut flags = flags();
        // Cargo names a package's own files relative to it, and those of other packages in full.
        flags.push(format!("--remap-path-prefix=src={}/src", source.display));
        flags.push(format!("--remap-path-prefix={}={}", source.path.display(), source.display));
        let (variable, instances) = instances_variable(&source.instances);
        if !instances.is_empty() {
            // Cargo compares flags, and knows nothing of the variable.
            flags.push(format!("--cfg=kernelmill_instances=\"{}\"", digest(instances.as_bytes())));
            flags.push("--check-cfg=cfg(kernelmill_instances,values(any()))".to_owned());
        }
        command
            .arg(word)
            .args(BUILD)
            .args(debug_information(self.debug))
            .arg("--manifest-path")
            .arg(source.path.join("Cargo.toml"))
            .args(["--target", &package.target])
            .arg("--target-dir")
            .arg(self.folder)
            .args(&self.outer)
            .args(last)
            .current_dir(&source.path)
            .env("RUSTC", &package.rustc)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match instances.is_empty() {
            true => command.env_remove(variable),
            false => command.env(variable, instances),
        };
        command
    }
}

/// Whether a variable belongs to the cargo that runs the build script, and would mislead another.
fn is_of_this_build(name: &str) -> bool {
    const KEPT: [&str; 3] = ["RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_MAKEFLAGS"];
    const KEPT_PREFIXES: [&str; 4] = ["CARGO_HOME", "CARGO_NET", "CARGO_REGISTR", "CARGO_HTTP"];
    let is_kept = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|it| name.starts_with(it));
    let is_ours = name.starts_with("CARGO") || name.starts_with("RUST");
    (is_ours && !is_kept) || matches!(name, "MAKEFLAGS" | "MFLAGS")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::pack, *};
    use crate::{base::cargo::Cargo, test_support::Project};

    #[test]
    fn what_cargo_is_asked_for_is_in_the_key_but_for_paths() {
        let project = Project::new("", &[("kernels/pack/src/lib.rs", "#[kernel] pub fn k() {}")]);
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(std::io::sink())),
        );
        let package = Package::read(&environment).unwrap();
        let source = pack(&package);
        let folder = Path::new("/t");
        let call = Call {
            environment: &environment,
            package: &package,
            source: &source,
            debug: None,
            folder,
            outer: Vec::new(),
        };
        let command = call.cargo("build", &[]);
        let keyed = options();
        let variables: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)))
            .collect();
        let flags =
            variables.iter().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS").unwrap().1;
        let words =
            command.get_args().map(|word| word.to_str().unwrap()).chain(flags.split('\u{1f}'));
        let rest: Vec<_> = words.filter(|word| !keyed.iter().any(|it| it == word)).collect();
        let is_path = |word: &&str| word.contains('/') || word.starts_with("--remap-path-prefix=");
        let unkeyed: Vec<_> = rest.iter().filter(|word| !is_path(word)).collect();
        // The host's triple has a part of its own in the key.
        assert_eq!(unkeyed, [&"--manifest-path", &"--target", &&*package.target, &"--target-dir"]);
        assert!(
            variables.iter().all(|(name, _)| ["RUSTC", "CARGO_ENCODED_RUSTFLAGS"].contains(name))
        );
    }

    #[test]
    fn another_cargo_gets_none_of_this_builds_variables() {
        for name in ["CARGO_ENCODED_RUSTFLAGS", "CARGO", "RUSTC", "RUSTFLAGS", "MAKEFLAGS"] {
            assert!(is_of_this_build(name), "{name}");
        }
        for name in ["CARGO_HOME", "RUSTUP_TOOLCHAIN", "CARGO_NET_OFFLINE", "PATH", "HOME"] {
            assert!(!is_of_this_build(name), "{name}");
        }
    }
}
