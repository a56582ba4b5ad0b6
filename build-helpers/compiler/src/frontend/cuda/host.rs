//! Files whose host code is wanted: objects for the linker of the application, with the device code
//! for all targets inside, as `nvcc -c` makes them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use kernelmill_artifact::Target;

use super::{
    nvcc::{Nvcc, Run, Trace, start},
    nvcc_arguments::{check_paths, in_list, option_arguments},
    source::CudaSource,
};
use crate::{
    Error,
    base::cpp_names::{self, Parts},
    job::{Options, Params},
    toolchain::{TemporaryFolder, read},
};

/// How objects with host code are made.
#[derive(Clone, Copy, Debug)]
pub struct HostOptions<'a> {
    /// The targets of the device code; others than NVIDIA's are passed over.
    pub targets: &'a [Target],
    /// The parameters of device code.
    pub params: &'a Params,
    /// The options of device code. The level of optimisation holds for host code too.
    pub options: &'a Options,
    /// Whether device code may call into other objects: then [`Nvcc::link_device`] links it.
    pub is_relocatable: bool,
}

impl Nvcc {
    /// Compiles a file, host code and device code, to one object that is position independent.
    ///
    /// # Errors
    ///
    /// [`Error::Cpp`] with the messages of nvcc, the host compiler and ptxas.
    pub fn compile_host(
        &self,
        source: &CudaSource,
        how: &HostOptions<'_>,
    ) -> Result<(Vec<u8>, Trace), Error> {
        // Names of intermediate files are made of the source's.
        let name = source.path.file_name().unwrap_or_default();
        in_list(Path::new(name), &source.package_root)?;
        let mut arguments = vec!["-c".to_owned()];
        if !source.arguments.iter().any(|argument| sets_optimization(argument)) {
            arguments.push(format!("-O{}", how.options.opt_level));
        }
        arguments.extend(how.arguments());
        arguments.extend(option_arguments(how.params, how.options));
        self.run(source, &arguments, "host")
    }

    /// Links the device code of relocatable objects, and gives the object that registers it with
    /// the CUDA runtime. `root` is the folder of the package.
    ///
    /// # Errors
    ///
    /// [`Error::Cpp`] with nvlink's messages.
    pub fn link_device(
        &self,
        objects: &[PathBuf],
        root: &Path,
        how: &HostOptions<'_>,
    ) -> Result<Vec<u8>, Error> {
        check_paths(objects.iter().chain([&self.scratch]).map(PathBuf::as_path))?;
        let folder = TemporaryFolder::new(&self.scratch, "device-link")?;
        let output = folder.path.join("linked.o");
        let mut command = Command::new(&self.program);
        command.current_dir(root).env("TMPDIR", in_list(&folder.path, root)?);
        command.arg("-dlink").args(how.arguments()).args(objects).arg("-o").arg(&output);
        let run = Run { scratch: &self.scratch, root, name: "device-link", limits: self.limits };
        match start(&mut command, folder, &run) {
            Ok(ran) => {
                let linked = read(&output);
                drop(ran.folder);
                linked
            }
            Err(Error::Cpp { tool, mut messages, kept }) => {
                for message in &mut messages {
                    message.text = demangled(&message.text);
                }
                Err(Error::Cpp { tool, messages, kept })
            }
            Err(error) => Err(error),
        }
    }
}

/// A message of nvlink with C++ names in place of symbols, which it quotes: `'_Z5twicef'`.
fn demangled(text: &str) -> String {
    let name =
        |part: &str| cpp_names::demangle(part, Parts::ALL).unwrap_or_else(|| part.to_owned());
    text.split('\'').map(name).collect::<Vec<_>>().join("'")
}

impl HostOptions<'_> {
    /// The arguments that compiling and device linking have in common.
    fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<_> = self.targets.iter().filter_map(code).collect();
        if self.is_relocatable {
            arguments.push("-rdc=true".to_owned());
        }
        if !cfg!(windows) {
            arguments.push("-Xcompiler=-fPIC".to_owned());
        }
        arguments
    }
}

/// Whether an argument of the user's is nvcc's level of optimisation, which it takes once.
fn sets_optimization(argument: &str) -> bool {
    let level = argument.strip_prefix("-O").filter(|level| level.len() == 1);
    level.is_some() || argument.trim_start_matches('-').starts_with("optimize")
}

/// A target as one of several that nvcc compiles for at once.
fn code(target: &Target) -> Option<String> {
    match target {
        Target::Cubin(arch) => Some(format!("-gencode=arch=compute_{arch},code=sm_{arch}")),
        Target::Ptx(arch) => Some(format!("-gencode=arch=compute_{arch},code=compute_{arch}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nvidia_target_is_named_with_its_suffix_and_no_other() {
        let targets = Target::parse_list("cpu,sm_80,sm_90a,compute_75,gfx942").unwrap();
        let (params, options) = (Params::default(), Options::default());
        let (targets, params, options) = (&*targets, &params, &options);
        let how = HostOptions { targets, params, options, is_relocatable: true };
        let expected = [
            "-gencode=arch=compute_80,code=sm_80",
            "-gencode=arch=compute_90a,code=sm_90a",
            "-gencode=arch=compute_75,code=compute_75",
            "-rdc=true",
        ];
        assert_eq!(how.arguments()[..4], expected);
    }

    #[test]
    fn the_users_own_level_of_optimisation_is_recognised() {
        for level in ["-O2", "-O0", "--optimize=3", "-optimize"] {
            assert!(sets_optimization(level), "{level}");
        }
        for other in ["-Ofast-compile=mid", "-Xcompiler=-O2", "-o"] {
            assert!(!sets_optimization(other), "{other}");
        }
    }

    #[test]
    fn symbols_in_messages_become_names() {
        let text = "Undefined reference to '_Z5twicef' in 'a.o' (target: sm_80)";
        let expected = "Undefined reference to 'twice(float)' in 'a.o' (target: sm_80)";
        assert_eq!(demangled(text), expected);
    }
}
