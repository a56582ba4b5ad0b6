//! Capture of code stages: the code of each kernel, cut out of its module while that is compiled.
//!
//! Nothing here changes the module: it is printed, and read again in a context of its own.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, parse_ir},
};

use super::{overrides, session::Session};
use crate::{
    Error,
    base::names::SHIM_PREFIX,
    code::{CodeStage, KernelCode},
    target,
};

/// Removes what a kernel does not use.
const REMOVE_UNUSED: &str = "globaldce,strip-dead-prototypes";

/// The stages that are wanted, and what was captured.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    wanted: Vec<CodeStage>,
    captured: RefCell<Vec<KernelCode>>,
}

impl Capture {
    /// A capture of these stages.
    pub(crate) fn new(wanted: &[CodeStage]) -> Self {
        Self { wanted: wanted.to_vec(), captured: RefCell::default() }
    }

    /// What was captured, by kernel in the order of the signatures and then by stage.
    pub(crate) fn into_captured(self, kernels: impl Iterator<Item = String>) -> Vec<KernelCode> {
        let order: Vec<_> = kernels.collect();
        let place = |code: &KernelCode| order.iter().position(|name| *name == code.kernel);
        let mut captured = self.captured.into_inner();
        captured.sort_by_key(|code| (place(code), code.stage));
        captured
    }

    /// Forgets what was captured, where the source is compiled again.
    pub(super) fn clear(&self) {
        self.captured.borrow_mut().clear();
    }

    /// Captures every kernel at the stage that the module has come to.
    pub(super) fn take(&self, session: &Session<'_, '_>, stage: CodeStage) -> Result<(), Error> {
        let mut stages = vec![stage];
        if stage == CodeStage::Optimized {
            stages.extend([CodeStage::Assembly, CodeStage::Wgsl]);
        }
        stages.retain(|stage| self.wanted.contains(stage));
        if stages.is_empty() {
            return Ok(());
        }
        // Without the target's name LLVM does not verify what is read: before stack slots are in their address space it
        // would refuse them.
        let machine = session.backend.machine();
        let triple = format!("target triple = \"{}\"\n", machine.triple());
        let text = session.module.to_text().replacen(&triple, "", 1);
        for (index, signature) in session.job.source.signatures.iter().enumerate() {
            let context = Context::create();
            // A machine of its own: the one of the session counts the calls that it has generated code of.
            let backend = target::lookup(session.tools.toolchain, &session.job)?;
            let machine = backend.machine();
            let module = parse_ir(&context, &text, machine.data_layout(), "")?;
            keep_only(&module, &roots(session, index));
            machine.run(&module, REMOVE_UNUSED)?;
            machine.adopt(&module);
            for stage in &stages {
                let text = match stage {
                    CodeStage::Assembly => {
                        let text =
                            overrides::edit_ptx(session, machine.assembly(&module)?, Some(index))?;
                        String::from_utf8_lossy(&text).into_owned()
                    }
                    CodeStage::Wgsl => match backend.wgsl(&module) {
                        Some(text) => text,
                        None => continue,
                    },
                    _ => module.to_text(),
                };
                let (kernel, stage) = (signature.symbol.to_string(), *stage);
                self.captured.borrow_mut().push(KernelCode { kernel, stage, text });
            }
        }
        Ok(())
    }
}

/// The symbols that a kernel is known by at this point: those of its entry, or before there is one that of its shim.
fn roots(session: &Session<'_, '_>, kernel: usize) -> Vec<String> {
    match session.entries.get(kernel) {
        Some(entry) => {
            std::iter::once(entry.symbol.clone()).chain(entry.cpu_symbol.clone()).collect()
        }
        None => {
            let symbol = &session.job.source.signatures[kernel].symbol;
            vec![format!("{SHIM_PREFIX}{symbol}")]
        }
    }
}

/// Makes everything but the roots droppable.
fn keep_only(module: &Module<'_>, roots: &[String]) {
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    for value in module.definitions().into_iter().chain(globals) {
        let name = value.name();
        if !roots.contains(&name) && !name.starts_with("llvm.") {
            value.drop_comdat();
            value.set_linkage(Linkage::Internal);
        }
    }
}
