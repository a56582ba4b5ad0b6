//! A session: one job on its way through the pipeline.

use std::cell::RefCell;

use kernelmill_llvm::inkwell::{context::Context, module::Module};

use crate::{
    artifact::Location,
    job::{Job, PanicLevel},
    pass_report::PassReport,
    passes::{
        check::{Checks, ValidModule},
        entry::{Entry, KernelsSharing},
        link::Libraries,
        locations::Backtraces,
    },
    plugin::{Plugins, Site},
    target::Backend,
    toolchain::Toolchain,
};

/// What a compiler has for every job.
#[derive(Clone, Copy)]
pub(crate) struct Tools<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) libraries: &'a Libraries,
    pub(crate) plugins: &'a Plugins,
}

/// What is wanted of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The binary.
    Artifact,
    /// The code as assembly text.
    Assembly,
    /// The module in LLVM's textual form.
    Module,
}

/// A job, the module that it is compiled in, and what stages have found out.
pub(super) struct Session<'a, 'c> {
    pub(super) tools: Tools<'a>,
    pub(super) job: Job<'a>,
    pub(super) backend: &'a dyn Backend,
    pub(super) context: &'c Context,
    pub(super) module: &'a Module<'c>,
    /// What plugins are told, and what they leave.
    pub(super) site: Site<'a>,
    /// The checks, from the stage on that looks at the source's own code.
    pub(super) checks: Option<Checks<'a>>,
    /// The calls on the way to panics.
    pub(super) backtraces: Backtraces,
    /// What the user is to be told.
    pub(super) warnings: RefCell<Vec<String>>,
    /// What the CPU's passes report.
    pub(super) passes: RefCell<Vec<PassReport>>,
    /// What the kernels do with memory that their threads share.
    pub(super) sharing: KernelsSharing,
    /// The functions that are compiled where no kernels are.
    pub(super) functions: Vec<String>,
    /// The kernels' entries, in the order of the signatures; otherwise those of functions.
    pub(super) entries: Vec<Entry>,
    /// The variables of the host, on the CPU: the symbol of each in its source, and in the binary.
    pub(super) variables: Vec<(String, String)>,
    /// The names that tools show for the functions of each kernel on the CPU.
    pub(super) shown_names: Vec<String>,
    /// The source locations of panics.
    pub(super) locations: Vec<Location>,
    /// The texts of panics.
    pub(super) messages: Vec<String>,
    /// Whether a kernel can panic.
    pub(super) can_panic: bool,
    /// The proof that the module was checked.
    pub(super) valid: Option<ValidModule<'a, 'c>>,
}

impl<'a, 'c> Session<'a, 'c> {
    /// A session with an empty module.
    pub(super) fn new(
        tools: Tools<'a>,
        job: Job<'a>,
        backend: &'a dyn Backend,
        context: &'c Context,
        module: &'a Module<'c>,
    ) -> Self {
        let level = job.config.params.panics;
        Self {
            tools,
            job,
            backend,
            context,
            module,
            site: Site {
                config: job.config,
                machine: backend.machine(),
                signatures: job.source.signatures,
                messages: RefCell::default(),
                notes: RefCell::default(),
            },
            checks: None,
            backtraces: Backtraces::new(level == PanicLevel::Backtrace),
            warnings: RefCell::default(),
            passes: RefCell::default(),
            sharing: KernelsSharing::new(),
            functions: Vec::new(),
            entries: Vec::new(),
            variables: Vec::new(),
            shown_names: Vec::new(),
            locations: Vec::new(),
            messages: Vec::new(),
            can_panic: true,
            valid: None,
        }
    }
}
