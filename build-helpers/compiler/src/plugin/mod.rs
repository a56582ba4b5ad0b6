//! Plugins: passes of somebody else's that run where a kernel asks for them.
//!
//! A kernel asks by calling a *marker*, a function that is declared and nowhere defined. A plugin
//! names its marker and the stages of the pipeline at which it works; it is called there if the
//! marker is in the module, and must have replaced every call of it by the end. A module without the
//! marker is compiled as if the plugin were not there.
//!
//! A plugin that checks code, or counts what it does, wants no mark: its [`Scope`] is everything.
//!
//! `docs/src/guide/plugins.md` has an example.

mod failure;
mod kernels;
mod registry;

use std::{cell::RefCell, fmt};

use kernelmill_artifact::Target;

pub use failure::Failure;
pub use kernels::{Buffer, Kernel, Length, SharedArray};
pub(crate) use registry::{Plugins, Site};

use crate::Error;

/// What plugins work on: modules, functions, instructions, and what builds them.
pub mod ir {
    pub use kernelmill_llvm::{
        inkwell::{context::Context, module::Module},
        ir::*,
    };
}

use ir::{Builder, Context, Module, ModuleExt, Type, Value};

/// Where in the pipeline a plugin works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// After the front end: the source's own functions, not optimised, nothing linked to them.
    FrontEnd,
    /// After libraries are linked, before kernels are built from their shims and everything else
    /// becomes droppable.
    Finalize,
    /// After a first simplification, in which small functions are inlined and stack slots become
    /// values, before the optimisation proper.
    MidPipeline,
    /// After optimisation.
    Optimized,
    /// Right before the module is checked.
    Late,
}

/// Which modules a plugin works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those that have its marker.
    Marked,
    /// All of them.
    Everything,
}

/// A pass that runs where a kernel calls its marker, or on everything.
pub trait Plugin: fmt::Debug + Send + Sync {
    /// Its name, unique among a compiler's plugins: that of its crate.
    fn name(&self) -> &str;

    /// Changes whenever what it does changes, by its code or by the rules it was made with: part of the
    /// keys of artifacts, as its name, marker, stages and priority are.
    fn version(&self) -> &str;

    /// The symbol of the function whose calls ask for it. `MARKER.anything` is one of its too, for
    /// markers of several types.
    fn marker(&self) -> &str;

    /// The stages at which it is called.
    fn stages(&self) -> &[Stage];

    /// Plugins with a smaller number come first at a stage, those with the same one in the order of
    /// their names.
    fn priority(&self) -> i32 {
        0
    }

    /// Whether it is a default: another plugin may have its marker too, and it is called for what that
    /// one leaves. Among plugins with one marker, all but one are defaults.
    fn is_default(&self) -> bool {
        false
    }

    /// Which modules it works on, by what the build has for it. The marker is reserved for it also
    /// where it needs none.
    fn scope(&self, _meta: &str) -> Scope {
        Scope::Marked
    }

    /// Whether it wants to know of the memory that kernels are given by its address alone, as in
    /// CUDA C++, how large it is. Kernels are then given that too.
    fn needs_lengths(&self, _meta: &str) -> bool {
        false
    }

    /// Works on a module in its scope. What it cannot do it refuses, by [`Task::refuse`].
    ///
    /// # Errors
    ///
    /// A sentence, where the plugin itself is at fault.
    fn run(&self, task: &Task<'_, '_>) -> Result<(), String>;
}

/// A module, and what a plugin may know of it.
pub struct Task<'a, 'c> {
    stage: Stage,
    context: &'c Context,
    module: &'a Module<'c>,
    site: &'a Site<'a>,
    plugin: &'a dyn Plugin,
    faults: RefCell<Vec<PluginFault>>,
}

/// Something that a plugin cannot do, or has not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFault {
    /// The plugin.
    pub plugin: String,
    /// The function it is in, as written in the source.
    pub function: String,
    /// The source file and line, where debug information has them.
    pub place: Option<(String, u32)>,
    /// What is wrong.
    pub message: String,
}

impl<'a, 'c> Task<'a, 'c> {
    /// The stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What the module's values belong to.
    #[must_use]
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &'a Module<'c> {
        self.module
    }

    /// What the module is compiled for.
    #[must_use]
    pub fn target(&self) -> &'a Target {
        &self.site.config.target
    }

    /// What the build has for this plugin; empty where it says nothing.
    #[must_use]
    pub fn meta(&self) -> &'a str {
        registry::meta(self.site.config, self.plugin)
    }

    /// The marker's functions in the module: one, unless it has several types.
    #[must_use]
    pub fn markers(&self) -> Vec<Value<'c>> {
        registry::markers(self.module, self.plugin)
    }

    /// The calls of the marker, in no order that means anything.
    #[must_use]
    pub fn calls(&self) -> Vec<Value<'c>> {
        self.markers().into_iter().flat_map(crate::place::calls_of).collect()
    }

    /// A builder whose instructions come before this one.
    #[must_use]
    pub fn before(&self, instruction: Value<'c>) -> Builder<'c> {
        let builder = Builder::new(self.context);
        builder.before(instruction);
        builder
    }

    /// The bytes from one element of this type to the next in the target's memory.
    #[must_use]
    pub fn size_of(&self, ty: Type<'c>) -> u64 {
        self.site.machine.size_of(ty)
    }

    /// Runs passes of LLVM's over the module, named in its notation.
    ///
    /// # Errors
    ///
    /// LLVM's message, where it does not know a pass.
    pub fn run_passes(&self, passes: &str) -> Result<(), String> {
        self.site.machine.run(self.module, passes).map_err(|error| error.to_string())
    }

    /// Makes functions part of those that call them, as far as that can be: recursive ones, and those
    /// that are called by address, stay. What nothing uses any more is dropped.
    ///
    /// # Errors
    ///
    /// LLVM's message.
    pub fn inline_all(&self) -> Result<(), String> {
        crate::steps::inline_all(self.context, self.module);
        self.run_passes("always-inline,globaldce")
    }

    /// Says something of a kernel, named as [`Kernel::name`] has it, that the user ought to be able
    /// to find out: `KERNELMILL_LOG=summary` prints it.
    pub fn note(&self, kernel: &str, text: &str) {
        let text = format!("{}: {text}", self.plugin.name());
        self.site.notes.borrow_mut().push((kernel.to_owned(), text));
    }

    /// Puts a value of the same type in the place of a call, and removes the call, which must not
    /// be used again.
    pub fn replace(&self, call: Value<'c>, value: Value<'c>) {
        call.replace_with(value);
        call.erase();
    }

    /// The function of this name in the source: `distance` is `my_kernels::distance`. `None` where
    /// there is none, or more than one.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Value<'c>> {
        let is_it = |function: &Value<'c>| {
            let symbol = function.name();
            let path = crate::symbol::demangle(&symbol);
            let is_shim = symbol.starts_with(crate::entry::SHIM_PREFIX);
            let is_named =
                path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"));
            is_named && !is_shim
        };
        let mut found = self.module.definitions().into_iter().filter(is_it);
        found.next().filter(|_| found.next().is_none())
    }

    /// Reports what cannot be done, at an instruction. The build fails after the stage, with all
    /// that was reported.
    pub fn refuse(&self, at: Value<'c>, message: impl Into<String>) {
        self.faults.borrow_mut().push(registry::fault(self.plugin, at, message.into()));
    }
}

impl fmt::Debug for Task<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Task");
        shown.field("stage", &self.stage).field("plugin", &self.plugin.name());
        shown.finish_non_exhaustive()
    }
}

impl fmt::Display for PluginFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, function, place, message } = self;
        if let Some((file, line)) = place {
            write!(formatter, "{file}:{line}: ")?;
        }
        write!(formatter, "{message}\n  in {function}, by the plugin `{plugin}`")
    }
}

impl From<Vec<PluginFault>> for Error {
    fn from(faults: Vec<PluginFault>) -> Self {
        Self::Plugin(faults)
    }
}

/// A symbol as it is written in the source.
#[must_use]
pub fn source_name(symbol: &str) -> String {
    crate::symbol::demangle(symbol)
}
