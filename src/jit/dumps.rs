//! Dumps of what is compiled at run time: `KERNELMILL_DUMP` names stages as it does for a build, and `KERNELMILL_DUMP_DIR` the
//! folder. The variables are read when a program is compiled.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::overrides::say;

const STAGES: &str = "KERNELMILL_DUMP";
const PLACE: &str = "KERNELMILL_DUMP_DIR";

/// The folder in that of a package, whose build may have dumps of the same kernels and targets.
const FOLDER: &str = "run-time";

/// What can be dumped of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// LLVM's IR with the constants that are chosen, before it is optimised.
    #[cfg(feature = "jit-llvm")]
    Linked,
    /// LLVM's IR that code is generated from.
    #[cfg(feature = "jit-llvm")]
    Opt,
    Ptx,
    /// Assembly text of the CPU.
    #[cfg(feature = "jit-llvm")]
    Asm,
}

impl Stage {
    const ALL: &[Self] = &[
        #[cfg(feature = "jit-llvm")]
        Self::Linked,
        #[cfg(feature = "jit-llvm")]
        Self::Opt,
        Self::Ptx,
        #[cfg(feature = "jit-llvm")]
        Self::Asm,
    ];

    /// Its name in the variable, and how the names of its files end.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            #[cfg(feature = "jit-llvm")]
            Self::Linked => ("linked", "linked.ll"),
            #[cfg(feature = "jit-llvm")]
            Self::Opt => ("opt", "opt.ll"),
            Self::Ptx => ("ptx", "ptx"),
            #[cfg(feature = "jit-llvm")]
            Self::Asm => ("asm", "s"),
        }
    }
}

/// The dumps that the variables ask for, of one package or source.
#[derive(Debug)]
pub(super) struct Dumps {
    stages: Vec<Stage>,
    folder: PathBuf,
}

impl Dumps {
    /// Those of a package or a source of this name; `None` where none is asked for that programs have.
    pub(super) fn asked(name: &str) -> Option<Self> {
        let names = env::var(STAGES).ok()?;
        let names: Vec<_> = names.split([',', ' ']).collect();
        let is_asked = |it: &Stage| names.contains(&"all") || names.contains(&it.names().0);
        let stages: Vec<_> = Stage::ALL.iter().copied().filter(is_asked).collect();
        if stages.is_empty() {
            return None;
        }
        let Some(place) = env::var_os(PLACE).filter(|it| !it.is_empty()) else {
            let why = format!(
                "{STAGES} is set, but what is compiled at run time is not dumped: name a folder in {PLACE}"
            );
            say(&mut String::new(), why);
            return None;
        };
        let folder = Path::new(&place).join(file_name(name)).join(FOLDER);
        Some(Self { stages, folder })
    }

    /// Whether a stage is asked for.
    pub(super) fn has(&self, stage: Stage) -> bool {
        self.stages.contains(&stage)
    }

    /// Writes a kernel at a stage. A folder that cannot be written is told, and no reason to fail.
    pub(super) fn write(&self, (kernel, target): (&str, &str), stage: Stage, text: &str) {
        let name = format!("{}.{target}.{}", file_name(kernel), stage.names().1);
        let path = self.folder.join(name);
        let written = fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, text));
        if let Err(error) = written {
            say(&mut String::new(), format!("{STAGES}: cannot write {}: {error}", path.display()));
        }
    }
}

/// A name as the part of a path: letters, digits, `.`, `-` and `_`.
fn file_name(name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '-' | '_');
    let plain = name.replace(|it: char| !is_plain(it), "_");
    if plain.starts_with('.') { format!("_{plain}") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        let names = [("scale", "scale"), ("a/b.cu", "a_b.cu"), ("..", "_.."), ("k<f32>", "k_f32_")];
        for (name, expected) in names {
            assert_eq!(file_name(name), expected);
        }
    }
}
