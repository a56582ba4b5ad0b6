//! The check of block arrays, on a copy of the module that is simplified for it.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_bitcode},
};

use super::session::Session;
use crate::{
    Error,
    base::names::PHASE,
    cpu,
    ir::calls_of,
    job::PanicLevel,
    passes::{
        entry::{KernelsSharing, Unit},
        locations::Backtraces,
    },
    target::Cpu,
    target_info::TargetInfo as _,
};

/// Guarantees that the threads of a block change the phases of block arrays together, and that nothing marks
/// these changes any more. Warns of threads that return before they write to one.
pub(super) fn check_block_arrays(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Some(phase) = session.module.function(PHASE) else { return Ok(()) };
    let calls = calls_of(phase);
    let options = &session.job.config.options;
    if !calls.is_empty() && options.kernel && options.libraries {
        check(session)?;
    }
    calls.into_iter().for_each(|call| call.erase());
    phase.delete_function();
    Ok(())
}

fn check(session: &Session<'_, '_>) -> Result<(), Error> {
    let Session { module, backend, job, tools, .. } = session;
    // LLVM verifies what it reads, and stack slots are not in the target's address space yet.
    let host = Cpu::new(tools.toolchain)?;
    host.machine().adopt(module);
    let bitcode = module.to_bitcode();
    backend.machine().adopt(module);
    let context = Context::create();
    let copy = parse_bitcode(&context, &bitcode, "block arrays")?;
    let warnings = RefCell::default();
    // What the passes report is of no kernel that is compiled.
    let unit = Unit {
        context: &context,
        module: &copy,
        signatures: job.source.signatures,
        name: job.source.unit,
        vectorize: false,
        sharing: &KernelsSharing::new(),
        backtraces: &Backtraces::new(job.config.params.panics == PanicLevel::Backtrace),
        warnings: &warnings,
        passes: &RefCell::default(),
    };
    let ends_group = backend.ends_group().is_some();
    let faults = cpu::find_divergent_phases(&unit, host.machine(), ends_group)?;
    // Without its message a panic cannot be told from a return.
    if job.config.params.panics != PanicLevel::None {
        session.warnings.borrow_mut().extend(warnings.take());
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Error::Invalid { targets: vec![job.config.target.clone()], faults }),
    }
}
