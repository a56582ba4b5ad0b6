//! The pipeline: from a lowered source to code, as a list of stages that run in order. Its counterpart
//! in LLVM is the [pass manager].
//!
//! Plugins work between stages; one loop calls them. Nothing here depends on the type of a target or
//! a plugin, so the pipeline is compiled once.
//!
//! [pass manager]: https://llvm.org/docs/NewPassManager.html

mod block_arrays;
mod capture;
mod crash_report;
mod finish;
mod overrides;
mod session;
mod source;
mod stage;
mod stages;

use kernelmill_llvm::{Diagnostics, crash, inkwell::context::Context, ir::ModuleExt};

use crate::{
    Error,
    artifact::Artifact,
    code::{CodeStage, KernelCode},
    job::{Job, JobSource},
    passes::lengths,
    plugin::Stage as Hook,
    target,
};
use capture::Capture;
pub(crate) use session::Tools;
use session::{Goal, Session};
use stage::{Stage, run};

/// The stages, in order. A stage needs what those before it guarantee; its function says what it
/// guarantees itself.
const STAGES: &[Stage] = &[
    run("configuration checks", stages::check_configuration),
    run("linking of the source", source::link_source).shows(CodeStage::FrontEnd),
    run("check of shared arrays", stages::check_shared_arrays),
    run("rules of marked code", stages::apply_rules),
    run("linking of shared instances", stages::link_shared_instances)
        .when(|request| request.options.libraries),
    run("placement of stack slots", stages::place_slots_for_plugins).then(Hook::FrontEnd),
    run("linking of libraries", stages::link_libraries).when(|request| request.options.libraries),
    run("removal of landing pads", stages::drop_landing_pads)
        .when(|request| request.options.cleanup),
    run("inlining attributes", stages::inline_all).when(|request| request.options.always_inline),
    run("checks of the source", stages::check_source),
    run("check of block arrays", block_arrays::check_block_arrays),
    run("assignment of address spaces", stages::assign_address_spaces),
    run("linking of operations", stages::link_operations).when(|request| request.options.libraries),
    run("fast-math flags", stages::apply_fast_math_flags)
        .when(|request| request.options.libraries)
        .then(Hook::Finalize),
    run("passing of launch state", stages::pass_launch_state),
    run("placement of relocations", stages::place_relocations),
    run("search for shared memory", stages::find_sharing),
    run("creation of entries", stages::create_entries).when(|request| request.options.toplevel),
    run("denormal mode", stages::flush_denormals).when(|request| request.options.ftz),
    run("internalisation", stages::internalize)
        .when(|request| request.options.cleanup && request.options.toplevel)
        .then(Hook::MidPipeline)
        .shows(CodeStage::Linked),
    run("optimisation", stages::optimize)
        .when(|request| request.options.optimize)
        .then(Hook::Optimized),
    run("static assertions", stages::settle_assertions),
    run("numbering of source locations", stages::number_locations),
    run("inlining of panics", stages::inline_panics),
    run("folding of source locations", stages::fold_locations)
        .when(|request| request.options.optimize),
    run("passing of panic records", stages::pass_panic_records)
        .when(|request| request.options.toplevel),
    run("inference of alignments", stages::infer_alignments)
        .when(|request| request.options.optimize),
    run("workarounds", stages::work_around_llvm).then(Hook::Late),
    run("check of markers", stages::check_markers).when(|request| request.options.validate),
    run("mark of printing", finish::mark_printing).when(|request| request.goal == Goal::Artifact),
    run("naming of variables", finish::name_variables)
        .when(|request| request.goal == Goal::Artifact),
    run("names of functions", finish::name_functions)
        .when(|request| request.goal != Goal::Module && request.options.kernel),
    run("validation", finish::validate)
        .when(|request| request.goal != Goal::Module || request.options.validate),
    run("removal of debug information", finish::strip)
        .when(|request| request.goal != Goal::Assembly && request.options.strip)
        .shows(CodeStage::Optimized),
    run("removal of callees", finish::drop_callees)
        .when(|request| request.goal == Goal::Module && request.options.only_entry),
];

/// Compiles one source for one target. Where the vectoriser fails, which is a fault of this compiler, the
/// source is compiled without vectorisation, and the user is told.
pub(crate) fn compile(tools: &Tools<'_>, job: &Job<'_>) -> Result<Artifact, Error> {
    compile_capturing(tools, job, &Capture::default())
}

/// The same with the code of each kernel at some stages.
pub(crate) fn compile_with_code(
    tools: &Tools<'_>,
    job: &Job<'_>,
    wanted: &[CodeStage],
) -> Result<(Artifact, Vec<KernelCode>), Error> {
    let capture = Capture::new(wanted);
    let artifact = compile_capturing(tools, job, &capture)?;
    let kernels = job.source.signatures.iter().map(|signature| signature.symbol.to_string());
    Ok((artifact, capture.into_captured(kernels)))
}

fn compile_capturing(
    tools: &Tools<'_>,
    job: &Job<'_>,
    capture: &Capture,
) -> Result<Artifact, Error> {
    match artifact(tools, job, capture) {
        Err(Error::Vectorization { kernel, message }) if job.config.params.vectorize => {
            let mut config = job.config.clone();
            config.params.vectorize = false;
            capture.clear();
            let mut artifact = artifact(tools, &Job { config: &config, ..*job }, capture)?;
            finish::note_failed_vectorization(&mut artifact, job.file(), &kernel, &message);
            Ok(artifact)
        }
        result => result,
    }
}

/// The artifact of a job.
fn artifact(tools: &Tools<'_>, job: &Job<'_>, capture: &Capture) -> Result<Artifact, Error> {
    job.config.options.check_complete()?;
    build(tools, job, (Goal::Artifact, capture), finish::artifact)
}

/// The module of a job in LLVM's textual form, after the stages that its options ask for.
pub(crate) fn inspect(tools: &Tools<'_>, job: &Job<'_>) -> Result<String, Error> {
    let capture = Capture::default();
    build(tools, job, (Goal::Module, &capture), |session| Ok(session.module.to_text()))
}

/// The code of a job as the target's assembly text.
pub(crate) fn assembly(tools: &Tools<'_>, job: &Job<'_>) -> Result<String, Error> {
    job.config.options.check_complete()?;
    build(tools, job, (Goal::Assembly, &Capture::default()), finish::assembly)
}

/// Takes a job through the stages to a goal, with the capture of some, and gives what `finish` makes of the session.
fn build<T>(
    tools: &Tools<'_>,
    job: &Job<'_>,
    (goal, capture): (Goal, &Capture),
    finish: impl FnOnce(Session<'_, '_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let kernels = if job.config.options.kernel { job.source.signatures } else { &[] };
    let needs_lengths = tools.plugins.need_lengths(job.config);
    let lengths = needs_lengths.then(|| lengths::signatures(kernels));
    let signatures = lengths.as_deref().unwrap_or(kernels);
    let job = Job { source: JobSource { signatures, ..job.source }, ..*job };
    let backend = target::lookup(tools.toolchain, &job)?;
    let context = Context::create();
    let diagnostics = Diagnostics::of(&context);
    let module = context.create_module(job.source.unit);
    let mut session = Session::new(*tools, job, &*backend, &context, &module);
    crash_report::with_report(tools, &job, || {
        stage::run_all(STAGES, &mut session, (goal, capture))?;
        crash::step("code generation");
        let result = finish(session)?;
        match diagnostics.take() {
            errors if errors.is_empty() => Ok(result),
            errors => Err(Error::Generation {
                file: job.file().to_owned(),
                target: job.config.target.clone(),
                errors,
            }),
        }
    })
}
