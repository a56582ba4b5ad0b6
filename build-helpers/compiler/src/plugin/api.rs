//! The interface of plugins: what a plugin is, and what it may know of a module that it works on.

use std::{cell::RefCell, fmt};

use kernelmill_artifact::{Signature, Target};
use kernelmill_llvm::machine::Machine;

use super::{
    ir::{Builder, Context, Module, ModuleExt, Type, Value},
    rule::Rule,
};
use crate::{
    base::{
        demangle::demangle,
        names::{IMPORT, SHIM_PREFIX},
    },
    diagnostic::PluginFault,
    ir::{calls_of, inline_all, place_of},
    job::{Config, State},
    passes::{launch_state, link::Messages, relocations},
};

/// Where in the pipeline a plugin works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// After the front end: the source's own functions and the instances of generic functions that they call, not optimised, no
    /// library linked to them.
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

    /// What holds in the code that its marker is given, and in all that this calls: functions that stand for others.
    /// Rules are applied before plugins work at [`Stage::FrontEnd`]. All other code is as without the plugin.
    fn rules(&self) -> &[Rule] {
        &[]
    }

    /// What it asks each launch for: a value, or memory of the device. The wrappers of kernels that reach its getter or
    /// its marker take it as one more argument, after the kernel's own; other kernels stay as they are.
    ///
    /// Calls of the getter are replaced after [`Stage::Finalize`]. A plugin reads the state by [`Task::state`] until then.
    fn state(&self) -> Option<State> {
        None
    }

    /// Whether it takes the place of a plugin of its own name that was registered before. Otherwise two of one
    /// name are an error.
    fn replaces(&self) -> bool {
        false
    }

    /// Works on a module in its scope, and returns whether it changed it, as LLVM's passes do. What it cannot do it
    /// refuses, by [`Task::refuse`].
    ///
    /// A module that was changed is verified. In a build with debug assertions one that was not is compared with
    /// what it was before.
    ///
    /// # Errors
    ///
    /// A sentence, where the plugin itself is at fault.
    fn run(&self, task: &Task<'_, '_>) -> Result<bool, String>;
}

/// A module, and what a plugin may know of it.
pub struct Task<'a, 'c> {
    pub(super) stage: Stage,
    pub(super) context: &'c Context,
    pub(super) module: &'a Module<'c>,
    pub(super) site: &'a Site<'a>,
    pub(super) plugin: &'a dyn Plugin,
    pub(super) faults: RefCell<Vec<PluginFault>>,
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
        meta(self.site.config, self.plugin)
    }

    /// The marker's functions in the module: one, unless it has several types.
    #[must_use]
    pub fn markers(&self) -> Vec<Value<'c>> {
        markers(self.module, self.plugin)
    }

    /// The calls of the marker, in no order that means anything.
    #[must_use]
    pub fn calls(&self) -> Vec<Value<'c>> {
        self.markers().into_iter().flat_map(calls_of).collect()
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
        inline_all(self.context, self.module);
        self.run_passes("always-inline,globaldce")
    }

    /// The state that the plugin asks each launch for, as a value that comes before an instruction: a scalar itself, the
    /// address of memory, and of a struct the address of its bytes, which are only read. Until
    /// [`Stage::Finalize`] is over; `None` later, and where the plugin has no [`Plugin::state`].
    #[must_use]
    pub fn state(&self, before: Value<'c>) -> Option<Value<'c>> {
        let state = self.plugin.state().filter(|_| self.stage <= Stage::Finalize)?;
        let state = launch_state::placeholder(self.context, self.module, &state);
        Some(self.before(before).call(state, &[]))
    }

    /// A function of the program that the kernels become part of, by its symbol. The program's linker resolves it, so
    /// that what is stored has no address of a process. `None` for targets other than the CPU, whose devices cannot
    /// call the host.
    #[must_use]
    pub fn import(&self, symbol: &str, ty: Type<'c>) -> Option<Value<'c>> {
        (self.target().is_cpu()).then(|| {
            let function = self.module.declare(symbol, ty);
            function.add_text_attribute(self.context, IMPORT, "");
            function
        })
    }

    /// The value of a symbol that the program defines when kernels are loaded, by `kernelmill::define_symbol`, as a value
    /// that comes before an instruction. What is stored has the symbol alone. Until [`Stage::Finalize`] is over, on
    /// GPUs; `None` later, and on the CPU, where [`Task::import`] names what the program's linker resolves.
    ///
    /// # Panics
    ///
    /// Where the symbol has other characters than ASCII letters, digits and underscores, which assemblers refuse.
    #[must_use]
    pub fn relocation(&self, before: Value<'c>, symbol: &str, ty: Type<'c>) -> Option<Value<'c>> {
        assert_eq!(
            kernelmill_artifact::symbol(symbol).as_str(),
            symbol,
            "a symbol of letters, digits and underscores"
        );
        if self.target().is_cpu() || self.stage > Stage::Finalize {
            return None;
        }
        let value = relocations::placeholder(self.module, symbol, ty);
        Some(self.before(before).call(value, &[]))
    }

    /// Says something of a kernel, named as [`Kernel::name`](super::Kernel) has it, that the user ought to be able
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
            let path = demangle(&symbol);
            let is_shim = symbol.starts_with(SHIM_PREFIX);
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
        self.faults.borrow_mut().push(fault(self.plugin, at, message.into()));
    }
}

impl fmt::Debug for Task<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Task");
        shown.field("stage", &self.stage).field("plugin", &self.plugin.name());
        shown.finish_non_exhaustive()
    }
}

/// What plugins are told of a job, and where they leave what they have to say.
pub(crate) struct Site<'a> {
    pub(crate) config: &'a Config,
    pub(crate) machine: &'a Machine,
    pub(crate) signatures: &'a [Signature],
    /// The texts of device errors.
    pub(crate) messages: RefCell<Messages>,
    /// What there is to know of kernels, by their symbols.
    pub(crate) notes: RefCell<Vec<(String, String)>>,
}

/// What the build has for a plugin; empty where it says nothing.
pub(super) fn meta<'a>(config: &'a Config, plugin: &dyn Plugin) -> &'a str {
    config.params.meta.get(plugin.name()).map_or("", String::as_str)
}

/// A plugin's markers in a module.
pub(super) fn markers<'c>(module: &Module<'c>, plugin: &dyn Plugin) -> Vec<Value<'c>> {
    let is_marker =
        |function: &Value<'c>| function.is_declaration() && is_marker(plugin, &function.name());
    module.functions().into_iter().filter(is_marker).collect()
}

/// Whether a name is one of a plugin's marker.
pub(super) fn is_marker(plugin: &dyn Plugin, name: &str) -> bool {
    let rest = name.strip_prefix(plugin.marker());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A fault at an instruction.
pub(super) fn fault(plugin: &dyn Plugin, at: Value<'_>, message: String) -> PluginFault {
    PluginFault {
        plugin: plugin.name().to_owned(),
        function: demangle(&at.block().function().name()),
        place: place_of(at),
        message,
    }
}
