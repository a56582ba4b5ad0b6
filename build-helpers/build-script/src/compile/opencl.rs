//! Programs for OpenCL devices with the store before them: one for each source and target.

use super::{
    binary::Binary,
    compiler::Failure,
    cuda_source::cuda_source,
    front_end::{Front, FrontEnd},
    override_source::{self, check_parameters, kernel_of},
};
use crate::{
    discovery::{
        override_file::{Form, KernelOverride},
        source::{Source, SourceKind},
    },
    plan::units::Unit,
    toolchain::Clang,
};
use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::{
    Artifact, Error as CompileError,
    frontend::{
        cuda::clang,
        opencl::{self, ProgramCompiler},
    },
};
use kernelmill_store::KeyBuilder;

/// Makes one unit, or takes it from the store. `front` has the source's kernels.
pub(super) fn binary(
    front_end: &FrontEnd<'_>,
    source: &Source,
    front: &Front,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let target = &unit.config.target;
    let Some(clang) = front_end.clang else {
        return Err(CompileError::NoClang { file: source.display.clone() }.into());
    };
    let kernels: Vec<_> =
        unit.kernels(source, front_end.settings).map(|kernel| kernel.symbol.to_string()).collect();
    let key = key(front_end, source, (clang, front), unit, &kernels);
    let made = |stored, artifact, inputs, is_cached| Binary {
        source: unit.source,
        variant: unit.variant.clone(),
        overridden: None,
        fingerprint: stored,
        artifact,
        inputs,
        warnings: String::new(),
        codes: Vec::new(),
        is_cached,
    };
    let (store, inputs) = (front_end.store, front_end.inputs);
    if let Some(record) = inputs.find(store, "unit", &key)
        && let Some(bytes) = store.get("artifact", &record.stored)
        && let Some(artifact) = Artifact::from_bytes(&bytes)
    {
        return Ok(made(record.stored, artifact, inputs.files(&record), true));
    }
    let compiler = program_compiler(front_end, clang);
    let text = cuda_source(front_end.package, front_end.settings, source);
    let step = front_end.environment.step("compile", &*source.display, &[("target", target)]);
    let (artifact, trace) = compiler.compile(&text, &unit.config, &kernels)?;
    drop(step);
    let read = (&*trace.inputs, &[][..]);
    let named = KeyBuilder::new("artifact").part("unit", key.0);
    let record = inputs.record_by_inputs(named, read, String::new());
    store.put("artifact", &record.stored, &artifact.to_bytes());
    let record = inputs.remember(store, ("unit", &key), record);
    Ok(made(record.stored, artifact, trace.inputs, false))
}

fn program_compiler(front_end: &FrontEnd<'_>, clang: &Clang) -> ProgramCompiler {
    ProgramCompiler {
        clang: clang::Clang { program: clang.program.clone(), version: clang.version.clone() },
        scratch: front_end.package.out_dir.join("kernelmill"),
        limits: front_end.package.limits,
    }
}

/// Makes the module of a file that stands for a kernel. It is not stored: such a build is one of somebody who edits it.
pub(super) fn of_override(
    front_end: &FrontEnd<'_>,
    source: &Source,
    it: &KernelOverride,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let own = source.kernels().iter().find(|kernel| kernel.symbol == it.symbol);
    let Some(own) = own else { return Err(override_source::unknown_kernel(it, source)) };
    let Some(clang) = front_end.clang else {
        return Err(CompileError::NoClang { file: it.display.clone() }.into());
    };
    let (artifact, inputs) = if it.form == Form::Spirv {
        let made = opencl::spirv_artifact(&it.content, &it.name);
        let made = made.map_err(|message| override_source::refuse(it, message))?;
        (made, Vec::new())
    } else {
        let lowered = override_source::lower(front_end, it)?;
        let found = &kernel_of(it, &lowered.kernels)?.signature;
        check_parameters(it, own, found)?;
        let file = override_source::source(it, SourceKind::OpenCl);
        let text = cuda_source(front_end.package, front_end.settings, &file);
        let wanted = [found.symbol.to_string()];
        let compiler = program_compiler(front_end, clang);
        let (artifact, trace) = compiler.compile(&text, &unit.config, &wanted)?;
        (artifact, trace.inputs)
    };
    Ok(Binary::of_override(unit, (it, own), artifact, inputs))
}

/// The digest of all that is known before clang runs; the files that it reads come on top.
fn key(
    front_end: &FrontEnd<'_>,
    source: &Source,
    (clang, front): (&Clang, &Front),
    unit: &Unit,
    kernels: &[String],
) -> Fingerprint {
    let settings = front_end.settings;
    KeyBuilder::new("opencl program")
        .part("kernelmill", kernelmill_compiler::DIGEST)
        .part("clang", &clang.version)
        .parts("variable", clang.variables.iter().map(|variable| format!("{variable:?}")))
        .part("config", unit.config.key())
        .part("lowered", front.stored.0)
        .part("path", &source.display)
        .parts("text", source.texts.iter().map(|(_, text)| text.as_bytes()))
        .parts("include", &settings.includes)
        .parts("define", source.all_defines(settings).iter().map(|define| format!("{define:?}")))
        .parts("argument", source.arguments(settings))
        .parts("kernel", kernels)
        .finish()
}
