//! The pipeline, from a lowered source to an artifact.

use kernelmill_artifact::ArtifactKind;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Visibility, parse_bitcode, parse_ir},
};

use crate::{
    Artifact, CompiledKernel, Error, Job, Toolchain,
    check::{Checks, ValidModule},
    entry,
    frontend::rust::LAYOUT_PREFIX,
    library::Libraries,
    link, place, prepare,
    target::{self, Backend, Entry, Unit},
};

/// Turns a checked module into bytes of a kind.
type Emit<'a> = &'a dyn Fn(&dyn Backend, &ValidModule<'_, '_>) -> Result<(ArtifactKind, Vec<u8>), Error>;

/// Compiles one source for one target.
pub(crate) fn compile(
    toolchain: &Toolchain,
    libraries: &Libraries,
    job: &Job<'_>,
) -> Result<Artifact, Error> {
    emitted(toolchain, libraries, job, &|backend, module| backend.emit(toolchain, module))
}

/// Compiles one source for one target to the text that an assembler takes.
pub(crate) fn assembly(
    toolchain: &Toolchain,
    libraries: &Libraries,
    job: &Job<'_>,
) -> Result<Vec<u8>, Error> {
    let text = |backend: &dyn Backend, module: &ValidModule<'_, '_>| {
        Ok((ArtifactKind::Object, backend.machine().assembly(module.module())?))
    };
    Ok(emitted(toolchain, libraries, job, &text)?.bytes)
}

fn emitted(
    toolchain: &Toolchain,
    libraries: &Libraries,
    job: &Job<'_>,
    emit: Emit<'_>,
) -> Result<Artifact, Error> {
    let file = job.signatures.first().map_or("", |signature| &signature.file);
    let backend = target::lookup(toolchain, &job.config.target, file)?;
    let backend = &*backend;
    let context = Context::create();

    let module = read(&context, job, backend)?;
    link::libraries(&context, &module, libraries, backend)?;
    backend.machine().run(&module, DROP_LANDING_PADS)?;
    let mut checks = Checks::before(&context, &module, &job.config.target, backend);
    memory(&context, &module, backend);
    operations(&context, &module, backend)?;
    link::printing(&module, backend.print());
    let unit = Unit {
        context: &context,
        module: &module,
        signatures: job.signatures,
        name: job.unit,
        lanes: job.config.options.lanes,
    };
    let entries = backend.enter(&unit).map_err(|error| checks.with_lines(error))?;
    keep_only(&module, &entries);
    backend.machine().run_with(
        &module,
        &backend.passes(job.config.options.optimization),
        !backend.is_gpu(),
    )?;
    checks.settle(&context, &module);
    let locations = place::locations(&context, &module);
    link::finish_panics(&context, &module, backend, &entries);
    backend.machine().run(&module, FINISH)?;
    let panics = export_panic_record(&module, backend);
    let valid = checks.output(&context, &module, file)?;
    let (kind, bytes) = emit(backend, &valid)?;

    let kernels = job.signatures.iter().zip(entries);
    let kernels = kernels
        .map(|(signature, entry)| CompiledKernel {
            name: signature.symbol.to_string(),
            entry: entry.symbol,
            static_shared_bytes: entry.static_shared_bytes,
            panics,
            cpu_symbol: entry.cpu_symbol,
            road: entry.road,
        })
        .collect();
    Ok(Artifact { target: job.config.target.clone(), kind, bytes, kernels, locations })
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
    backend: &dyn Backend,
) -> Result<Module<'c>, Error> {
    let module = context.create_module(job.unit);
    backend.machine().adopt(&module);
    for bitcode in &job.lowered.modules {
        let part = parse_bitcode(context, bitcode, job.unit)?;
        backend.machine().adopt(&part);
        prepare::functions(context, &part, backend.is_gpu());
        if job.config.options.contract {
            prepare::allow_contraction(&part);
        }
        module
            .link_in_module(part)
            .map_err(|message| Error::Internal(format!("linking {}: {message}", job.unit)))?;
    }
    for global in module.globals() {
        let name = global.name();
        let unwanted = name.starts_with(LAYOUT_PREFIX) || name.starts_with("llvm.");
        if unwanted && !global.is_used() {
            global.delete_global();
        }
    }
    let wanted = |name: &str| {
        let symbol = name.strip_prefix(entry::SHIM_PREFIX);
        symbol.is_some_and(|symbol| job.signatures.iter().any(|kernel| kernel.symbol == symbol))
    };
    for value in module.definitions() {
        if !wanted(&value.name()) {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
        value.drop_comdat();
    }
    backend.machine().run(&module, DROP_LANDING_PADS)?;
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
    backend: &dyn Backend,
) -> Result<(), Error> {
    let machine = backend.machine();
    let text = backend.operations();
    let operations = parse_ir(context, text, machine.data_layout(), machine.triple())?;
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
        if !kept(&value.name()) {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}

/// Whether any kernel of an optimised module can still panic. The memory that holds the record
/// on a GPU is made visible to the host.
fn export_panic_record(module: &Module<'_>, backend: &dyn Backend) -> bool {
    if !backend.is_gpu() {
        return true;
    }
    let Some(memory) = module.global("__kernelmill_panic_memory") else { return false };
    memory.set_linkage(Linkage::LLVMExternalLinkage);
    memory.set_visibility(Visibility::LLVMProtectedVisibility);
    memory.set_name("__kernelmill_panic_record");
    true
}
