//! Options: the stages of the pipeline that a job asks for, and their names as text.

use kernelmill_artifact::target::nearest;

use super::choices::EntryAbi;

/// Which stages of the pipeline run, and how.
///
/// An artifact is made of a module that went through all of them. With stages switched off, a module
/// can be looked at ([`crate::Compiler::inspect`]), or become part of another.
///
/// ```
/// use kernelmill_compiler::Options;
/// let mut options = Options::default();
/// options.set("always_inline", "true")?;
/// let error = options.set("opt-levle", "2").unwrap_err();
/// assert_eq!(error.to_string(), "there is no option `opt-levle`; the nearest is `opt_level`");
/// # Ok::<(), kernelmill_compiler::OptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The kernel's name in the binary, instead of the one in its source. Only for a source with
    /// one kernel.
    pub name: Option<String>,
    /// Whether entries of kernels in Rust have mangled names on GPUs, which debuggers and profilers show as the kernel's
    /// path with the types of its parameters. Otherwise they have the kernel's name. A `name` wins.
    pub mangle: bool,
    /// Whether every function is inlined into its callers, unless it is recursive.
    pub always_inline: bool,
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// What is kept of the source in the code: 0 nothing, 1 its lines, 2 its variables and types
    /// too, where the front end wrote them down.
    pub debug_level: u8,
    /// Whether the functions of `core` and of the device crate that are needed are linked in.
    pub libraries: bool,
    /// Whether optimisation passes run.
    pub optimize: bool,
    /// Whether everything that no kernel needs is removed.
    pub cleanup: bool,
    /// Whether the module is checked for what its target cannot do.
    pub validate: bool,
    /// Whether debug information is taken out when the module has been checked: faults name their
    /// lines, and the binary has none.
    pub strip: bool,
    /// Whether the module is one of its own. Otherwise it becomes part of another, which does what
    /// is done once: then `optimize`, `libraries`, `cleanup` and `validate` are off.
    pub toplevel: bool,
    /// Whether only the entries keep their bodies, and what they call is declared.
    pub only_entry: bool,
    /// Whether the source's kernels are compiled. Otherwise it is the functions that it exports to other languages,
    /// `#[unsafe(no_mangle)] extern "C"` in Rust and `extern "C" __device__` in C++, for code of another language to
    /// call: as a native object for the CPU, and as PTX or a relocatable cubin for NVIDIA's processors.
    pub kernel: bool,
    /// How such functions are called.
    pub entry_abi: EntryAbi,
    /// Whether operations on `f32` flush denormal numbers to zero on GPUs, as nvcc's `-ftz=true` has it. Libraries that
    /// ask for `__CUDA_FTZ` are told.
    pub ftz: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            mangle: false,
            always_inline: false,
            opt_level: 3,
            debug_level: 1,
            libraries: true,
            optimize: true,
            cleanup: true,
            validate: true,
            strip: false,
            toplevel: true,
            only_entry: false,
            kernel: true,
            entry_abi: EntryAbi::default(),
            ftz: false,
        }
    }
}

/// An option that there is not, or that cannot have this value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no such option.
    #[error("there is no option `{name}`; the nearest is `{nearest}`")]
    Unknown {
        /// What was written.
        name: String,
        /// The option with the most similar name.
        nearest: &'static str,
    },
    /// The option has no such value.
    #[error("the option `{name}` cannot be `{value}`; write {expected}")]
    Value {
        /// The option.
        name: &'static str,
        /// What was written.
        value: String,
        /// What can be written.
        expected: &'static str,
    },
    /// The options do not fit together, or what they are for.
    #[error("{0}")]
    Together(String),
}

impl Options {
    /// The names of all options.
    pub const NAMES: [&'static str; 15] = [
        "name",
        "mangle",
        "always_inline",
        "opt_level",
        "debug_level",
        "libraries",
        "optimize",
        "cleanup",
        "validate",
        "strip",
        "toplevel",
        "only_entry",
        "kernel",
        "entry_abi",
        "ftz",
    ];

    /// Sets an option by its name.
    ///
    /// # Errors
    ///
    /// [`OptionError::Unknown`] with the nearest name, [`OptionError::Value`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        match name {
            "name" => self.name = Some(identifier(value)?),
            "mangle" => self.mangle = flag("mangle", value)?,
            "always_inline" => self.always_inline = flag("always_inline", value)?,
            "opt_level" => self.opt_level = level("opt_level", value, 3, "a level from 0 to 3")?,
            "debug_level" => {
                self.debug_level = level("debug_level", value, 2, "a level from 0 to 2")?;
            }
            "libraries" => self.libraries = flag("libraries", value)?,
            "optimize" => self.optimize = flag("optimize", value)?,
            "cleanup" => self.cleanup = flag("cleanup", value)?,
            "validate" => self.validate = flag("validate", value)?,
            "strip" => self.strip = flag("strip", value)?,
            "toplevel" => self.set_toplevel(flag("toplevel", value)?),
            "only_entry" => self.only_entry = flag("only_entry", value)?,
            "kernel" => self.kernel = flag("kernel", value)?,
            "entry_abi" => self.entry_abi = entry_abi(value)?,
            "ftz" => self.ftz = flag("ftz", value)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Every option with its value, as text.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let name = self.name.clone().unwrap_or_default();
        let values = [
            name,
            self.mangle.to_string(),
            self.always_inline.to_string(),
            self.opt_level.to_string(),
            self.debug_level.to_string(),
            self.libraries.to_string(),
            self.optimize.to_string(),
            self.cleanup.to_string(),
            self.validate.to_string(),
            self.strip.to_string(),
            self.toplevel.to_string(),
            self.only_entry.to_string(),
            self.kernel.to_string(),
            self.entry_abi.name().to_owned(),
            self.ftz.to_string(),
        ];
        Self::NAMES.into_iter().zip(values).collect()
    }

    /// The options of a function that becomes part of this one's module.
    pub(crate) fn child(&self, name: &str) -> Self {
        let mut child = Self { name: Some(name.to_owned()), strip: false, ..self.clone() };
        child.set_toplevel(false);
        child
    }

    fn set_toplevel(&mut self, toplevel: bool) {
        self.toplevel = toplevel;
        if !toplevel {
            for stage in
                [&mut self.optimize, &mut self.libraries, &mut self.cleanup, &mut self.validate]
            {
                *stage = false;
            }
        }
    }

    /// Refuses to make a binary of a module that lacks a stage.
    ///
    /// # Errors
    ///
    /// [`OptionError::Together`] with every stage that is left out.
    pub fn check_complete(&self) -> Result<(), OptionError> {
        let stages = [
            ("toplevel", self.toplevel),
            ("libraries", self.libraries),
            ("optimize", self.optimize),
            ("cleanup", self.cleanup),
            ("validate", self.validate),
            ("only_entry", !self.only_entry),
        ];
        let missing: Vec<_> =
            stages.iter().filter(|(_, done)| !done).map(|(name, _)| format!("`{name}`")).collect();
        if self.kernel && self.entry_abi != EntryAbi::default() {
            let message = "the option `entry_abi` is for functions, and kernels have the calling convention of their \
                           target; set `kernel` to `false`";
            return Err(OptionError::Together(message.to_owned()));
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(OptionError::Together(format!(
            "a binary is made of a whole module, and these options leave out a part of it: {}; \
             set `opt_level` to 0 for one that is not optimised",
            missing.join(", ")
        )))
    }
}

fn unknown(name: &str) -> OptionError {
    let names = Options::NAMES.map(str::to_owned);
    let nearest = nearest(name, names).unwrap_or_default();
    let known = Options::NAMES.into_iter().find(|known| *known == nearest);
    OptionError::Unknown { name: name.to_owned(), nearest: known.unwrap_or(Options::NAMES[0]) }
}

fn flag(name: &'static str, value: &str) -> Result<bool, OptionError> {
    let expected = "`true` or `false`";
    value.parse().map_err(|_| OptionError::Value { name, value: value.to_owned(), expected })
}

fn entry_abi(value: &str) -> Result<EntryAbi, OptionError> {
    let known = EntryAbi::ALL.into_iter().find(|(name, _)| *name == value).map(|(_, abi)| abi);
    let (name, expected) = ("entry_abi", "`c` or `packed`");
    known.ok_or_else(|| OptionError::Value { name, value: value.to_owned(), expected })
}

fn level(
    name: &'static str,
    value: &str,
    most: u8,
    expected: &'static str,
) -> Result<u8, OptionError> {
    let level = value.parse().ok().filter(|level| *level <= most);
    level.ok_or_else(|| OptionError::Value { name, value: value.to_owned(), expected })
}

/// A name that every assembler takes.
fn identifier(value: &str) -> Result<String, OptionError> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fits =
        value.starts_with(is_letter) && value.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    let expected = "letters, digits and underscores, with no digit first";
    let error = || OptionError::Value { name: "name", value: value.to_owned(), expected };
    fits.then(|| value.to_owned()).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance: S0.2.
    #[test]
    fn an_unknown_option_is_refused_with_the_nearest_name_and_a_wrong_value_with_what_fits() {
        let mut options = Options::default();
        for (name, value, message) in [
            ("optimise", "true", "there is no option `optimise`; the nearest is `optimize`"),
            ("entry-abi", "c", "there is no option `entry-abi`; the nearest is `entry_abi`"),
            ("kernels", "true", "there is no option `kernels`; the nearest is `kernel`"),
            ("entry_abi", "func", "the option `entry_abi` cannot be `func`; write `c` or `packed`"),
            ("kernel", "no", "the option `kernel` cannot be `no`; write `true` or `false`"),
            ("opt_level", "4", "the option `opt_level` cannot be `4`; write a level from 0 to 3"),
            ("strip", "yes", "the option `strip` cannot be `yes`; write `true` or `false`"),
            (
                "name",
                "a-b",
                "the option `name` cannot be `a-b`; write letters, digits and underscores, with \
                 no digit first",
            ),
        ] {
            assert_eq!(options.set(name, value).unwrap_err().to_string(), message);
        }
        assert_eq!(options, Options::default(), "what is refused changes nothing");
    }

    #[test]
    fn every_option_can_be_set_to_what_it_says_it_is() {
        let mut options = Options::default();
        for (name, value) in Options::default().entries() {
            if name != "name" {
                options.set(name, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
        assert_eq!(options, Options::default());
    }

    /// Acceptance: S0.2.
    #[test]
    fn another_calling_convention_is_for_functions() {
        let mut options = Options::default();
        options.set("entry_abi", "packed").unwrap();
        let error = options.check_complete().unwrap_err().to_string();
        assert!(error.ends_with("set `kernel` to `false`"), "{error}");
        options.set("kernel", "false").unwrap();
        assert_eq!(options.check_complete(), Ok(()));
    }

    /// Acceptance: S0.2.
    #[test]
    fn no_binary_is_made_of_a_part_of_a_module() {
        let mut options = Options::default();
        assert_eq!(options.check_complete(), Ok(()));
        options.set("toplevel", "false").unwrap();
        let error = options.check_complete().unwrap_err().to_string();
        for name in ["toplevel", "libraries", "optimize", "cleanup", "validate"] {
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
    }
}
