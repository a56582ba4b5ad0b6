//! The first module: everything of the source, and nothing of the host.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, parse_bitcode},
};

use super::{overrides, session::Session, stages::drop_landing_pads};
use crate::{
    Error,
    base::names::{LAYOUT_PREFIX, SHIM_PREFIX},
    cpu,
    passes::{
        address_spaces, atomic_additions,
        deferred::{self, Sources},
        entry, fast_math, launch_state, lengths,
        link::{host_instructions, ptx_instructions, redefinitions},
        parameters, retarget,
    },
};

/// Links the modules of the source and the external device functions that it names.
///
/// Guarantees one module for the target, in which only the kernels' shims are visible and take the
/// parameters of the signatures; or only the functions that the source exports.
pub(super) fn link_source(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, .. } = *session;
    let (source, is_gpu) = (&job.source, backend.is_gpu());
    backend.machine().adopt(module);
    link_modules(session)?;
    overrides::link_sources(session, &|bitcode| read(session, bitcode))?;
    if !job.config.options.kernel {
        session.functions = entry::exported(module);
    }
    let sources = Sources { own: job.file(), lowered: source.lowered };
    deferred::resolve(context, module, sources, &|bitcode| read(session, bitcode))?;
    // Before plugins change what calls look like.
    host_instructions::replace(context, module);
    if !(is_gpu && backend.takes_assembly()) {
        ptx_instructions::replace(context, module);
    }
    atomic_additions::expand(context, module);
    if !is_gpu {
        cpu::keep_waits_apart(context, module);
    }
    parameters::drop_empty(context, module, source.signatures, is_gpu);
    launch_state::add(context, module, source.signatures, is_gpu);
    lengths::add(context, module, source.signatures, is_gpu);
    hide_all_but_shims(session);
    backend.keep_constants(module);
    address_spaces::drop_empty_slots(context, module, backend.machine());
    if job.config.options.debug_level == 0 {
        module.strip_debug_info();
    }
    if job.config.options.cleanup {
        drop_landing_pads(session)?;
    }
    overrides::link_texts(session)
}

/// Links the source's own modules.
fn link_modules(session: &Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, tools, .. } = session;
    for bitcode in &job.source.lowered.modules {
        let part = read(session, bitcode)?;
        redefinitions(context, &part, tools.libraries, *backend, &job.config.target)?;
        module.link(part).map_err(|message| {
            Error::Internal(format!("linking {}: {message}", job.source.unit))
        })?;
    }
    Ok(())
}

/// Reads bitcode of the host as a module for the target.
fn read<'c>(session: &Session<'_, 'c>, bitcode: &[u8]) -> Result<Module<'c>, Error> {
    let part = parse_bitcode(session.context, bitcode, session.job.source.unit)?;
    session.backend.machine().adopt(&part);
    retarget::end_unwinding(&part, session.backend.machine())?;
    retarget::functions(session.context, &part, session.backend.is_gpu());
    if session.job.config.params.contract {
        fast_math::allow_contraction(&part);
    }
    Ok(part)
}

/// Makes everything but the kernels' shims internal, and drops what only the front end needed.
fn hide_all_but_shims(session: &Session<'_, '_>) {
    for global in session.module.globals() {
        let name = global.name();
        let unwanted = name.starts_with(LAYOUT_PREFIX) || name.starts_with("llvm.");
        if unwanted && !global.is_used() {
            global.delete_global();
        }
    }
    let signatures = session.job.source.signatures;
    let is_shim = |name: &str| {
        let symbol = name.strip_prefix(SHIM_PREFIX);
        symbol.is_some_and(|symbol| signatures.iter().any(|kernel| kernel.symbol == symbol))
    };
    for value in session.module.definitions() {
        let name = value.name();
        if !is_shim(&name) && !session.functions.contains(&name) {
            value.set_linkage(Linkage::Internal);
        }
        value.drop_comdat();
    }
}
