//! The stages between a linked source and a module that is ready to be checked.

use kernelmill_llvm::ir::{ModuleExt, parse_ir};

use super::session::Session;
use crate::{
    Error, ir,
    job::OptionError,
    passes::{
        address_spaces,
        check::{self, Checks},
        denormals, edge_values,
        entry::{self, Unit},
        fast_math, index_width, launch_state, link, locations, panic_record, parameters,
        relocations,
    },
    plugin,
};

/// What rustc writes still has landing pads, although panics abort.
const DROP_LANDING_PADS: &str = "function(lower-invoke,simplifycfg),globaldce";

/// Folds what is known only once the source locations have been numbered.
const FOLD_LOCATIONS: &str =
    "always-inline,function(instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// Guarantees that the target has space for the kernels' parameters, and that every setting of a
/// plugin has its plugin.
pub(super) fn check_configuration(session: &mut Session<'_, '_>) -> Result<(), Error> {
    parameters::check_space(&session.job, session.backend)?;
    let config = session.job.config;
    if !config.options.kernel && !session.backend.exports_functions() {
        let message = format!(
            "functions without a kernel are compiled for the CPU and for NVIDIA's processors, and the target is {}: \
             nothing links them there",
            config.target
        );
        return Err(OptionError::Together(message).into());
    }
    session.tools.plugins.check(session.job.config)
}

/// Guarantees that code which the marker of a plugin is given follows the plugin's rules.
pub(super) fn apply_rules(session: &mut Session<'_, '_>) -> Result<(), Error> {
    session.tools.plugins.apply_rules(session.context, session.module)
}

/// Guarantees stack slots in the target's address space, where plugins work on the source's own code:
/// LLVM verifies the work of each on the target's behalf.
pub(super) fn place_slots_for_plugins(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, tools, .. } = *session;
    if tools.plugins.work_at(plugin::Stage::FrontEnd, module, job.config)
        && let Some(spaces) = backend.address_spaces()
    {
        address_spaces::move_allocations(context, module, spaces.private);
    }
    Ok(())
}

/// Guarantees that every shared array is one that the threads of a block share, aligned as it asks for.
pub(super) fn check_shared_arrays(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, ref job, .. } = *session;
    check::shared_arrays(context, module, job.config, backend)
}

/// Guarantees bodies for the instances of generic functions that rustc has left to the device crate, where plugins work on the
/// source's own code.
pub(super) fn link_shared_instances(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, ref job, tools, .. } = *session;
    if !tools.plugins.work_at(plugin::Stage::FrontEnd, module, job.config) {
        return Ok(());
    }
    let level = job.config.params.panics;
    let sources = link::Sources { libraries: tools.libraries, vendor: None, backend, level };
    link::shared_instances(context, module, &sources)
}

/// Guarantees that nothing is undefined which a library has, but for the target's operations, and that no library
/// asks what it is linked for.
pub(super) fn link_libraries(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, ref job, tools, ref site, .. } = *session;
    let vendor = link::vendor_math(tools.toolchain, job, backend)?;
    let sources = link::Sources {
        libraries: tools.libraries,
        vendor: vendor.as_ref(),
        backend,
        level: job.config.params.panics,
    };
    link::libraries(context, module, &sources, &mut site.messages.borrow_mut())?;
    let unanswered = link::reflect(module, backend.machine(), job.config)?;
    check::constant_questions(context, module, job.config, &unanswered)
}

/// Guarantees that no call unwinds.
pub(super) fn drop_landing_pads(session: &mut Session<'_, '_>) -> Result<(), Error> {
    Ok(session.backend.machine().run(session.module, DROP_LANDING_PADS)?)
}

/// Marks every function to be inlined into its callers.
pub(super) fn inline_all(session: &mut Session<'_, '_>) -> Result<(), Error> {
    ir::inline_all(session.context, session.module);
    Ok(())
}

/// Finds the faults that only show before entries are created and code is optimised.
pub(super) fn check_source(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, tools, .. } = *session;
    let markers = tools.plugins.markers();
    let checks = Checks::before(context, module, tools.toolchain, job.config, backend, markers);
    session.checks = Some(checks);
    Ok(())
}

/// Guarantees globals and stack slots in the target's address spaces.
pub(super) fn assign_address_spaces(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, .. } = *session;
    if let Some(spaces) = backend.address_spaces() {
        address_spaces::move_globals(context, module, spaces);
        address_spaces::move_allocations(context, module, spaces.private);
    }
    Ok(())
}

/// Links the target's operations, and prepares panics and `printf` for it.
pub(super) fn link_operations(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, .. } = *session;
    let (machine, grid) = (backend.machine(), link::grid_operations(module, backend));
    let text = backend.operations() + &grid;
    let operations = parse_ir(context, &text, machine.data_layout(), machine.triple())?;
    link::declarations(module, &operations, &job.config.target)?;
    module
        .link(operations)
        .map_err(|message| Error::Internal(format!("linking operations: {message}")))?;
    link::printing(context, module, backend.print());
    link::inline_panicking(context, module, backend);
    link::inline_grid_barriers(context, module);
    Ok(())
}

/// Sets fast-math flags in functions that ask for them.
pub(super) fn apply_fast_math_flags(session: &mut Session<'_, '_>) -> Result<(), Error> {
    fast_math::apply(session.context, session.module, session.backend.machine())
}

/// Guarantees that the state which plugins ask launches for is a parameter where it is used.
pub(super) fn pass_launch_state(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, tools, .. } = *session;
    let asked = tools.plugins.states();
    launch_state::pass(context, module, backend.machine(), job.source.signatures, &asked)
}

/// Guarantees that what the program gives when a binary is loaded is a variable that the host finds.
pub(super) fn place_relocations(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, .. } = *session;
    if let Some(spaces) = backend.address_spaces() {
        relocations::place(context, module, backend.machine(), spaces.global);
    }
    Ok(())
}

/// Guarantees that `noalias` is said only of memory that no other thread changes.
pub(super) fn find_sharing(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { module, backend, job, .. } = *session;
    session.sharing = entry::find_sharing(module, job.source.signatures, backend)?;
    Ok(())
}

/// Guarantees an entry for each kernel, or each function that is compiled without one, under the name that the options
/// have for it.
pub(super) fn create_entries(session: &mut Session<'_, '_>) -> Result<(), Error> {
    if !session.job.config.options.kernel {
        return create_functions(session);
    }
    let unit = Unit {
        context: session.context,
        module: session.module,
        signatures: session.job.source.signatures,
        name: session.job.source.unit,
        vectorize: session.job.config.params.vectorize,
        sharing: &session.sharing,
        backtraces: &session.backtraces,
        warnings: &session.warnings,
        passes: &session.passes,
    };
    if !session.backend.is_gpu() {
        session.shown_names = entry::shown_names(session.module, &session.job);
    }
    session.entries = session.backend.enter(&unit).map_err(|error| match &session.checks {
        Some(checks) => checks.with_lines(error),
        None => error,
    })?;
    if session.job.config.options.mangle && session.backend.is_gpu() {
        let signatures = session.job.source.signatures;
        entry::mangle_entries(session.module, signatures, &mut session.entries);
    }
    entry::rename(session.module, &session.job, &mut session.entries)
}

/// Guarantees that functions which are compiled without a kernel can be called without one.
fn create_functions(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, ref functions, .. } = *session;
    session.entries = entry::functions(context, module, backend.machine(), &job, functions)?;
    let faults = backend.find_context_uses(context, module);
    if !faults.is_empty() {
        return Err(Error::Invalid { targets: vec![job.config.target.clone()], faults });
    }
    session.can_panic = false;
    entry::rename(module, &job, &mut session.entries)
}

/// Guarantees that functions of a GPU flush denormal numbers.
pub(super) fn flush_denormals(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, .. } = *session;
    if backend.is_gpu() {
        denormals::flush(context, module, backend.machine());
    }
    Ok(())
}

/// Makes everything but the entries internal, so that LLVM may drop it.
pub(super) fn internalize(session: &mut Session<'_, '_>) -> Result<(), Error> {
    entry::keep_only(session.module, &session.entries);
    Ok(())
}

/// Runs LLVM's optimisation pipeline.
pub(super) fn optimize(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, job, .. } = *session;
    if backend.is_gpu() {
        let of_kernels = (backend.machine(), job.source.signatures);
        index_width::narrow_positions(context, module, of_kernels, &session.entries)?;
    }
    backend.fold_limits(module);
    let passes = backend.passes(job.config.options.opt_level);
    backend.machine().run_with(module, &passes, !backend.is_gpu())?;
    if job.config.options.opt_level > 1
        && let Some(passes) = backend.loop_passes()
        && edge_values::settle(context, module)
    {
        backend.machine().run_with(module, passes, false)?;
    }
    if job.config.options.opt_level > 1 {
        backend.unroll_array_loops(context, module)?;
    }
    Ok(())
}

/// Decides static assertions by what the optimiser has proven, and removes them.
pub(super) fn settle_assertions(session: &mut Session<'_, '_>) -> Result<(), Error> {
    if let Some(checks) = &mut session.checks {
        checks.settle(session.context, session.module);
    }
    Ok(())
}

/// Guarantees that source locations and texts of panics are indices into the artifact's tables.
pub(super) fn number_locations(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, .. } = *session;
    session.locations = locations::collect(context, module, &session.backtraces);
    session.messages = session.site.messages.take().of(module);
    Ok(())
}

/// Inlines what records panics.
pub(super) fn inline_panics(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { context, module, backend, .. } = *session;
    let entries = session.entries.iter();
    let kernels: Vec<_> = entries.filter_map(|entry| module.function(&entry.symbol)).collect();
    backend.lead_panics(context, module, &kernels)?;
    link::finish_panics(context, module, backend, &kernels);
    Ok(())
}

/// Folds the numbers of source locations.
pub(super) fn fold_locations(session: &mut Session<'_, '_>) -> Result<(), Error> {
    Ok(session.backend.machine().run(session.module, FOLD_LOCATIONS)?)
}

/// Guarantees that each panic names the record of its launch, where that is an argument.
pub(super) fn pass_panic_records(session: &mut Session<'_, '_>) -> Result<(), Error> {
    if session.backend.is_gpu() {
        let Session { context, module, backend, entries, .. } = session;
        session.can_panic = panic_record::pass(context, module, &**backend, entries)?;
    }
    Ok(())
}

/// Guarantees that accesses say what is known of the alignment of their addresses.
pub(super) fn infer_alignments(session: &mut Session<'_, '_>) -> Result<(), Error> {
    let Session { module, backend, .. } = *session;
    match backend.alignment_passes() {
        Some(passes) => Ok(backend.machine().run(module, passes)?),
        None => Ok(()),
    }
}

/// Applies the target's workarounds.
pub(super) fn work_around_llvm(session: &mut Session<'_, '_>) -> Result<(), Error> {
    session.backend.work_around_llvm(session.context, session.module);
    session.backend.prepare_bitcode(session.context, session.module)
}

/// Guarantees that plugins have replaced all of their markers.
pub(super) fn check_markers(session: &mut Session<'_, '_>) -> Result<(), Error> {
    session.tools.plugins.check_markers(session.module)
}
