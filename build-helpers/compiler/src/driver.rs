//! The pipeline, from a lowered source to an artifact.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Visibility, parse_bitcode, parse_ir},
};

use crate::{
    Artifact, CompiledKernel, Error, Job, Location, PanicLevel, PassReport, ScalarReason,
    Toolchain,
    check::Checks,
    deferred, entry, fast,
    frontend::rust::LAYOUT_PREFIX,
    lengths,
    library::Libraries,
    link, parameters, place,
    plugin::{Plugins, Site, Stage},
    prepare, steps,
    target::{self, Backend, Entry, Unit},
};

/// Compiles one source for one target. Where the vectoriser fails, which is a fault of this compiler, the
/// source is compiled without vectorisation, and the user is told.
pub(crate) fn compile(
    toolchain: &Toolchain,
    linked: (&Libraries, &Plugins),
    job: &Job<'_>,
) -> Result<Artifact, Error> {
    match compile_as_asked(toolchain, linked, job) {
        Err(Error::Vectorization { kernel, message }) if job.config.params.vectorize => {
            let mut config = job.config.clone();
            config.params.vectorize = false;
            let scalar = Job { config: &config, ..*job };
            let mut artifact = compile_as_asked(toolchain, linked, &scalar)?;
            note_failed_vectorization(&mut artifact, file(job), &kernel, &message);
            Ok(artifact)
        }
        result => result,
    }
}

/// Says in an artifact that its source was compiled again because the vectoriser failed on a kernel.
fn note_failed_vectorization(artifact: &mut Artifact, file: &str, kernel: &str, message: &str) {
    let message = message.lines().next().unwrap_or_default();
    artifact.warnings.push(format!(
        "{file}: kernelmill could not vectorise kernel `{kernel}`, so all kernels of this file run \
         slower on the CPU; please report it, with this: {message}"
    ));
    for strategy in artifact.kernels.iter_mut().filter_map(|kernel| kernel.strategy.as_mut()) {
        let (kernel, message) = (kernel.to_owned(), message.to_owned());
        strategy.scalar = Some(ScalarReason::VectorizationFailed { kernel, message });
    }
}

fn compile_as_asked(
    toolchain: &Toolchain,
    (libraries, plugins): (&Libraries, &Plugins),
    job: &Job<'_>,
) -> Result<Artifact, Error> {
    let lengths = lengths::signatures(job, plugins);
    let job = &lengths::applied(job, lengths.as_deref());
    let (source, options) = (&job.source, &job.config.options);
    options.check_complete()?;
    let file = file(job);
    let backend = target::lookup(toolchain, job)?;
    let context = Context::create();
    let Built { module, entries, locations, messages, notes, warnings, checks, .. } =
        build(&context, (toolchain, libraries, plugins), job, &*backend)?;
    let panics = export_panic_record(&module, &*backend);
    export(&module, "__kernelmill_print_memory", "__kernelmill_print_buffer");
    let valid = checks.output(&context, &module, file)?;
    if options.strip {
        module.strip_debug_info();
    }
    let (kind, bytes) = backend.emit(toolchain, &valid)?;

    let kernels = source.signatures.iter().zip(entries);
    let kernels = kernels
        .map(|(signature, entry)| CompiledKernel {
            name: signature.symbol.to_string(),
            entry: entry.symbol,
            static_shared_bytes: entry.static_shared_bytes,
            panics,
            cpu_symbol: entry.cpu_symbol,
            strategy: entry.strategy,
            notes: notes_of(&notes, &signature.symbol),
        })
        .collect();
    let target = job.config.target.clone();
    Ok(Artifact { target, kind, bytes, kernels, locations, messages, warnings })
}

/// The module of a job in LLVM's textual form, after the steps that its options ask for.
pub(crate) fn inspect(
    toolchain: &Toolchain,
    (libraries, plugins): (&Libraries, &Plugins),
    job: &Job<'_>,
) -> Result<String, Error> {
    let lengths = lengths::signatures(job, plugins);
    let job = &lengths::applied(job, lengths.as_deref());
    let (file, options) = (file(job), &job.config.options);
    let backend = target::lookup(toolchain, job)?;
    let context = Context::create();
    let Built { module, entries, checks, .. } =
        build(&context, (toolchain, libraries, plugins), job, &*backend)?;
    if options.validate {
        checks.output(&context, &module, file)?;
    }
    if options.strip {
        module.strip_debug_info();
    }
    if options.only_entry {
        steps::drop_bodies(&module, &entries);
    }
    Ok(module.to_text())
}

/// What the passes of the CPU back end did to a job.
pub(crate) fn passes(
    toolchain: &Toolchain,
    (libraries, plugins): (&Libraries, &Plugins),
    job: &Job<'_>,
) -> Result<Vec<PassReport>, Error> {
    let lengths = lengths::signatures(job, plugins);
    let job = &lengths::applied(job, lengths.as_deref());
    let backend = target::lookup(toolchain, job)?;
    let context = Context::create();
    Ok(build(&context, (toolchain, libraries, plugins), job, &*backend)?.passes)
}

/// The code of a job as the target's assembly text.
pub(crate) fn assembly(
    toolchain: &Toolchain,
    (libraries, plugins): (&Libraries, &Plugins),
    job: &Job<'_>,
) -> Result<String, Error> {
    job.config.options.check_complete()?;
    let lengths = lengths::signatures(job, plugins);
    let job = &lengths::applied(job, lengths.as_deref());
    let backend = target::lookup(toolchain, job)?;
    let context = Context::create();
    let Built { module, checks, .. } =
        build(&context, (toolchain, libraries, plugins), job, &*backend)?;
    let valid = checks.output(&context, &module, file(job))?;
    let text = backend.machine().assembly(valid.module())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The file that a job's source is known by.
fn file<'a>(job: &Job<'a>) -> &'a str {
    job.source.signatures.first().map_or("", |signature| &signature.file)
}

/// A module that is ready to be checked.
struct Built<'a, 'c> {
    module: Module<'c>,
    entries: Vec<Entry>,
    locations: Vec<Location>,
    /// The texts of its panics.
    messages: Vec<String>,
    /// What plugins say of kernels, by their symbols.
    notes: Vec<(String, String)>,
    /// What the user is to be told.
    warnings: Vec<String>,
    /// What the CPU's passes report.
    passes: Vec<PassReport>,
    /// What has been found wrong with it so far.
    checks: Checks<'a>,
}

/// Takes a job through the steps that its options ask for.
fn build<'a, 'c>(
    context: &'c Context,
    (toolchain, libraries, plugins): (&'a Toolchain, &Libraries, &Plugins),
    job: &Job<'a>,
    backend: &'a dyn Backend,
) -> Result<Built<'a, 'c>, Error> {
    let (source, options) = (&job.source, &job.config.options);
    parameters::check_space(job, backend)?;
    plugins.check(job.config)?;
    let module = read(context, job, libraries, backend)?;
    let site = Site {
        config: job.config,
        machine: backend.machine(),
        signatures: source.signatures,
        messages: RefCell::default(),
        notes: RefCell::default(),
    };
    let at = |stage| plugins.run(stage, context, &module, &site);
    if plugins.work_at(Stage::FrontEnd, &module, job.config)
        && let Some(spaces) = backend.address_spaces()
    {
        // What LLVM checks of each plugin's work on the target's behalf.
        place::move_allocations(context, &module, spaces.private);
    }
    at(Stage::FrontEnd)?;
    let level = job.config.params.panics;
    if options.libraries {
        let vendor = link::vendor_math(toolchain, job, backend)?;
        let (vendor, mut messages) = (vendor.as_ref(), site.messages.borrow_mut());
        link::libraries(context, &module, (libraries, vendor), backend, level, &mut messages)?;
    }
    if options.cleanup {
        backend.machine().run(&module, DROP_LANDING_PADS)?;
    }
    if options.always_inline {
        steps::inline_all(context, &module);
    }
    let mut checks = Checks::before(context, &module, (toolchain, job.config), backend);
    memory(context, &module, backend);
    if options.libraries {
        operations(context, &module, job, backend)?;
        link::printing(context, &module, backend.print());
        link::inline_panicking(context, &module, backend);
        fast::apply(context, &module, backend.machine())?;
    }
    at(Stage::Finalize)?;
    let backtraces = place::Backtraces::new(level == PanicLevel::Backtrace);
    let (warnings, passes) = (RefCell::default(), RefCell::default());
    let unit = Unit {
        context,
        module: &module,
        signatures: source.signatures,
        name: source.unit,
        vectorize: job.config.params.vectorize,
        backtraces: &backtraces,
        warnings: &warnings,
        passes: &passes,
    };
    let mut entries = if options.toplevel {
        backend.enter(&unit).map_err(|error| checks.with_lines(error))?
    } else {
        Vec::new()
    };
    steps::rename(&module, job, &mut entries)?;
    if options.cleanup && options.toplevel {
        keep_only(&module, &entries);
    }
    at(Stage::MidPipeline)?;
    if options.optimize {
        let passes = backend.passes(options.opt_level);
        backend.machine().run_with(&module, &passes, !backend.is_gpu())?;
    }
    at(Stage::Optimized)?;
    checks.settle(context, &module);
    let locations = place::locations(context, &module, &backtraces);
    let messages = site.messages.take().of(&module);
    link::finish_panics(context, &module, backend, &entries);
    if options.optimize {
        backend.machine().run(&module, FINISH)?;
    }
    backend.mend(context, &module);
    at(Stage::Late)?;
    if options.validate {
        plugins.check_markers(&module)?;
    }
    let (notes, warnings, passes) = (site.notes.take(), warnings.take(), passes.take());
    Ok(Built { module, entries, locations, messages, notes, warnings, passes, checks })
}

/// What plugins say of a kernel.
fn notes_of(notes: &[(String, String)], symbol: &str) -> Vec<String> {
    let of_kernel = notes.iter().filter(|(kernel, _)| kernel == symbol);
    of_kernel.map(|(_, text)| text.clone()).collect()
}

/// What rustc writes still has landing pads, although panics abort.
const DROP_LANDING_PADS: &str = "function(lower-invoke,simplifycfg),globaldce";

/// Folds what is known only once the source locations have been numbered.
const FINISH: &str =
    "always-inline,function(instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// Reads the modules of the source into one, with nothing of the host left in it.
fn read<'c>(
    context: &'c Context,
    job: &Job<'_>,
    libraries: &Libraries,
    backend: &dyn Backend,
) -> Result<Module<'c>, Error> {
    let source = &job.source;
    let module = context.create_module(source.unit);
    backend.machine().adopt(&module);
    let prepared = |bitcode: &[u8]| -> Result<Module<'c>, Error> {
        let part = parse_bitcode(context, bitcode, source.unit)?;
        backend.machine().adopt(&part);
        prepare::functions(context, &part, backend.is_gpu());
        if job.config.params.contract {
            prepare::allow_contraction(&part);
        }
        Ok(part)
    };
    for bitcode in &source.lowered.modules {
        let part = prepared(bitcode)?;
        link::redefinitions(context, &part, libraries, backend, &job.config.target)?;
        module
            .link_in_module(part)
            .map_err(|message| Error::Internal(format!("linking {}: {message}", source.unit)))?;
    }
    deferred::resolve(context, &module, (file(job), source.lowered), &prepared)?;
    parameters::drop_empty(context, &module, source.signatures, backend.is_gpu());
    lengths::add(context, &module, source.signatures, backend.is_gpu());
    for global in module.globals() {
        let name = global.name();
        let unwanted = name.starts_with(LAYOUT_PREFIX) || name.starts_with("llvm.");
        if unwanted && !global.is_used() {
            global.delete_global();
        }
    }
    let wanted = |name: &str| {
        let symbol = name.strip_prefix(entry::SHIM_PREFIX);
        symbol.is_some_and(|symbol| source.signatures.iter().any(|kernel| kernel.symbol == symbol))
    };
    for value in module.definitions() {
        if !wanted(&value.name()) {
            value.set_linkage(Linkage::Internal);
        }
        value.drop_comdat();
    }
    if job.config.options.debug_level == 0 {
        module.strip_debug_info();
    }
    if job.config.options.cleanup {
        backend.machine().run(&module, DROP_LANDING_PADS)?;
    }
    Ok(module)
}

/// Moves globals and stack slots into the target's address spaces.
fn memory<'c>(context: &'c Context, module: &Module<'c>, backend: &dyn Backend) {
    if let Some(spaces) = backend.address_spaces() {
        place::move_globals(context, module, spaces);
        place::move_allocations(context, module, spaces.private);
    }
}

/// Links the target's operations.
fn operations<'c>(
    context: &'c Context,
    module: &Module<'c>,
    job: &Job<'_>,
    backend: &dyn Backend,
) -> Result<(), Error> {
    let machine = backend.machine();
    let text = backend.operations();
    let operations = parse_ir(context, &text, machine.data_layout(), machine.triple())?;
    link::declarations(module, &operations, &job.config.target)?;
    module
        .link_in_module(operations)
        .map_err(|message| Error::Internal(format!("linking operations: {message}")))
}

/// Makes everything but the entries droppable.
fn keep_only(module: &Module<'_>, entries: &[Entry]) {
    let kept = |name: &str| {
        entries
            .iter()
            .any(|entry| entry.symbol == name || entry.cpu_symbol.as_deref() == Some(name))
    };
    let globals = module.globals().into_iter().filter(|global| !global.is_declaration());
    for value in module.definitions().into_iter().chain(globals) {
        // What panics call stays as it is called, for `Messages::of` to read.
        if !kept(&value.name()) && !link::is_panic(&value.name()) {
            value.set_linkage(Linkage::Internal);
        }
    }
}

/// Whether any kernel of an optimised module can still panic. The memory that holds the record
/// on a GPU is made visible to the host.
fn export_panic_record(module: &Module<'_>, backend: &dyn Backend) -> bool {
    if !backend.is_gpu() {
        return true;
    }
    export(module, "__kernelmill_panic_memory", "__kernelmill_panic_record")
}

/// Makes a variable visible to the host under a name, if it is there.
fn export(module: &Module<'_>, variable: &str, name: &str) -> bool {
    let Some(memory) = module.global(variable) else { return false };
    memory.set_linkage(Linkage::External);
    memory.set_visibility(Visibility::Protected);
    memory.set_name(name);
    true
}

#[cfg(test)]
mod tests {
    use kernelmill_artifact::{ArtifactKind, Target};

    use super::*;
    use crate::{CoroutineReason, Lowering, Strategy};

    fn kernel(name: &str, lowering: Lowering) -> CompiledKernel {
        let scalar = Some(ScalarReason::VectorizationOff);
        let (widths, block, interchanged_loops) = (Vec::new(), None, 0);
        CompiledKernel {
            name: name.to_owned(),
            entry: name.to_owned(),
            static_shared_bytes: 0,
            panics: true,
            cpu_symbol: None,
            strategy: Some(Strategy { lowering, widths, scalar, block, interchanged_loops }),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_failed_vectorization_is_a_warning_and_in_every_strategy() {
        let waits = Lowering::Coroutine(CoroutineReason::VectorizationOff);
        let kernels = vec![kernel("scale", Lowering::ThreadLoop), kernel("sum", waits)];
        let (bytes, locations, messages) = (Vec::new(), Vec::new(), Vec::new());
        let (target, kind, warnings) = (Target::Cpu, ArtifactKind::Object, Vec::new());
        let mut artifact = Artifact { target, kind, bytes, kernels, locations, messages, warnings };
        note_failed_vectorization(&mut artifact, "kernels/a.rs", "sum", "bad\n  %1");
        assert_eq!(
            artifact.warnings,
            [
                "kernels/a.rs: kernelmill could not vectorise kernel `sum`, so all kernels of this file \
              run slower on the CPU; please report it, with this: bad"
            ]
        );
        let (kernel, message) = ("sum".to_owned(), "bad".to_owned());
        let failed = Some(ScalarReason::VectorizationFailed { kernel, message });
        let strategies = artifact.kernels.iter().filter_map(|kernel| kernel.strategy.as_ref());
        assert!(strategies.clone().all(|strategy| strategy.scalar == failed));
        assert_eq!(strategies.count(), 2);
    }
}
